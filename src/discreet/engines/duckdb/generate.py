"""Generated tables for demonstrations: written by SQL, and read without protection, for they contain no real person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB


def write_tables(folder: Path, tables: Mapping[str, str]) -> dict[str, Path]:
    """Write the result of each SELECT to a Parquet file of that name; equal statements write equal rows."""
    files = {name: folder / f"{name}.parquet" for name in tables}
    with duckdb.connect(":memory:") as connection:
        for name, select in tables.items():
            connection.execute(f"COPY ({select}) TO {DUCKDB.text(str(files[name]))} (FORMAT parquet)")
    return files


def exact_rows(files: Mapping[str, Path], sql: str) -> list[tuple[Any, ...]]:
    """The result of a query over generated tables, without noise."""
    with duckdb.connect(":memory:") as connection:
        for name, path in files.items():
            connection.execute(f"CREATE VIEW {DUCKDB.identifier(name)} AS SELECT * FROM read_parquet({DUCKDB.text(str(path))})")
        return connection.execute(sql).fetchall()


def as_csv(files: Mapping[str, Path]) -> dict[str, tuple[dict[str, str], Path]]:
    """The same tables as CSV files in the same folder, with their columns and types."""
    found = {}
    with duckdb.connect(":memory:") as connection:
        for name, path in files.items():
            rows, target = f"SELECT * FROM read_parquet({DUCKDB.text(str(path))})", path.with_suffix(".csv")
            connection.execute(f"COPY ({rows}) TO {DUCKDB.text(str(target))} (FORMAT csv, HEADER)")
            columns = connection.execute(f"DESCRIBE {rows}").fetchall()
            found[name] = ({str(row[0]): str(row[1]) for row in columns}, target)
    return found
