"""What the catalogue of a data set holds: its tables and columns as they are declared. None of it comes from private rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.exact import short
from discreet.server.postgres_wire.catalogue.macros import macros
from discreet.server.postgres_wire.catalogue.relations import DUCKDB_TYPES, relations
from discreet.server.postgres_wire.types import type_of
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table

PG, INFO, PUBLIC = "pg", "info", "tables"  # schemas of the empty database; the last is that of the data set's tables
SCHEMAS = {"pg_catalog": PG, "information_schema": INFO}
FILLED = frozenset(  # relations that have rows here; all others are empty
    {
        *("pg_namespace", "pg_class", "pg_attribute", "pg_type", "pg_description", "pg_database", "pg_roles", "pg_user", "pg_am"),
        *("pg_settings", "pg_collation", "pg_tables", "pg_stat_user_tables", "schemata", "tables", "columns"),
    }
)
_OWNER, _FIRST_TABLE = 10, 16384  # numbers of objects
_CLASSES = {"pg_class": 1259, "pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255, "pg_namespace": 2615, "pg_database": 1262}
_CLASSES |= {f"pg_catalog.{name}": oid for name, oid in _CLASSES.items()}
_SPELLED = {Kind.BOOLEAN: "boolean", Kind.INTEGER: "bigint", Kind.REAL: "double precision", Kind.TEXT: "text", Kind.DATE: "date"}
_NATIVE = {Kind.BOOLEAN: "BOOLEAN", Kind.INTEGER: "BIGINT", Kind.REAL: "DOUBLE", Kind.TEXT: "VARCHAR", Kind.DATE: "DATE"}
# number, name, length, by value, category, element, array
_BASIC: tuple[tuple[int, str, int, bool, str, int, int], ...] = (
    (16, "bool", 1, True, "B", 0, 1000), (17, "bytea", -1, False, "U", 0, 1001), (18, "char", 1, True, "Z", 0, 1002),
    (19, "name", 64, False, "S", 18, 1003), (20, "int8", 8, True, "N", 0, 1016), (21, "int2", 2, True, "N", 0, 1005),
    (23, "int4", 4, True, "N", 0, 1007), (25, "text", -1, False, "S", 0, 1009), (26, "oid", 4, True, "N", 0, 1028),
    (114, "json", -1, False, "U", 0, 199), (700, "float4", 4, True, "N", 0, 1021), (701, "float8", 8, True, "N", 0, 1022),
    (1042, "bpchar", -1, False, "S", 0, 1014), (1043, "varchar", -1, False, "S", 0, 1015), (1082, "date", 4, True, "D", 0, 1182),
    (1083, "time", 8, True, "D", 0, 1183), (1114, "timestamp", 8, True, "D", 0, 1115), (1184, "timestamptz", 8, True, "D", 0, 1185),
    (1700, "numeric", -1, False, "N", 0, 1231), (2950, "uuid", 16, False, "U", 0, 2951), (3802, "jsonb", -1, False, "U", 0, 3807),
    (1000, "_bool", -1, False, "A", 16, 0), (1005, "_int2", -1, False, "A", 21, 0), (1007, "_int4", -1, False, "A", 23, 0),
    (1009, "_text", -1, False, "A", 25, 0), (1015, "_varchar", -1, False, "A", 1043, 0), (1016, "_int8", -1, False, "A", 20, 0),
    (1022, "_float8", -1, False, "A", 701, 0), (1182, "_date", -1, False, "A", 1082, 0), (1115, "_timestamp", -1, False, "A", 1114, 0),
    (1231, "_numeric", -1, False, "A", 1700, 0),
)  # fmt: skip


def setup(dataset: str, tables: Iterable[Table]) -> dict[str, Any]:
    """What the process creates: relations, functions, rows, and the data set's tables, which stay empty."""
    listed = list(tables)
    statements = [f"CREATE SCHEMA {name}" for name in (PG, INFO, PUBLIC)]
    for (schema, name), columns in relations().items():
        spelled = ", ".join(f'"{column}" {DUCKDB_TYPES[letter]}' for column, letter in columns)
        statements.append(f'CREATE TABLE {SCHEMAS[schema]}."{name}" ({spelled})')
    for table in listed:
        spelled = ", ".join(f"{_quoted(column.name)} {_NATIVE.get(column.kind, 'TIMESTAMP')}" for column in table.columns)
        statements.append(f"CREATE TABLE {PUBLIC}.{_quoted(table.name)} ({spelled})")
    given = _rows(dataset, listed)
    rows = {f'{SCHEMAS[schema]}."{name}"': _filled(schema, name, some) for (schema, name), some in given.items()}
    return {"statements": [*statements, *macros(_maps(given))], "rows": rows}


