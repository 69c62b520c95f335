"""How the columns of a source are read in DuckDB beyond their types, and which are not read."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.sources import Csv, DuckDBSource, LocalFrame, Parquet
from discreet.engines.duckdb.view import ReadOptions
from discreet.tables.kind import Kind


def read_options(source: DuckDBSource, identities: Collection[str]) -> ReadOptions:
    """How the columns of a source are read; `identities` identify units."""
    match source:
        case Csv():
            return ReadOptions(source.header, of_csv=True, identities=identities)
        case LocalFrame():
            return ReadOptions(source.texts, any_kind=True, checked=not source.unchecked, identities=identities)
        case _:
            return ReadOptions(identities=identities)


def untyped_columns(source: DuckDBSource, declared: Mapping[str, Kind]) -> tuple[str, ...]:
    """The columns whose types neither the source nor a declaration gives: they are read as texts."""
    match source:
        case Csv():
            found = source.header
        case LocalFrame():
            found = source.objects
        case _:
            found = ()
    return tuple(column for column in found if column not in declared)


def unsupported_columns(connection: duckdb.DuckDBPyConnection, source: DuckDBSource, stored: Collection[str]) -> tuple[str, ...]:
    """Columns that are not read: their types are refused by DuckDB, or reading them fails on some values."""
    match source:
        case LocalFrame():
            return source.unsupported
        case Parquet():
            # DuckDB converts milliseconds to microseconds on reading and fails beyond the year 292,277, before any guard of ours
            coarse = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE 'TimestampType%MILLIS=MilliSeconds%'"
            found = connection.execute(f"SELECT DISTINCT name FROM parquet_schema({DUCKDB.text(source.pattern)}) WHERE {coarse}")
            return tuple(str(row[0]) for row in found.fetchall() if str(row[0]) in stored)
        case _:
            return ()
