"""Mock rows: of the declared types, within bounds, of the public keys, and without data."""

from __future__ import annotations

import duckdb

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.duckdb.mock import PUBLIC_ROWS, ROWS, UNITS, mock_rows
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

COLUMNS = (
    ColumnMetadata.of("id", Kind.INTEGER),
    ColumnMetadata.of("age", Kind.INTEGER, bounds=(18, 30)),
    ColumnMetadata.of("cost", Kind.REAL, bounds=(-1, 0.5)),
    ColumnMetadata.of("dept", Kind.TEXT, keys=["er", "it's", None]),
    ColumnMetadata.of("note", Kind.TEXT),
    ColumnMetadata.of("day", Kind.DATE, bounds=("2020-01-01", "2020-02-01")),
    ColumnMetadata.of("seen", Kind.TIMESTAMP),
    ColumnMetadata.of("old", Kind.BOOLEAN),
)


def test_mock_rows_are_as_declared() -> None:
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE TABLE t AS {mock_rows(Table('t', COLUMNS, Person('id')))}")
    types = [str(row[1]) for row in connection.execute("DESCRIBE t").fetchall()]
    assert types == ["BIGINT", "BIGINT", "DOUBLE", "VARCHAR", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN"]
    found = connection.execute("SELECT COUNT(*), COUNT(DISTINCT id), MIN(age), MAX(age), MIN(cost), MAX(cost) FROM t").fetchall()
    assert found == [(ROWS, UNITS, 18, 30, -1.0, 0.5)]
    assert set(connection.execute("SELECT DISTINCT dept FROM t").fetchall()) == {("er",), ("it's",), (None,)}


def test_the_number_of_rows() -> None:
    connection = duckdb.connect(":memory:")
    unique = (ColumnMetadata.of("id", Kind.INTEGER, unique=True),)
    for table, rows in (
        (Table("t", COLUMNS, Person("id"), one_row=True), UNITS),
        (Table("t", unique), PUBLIC_ROWS),
    ):
        assert connection.execute(f"SELECT COUNT(*), COUNT(DISTINCT id) FROM ({mock_rows(table)})").fetchall() == [(rows, rows)]


def test_an_engine_of_mock_tables() -> None:
    with DuckDB.mock([Table("t", COLUMNS, Person("id")), Table("u", COLUMNS[:1])]) as engine:
        assert engine.schema("t") == {column.name: column.kind for column in COLUMNS}
        assert engine.read_public("SELECT COUNT(*) AS n FROM u")["n"].tolist() == [PUBLIC_ROWS]