def _maps(given: dict[tuple[str, str], list[dict[str, Any]]]) -> dict[str, dict[Any, Any]]:
    """What macros look up: names by number, and numbers by name."""
    types, classes, schemas = (given["pg_catalog", name] for name in ("pg_type", "pg_class", "pg_namespace"))
    return {
        "type_names": {row["oid"]: row["typname"] for row in types},
        "type_numbers": {row["typname"]: row["oid"] for row in types},
        "relation_names": {row["oid"]: row["relname"] for row in classes},
        "relation_numbers": _CLASSES | {row["relname"]: row["oid"] for row in classes},
        "schema_names": {row["oid"]: row["nspname"] for row in schemas},
        "schema_numbers": {row["nspname"]: row["oid"] for row in schemas},
        "descriptions": {f"{row['objoid']}.{row['objsubid']}": row["description"] for row in given["pg_catalog", "pg_description"]},
    }


def described(table: Table, column: ColumnMetadata) -> str:
    """What is declared about a column, in a line."""
    said = ["names the protected unit"] if column.name == table.unit_column else []
    if column.bounds is not None and column.kind.numeric:
        said.append(f"clipped to {short(column.bounds[0])} … {short(column.bounds[1])}")
    if column.keys is not None:
        said.append(f"{len(column.keys)} public values")
    return "; ".join(said)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _filled(schema: str, name: str, given: list[dict[str, Any]]) -> list[list[Any]]:
    columns = [column for column, _ in relations()[schema, name]]
    assert all(set(row) <= set(columns) for row in given), f"{name} has no such column"
    return [[row.get(column) for column in columns] for row in given]


