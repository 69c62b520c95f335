"""The view of a DuckDB table: every column has one of our kinds, and no stored value makes a query fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import final

from attrs import frozen

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.parse import bytewise, in_calendar, parsed, utc
from discreet.engines.identity import declare_type
from discreet.engines.view import View
from discreet.tables.kind import Kind

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
_TEXTS = {"VARCHAR", "ENUM", "UUID", "JSON"}
_MOMENTS = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
_ZONED = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"}
UNSUPPORTED = "a type that is not supported"
_EXACT = {*_WIDE, "DECIMAL", "TIMESTAMP_NS", "TIMESTAMPTZ_NS"}  # stored types with one text per value
_BEYOND = 2**63  # an integer below this fits 64 bits


@final
@frozen
class ReadOptions:
    """How the columns of a source are read beyond their types.

    `untyped` columns are texts that are parsed as their declared kind. With `any_kind`, a declared kind applies whatever the stored type.
    Texts that were not `checked` may be invalid UTF-8. `identities` identify units.
    """

    untyped: Collection[str] = ()
    of_csv: bool = False
    any_kind: bool = False
    checked: bool = True
    identities: Collection[str] = ()


def make_view(stored: Mapping[str, str], declared: Mapping[str, Kind], options: ReadOptions | None = None) -> View:
    """Decide the kind and the SQL of each stored column, from its type.

    >>> make_view({"id": "UBIGINT", "tags": "VARCHAR[]"}, {})
    View(columns=('TRY_CAST("id" AS BIGINT) AS "id"',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    return View.of(
        ((name, *_column(name, sql_type, declared.get(name), options or ReadOptions())) for name, sql_type in stored.items()), DUCKDB
    )


def _column(name: str, sql_type: str, wanted: Kind | None, options: ReadOptions) -> tuple[Kind | None, str]:
    here = DUCKDB.identifier(name)
    if name in options.untyped:
        # not the bare column: DuckDB pushes its cast into the CSV reader, which drops the row where the cast should give NULL
        text = f"NULLIF({here}, '')" if options.of_csv else here
        if options.of_csv and name in options.identities and wanted is Kind.INTEGER:  # a fraction would be rounded, and become another unit
            text = f"CASE WHEN regexp_full_match({text}, '[ ]*[-+]?[0-9]+[ ]*') THEN {text} END"
        return wanted or Kind.TEXT, parsed(text, wanted or Kind.TEXT)
    if not options.checked and sql_type == "VARCHAR":
        here = f"TRY(decode(encode({here})))"  # invalid UTF-8 makes functions and the conversion to Python fail
    kind, value = _read_as(sql_type, here)
    if kind is None or wanted in (None, kind):
        return kind, value
    return _converted(kind, sql_type, wanted, here, value, options.any_kind, name in options.identities) or (kind, value)


def identity_problem(column: str, sql_type: str, wanted: Kind | None) -> tuple[str, str] | None:
    """Why a stored type, read as a kind, does not keep the equality of its values, and what to do; None if it does."""
    name = sql_type.split("(")[0]
    if name in _WIDE and wanted is not Kind.TEXT:
        return f"not all values of {name} fit 64 bits", declare_type(column)
    if name in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS") and wanted is not Kind.TEXT:
        return "its nanoseconds would be truncated", declare_type(column)
    if name == "DECIMAL" and wanted not in (Kind.TEXT, Kind.INTEGER):
        return "decimals are read as the nearest floats", declare_type(column)
    if name in _MOMENTS | _ZONED and wanted is Kind.DATE:
        return "timestamps of the same day would become equal", declare_type(column, "timestamp")
    if name in _TEXTS and wanted not in (None, Kind.TEXT):
        return "different texts can parse as the same value", declare_type(column)
    return None


def _read_as(sql_type: str, value: str) -> tuple[Kind | None, str]:
    """The kind of a stored type, and a conversion that never fails; narrow integers stay narrow, which is fast."""
    if sql_type.endswith("]"):
        return None, value  # lists and arrays
    match sql_type.split("(")[0]:
        case "BOOLEAN":
            return Kind.BOOLEAN, value
        case name if name in INTEGERS:
            return Kind.INTEGER, value
        case name if name in _WIDE:
            return Kind.INTEGER, f"TRY_CAST({value} AS BIGINT)"
        case "DOUBLE":
            return Kind.REAL, _number(value)
        case "FLOAT":
            return Kind.REAL, f"CAST({_number(value)} AS DOUBLE)"
        case "DECIMAL":
            return Kind.REAL, f"CAST({value} AS DOUBLE)"
        case name if name in _TEXTS:
            return Kind.TEXT, bytewise(value if name == "VARCHAR" else f"CAST({value} AS VARCHAR)")
        case "DATE":
            return Kind.DATE, in_calendar(value, "DATE")
        case name if name in _MOMENTS:
            return Kind.TIMESTAMP, in_calendar(value if name == "TIMESTAMP" else f"TRY_CAST({value} AS TIMESTAMP)", "TIMESTAMP")
        case "TIMESTAMP WITH TIME ZONE":
            return Kind.TIMESTAMP, utc(value)
        case "TIMESTAMPTZ_NS":
            return Kind.TIMESTAMP, utc(f"TRY_CAST({value} AS TIMESTAMPTZ)")
    return None, value


def _converted(kind: Kind, sql_type: str, wanted: Kind, here: str, value: str, any_kind: bool, identity: bool) -> tuple[Kind, str] | None:
    """A column converted to its declared kind, which differs from its own; None if it cannot be, and the policy reports that.

    `here` is the stored column, `value` the same with its own kind. Each value is converted by itself; one that cannot be is NULL. A
    column that identifies units is converted in any source, as long as different values stay different.
    """
    name = sql_type.split("(")[0]
    if (kind, wanted) == (Kind.INTEGER, Kind.REAL):
        return wanted, f"CAST({here} AS DOUBLE)"
    if not any_kind and not identity:
        return None
    match kind, wanted:
        case Kind.REAL, Kind.INTEGER:
            return wanted, _whole(here if name == "DECIMAL" else value, name == "DECIMAL")
        case _, Kind.TEXT if name in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):
            moment = here if name == "TIMESTAMP_NS" else f"TRY_CAST({here} AS TIMESTAMP_NS)"
            return wanted, bytewise(f"CAST(CASE WHEN isfinite({moment}) THEN epoch_ns({moment}) END AS VARCHAR)")
        case _, Kind.TEXT if kind is Kind.INTEGER or name in _EXACT:
            return wanted, bytewise(f"CAST({here} AS VARCHAR)")
    if not any_kind:
        return None
    match kind, wanted:
        case Kind.TEXT, _:
            return wanted, parsed(value, wanted)
        case Kind.REAL, Kind.TEXT:  # 17.0 as 17: pandas stores integers as floats where one is missing
            return wanted, bytewise(f"COALESCE(CAST({_whole(value, False)} AS VARCHAR), CAST({value} AS VARCHAR))")
        case Kind.BOOLEAN, Kind.TEXT:  # as Python writes it: pandas stores booleans as objects where one is missing
            return wanted, bytewise(f"CASE {here} WHEN TRUE THEN 'True' WHEN FALSE THEN 'False' END")
        case (_, Kind.TEXT) | (Kind.BOOLEAN, (Kind.INTEGER | Kind.REAL)) | (Kind.DATE, Kind.TIMESTAMP) | (Kind.TIMESTAMP, Kind.DATE):
            cast = f"CAST({value} AS {DUCKDB.type_name(wanted)})"
            return wanted, bytewise(cast) if wanted is Kind.TEXT else cast
        case ((Kind.INTEGER | Kind.REAL), Kind.BOOLEAN):
            return wanted, f"CASE WHEN {value} = 0 THEN FALSE WHEN {value} = 1 THEN TRUE END"
    return wanted, f"CAST(NULL AS {DUCKDB.type_name(wanted)})"  # numbers and dates do not convert into each other


def _whole(number: str, decimal: bool) -> str:
    """A number as a 64-bit integer; NULL if it is not an integer or does not fit."""
    if decimal:
        return f"CASE WHEN FLOOR({number}) = {number} THEN TRY_CAST({number} AS BIGINT) END"
    # the clamped value is cast, for DuckDB may try the cast on values that no row has
    inside = f"LEAST(GREATEST({number}, {-_BEYOND}.0), {_BEYOND - 1024}.0)"
    fits = f"{number} >= {-_BEYOND}.0 AND {number} < {_BEYOND}.0 AND FLOOR({number}) = {number}"
    return f"CASE WHEN {fits} THEN TRY_CAST({inside} AS BIGINT) END"


def _number(value: str) -> str:
    """A float, or NULL where it is NaN.

    The minima and maxima of a Parquet file ignore NaN, and DuckDB trusts them: it may take `x > low` for true of all rows, and answer
    `isnan(x)` without reading. Then one person's value beyond a bound would decide how everybody's NaN is read. DuckDB does not fold this
    test.
    """
    return f"CASE WHEN isfinite({value}) THEN {value} WHEN isinf({value}) THEN {value} END"
