"""A table as we see it in DuckDB: every column one of our kinds, and no value on which a query could fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import final

from attrs import frozen

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.tables.kind import Kind

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
_TEXTS = {"VARCHAR", "ENUM", "UUID", "JSON"}
_MOMENTS = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}


@final
@frozen
class View:
    """The columns to select, in SQL, and the kinds of all columns of the source; None is a type that we do not use."""

    columns: tuple[str, ...]
    kinds: dict[str, Kind | None]


def view(stored: Mapping[str, str], loose: Collection[str], declared: Mapping[str, Kind], of_csv: bool = False) -> View:
    """Decide how each stored column is seen; `loose` ones are texts that are read as the kind declared for them.

    >>> view({"id": "UBIGINT", "tags": "VARCHAR[]"}, (), {})
    View(columns=('TRY_CAST("id" AS BIGINT) AS "id"',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    columns: list[str] = []
    kinds: dict[str, Kind | None] = {}
    for name, sql_type in stored.items():
        here = DUCKDB.identifier(name)
        # not the bare column: DuckDB moves a cast of one into its CSV reader, which drops the row where the cast should give NULL
        text = f"NULLIF({here}, '')" if of_csv else here
        kind, value = _text_as(declared.get(name, Kind.TEXT), text) if name in loose else _read_as(sql_type, here)
        if kind is Kind.INTEGER and declared.get(name) is Kind.REAL:
            kind, value = Kind.REAL, f"CAST({here} AS DOUBLE)"
        kinds[name] = kind
        if kind is not None:
            columns.append(f"{value} AS {here}")
    return View(tuple(columns), kinds)


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
    return None, value


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
    """Only the years 1 to 9999: DuckDB also has infinite dates, on which the way to Python would fail."""
    end = "" if sql_type == "DATE" else " 23:59:59.999999"
    return f"CASE WHEN {value} BETWEEN {sql_type} '0001-01-01' AND {sql_type} '9999-12-31{end}' THEN {value} END"


def _utc(value: str) -> str:
    """A moment with a zone, in UTC in every session; only the years 1 to 9999."""
    first, last = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN make_timestamp(epoch_us({value})) END"
