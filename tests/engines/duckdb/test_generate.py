"""Generated tables: the same rows each time, as Parquet and as CSV."""

from __future__ import annotations

from pathlib import Path

from discreet.engines.duckdb.generate import as_csv, exact_rows, write_tables

TABLES = {"a": "SELECT i AS id, i / 2 AS half FROM range(5) t(i)", "b": "SELECT 'x, \"y\"' AS s"}


def test_tables_are_written_and_read_without_noise(tmp_path: Path) -> None:
    files = write_tables(tmp_path, TABLES)
    assert set(files) == {"a", "b"}
    assert exact_rows(files, "SELECT COUNT(*), SUM(half) FROM a") == [(5, 5.0)]
    assert exact_rows(files, "SELECT s FROM b") == [('x, "y"',)]


def test_csv_files_have_a_header_and_types(tmp_path: Path) -> None:
    found = as_csv(write_tables(tmp_path, TABLES))
    columns, file = found["a"]
    assert columns == {"id": "BIGINT", "half": "DOUBLE"}
    assert file.read_text().splitlines()[:2] == ["id,half", "0,0.0"]
    assert found["b"][1].read_text() == 's\n"x, ""y"""\n'
