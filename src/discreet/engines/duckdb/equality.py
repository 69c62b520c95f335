"""Check that columns which identify units in DuckDB keep the equality of their source; types and collations decide, no row is read."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.sources import Csv, DuckDBSource, LocalFrame, Parquet
from discreet.engines.duckdb.view import identity_problem
from discreet.engines.identity import identity_refused, use_normalized_view
from discreet.tables.kind import Kind

_NANOSECONDS = ("TIMESTAMP_NS", "TIMESTAMPTZ_NS")


def require_equality(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    source: DuckDBSource,
    relation: str,
    stored: Mapping[str, str],
    declared: Mapping[str, Kind],
    bytewise: bool,
) -> None:
    """Refuse columns, given by name and type, whose equality as we read them differs from that of their source.

    `bytewise` says whether the user's session compares texts without a collation by their bytes.
    """
    read = source.header if isinstance(source, Csv) else source.texts if isinstance(source, LocalFrame) else ()
    for column, sql_type in stored.items():
        if column in read:
            continue  # read as its declared kind, value by value
        truncated = isinstance(source, LocalFrame) and column in source.truncated and sql_type not in _NANOSECONDS
        if truncated or (isinstance(source, Parquet) and _is_int96(connection, source, column)):
            raise identity_refused(
                table, column, "its fractions of microseconds or days would be truncated", "store it in microseconds, or as text"
            )
        if (problem := identity_problem(column, sql_type, declared.get(column))) is not None:
            raise identity_refused(table, column, *problem)
        if sql_type == "VARCHAR" and not _is_compared_bytewise(connection, relation, DUCKDB.identifier(column), bytewise):
            raise identity_refused(
                table, column, "its collation treats different texts as equal", use_normalized_view(f'lower({column}) COLLATE "binary"')
            )


def is_bytewise(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether texts without a collation are compared by their bytes in the user's session."""
    collation = connection.cursor().execute("SELECT current_setting('default_collation')").fetchall()[0][0]
    return str(collation or "").lower() in ("", "binary", "c", "posix")


def _is_compared_bytewise(connection: duckdb.DuckDBPyConnection, relation: str, column: str, bytewise: bool) -> bool:
    """Whether a text column is compared by its bytes; a column without a collation has that of the user's session."""
    if not _is_comparable(connection, relation, column, '"binary"'):
        return False
    return bytewise or not _is_comparable(connection, relation, column, "nocase")  # then the column itself declares the binary collation


def _is_comparable(connection: duckdb.DuckDBPyConnection, relation: str, column: str, collation: str) -> bool:
    """Whether DuckDB's binder compares a column with a text of this collation: it refuses two explicit collations that differ."""
    try:
        connection.execute(f"EXPLAIN SELECT 1 FROM {relation} WHERE {column} = ('' COLLATE {collation})")
        return True
    except duckdb.BinderException:
        return False


def _is_int96(connection: duckdb.DuckDBPyConnection, source: Parquet, column: str) -> bool:
    """Whether a Parquet file stores timestamps as INT96 (nanoseconds), which DuckDB reads as microseconds."""
    files = f"parquet_schema({DUCKDB.text(source.pattern)})"
    found = connection.execute(f"SELECT 1 FROM {files} WHERE type = 'INT96' AND name = {DUCKDB.text(column)} LIMIT 1")
    return bool(found.fetchall())
