"""A table as we see it in DuckDB: every column one of our kinds, and no value on which a query could fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import final

from attrs import frozen

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.identity import declare
from discreet.tables.kind import Kind

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
_TEXTS = {"VARCHAR", "ENUM", "UUID", "JSON"}
_MOMENTS = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
_ZONED = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"}
UNREAD = "a type that is not read"
_EXACT = {*_WIDE, "DECIMAL", "TIMESTAMP_NS", "TIMESTAMPTZ_NS"}  # stored types that have a text for each value
_BEYOND = 2**63  # a float below this fits 64 bits


@final
@frozen
class View:
    """The columns to select, in SQL, and the kinds of all columns of the source; None is a type that we do not use."""

    columns: tuple[str, ...]
    kinds: dict[str, Kind | None]


@final
@frozen
class Reading:
    """How a source's columns are read, besides their types.

    `loose` ones are texts that are read as the kind declared for them; in `any_kind` a declared kind holds whatever the stored type. Texts
    that nobody has `checked` may be none. `identities` tell units apart.
    """

    loose: Collection[str] = ()
    of_csv: bool = False
    any_kind: bool = False
    checked: bool = True
    identities: Collection[str] = ()


def view(stored: Mapping[str, str], declared: Mapping[str, Kind], reading: Reading | None = None) -> View:
    """Decide how each stored column is seen.

    >>> view({"id": "UBIGINT", "tags": "VARCHAR[]"}, {})
    View(columns=('TRY_CAST("id" AS BIGINT) AS "id"',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    columns: list[str] = []
    kinds: dict[str, Kind | None] = {}
    for name, sql_type in stored.items():
        kind, value = _seen(name, sql_type, declared.get(name), reading or Reading())
        kinds[name] = kind
        if kind is not None:
            columns.append(f"{value} AS {DUCKDB.identifier(name)}")
    return View(tuple(columns), kinds)


def _seen(name: str, sql_type: str, wanted: Kind | None, reading: Reading) -> tuple[Kind | None, str]:
    here = DUCKDB.identifier(name)
    if name in reading.loose:
        # not the bare column: DuckDB moves a cast of one into its CSV reader, which drops the row where the cast should give NULL
        text = f"NULLIF({here}, '')" if reading.of_csv else here
        if reading.of_csv and name in reading.identities and wanted is Kind.INTEGER:  # a fraction would be rounded to somebody else
            text = f"CASE WHEN regexp_full_match({text}, '[ ]*[-+]?[0-9]+[ ]*') THEN {text} END"
        return _text_as(wanted or Kind.TEXT, text)
    if not reading.checked and sql_type == "VARCHAR":
        here = f"TRY(decode(encode({here})))"  # bytes that are no text make functions fail, and the way to Python
    kind, value = _read_as(sql_type, here)
    if kind is None or wanted in (None, kind):
        return kind, value
    return _bent(kind, sql_type, wanted, here, value, reading.any_kind, name in reading.identities) or (kind, value)


def why_unkept(column: str, sql_type: str, wanted: Kind | None) -> tuple[str, str] | None:
    """Why values of a stored type, read as a kind, are not told apart as its own `=` does, and what to do; else None."""
    name = sql_type.split("(")[0]
    if name in _WIDE and wanted is not Kind.TEXT:
        return f"not all values of {name} fit 64 bits", declare(column)
    if name in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS") and wanted is not Kind.TEXT:
        return "its nanoseconds would be cut", declare(column)
    if name == "DECIMAL" and wanted not in (Kind.TEXT, Kind.INTEGER):
        return "decimals are read as the nearest floats", declare(column)
    if name in _MOMENTS | _ZONED and wanted is Kind.DATE:
        return "moments of one day would be one", declare(column, "timestamp")
    if name in _TEXTS and wanted not in (None, Kind.TEXT):
        return "different texts can be read as the same value", declare(column)
    return None


def _read_as(sql_type: str, value: str) -> tuple[Kind | None, str]:
    """The kind of a stored type and how to get there without ever failing; narrow integers stay narrow, which is fast."""
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
            return Kind.TEXT, _by_bytes(value if name == "VARCHAR" else f"CAST({value} AS VARCHAR)")
        case "DATE":
            return Kind.DATE, _in_calendar(value, "DATE")
        case name if name in _MOMENTS:
            return Kind.TIMESTAMP, _in_calendar(value if name == "TIMESTAMP" else f"TRY_CAST({value} AS TIMESTAMP)", "TIMESTAMP")
        case "TIMESTAMP WITH TIME ZONE":
            return Kind.TIMESTAMP, _utc(value)
        case "TIMESTAMPTZ_NS":
            return Kind.TIMESTAMP, _utc(f"TRY_CAST({value} AS TIMESTAMPTZ)")
    return None, value


def _bent(kind: Kind, sql_type: str, wanted: Kind, here: str, value: str, any_kind: bool, identity: bool) -> tuple[Kind, str] | None:
    """A column read as the kind declared for it, which is not its own; None where it stays what it is, and the policy complains.

    `here` is the stored column, `value` the one of its own kind. Each value is read by itself, and what cannot be read is missing. A column
    that tells units apart may be read so in any source, as far as different values stay different.
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
            return wanted, _by_bytes(f"CAST(CASE WHEN isfinite({moment}) THEN epoch_ns({moment}) END AS VARCHAR)")
        case _, Kind.TEXT if kind is Kind.INTEGER or name in _EXACT:
            return wanted, _by_bytes(f"CAST({here} AS VARCHAR)")
    if not any_kind:
        return None
    match kind, wanted:
        case Kind.TEXT, _:
            return _text_as(wanted, value)
        case Kind.REAL, Kind.TEXT:  # 17.0 as 17: pandas makes floats of whole numbers where one is missing
            return wanted, _by_bytes(f"COALESCE(CAST({_whole(value, False)} AS VARCHAR), CAST({value} AS VARCHAR))")
        case Kind.BOOLEAN, Kind.TEXT:  # as Python writes it, for pandas makes objects of booleans where one is missing
            return wanted, _by_bytes(f"CASE {here} WHEN TRUE THEN 'True' WHEN FALSE THEN 'False' END")
        case (_, Kind.TEXT) | (Kind.BOOLEAN, (Kind.INTEGER | Kind.REAL)) | (Kind.DATE, Kind.TIMESTAMP) | (Kind.TIMESTAMP, Kind.DATE):
            cast = f"CAST({value} AS {DUCKDB.type_name(wanted)})"
            return wanted, _by_bytes(cast) if wanted is Kind.TEXT else cast
        case ((Kind.INTEGER | Kind.REAL), Kind.BOOLEAN):
            return wanted, f"CASE WHEN {value} = 0 THEN FALSE WHEN {value} = 1 THEN TRUE END"
    return wanted, f"CAST(NULL AS {DUCKDB.type_name(wanted)})"  # a number is no date, and a date no number


def _whole(number: str, decimal: bool) -> str:
    """A number that is whole as a 64-bit number; others are missing."""
    if decimal:
        return f"CASE WHEN FLOOR({number}) = {number} THEN TRY_CAST({number} AS BIGINT) END"
    # a clamped one is cast, for a cast may be tried on values that no row has
    inside = f"LEAST(GREATEST({number}, {-_BEYOND}.0), {_BEYOND - 1024}.0)"
    fits = f"{number} >= {-_BEYOND}.0 AND {number} < {_BEYOND}.0 AND FLOOR({number}) = {number}"
    return f"CASE WHEN {fits} THEN TRY_CAST({inside} AS BIGINT) END"


def _by_bytes(text: str) -> str:
    """A text that equals no other: under a collation 'er' and 'ER' may be one group, and whose row comes first decides on its name."""
    return f'({text} COLLATE "binary")'


def _number(value: str) -> str:
    """A float, or NULL where it is NaN.

    A Parquet file's minima and maxima leave NaN out, and DuckDB believes them: it takes `x > low` for true of all, and answers `isnan(x)`
    without looking. So whether one person's value lies beyond a bound decided how everybody's NaN was read. This test it does not fold.
    """
    return f"CASE WHEN isfinite({value}) THEN {value} WHEN isinf({value}) THEN {value} END"


def _text_as(kind: Kind, text: str) -> tuple[Kind, str]:
    """Read a text as a declared kind; what cannot be read is missing."""
    match kind:
        case Kind.TEXT:
            return kind, _by_bytes(text)
        case Kind.DATE:
            return kind, _in_calendar(f"TRY_CAST({text} AS DATE)", "DATE")
        case Kind.TIMESTAMP:
            return kind, _utc(f"TRY_CAST({text} AS TIMESTAMPTZ)")  # as TIMESTAMP, an offset at the end would be dropped
        case _:
            return kind, f"TRY_CAST({text} AS {DUCKDB.type_name(kind)})"


def _in_calendar(value: str, sql_type: str) -> str:
    """Only the years 1 to 9999: DuckDB also has infinite dates, on which the way to Python would fail.

    The value itself is clamped too. DuckDB computes functions that it believes never to fail on whole dictionaries of a Parquet file, also
    for values that no remaining row has; and a timestamp of −2^63 µs makes its cast to text fail, and the whole database with it.
    """
    first, last = f"{sql_type} '0001-01-01'", f"{sql_type} '9999-12-31{'' if sql_type == 'DATE' else ' 23:59:59.999999'}'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN LEAST(GREATEST({value}, {first}), {last}) END"


def _utc(value: str) -> str:
    """A moment with a zone, in UTC in every session; only the years 1 to 9999."""
    first, last = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN make_timestamp(epoch_us(LEAST(GREATEST({value}, {first}), {last}))) END"
