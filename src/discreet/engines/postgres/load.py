"""Load the generated tables of a demonstration into a schema of their own in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from discreet.errors import EngineError

_OURS = "made up by discreet; it may be dropped at any time"
_TYPES = {
    "BIGINT": "bigint",
    "INTEGER": "integer",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
}
_AT_ONCE = 2**20  # bytes

CsvTable = tuple[Mapping[str, str], Path]  # the columns with DuckDB's types, and a CSV file with a header


def load_tables(address: str, schema: str, tables: Mapping[str, CsvTable]) -> None:
    """Recreate the schema and copy the tables into it; a schema that discreet did not create is never changed."""
    try:
        with psycopg.connect(address, connect_timeout=20) as connection:
            made = _begin(connection, schema)
            for name, (columns, file) in tables.items() if made else ():
                _copy(connection, sql.Identifier(schema, name), columns, file)
    except (psycopg.Error, OSError):
        made = None
    if made is None:
        raise EngineError("the demonstration's tables cannot be written there: check the address, and that the role may create a schema")
    if not made:
        raise EngineError(f"the database has a schema {schema} that discreet did not create: drop it, or choose another database")


def _begin(connection: psycopg.Connection, schema: str) -> bool:
    """Drop our old schema and create it again; False if it is not ours."""
    named, comment = sql.Identifier(schema), "SELECT obj_description(oid, 'pg_namespace') FROM pg_catalog.pg_namespace WHERE nspname = %s"
    found = connection.execute(comment, [schema]).fetchone()
    if found is not None and found[0] != _OURS:
        return False
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(named))
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(named))
    connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(named, _OURS))
    return True


def _copy(connection: psycopg.Connection, table: sql.Identifier, columns: Mapping[str, str], file: Path) -> None:
    typed = [sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(_TYPES[kind])) for name, kind in columns.items()]
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(typed)))
    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN (FORMAT csv, HEADER)").format(table)) as into, file.open("rb") as rows:
        while some := rows.read(_AT_ONCE):
            into.write(some)
    connection.execute(sql.SQL("ANALYZE {}").format(table))
