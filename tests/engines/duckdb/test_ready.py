"""Why DuckDB could not run a statement, found out without reading a row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

from discreet.engines import disk
from discreet.engines.duckdb.ready import is_interrupted, problem_of


def test_all_is_well(tmp_path: Path) -> None:
    connection = duckdb.connect(":memory:")
    connection.execute('CREATE TABLE "a ""b""" (x INTEGER)')
    assert problem_of(connection, ['a "b"'], str(tmp_path)) is None


def test_a_closed_connection() -> None:
    connection = duckdb.connect(":memory:")
    connection.close()
    assert problem_of(connection, (), None) == "the connection to DuckDB is closed: connect again"


def test_a_table_that_is_missing_or_has_other_columns(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "t.parquet")
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE VIEW t AS SELECT x FROM read_parquet('{tmp_path}/t.parquet')")
    assert problem_of(connection, ["t"], None) is None
    pl.DataFrame({"y": [1]}).write_parquet(tmp_path / "t.parquet")
    assert str(problem_of(connection, ["t"], None)).startswith("t: its file or table is missing, unreadable, or has changed its columns")
    (tmp_path / "t.parquet").unlink()
    assert str(problem_of(connection, ["t"], None)).startswith("t: ")


def test_no_row_is_read() -> None:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE VIEW t AS SELECT error('SECRET') AS x FROM range(3)")
    assert problem_of(connection, ["t"], None) is None


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MINIMUM_FREE", 2**62)
    assert "is full" in str(problem_of(duckdb.connect(":memory:"), (), str(tmp_path)))


def test_what_counts_as_an_interrupt() -> None:
    assert is_interrupted(duckdb.InterruptException("x"))
    assert is_interrupted(RuntimeError("Query interrupted"))
    assert not is_interrupted(RuntimeError("other"))
    assert not is_interrupted(ValueError("interrupted"))
