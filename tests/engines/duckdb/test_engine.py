"""The DuckDB engine: the same table from every source, and the life of a connection."""

from __future__ import annotations

import datetime
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from engines.visits import KINDS, ROWS, TABLE

from discreet.engines import progress
from discreet.engines.duckdb import engine as module
from discreet.engines.duckdb import scratch as scratch_module
from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import EngineError
from discreet.private import Private


def frame(library: str) -> Any:
    found = pytest.importorskip(library.split(".")[0])
    columns = {name: [row[i] for row in ROWS] for i, name in enumerate(KINDS)}
    match library:
        case "pandas":
            table = found.DataFrame({name: found.Series(values, dtype=object) for name, values in columns.items()})
            return table.astype({"id": "int64", "cost": "float64", "old": "boolean", "seen": "datetime64[us]"})  # dept and day stay objects
        case "polars":
            return found.DataFrame(columns)
        case "polars.lazy":
            return found.DataFrame(columns).lazy()
        case "pyarrow":
            return found.table(columns)
        case "pyarrow.batches":
            return found.table(columns).to_reader()
    raise AssertionError(library)


FILES = ["visits.parquet", "odd [1] name's.parquet", "many", "many/*.parquet", "visits.csv", "visits.tsv", "visits.duckdb"]
FRAMES = ["pandas", "polars", "polars.lazy", "pyarrow", "pyarrow.batches"]


@pytest.mark.parametrize("given", [*FILES, *FRAMES, "connection"])
def test_every_source_gives_the_same_table(folder: Path, given: str) -> None:
    source: Any = folder / given if given in FILES else frame(given) if given in FRAMES else duckdb.connect()
    if given == "connection":
        source.execute(TABLE)
    with DuckDB.open({"visits": source}, {"visits": KINDS}) as engine:
        assert engine.schema("visits") == KINDS
        found = engine.read_public("SELECT * FROM visits ORDER BY id")
        assert list(zip(*(found[name] for name in KINDS), strict=True)) == ROWS
        assert isinstance(engine.run("SELECT id FROM visits"), Private)


def test_arrays_are_plain(engine: DuckDB) -> None:
    found = engine.read_public(
        "SELECT id, id::TINYINT AS t, cost, dept, day, seen, old, 1.5::FLOAT AS f, id > 1 AS b FROM visits ORDER BY id"
    )
    assert not any(isinstance(values, np.ma.MaskedArray) for values in found.values())
    dtypes = {name: str(values.dtype) for name, values in found.items()}
    assert dtypes == {"id": "int64", "t": "int64", "f": "float64", "b": "bool"} | dict.fromkeys(
        ["cost", "dept", "day", "seen", "old"], "object"
    )
    assert type(found["day"][0]) is datetime.date
    assert type(found["seen"][0]) is datetime.datetime
    assert found["cost"][1] is None


def test_an_empty_result_has_its_columns(engine: DuckDB) -> None:
    found = engine.read_public("SELECT id, dept FROM visits WHERE id > 99")
    assert [len(values) for values in found.values()] == [0, 0]
    assert found["id"].dtype == np.int64


# ── life of a connection ─────────────────────────────────────────────────────────────────────────────────────────────


def scratch(engine: DuckDB) -> Path:
    return Path(engine.read_public("SELECT value FROM duckdb_settings() WHERE name = 'temp_directory'")["value"][0])


def test_the_scratch_folder_is_private_and_goes_away(folder: Path) -> None:
    engine = DuckDB.open({"visits": folder / "visits.parquet"})
    place = scratch(engine)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    engine.close()
    assert not place.exists()
    engine.close()  # twice is fine
    with pytest.raises(EngineError):
        engine.run("SELECT 1 AS one")


