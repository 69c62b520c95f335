"""Texts parsed as values of a kind, in DuckDB's SQL: what does not parse is NULL, and no text makes a query fail."""

from __future__ import annotations

from discreet.tables.kind import Kind

_TYPES = {Kind.BOOLEAN: "BOOLEAN", Kind.INTEGER: "BIGINT", Kind.REAL: "DOUBLE"}


def parsed(text: str, kind: Kind) -> str:
    """Parse a text as a kind; NULL if it does not parse.

    >>> parsed("fare", Kind.REAL)
    'TRY_CAST(fare AS DOUBLE)'
    """
    match kind:
        case Kind.TEXT:
            return bytewise(text)
        case Kind.DATE:
            return in_calendar(f"TRY_CAST({text} AS DATE)", "DATE")
        case Kind.TIMESTAMP:
            return utc(f"TRY_CAST({text} AS TIMESTAMPTZ)")  # as TIMESTAMP, an offset at the end would be dropped
        case _:
            return f"TRY_CAST({text} AS {_TYPES[kind]})"


def bytewise(text: str) -> str:
    """A text compared by its bytes: under a collation 'er' and 'ER' may be one group, and the row that comes first names it."""
    return f'({text} COLLATE "binary")'


def in_calendar(value: str, sql_type: str) -> str:
    """Only the years 1 to 9999: DuckDB also has infinite dates, on which the conversion to Python would fail.

    The value itself is clamped too. DuckDB evaluates functions that it believes never to fail on whole dictionaries of a Parquet file, also
    for values that no remaining row has; and a timestamp of −2^63 µs makes its cast to text fail, and the whole database with it.
    """
    first, last = f"{sql_type} '0001-01-01'", f"{sql_type} '9999-12-31{'' if sql_type == 'DATE' else ' 23:59:59.999999'}'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN LEAST(GREATEST({value}, {first}), {last}) END"


def utc(value: str) -> str:
    """A timestamp with a time zone as naive UTC, whatever the session; only the years 1 to 9999."""
    first, last = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN make_timestamp(epoch_us(LEAST(GREATEST({value}, {first}), {last}))) END"