def _rows(dataset: str, tables: list[Table]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    numbered = list(enumerate(tables, start=_FIRST_TABLE))
    pg: dict[str, list[dict[str, Any]]] = {
        "pg_namespace": [
            {"oid": oid, "nspname": name, "nspowner": _OWNER}
            for oid, name in ((11, "pg_catalog"), (2200, "public"), (13000, "information_schema"))
        ],
        "pg_class": [_class(oid, table) for oid, table in numbered],
        "pg_attribute": [_attribute(oid, table, at) for oid, table in numbered for at in range(len(table.columns))],
        "pg_type": [_type(*one) for one in _BASIC],
        "pg_description": [
            {"objoid": oid, "classoid": 1259, "objsubid": at, "description": text}
            for oid, table in numbered
            for at, column in enumerate(table.columns, start=1)
            if (text := described(table, column))
        ],
        "pg_database": [
            {"oid": 16000, "datname": dataset, "datdba": _OWNER, "encoding": 6, "datlocprovider": "c", "datistemplate": False}
            | {"datallowconn": True, "datconnlimit": -1, "dattablespace": 1663, "datcollate": "C", "datctype": "C"}
        ],
        "pg_roles": [
            {"oid": _OWNER, "rolname": "discreet", "rolsuper": False, "rolinherit": True, "rolcanlogin": False, "rolconnlimit": -1}
        ],
        "pg_user": [{"usename": "discreet", "usesysid": _OWNER, "usesuper": False, "usecreatedb": False}],
        "pg_am": [{"oid": 2, "amname": "heap", "amtype": "t"}],
        "pg_settings": [{"name": "server_version_num", "setting": "150000"}, {"name": "max_index_keys", "setting": "32"}],
        "pg_collation": [{"oid": 100, "collname": "default", "collnamespace": 11, "collowner": _OWNER, "collencoding": -1}],
        "pg_tables": [
            {"schemaname": "public", "tablename": table.name, "tableowner": "discreet", "hasindexes": False, "hasrules": False}
            | {"hastriggers": False, "rowsecurity": False}
            for table in tables
        ],
        "pg_stat_user_tables": [{"relid": oid, "schemaname": "public", "relname": table.name} for oid, table in numbered],
    }
    info = {
        "schemata": [
            {"catalog_name": dataset, "schema_name": name, "schema_owner": "discreet"}
            for name in ("pg_catalog", "public", "information_schema")
        ],
        "tables": [
            {"table_catalog": dataset, "table_schema": "public", "table_name": table.name, "table_type": "BASE TABLE"}
            | {"is_insertable_into": "NO", "is_typed": "NO"}
            for table in tables
        ],
        "columns": [_column(dataset, table, at) for table in tables for at in range(len(table.columns))],
    }
    return {("pg_catalog", name): rows for name, rows in pg.items()} | {("information_schema", name): rows for name, rows in info.items()}


def _class(oid: int, table: Table) -> dict[str, Any]:
    none = dict.fromkeys(("relhasindex", "relisshared", "relhasrules", "relhastriggers", "relhassubclass", "relrowsecurity"), False)
    return none | {
        "oid": oid, "relname": table.name, "relnamespace": 2200, "reltype": 0, "reloftype": 0, "relowner": _OWNER, "relam": 2,
        "relfilenode": 0, "reltablespace": 0, "relpages": 0, "reltuples": -1, "relallvisible": 0, "reltoastrelid": 0, "relpersistence": "p",
        "relkind": "r", "relnatts": len(table.columns), "relchecks": 0, "relforcerowsecurity": False, "relispopulated": True,
        "relreplident": "d", "relispartition": False, "relrewrite": 0,
    }  # fmt: skip


def _attribute(oid: int, table: Table, at: int) -> dict[str, Any]:
    column = table.columns[at]
    of = type_of(column.kind)
    return {
        "attrelid": oid, "attname": column.name, "atttypid": of.oid, "attstattarget": -1, "attlen": of.size, "attnum": at + 1,
        "attndims": 0,
        "attcacheoff": -1, "atttypmod": -1, "attbyval": of.size > 0, "attalign": "i", "attstorage": "p", "attcompression": "",
        "attnotnull": not column.nullable, "atthasdef": False, "atthasmissing": False, "attidentity": "", "attgenerated": "",
        "attisdropped": False, "attislocal": True, "attinhcount": 0, "attcollation": 0,
    }  # fmt: skip


def _functions(name: str, category: str) -> dict[str, str]:
    """The names of the functions that read and write a type's values, by which some drivers know it."""
    if category == "A":
        return {"typinput": "array_in", "typoutput": "array_out", "typreceive": "array_recv", "typsend": "array_send"}
    middle = "_" if name in ("date", "time", "timestamp", "timestamptz", "numeric", "uuid", "json", "jsonb") else ""
    ways = {"typinput": "in", "typoutput": "out", "typreceive": "recv", "typsend": "send"}
    return {column: f"{name}{middle}{way}" for column, way in ways.items()}


def _type(oid: int, name: str, size: int, by_value: bool, category: str, element: int, array: int) -> dict[str, Any]:
    return _functions(name, category) | {
        "oid": oid, "typname": name, "typnamespace": 11, "typowner": _OWNER, "typlen": size, "typbyval": by_value, "typtype": "b",
        "typcategory": category, "typispreferred": False, "typisdefined": True, "typdelim": ",", "typrelid": 0, "typelem": element,
        "typarray": array, "typnotnull": False, "typbasetype": 0,
        "typtypmod": -1, "typndims": 0, "typcollation": 0,
    }  # fmt: skip


def _column(dataset: str, table: Table, at: int) -> dict[str, Any]:
    column = table.columns[at]
    return {
        "table_catalog": dataset, "table_schema": "public", "table_name": table.name, "column_name": column.name,
        "ordinal_position": at + 1,
        "is_nullable": "YES" if column.nullable else "NO", "data_type": _SPELLED.get(column.kind, "timestamp without time zone"),
        "udt_catalog": dataset, "udt_schema": "pg_catalog", "udt_name": type_of(column.kind).name, "dtd_identifier": str(at + 1),
        "is_self_referencing": "NO", "is_identity": "NO", "is_generated": "NEVER", "is_updatable": "NO",
        "numeric_precision": {Kind.INTEGER: 64, Kind.REAL: 53}.get(column.kind),
        "datetime_precision": 0 if column.kind is Kind.DATE else None,
    }  # fmt: skip