def test_a_failed_opening_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def keep(self: Path, target: Path) -> Path:
        made.append(target)
        return rename(self, target)

    rename = Path.rename
    monkeypatch.setattr(scratch_module.Path, "rename", keep)
    (folder / "fake.parquet").write_text("SECRET")
    with pytest.raises(EngineError) as caught:
        DuckDB.open({"visits": folder / "fake.parquet"})
    (folder / "fake.parquet").unlink()
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None
    assert made
    assert not made[0].exists()


def test_large_queries_spill_into_the_scratch_folder(tmp_path: Path) -> None:
    connection = module._fresh(str(tmp_path), False, 2)
    connection.execute("SET memory_limit = '80MB'")
    module._lock_down(connection, [], str(tmp_path))
    most = connection.execute("SELECT max(h) FROM (SELECT hash(i) AS h, i FROM range(6000000) r(i) ORDER BY h OFFSET 10)").fetchall()
    assert most[0][0] is not None
    connection.close()


def test_threads_may_share_an_engine(engine: DuckDB) -> None:
    totals: list[int] = []

    def ask(number: int) -> None:
        totals.extend(int(engine.read_public(f"SELECT CAST(SUM(id) + {number} AS BIGINT) AS n FROM visits")["n"][0]) for _ in range(20))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(totals) == sorted(6 + number for number in range(4) for _ in range(20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_to_connect_again(folder: Path) -> None:
    engine = DuckDB.open({"visits": folder / "visits.parquet"})
    place = scratch(engine)
    if (child := os.fork()) == 0:  # pragma: no cover
        code = 1
        try:
            engine.run("SELECT id FROM visits")
        except EngineError as error:
            engine.close()
            code = 0 if "connect again" in str(error) and place.exists() else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(engine.read_public("SELECT id FROM visits")["id"]) == 3
    engine.close()


def test_progress_is_told_only_if_wanted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    told: list[float] = []
    with DuckDB.open({"visits": folder / "visits.parquet"}, progress=told.append, threads=1) as engine:
        engine.run("SELECT CAST(SUM(hash(i) % 7) AS BIGINT) AS n FROM range(20000000) r(i)")
    assert told
    assert all(0 <= part <= 1 for part in told)


def test_only_tested_versions_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1.1.3", "1.2.0", "1.4.1.dev3", "3.0.0", "0.9", "x"):
        monkeypatch.setattr(duckdb, "__version__", version)
        with pytest.raises(EngineError, match="outside the tested range"):
            DuckDB.open({})
    for version in ("2.0.0", "2.1.0.dev3", "2.9.9"):
        module._check_version(version)


# ── sources that are none ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("missing.parquet", "no file"),
        ("s3://bucket/x.parquet", "local"),
        (7, "pass a path"),
        ({"a": [1]}, "pass a path"),
        (__file__, "the extension of"),
        ("no*such.parquet", "no Parquet file"),
    ],
)
def test_what_is_no_source(given: Any, why: str) -> None:
    with pytest.raises(EngineError, match=why):
        DuckDB.open({"visits": given})


@pytest.mark.parametrize("header", [b"", b"\n", b"a,A\n", b"a,a\n", b"a,\n", b"\xff\xfe\n"])
def test_headers_that_name_no_columns(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(header + b"1,2\n" if header else b"")
    with pytest.raises(EngineError, match="column"):
        DuckDB.open({"t": tmp_path / "t.csv"})


def test_connections_do_not_mix(folder: Path) -> None:
    with duckdb.connect() as one, duckdb.connect() as two:
        for connection in (one, two):
            connection.execute(TABLE)
        for sources in ({"a": (one, "visits"), "b": (two, "visits")}, {"a": (one, "visits"), "b": folder / "visits.csv"}):
            with pytest.raises(EngineError, match="same connection"):
                DuckDB.open(sources)


def test_nothing_but_duckdb_is_imported(folder: Path) -> None:
    """Data frame libraries are recognised, never imported."""
    assert not {"pandas", "polars", "pyarrow"} & set(vars(sys.modules["discreet.engines.duckdb.sources"]))
