"""Without an extra: the error says which one to install, and comes before anything is opened or paid."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import discreet
from discreet.cli.destination import require_drawable
from discreet.errors import Error

EXTRAS = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow", "matplotlib": "plots"}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have a library not be there."""

    def hide(library: str) -> None:
        for name in [name for name in sys.modules if name.split(".")[0] == library or name.startswith("discreet.plots.figure")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)

    return hide


@pytest.fixture
def db(tmp_path: Path) -> discreet.Session:
    made = "SELECT i AS id, i % 3 AS a, DATE '2024-01-01' AS day FROM range(500) AS t(i)"
    duckdb.connect().execute(f"COPY ({made}) TO '{tmp_path / 't.parquet'}'")
    return discreet.connect(tmp_path / "t.parquet", unit="id", epsilon=100, delta=1e-3, bounds={"a": (0, 2)}, one_row_per_unit=True)


def refused(act: Callable[[], Any], library: str, extra: str) -> None:
    with pytest.raises(Error) as caught:
        act()
    assert str(caught.value) == f"{library} is not installed: pip install 'discreet[{extra}]'"


def test_engines(without: Callable[[str], None], tmp_path: Path) -> None:
    file, address = tmp_path / "t.parquet", "postgresql://nowhere.invalid/x"
    duckdb.connect().execute(f"COPY (SELECT 1 AS id) TO '{file}'")
    without("psycopg")
    for data in (address, {"t": address}, {"t": (address, "public.t")}):
        refused(lambda data=data: discreet.connect(data, unit="id", epsilon=1, ledger=tmp_path / "ledger"), "psycopg", "postgres")
    with pytest.raises(Error, match=r"discreet\[postgres\]"):
        discreet.connect(file, unit="id", epsilon=1, ledger=address)
    for library in ("pyarrow", "pyspark"):
        without(library)
        refused(lambda: discreet.connect(file, unit="id", epsilon=1, engine="spark"), library, "spark")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["t.parquet"]


@pytest.mark.parametrize("library", EXTRAS)
def test_what_was_released_goes_elsewhere(library: str, without: Callable[[str], None], db: discreet.Session, tmp_path: Path) -> None:
    answer = db.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    table = db.synthesize("t", epsilon=5, columns=["a"])
    days = db.daily("t", day="day", start="2024-01-01", days=3, epsilon=1).release(until="2024-01-03")
    without(library)
    acts: dict[str, list[Callable[[], Any]]] = {
        "pandas": [answer.to_pandas, table.to_pandas, days.to_pandas],
        "polars": [answer.to_polars, table.to_polars, days.to_polars],
        "pyarrow": [answer.to_arrow, table.to_arrow, lambda: table.to_parquet(tmp_path / "x.parquet")],
        "matplotlib": [answer.plot, table.plot, days.plot, lambda: require_drawable("x.png")],
    }
    for act in acts[library]:
        refused(act, library, EXTRAS[library])


def test_a_gpu_is_refused_before_paying(without: Callable[[str], None], db: discreet.Session) -> None:
    without("torch")
    refused(lambda: db.synthesize("t", epsilon=5, columns=["a"], device="cuda"), "torch", "gpu")
    assert db.spent.epsilon == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_blocks_as_frames_are_refused_before_paying(library: str, without: Callable[[str], None], db: discreet.Session) -> None:
    without(library)
    refused(lambda: db.estimate("t", lambda b: float(np.mean(b["a"])), epsilon=1, bounds=(0, 2), frame=library), library, library)
    assert db.spent.epsilon == 0
