"""Tables and columns from the system catalog of a PostgreSQL database; values are never read."""

from __future__ import annotations

import re

from discreet.engines.postgres.server import Connection
from discreet.engines.postgres.view import StoredColumn

_KINDS = "('r', 'p', 'v', 'm')"  # tables, partitioned tables, views, materialised views; not foreign tables, which may fail on a row
_PATH = "SELECT pg_catalog.current_schemas(false)"
_TABLE = f"""
    SELECT n.nspname, c.relname
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relname = %s AND n.nspname = ANY (%s::name[]) AND c.relkind IN {_KINDS}
    ORDER BY array_position(%s::name[], n.nspname)
    LIMIT 1"""
_TABLES = f"""
    SELECT DISTINCT ON (c.relname) c.relname, n.nspname
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY (%s::name[]) AND c.relkind IN {_KINDS} AND NOT c.relispartition
        AND has_schema_privilege(n.oid, 'USAGE') AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
    ORDER BY c.relname, array_position(%s::name[], n.nspname)"""
# a domain is read as its base type; citext is known only if it is the type of the extension
_COLUMNS = """
    WITH RECURSIVE below(place, type, modifier) AS (
        SELECT a.attnum, a.atttypid, a.atttypmod
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT b.place, t.typbasetype, t.typtypmod FROM below AS b JOIN pg_type AS t ON t.oid = b.type WHERE t.typtype = 'd')
    SELECT a.attname, t.typname, b.modifier, t.typtype = 'e', has_column_privilege(c.oid, a.attnum, 'SELECT'),
        t.typnamespace = 'pg_catalog'::regnamespace OR EXISTS (
            SELECT FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
            WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e' AND e.extname = 'citext'),
        COALESCE((SELECT l.collisdeterministic FROM pg_collation AS l WHERE l.oid = a.attcollation), true)
    FROM below AS b JOIN pg_type AS t ON t.oid = b.type
        JOIN pg_namespace AS n ON n.nspname = %s JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = %s
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = b.place
    WHERE t.typtype <> 'd'
    ORDER BY a.attnum"""

_PART = r'(?:"((?:[^"]|"")+)"|([^".]+))'
_REFERENCE = re.compile(rf"{_PART}(?:\.{_PART})?")


def search_path(connection: Connection) -> list[str]:
    """The schemas in which the role finds tables, under its own settings."""
    [(found,)] = connection.execute(_PATH).fetchall()
    return [str(schema) for schema in found]


def read_reference(text: str) -> tuple[str | None, str] | None:
    """Parse schema and table as people write them, plain or in double quotes; None if the text is neither.

    >>> read_reference("clinic.Visits"), read_reference('"my ""schema"".1".visits'), read_reference("visits")
    (('clinic', 'Visits'), ('my "schema".1', 'visits'), (None, 'visits'))
    """
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return None
    first, second = (_unquoted(*found.group(at, at + 1)) for at in (1, 3))
    return (None, str(first)) if second is None else (first, second)


def _unquoted(quoted: str | None, plain: str | None) -> str | None:
    return plain if quoted is None else quoted.replace('""', '"')


def find(connection: Connection, schemas: list[str], table: str) -> tuple[str, str] | None:
    """The schema and name of a table, from the first of these schemas that has it."""
    found = connection.execute(_TABLE, [table, schemas, schemas]).fetchone()
    return None if found is None else (str(found[0]), str(found[1]))


def tables(connection: Connection, schemas: list[str]) -> dict[str, str]:
    """All tables that the role may read, with their schemas; of two with the same name, the first on the path. Partitions are left out."""
    return {str(table): str(schema) for table, schema in connection.execute(_TABLES, [schemas, schemas]).fetchall()}


def stored_columns(connection: Connection, schema: str, table: str) -> list[StoredColumn]:
    """The columns of a table."""
    found = connection.execute(_COLUMNS, [schema, table, schema, table]).fetchall()
    return [
        StoredColumn(str(name), str(sql_type) if known else "", int(modifier), bool(is_enum), bool(readable), bool(bytewise))
        for name, sql_type, modifier, is_enum, readable, known, bytewise in found
    ]
