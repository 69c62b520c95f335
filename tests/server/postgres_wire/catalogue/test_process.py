"""The process that runs catalogue statements: names and types are there, and nothing else can be reached from it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.server.postgres_wire.catalogue import catalogue, process
from discreet.server.postgres_wire.catalogue.macros import MACRO_NAMES, PREFIX
from discreet.server.postgres_wire.catalogue.rows import described, setup
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

COLUMNS = (
    ColumnMetadata.of("person", Kind.INTEGER),
    ColumnMetadata.of("cost", Kind.REAL, bounds=(0, 500)),
    ColumnMetadata.of('it\'s "odd"', Kind.TEXT, keys=["a", "b"]),
    ColumnMetadata.of("day", Kind.DATE),
    ColumnMetadata.of("at", Kind.TIMESTAMP),
    ColumnMetadata.of("new", Kind.BOOLEAN),
)
TABLES = (Table("visits", COLUMNS, Person("person")), Table("{types}'s", COLUMNS[:1]))


class Child:
    """The process, as the server starts it."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", str(Path(process.__file__))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, cwd="/", text=True)
        assert self.said(setup("clinic", TABLES)) == {}

    def said(self, line: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(line), file=self.process.stdin, flush=True)
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def rows(self, sql: str) -> list[list[Any]]:
        found = self.said({"sql": sql})
        assert "error" not in found, found
        rows: list[list[Any]] = found["rows"]
        return rows


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    found = Child()
    yield found
    found.process.kill()
    found.process.communicate()


def test_tables_and_columns_are_listed(child: Child) -> None:
    assert child.rows("SELECT relname FROM pg.pg_class ORDER BY oid") == [["visits"], ["{types}'s"]]
    listed = child.rows("SELECT column_name, data_type FROM info.columns WHERE table_name = 'visits' ORDER BY ordinal_position")
    assert listed == [
        ["person", "bigint"],
        ["cost", "double precision"],
        ['it\'s "odd"', "text"],
        ["day", "date"],
        ["at", "timestamp without time zone"],
        ["new", "boolean"],
    ]
    assert child.rows('SELECT * FROM tables."visits"') == []


def test_functions_look_up_names(child: Child) -> None:
    assert child.rows("SELECT pgf_format_type(701, -1), pgf_format_type(20), pgf_format_type(NULL, NULL)") == [
        ["double precision", "bigint", None]
    ]
    assert child.rows("SELECT pgf_to_regclass('visits'), pgf_to_regclass('\"public\".\"visits\"'), pgf_to_regclass('none')") == [
        [16384, 16384, None]
    ]
    assert child.rows("SELECT pgf_regclass_name(16384), pgf_regclass_name(1), pgf_regnamespace_name(2200)") == [["visits", "1", "public"]]
    assert child.rows("SELECT pgf_col_description(16384, 2)") == [["clipped to 0 … 500"]]
    assert child.rows("SELECT pgf_quote_ident('a'), pgf_quote_ident('A b')") == [["a", '"A b"']]


def test_every_function_was_created(child: Child) -> None:
    found = {row[0] for row in child.rows("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'macro'")}
    assert {PREFIX + name for name in MACRO_NAMES} <= found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/out.csv'",
        "ATTACH '/tmp/x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '8GB'",
        "SELECT * FROM sys",
        "EXPORT DATABASE '/tmp/x'",
    ],
)
def test_even_without_a_list_nothing_else_can_be_reached(child: Child, sql: str) -> None:
    """Statements are checked before they come here; this is the second wall."""
    assert "error" in child.said({"sql": sql})


def test_memory_and_rows_are_limited(child: Child) -> None:
    assert "error" in child.said({"sql": "SELECT list(range) FROM range(200000000)"})
    assert child.said({"sql": "SELECT * FROM range(100000)"}) == {"error": "too many rows"}
    assert child.rows("SELECT 1") == [[1]]


def test_descriptions_are_what_is_declared() -> None:
    assert described(TABLES[0], COLUMNS[0]) == "names the protected unit"
    assert described(TABLES[0], COLUMNS[2]) == "2 public values"
    assert described(TABLES[0], COLUMNS[3]) == ""


def test_types_of_results() -> None:
    names = {
        "BOOLEAN": 16,
        "BIGINT": 20,
        "UINTEGER": 26,
        "VARCHAR": 25,
        "VARCHAR[]": 1009,
        "TIMESTAMP": 1114,
        "DECIMAL(18,3)": 1700,
        "JSON": 25,
    }
    assert {name: catalogue._oid(name) for name in names} == names
