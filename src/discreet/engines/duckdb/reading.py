"""How the columns of a source are read in DuckDB, besides their types, and which are not read at all."""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.sources import Csv, Frame, Parquet, Source
from discreet.engines.duckdb.view import Reading


def reading(source: Source, identities: Collection[str]) -> Reading:
    """How the columns of a source are read; `identities` tell units apart."""
    match source:
        case Csv():
            return Reading(source.header, of_csv=True, identities=identities)
        case Frame():
            return Reading(source.texts, any_kind=True, checked=not source.unchecked, identities=identities)
        case _:
            return Reading(identities=identities)


def unread(connection: duckdb.DuckDBPyConnection, source: Source, stored: Collection[str]) -> tuple[str, ...]:
    """Columns that are not read: types that DuckDB refuses, or reads in a way that fails on some values."""
    match source:
        case Frame():
            return source.unread
        case Parquet():
            # DuckDB makes microseconds of milliseconds while it reads, and fails beyond the year 292,277; no guard of ours comes before
            coarse = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE 'TimestampType%MILLIS=MilliSeconds%'"
            found = connection.execute(f"SELECT DISTINCT name FROM parquet_schema({DUCKDB.text(source.pattern)}) WHERE {coarse}")
            return tuple(str(row[0]) for row in found.fetchall() if str(row[0]) in stored)
        case _:
            return ()
