"""What an analyst can see of a pandas column's kind comes from what was declared: no value changes it, and every value is read."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import PolicyError
from discreet.tables.kind import Kind

ODD: list[Any] = [None, float("nan"), "x", "", 10**5000, "\ud800", object(), {}, [1], datetime.date(2026, 1, 1), pd.NaT, pd.NA, 1j, b"x"]
DAY, AT = datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 8, 30)
SEEN: dict[str, list[tuple[pd.Series, list[Any]]]] = {  # the same values in every dtype that pandas may give them
    "integer": [
        (pd.Series([1, 2, 3]), [1, 2, 3]),
        (pd.Series([1, 2, None]), [1, 2, None]),
        (pd.Series([1.0, 2.5, np.inf]), [1, None, None]),
        (pd.Series([1, 2, "n/a"], dtype=object), [1, 2, None]),
        (pd.Series(["1", "2", "n/a"]), [1, 2, None]),
        (pd.Series([1, 2, None], dtype="Int64"), [1, 2, None]),
        (pd.Series([2**64 - 1, 1], dtype="uint64"), [None, 1]),
        (pd.Series([True, False]), [1, 0]),
        (pd.Series([AT, pd.NaT]), [None, None]),
        (pd.Series([1e300, -9223372036854775808.0, 9223372036854775808.0]), [None, -(2**63), None]),
    ],
    "real": [
        (pd.Series([1, 2]), [1.0, 2.0]),
        (pd.Series([1, None]), [1.0, None]),
        (pd.Series([Decimal("0.5"), None], dtype=object), [0.5, None]),
        (pd.Series(["0.5", "x"]), [0.5, None]),
        (pd.Series([True, False]), [1.0, 0.0]),
    ],
    "text": [
        (pd.Series(["1", "2"]), ["1", "2"]),
        (pd.Series(["1", None], dtype=object), ["1", None]),
        (pd.Series([1, 2]), ["1", "2"]),
        (pd.Series([1, None]), ["1", None]),
        (pd.Series([1, None], dtype=object), ["1", None]),
        (pd.Series([True, False]), ["True", "False"]),
        (pd.Series([True, None], dtype=object), ["True", None]),
        (pd.Series([DAY, None], dtype=object), ["2026-11-15", None]),
        (pd.Series([AT, pd.NaT]), ["2026-11-15 08:30:00", None]),
    ],
    "boolean": [
        (pd.Series([True, False]), [True, False]),
        (pd.Series([True, None], dtype=object), [True, None]),
        (pd.Series([1, 0, 2]), [True, False, None]),
        (pd.Series([1.0, None]), [True, None]),
    ],
    "date": [
        (pd.Series([DAY, None], dtype=object), [DAY, None]),
        (pd.Series([AT, pd.NaT]), [DAY, None]),
        (pd.Series(["2026-11-15", "x"]), [DAY, None]),
        (pd.Series([1, 2]), [None, None]),
    ],
    "timestamp": [
        (pd.Series([AT, pd.NaT]), [AT, None]),
        (pd.Series([AT, None], dtype=object), [AT, None]),
        (pd.Series(["2026-11-15 08:30:00", "x"]), [AT, None]),
        (pd.Series([AT]).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo").astype("datetime64[ms, Asia/Tokyo]"), [AT]),
        (pd.Series([1.5]), [None]),
    ],
}


@pytest.mark.parametrize("kind", SEEN)
def test_a_declared_kind_holds_whatever_the_dtype(kind: str) -> None:
    for column, values in SEEN[kind]:
        with DuckDB.open({"t": pd.DataFrame({"v": column})}, {"t": {"v": Kind(kind)}}) as engine:
            assert engine.schema("t") == {"v": Kind(kind)}, column.dtype
            found = engine.read_public("SELECT v FROM t")["v"].tolist()
            assert [None if value != value else value for value in found] == values, column.dtype


@pytest.mark.parametrize("kind", ["integer", "real", "text", "boolean", "date", "timestamp"])
@pytest.mark.parametrize("unit", [False, True])
def test_no_object_makes_an_error(kind: str, unit: bool) -> None:
    """As a column, and where it tells units apart."""
    frame = pd.DataFrame({"v": pd.Series(ODD * 3, dtype=object)})
    with DuckDB.open({"t": frame}, {"t": {"v": Kind(kind)}}, identities={"t": ["v"]} if unit else None) as engine:
        assert engine.schema("t") == {"v": Kind(kind)}
        assert len(engine.read_public("SELECT v FROM t")["v"]) == len(ODD) * 3


def test_refusals_do_not_tell_that_a_value_is_missing_or_a_text() -> None:
    """The same question on four frames that pandas gives four dtypes: the same answer or the same refusal."""
    frames = [[30, 40, 50], [30, 40, None], [30, 40, "unknown"], [None, None, None]]
    said = []
    for ages in frames:
        frame = pd.DataFrame({"id": [1, 2, 3], "age": ages})
        db = discreet.connect(frame, unit="id", epsilon=1, ledger=":memory:", columns={"age": "integer"}, bounds={"age": (0, 120)})
        for text in (
            "SELECT AVG(age) AS m FROM data",
            "SELECT age, COUNT(*) AS n FROM data GROUP BY age",
            "SELECT UPPER(age) AS u FROM data",
        ):
            try:
                said.append((text, str(db.sql(text).plan(epsilon=1).explain())))
            except discreet.Error as refusal:
                said.append((text, str(refusal)))
    assert len(set(said)) == 3


def test_a_float_unit_says_what_to_write() -> None:
    """Pandas makes floats of whole ids where one is missing."""
    frame = pd.DataFrame({"id": [1, 2, None, 2], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(PolicyError, match=r'columns=\{"id": "integer"\}'):
        discreet.connect(frame, unit="id", epsilon=1, ledger=":memory:")
    db = discreet.connect(frame, unit="id", epsilon=100, ledger=":memory:", columns={"id": "integer"}, contributions={"rows": 2})
    assert abs(db.ask("SELECT COUNT(DISTINCT id) AS n FROM data", epsilon=50).rows[0]["n"] - 2) < 1


def test_stored_types_of_files_are_not_bent(tmp_path: Any) -> None:
    pd.DataFrame({"id": [1], "x": ["a"], "y": [0.5]}).to_parquet(tmp_path / "t.parquet")
    for column, kind in (("x", "integer"), ("y", "integer"), ("y", "text")):
        with pytest.raises(PolicyError, match=f"{kind} is declared"):
            discreet.connect(tmp_path / "t.parquet", unit="id", epsilon=1, ledger=":memory:", columns={column: kind})
