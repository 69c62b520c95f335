"""Whether DuckDB could run a statement now, told without reading a row."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.room import no_room


def problem_of(connection: duckdb.DuckDBPyConnection, tables: Iterable[str], scratch: str | None) -> str | None:
    """Why no statement could be run: the connection is closed, a source is gone or has other columns, or there is no room on the disk."""
    try:
        connection.execute("SELECT 1")
    except duckdb.Error as error:
        _pass_on(error)
        return "the connection to DuckDB is closed: connect again"
    for name in tables:
        try:
            # binding looks at the file or table and its columns; LIMIT 0 reads nothing of it
            connection.execute(f"SELECT * FROM {DUCKDB.identifier(name)} LIMIT 0")
        except duckdb.Error as error:
            _pass_on(error)
            return f"{name}: its file or table is gone, cannot be read, or has other columns than when it was opened: connect again"
    return None if scratch is None else no_room(scratch)


def is_interrupted(error: Exception) -> bool:
    """Whether DuckDB saw Ctrl-C: it forgets Python's exception and raises one of these."""
    return isinstance(error, duckdb.InterruptException) or (type(error) is RuntimeError and "interrupted" in str(error).lower())


def _pass_on(error: Exception) -> None:
    if is_interrupted(error):
        raise error
