"""Whether DuckDB could run a statement now, checked without reading a row."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from discreet.engines.disk import disk_problem
from discreet.engines.duckdb.dialect import DUCKDB


def problem_of(connection: duckdb.DuckDBPyConnection, tables: Iterable[str], scratch: str | None) -> str | None:
    """Why no statement could run: the connection is closed, a source is missing or has changed, or the disk is full."""
    try:
        connection.execute("SELECT 1")
    except duckdb.Error as error:
        _reraise_interrupt(error)
        return "the connection to DuckDB is closed: connect again"
    for name in tables:
        try:
            # binding checks the file or table and its columns; LIMIT 0 reads no row
            connection.execute(f"SELECT * FROM {DUCKDB.identifier(name)} LIMIT 0")
        except duckdb.Error as error:
            _reraise_interrupt(error)
            return f"{name}: its file or table is missing, unreadable, or has changed its columns since it was opened: connect again"
    return None if scratch is None else disk_problem(scratch)


def is_interrupted(error: Exception) -> bool:
    """Whether DuckDB was interrupted by Ctrl-C: it drops Python's exception and raises one of these."""
    return isinstance(error, duckdb.InterruptException) or (type(error) is RuntimeError and "interrupted" in str(error).lower())


def _reraise_interrupt(error: Exception) -> None:
    if is_interrupted(error):
        raise error
