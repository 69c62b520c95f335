"""Mock rows of a declared schema, as SQL: for dry runs, which must not read data."""

from __future__ import annotations

from attrs import evolve

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table

ROWS, UNITS, PUBLIC_ROWS = 20_000, 5_000, 20


def mock_rows(table: Table) -> str:
    """A SELECT of mock rows: within the bounds, with the public keys, and with units of several rows where a unit may have them.

    >>> from discreet.tables.unit import Person
    >>> columns = ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("cost", Kind.REAL, bounds=(0, 9))
    >>> mock_rows(Table("visits", columns, Person("id")))
    'SELECT CAST(i % 5000 AS BIGINT) AS "id", CAST(0.0 + 9.0 * ((i * 37) % 101) / 100 AS DOUBLE) AS "cost" FROM range(20000) AS t(i)'
    """
    rows = ROWS if table.private and not table.one_row else UNITS if table.private else PUBLIC_ROWS
    columns = [f"{_stored(column, column.name == table.unit_column)} AS {DUCKDB.identifier(column.name)}" for column in table.columns]
    return f"SELECT {', '.join(columns)} FROM range({rows}) AS t(i)"


def _stored(column: ColumnMetadata, unit: bool) -> str:
    """A value as it is stored: as text, if the column is parsed."""
    return _value(column, unit) if column.parsed_from is None else f"CAST({_value(column, unit)} AS VARCHAR)"


def _value(column: ColumnMetadata, unit: bool) -> str:
    kind = DUCKDB.type_name(column.kind)
    if unit or column.unique:
        number = "i" if column.unique else f"i % {UNITS}"
        return f"CAST({number} AS {kind})" if column.kind in (Kind.INTEGER, Kind.TEXT) else _value(evolve(column, unique=False), False)
    if column.keys is not None:
        listed = ", ".join(DUCKDB.literal(key) for key in column.keys[:1000])
        return f"CAST([{listed}][1 + (i * 7) % {len(column.keys[:1000])}] AS {kind})"
    low, high = (0, 100) if column.bounds is None or column.kind is Kind.DATE else column.bounds
    match column.kind:
        case Kind.INTEGER:
            return f"CAST({int(low)} + (i * 37) % {max(1, int(high) - int(low) + 1)} AS {kind})"
        case Kind.REAL:
            return f"CAST({float(low)!r} + {float(high - low)!r} * ((i * 37) % 101) / 100 AS {kind})"
        case Kind.BOOLEAN:
            return "(i % 3 = 0)"
        case Kind.TEXT:
            return "['a', 'b', 'c', 'd', 'e'][1 + i % 5]"
        case Kind.DATE | Kind.TIMESTAMP:
            return f"CAST(DATE '2024-01-01' + CAST(i % 365 AS INTEGER) AS {kind})"
