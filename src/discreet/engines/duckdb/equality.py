"""Whether DuckDB's columns that tell units apart do so as their source says; found out from types and collations, without a row."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.sources import Csv, Frame, Parquet, Source
from discreet.engines.duckdb.view import why_unkept
from discreet.engines.identity import one_spelling, unkept
from discreet.tables.kind import Kind

_NANOSECONDS = ("TIMESTAMP_NS", "TIMESTAMPTZ_NS")


def require_equality(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    source: Source,
    relation: str,
    stored: Mapping[str, str],
    declared: Mapping[str, Kind],
    usual: bool,
) -> None:
    """Refuse columns, given by name and type, whose values we would not tell apart as their source does.

    `usual` says whether the user's session compares texts of no collation by their bytes.
    """
    read = source.header if isinstance(source, Csv) else source.texts if isinstance(source, Frame) else ()
    for column, sql_type in stored.items():
        if column in read:
            continue  # read by its declared kind alone, value by value
        cut = isinstance(source, Frame) and column in source.cut and sql_type not in _NANOSECONDS
        if cut or (isinstance(source, Parquet) and _is_int96(connection, source, column)):
            raise unkept(table, column, "its parts of microseconds or days would be cut", "store it in microseconds, or as text")
        if (problem := why_unkept(column, sql_type, declared.get(column))) is not None:
            raise unkept(table, column, *problem)
        if sql_type == "VARCHAR" and not _tells_bytes_apart(connection, relation, DUCKDB.identifier(column), usual):
            raise unkept(table, column, "its collation holds different texts equal", one_spelling(f'lower({column}) COLLATE "binary"'))


def is_bytewise(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether texts of no collation are compared by their bytes in the user's session."""
    said = connection.cursor().execute("SELECT current_setting('default_collation')").fetchall()[0][0]
    return str(said or "").lower() in ("", "binary", "c", "posix")


def _tells_bytes_apart(connection: duckdb.DuckDBPyConnection, relation: str, column: str, usual: bool) -> bool:
    """Whether a text column has no collation but the one by bytes; a column without one has that of the user's session."""
    if not _is_comparable(connection, relation, column, '"binary"'):
        return False
    return usual or not _is_comparable(connection, relation, column, "nocase")  # then bytes are said of the column itself


def _is_comparable(connection: duckdb.DuckDBPyConnection, relation: str, column: str, collation: str) -> bool:
    """Whether DuckDB's binder compares a column with a text of this collation: of two collations that are said, it does not."""
    try:
        connection.execute(f"EXPLAIN SELECT 1 FROM {relation} WHERE {column} = ('' COLLATE {collation})")
        return True
    except duckdb.BinderException:
        return False


def _is_int96(connection: duckdb.DuckDBPyConnection, source: Parquet, column: str) -> bool:
    """Whether a Parquet file keeps a moment in nanoseconds in the old way, which DuckDB reads as microseconds."""
    files = f"parquet_schema({DUCKDB.text(source.pattern)})"
    found = connection.execute(f"SELECT 1 FROM {files} WHERE type = 'INT96' AND name = {DUCKDB.text(column)} LIMIT 1")
    return bool(found.fetchall())
