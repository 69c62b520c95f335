"""Files that make one table: the same columns in all of them, and none in the names of folders; seen again before paying."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import EngineError

WHOLE = "SELECT 1 AS id, 'a' AS dept, 2.5 AS cost"


def write(path: Path, select: str = WHOLE, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet {more})")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "t" / "a.parquet")
    write(tmp_path / "t" / "deep" / "b.parquet", "SELECT 2.5 AS cost, 2 AS id, 'b' AS dept")  # in another order
    return tmp_path / "t"


def count(engine: DuckDB) -> int:
    return int(engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0])


# ── at opening ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("file", ["0.parquet", "z.parquet"])  # the first one and the last one
@pytest.mark.parametrize(
    ("select", "why"),
    [
        ("SELECT 1 AS id, 'a' AS dept", "not all of its files have cost: write them again"),
        (WHOLE + ", 7 AS extra", "not all of its files have extra: write them again"),
        ("SELECT 1 AS id, 'a' AS dept, 'x' AS cost", "store cost in different types: write them again"),
        ("SELECT 1 AS id, 'a' AS dept, 2.25 AS cost", "store cost in different types"),  # another scale
        ("SELECT 1 AS id, {'x': 'a'} AS dept, 2.5 AS cost", "store dept in different types"),
        ("SELECT 1 AS id, 'a' AS dept, 2.5 AS COST", "not all of its files have COST, cost"),
    ],
)
def test_all_files_must_have_the_columns(folder: Path, file: str, select: str, why: str) -> None:
    write(folder / file, select)
    with pytest.raises(EngineError, match=why):
        DuckDB.open({"t": folder})


def test_parts_of_columns_are_compared_too(tmp_path: Path) -> None:
    write(tmp_path / "t" / "a.parquet", "SELECT 1 AS id, {'id': 1, 'x': [1]} AS s")
    write(tmp_path / "t" / "b.parquet", "SELECT 1 AS id, {'id': 1, 'x': [1]} AS s")
    with DuckDB.open({"t": tmp_path / "t"}) as engine:
        assert count(engine) == 2
    write(tmp_path / "t" / "c.parquet", "SELECT 1 AS id, {'id': 1, 'x': ['1']} AS s")
    with pytest.raises(EngineError, match="store s in different types"):
        DuckDB.open({"t": tmp_path / "t"})


def test_columns_in_the_names_of_folders_are_refused(tmp_path: Path) -> None:
    rows = "SELECT i AS id, i % 2 AS year, 'x' AS kind FROM range(4) r(i)"
    write(tmp_path / "t", rows, ", PARTITION_BY (year, kind)")
    for given in (tmp_path / "t", tmp_path / "t" / "*" / "*" / "*.parquet", tmp_path / "t" / "year=*" / "**" / "*.parquet"):
        with pytest.raises(EngineError, match="kind, year is stored only in folder names"):
            DuckDB.open({"t": given})


def test_columns_in_the_names_of_folders_may_be_there_if_files_have_them(tmp_path: Path) -> None:
    rows = "SELECT i AS id, i % 2 AS year FROM range(4) r(i)"
    write(tmp_path / "t", rows, ", PARTITION_BY (year), WRITE_PARTITION_COLUMNS")
    with DuckDB.open({"t": tmp_path / "t"}) as engine:
        assert sorted(engine.read_public("SELECT year FROM t")["year"]) == [0, 0, 1, 1]


def test_patterns_in_the_names_of_folders(tmp_path: Path) -> None:
    for place in ("north/1/a", "north/2/a", "south/1/a", "odd [1]/1/a"):
        write(tmp_path / f"{place}.parquet")
    for pattern, rows in {
        "*/1/*.parquet": 3,
        "n*/?/a.parquet": 2,
        "north/*/a.parquet": 2,
        "**/*.parquet": 4,
        "[ns]*/[2]/a.parquet": 1,
    }.items():
        with DuckDB.open({"t": tmp_path / pattern}) as engine:
            assert count(engine) == rows, pattern
    for pattern in ("*/3/*.parquet", "north/**/b.parquet"):
        with pytest.raises(EngineError, match="no Parquet file in"):
            DuckDB.open({"t": tmp_path / pattern})
    for pattern in ("nowhere/*/a.parquet", "north/*/a.csv", "north/*"):
        with pytest.raises(EngineError, match="a pattern must"):
            DuckDB.open({"t": tmp_path / pattern})


# ── before paying ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_said_of_files_that_are_as_they_were(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("a,b\n1,2\n")
    with DuckDB.open({"t": folder, "one": folder / "a.parquet", "s": tmp_path / "s.csv"}) as engine:
        for _ in range(2):
            engine.check_sources()
            assert count(engine) == 2
        write(folder / "new.parquet")  # a file more, with the same columns
        (tmp_path / "s.csv").write_text("a,b\n1,2\n3,4\n")
        engine.check_sources()
        assert count(engine) == 3


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file with fewer columns": (lambda folder: write(folder / "new.parquet", "SELECT 1 AS id"), "columns of its files have changed"),
    "another type": (
        lambda folder: write(folder / "a.parquet", "SELECT 1 AS id, 'a' AS dept, 'x' AS cost"),
        "columns of its files have changed",
    ),
    "no file": (lambda folder: [path.unlink() for path in folder.rglob("*.parquet")], "no Parquet file"),
    "no folder": (lambda folder: os.rename(folder, folder.with_name("away")), "no Parquet file"),
    "a partition": (lambda folder: write(folder / "year=2024" / "c.parquet"), "folder names"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_said_before_a_question_fails(folder: Path, change: str) -> None:
    with DuckDB.open({"t": folder}) as engine:
        CHANGES[change][0](folder)
        with pytest.raises(EngineError, match=CHANGES[change][1]):
            engine.check_sources()


def test_single_files_are_seen_again(tmp_path: Path) -> None:
    write(tmp_path / "odd [1].parquet")
    (tmp_path / "s.csv").write_text("a,b\n1,2\n")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE d AS SELECT 1 AS x")
    with DuckDB.open({"t": tmp_path / "odd [1].parquet", "s": tmp_path / "s.csv", "d": tmp_path / "d.duckdb"}) as engine:
        engine.check_sources()
        write(tmp_path / "odd [1].parquet", WHOLE + ", 3 AS more")
        with pytest.raises(EngineError, match="t: the columns of its files have changed"):
            engine.check_sources()
        write(tmp_path / "odd [1].parquet")
        engine.check_sources()
        for path, name in ((tmp_path / "odd [1].parquet", "t"), (tmp_path / "s.csv", "s"), (tmp_path / "d.duckdb", "d")):
            path.rename(tmp_path / "away")
            with pytest.raises(EngineError, match=rf"{name}: .*(missing|first line)"):
                engine.check_sources()
            (tmp_path / "away").rename(path)
        (tmp_path / "s.csv").write_text("a,c\n1,2\n")
        with pytest.raises(EngineError, match="s: the columns of its files have changed"):
            engine.check_sources()
