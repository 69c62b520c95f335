"""Names of tables and columns: any that a person may have given."""

from __future__ import annotations

import pytest
from engines.contract.asked import EngineOf, rows

from discreet.engines.dialect import Dialect
from discreet.query.relation.expr import Column as Named
from discreet.query.relation.node import Scan, Select
from discreet.query.relation.write import write_relation
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Person

COLUMNS = ["A", "b", "select", "my col", "a.b", 'q"uote', "it's", "größe", "日本", "\U0001f600", "100%", "$1", "x" * 60, "t", "group", "i"]
TABLES = ["Visits", "select", "my table", "a.b", 'q"uote', "it's", "日本", "t", "T" * 200, "T" * 199 + "U", "100%s", "pg_class", "user"]


def scan_of(name: str, columns: list[str]) -> Scan:
    return Scan(Table(name, tuple(ColumnMetadata.of(column, Kind.INTEGER) for column in columns), EachRow()))


def test_columns(engine_of: EngineOf) -> None:
    engine = engine_of({"t": {name: (Kind.INTEGER, [n]) for n, name in enumerate(COLUMNS)}})
    assert list(engine.schema("t")) == COLUMNS
    scan = scan_of("t", COLUMNS)
    read = Select(scan, tuple((f"v{n}", Named(name)) for n, name in enumerate(COLUMNS)))
    assert rows(engine, write_relation(read, engine.dialect)) == [tuple(range(len(COLUMNS)))]


def test_tables(engine_of: EngineOf) -> None:
    engine = engine_of({name: {"k": (Kind.INTEGER, [n])} for n, name in enumerate(TABLES)})
    for n, name in enumerate(TABLES):
        assert engine.schema(name) == {"k": Kind.INTEGER}
        assert rows(engine, write_relation(scan_of(name, ["k"]), engine.dialect)) == [(n,)]


def test_names_that_differ_late(engine_of: EngineOf) -> None:
    first, second = "T" * 200, "T" * 199 + "U"
    engine = engine_of({first: {"k": (Kind.INTEGER, [1])}, second: {"k": (Kind.INTEGER, [2])}})
    both = " UNION ALL ".join(f"SELECT k FROM {engine.dialect.identifier(name)}" for name in (first, second))
    assert rows(engine, both) == [(1,), (2,)]


def written(dialect: Dialect) -> str:
    table = Table("Visits", (ColumnMetadata.of("Who", Kind.INTEGER), ColumnMetadata.of("X", Kind.REAL, bounds=(0, 10))), Person("Who"))
    return write_relation(Scan(table), dialect)


def test_names_in_capitals_are_kept(engine_of: EngineOf) -> None:
    engine = engine_of({"Visits": {"Who": (Kind.INTEGER, [1, None]), "X": (Kind.REAL, [20.0, 3.0])}})
    assert rows(engine, written(engine.dialect)) == [(1, 1, 10.0)]


@pytest.mark.parametrize("name", ['a"; DROP TABLE t; --', "a\\", "a''b"])
def test_no_name_ends_its_quotes(engine_of: EngineOf, name: str) -> None:
    engine = engine_of({name: {name: (Kind.INTEGER, [5])}})
    assert rows(engine, write_relation(scan_of(name, [name]), engine.dialect)) == [(5,)]
