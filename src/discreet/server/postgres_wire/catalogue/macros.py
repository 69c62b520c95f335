"""PostgreSQL's functions about its catalogue, as macros of the empty database; most of them return a constant.

Macros look names up in maps, not in tables: inside a subquery, a column that is given as an argument could be taken for one of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

PREFIX = "pgf_"  # of our macros
_TYPE_NAME = (
    "CASE TRY_CAST(x AS INTEGER) WHEN 16 THEN 'boolean' WHEN 17 THEN 'bytea' WHEN 18 THEN '\"char\"' WHEN 19 THEN 'name' "
    "WHEN 20 THEN 'bigint' "
    "WHEN 21 THEN 'smallint' WHEN 23 THEN 'integer' WHEN 25 THEN 'text' WHEN 26 THEN 'oid' WHEN 700 THEN 'real' "
    "WHEN 701 THEN 'double precision' WHEN 1042 THEN 'character' WHEN 1043 THEN 'character varying' WHEN 1082 THEN 'date' "
    "WHEN 1114 THEN 'timestamp without time zone' WHEN 1184 THEN 'timestamp with time zone' WHEN 1700 THEN 'numeric' "
    "ELSE {type_names}[TRY_CAST(x AS INTEGER)] END"
)
_ABSENT = (  # definitions of things that are not here
    *("pg_get_indexdef", "pg_get_constraintdef", "pg_get_viewdef", "pg_get_ruledef", "pg_get_triggerdef", "pg_get_functiondef"),
    *("pg_get_function_result", "pg_get_function_arguments", "pg_get_function_identity_arguments", "pg_get_statisticsobjdef_columns"),
    *("pg_get_partkeydef", "pg_get_serial_sequence", "pg_get_expr", "shobj_description", "pg_tablespace_location", "inet_server_addr"),
    *("inet_server_port", "inet_client_addr", "inet_client_port", "pg_get_partition_constraintdef", "pg_get_function_sqlbody"),
    "pg_advisory_unlock_all",  # asyncpg's pools call it: nothing was locked
)
_YES = (
    *("pg_table_is_visible", "pg_type_is_visible", "pg_function_is_visible", "pg_operator_is_visible", "pg_collation_is_visible"),
    *("has_table_privilege", "has_schema_privilege", "has_database_privilege", "has_column_privilege", "has_any_column_privilege"),
    *("has_function_privilege", "has_sequence_privilege", "pg_has_role", "has_type_privilege"),
)
_NO = ("pg_is_in_recovery", "pg_is_other_temp_schema", "pg_relation_is_publishable", "row_security_active", "pg_index_column_has_property")
_ZERO = (
    *("pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_indexes_size", "pg_database_size", "pg_my_temp_schema"),
    *("txid_current", "age", "pg_stat_get_numscans"),
)
_OTHERS = {  # each with its overloads
    "format_type": ("(x, y) AS " + _TYPE_NAME, "(x) AS " + _TYPE_NAME),
    "pg_get_userbyid": ("(x) AS 'discreet'",),
    "pg_encoding_to_char": ("(x) AS 'UTF8'",),
    "pg_size_pretty": ("(x) AS concat(x, ' bytes')",),
    "obj_description": ("(x) AS NULL::VARCHAR", "(x, y) AS NULL::VARCHAR"),
    "col_description": ("(x, y) AS {descriptions}[concat(x, '.', y)]",),
    "quote_ident": (
        "(x) AS CASE WHEN regexp_full_match(x, '[a-z_][a-z0-9_$]*') THEN x ELSE concat('\"', replace(x, '\"', '\"\"'), '\"') END",
    ),
    "quote_literal": ("(x) AS concat('''', replace(x, '''', ''''''), '''')",),
    "to_regclass": ("(x) AS {relation_numbers}[replace(replace(replace(x, 'public.', ''), '\"public\".', ''), '\"', '')]::UINTEGER",),
    "regclass_name": ("(x) AS coalesce({relation_names}[TRY_CAST(x AS INTEGER)], x::VARCHAR)",),
    "regnamespace_name": ("(x) AS coalesce({schema_names}[TRY_CAST(x AS INTEGER)], x::VARCHAR)",),
    "to_regtype": ("(x) AS {type_numbers}[x]::UINTEGER",),
    "to_regnamespace": ("(x) AS {schema_numbers}[x]::UINTEGER",),
    "array_upper": ("(x, y) AS len(x)",),
    "array_lower": ("(x, y) AS 1",),
    "current_schemas": ("(x) AS ['pg_catalog', 'public']",),
    "pg_postmaster_start_time": ("() AS NULL::TIMESTAMP",),
    "pg_conf_load_time": ("() AS NULL::TIMESTAMP",),
    "array_position": ("(x, y) AS list_position(x, y)",),
    "json_build_object": ("() AS NULL::VARCHAR", *(f"({', '.join(f'a{i}' for i in range(n))}) AS NULL::VARCHAR" for n in range(2, 18, 2))),
    "pg_char_to_encoding": ("(x) AS 6",),
    "text_of_list": ("(x) AS array_to_string(x, ',')",),
}


def _of_any(names: tuple[str, ...], value: str) -> dict[str, tuple[str, ...]]:
    """Macros that return a constant, whatever arguments they get."""
    arguments = ("()", "(a)", "(a, b)", "(a, b, c)", "(a, b, c, d)")
    return {name: tuple(f"{given} AS {value}" for given in arguments) for name in names}


_ALL = {**_of_any(_ABSENT, "NULL::VARCHAR"), **_of_any(_YES, "true"), **_of_any(_NO, "false"), **_of_any(_ZERO, "0::BIGINT"), **_OTHERS}
MACRO_NAMES = frozenset(_ALL)


def macros(maps: Mapping[str, Mapping[Any, Any]]) -> list[str]:
    """The statements that create all macros, with these maps in them."""
    spelled = {name: _map(one.items()) for name, one in maps.items()}
    written = (f"CREATE MACRO {PREFIX}{name}{', '.join(ways)}" for name, ways in _ALL.items())
    return [re.sub(r"\{(\w+)\}", lambda found: spelled[found[1]], text) for text in written]


def _map(items: Iterable[tuple[Any, Any]]) -> str:
    pairs = list(items)
    keys, values = (f"[{', '.join(_literal(pair[side]) for pair in pairs)}]" for side in (0, 1))
    return f"map({keys}, {values})" if pairs else "map(['']::VARCHAR[], ['']::VARCHAR[])"


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
