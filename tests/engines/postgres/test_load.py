"""Demonstration tables in PostgreSQL: recreated in our own schema, and never in somebody else's."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from discreet.engines.duckdb.generate import as_csv, write_tables
from discreet.engines.postgres.load import CsvTable, load_tables
from discreet.errors import EngineError

SCHEMA = "discreet_demo_test"


@pytest.fixture
def tables(tmp_path: Path, owner: psycopg.Connection) -> dict[str, CsvTable]:
    owner.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")  # type: ignore[arg-type]
    select = "SELECT i AS id, 'x, ' || i AS name, i / 2 AS half, DATE '2024-01-01' AS day, TIMESTAMP '2024-01-01 08:30:00' AS seen"
    found: dict[str, CsvTable] = {**as_csv(write_tables(tmp_path, {"Visits": f"{select} FROM range(5) t(i)"}))}
    return found


def test_tables_are_loaded_with_their_types_and_again(postgres: str, owner: psycopg.Connection, tables: dict[str, CsvTable]) -> None:
    for _ in range(2):
        load_tables(postgres, SCHEMA, tables)
    found = owner.execute(f'SELECT id, name, half, day::text, seen::text FROM {SCHEMA}."Visits" ORDER BY id').fetchall()  # type: ignore[arg-type]
    assert len(found) == 5
    assert found[1] == (1, "x, 1", 0.5, "2024-01-01", "2024-01-01 08:30:00")


def test_a_schema_of_somebody_else_is_not_changed(postgres: str, owner: psycopg.Connection, tables: dict[str, CsvTable]) -> None:
    owner.execute(f"CREATE SCHEMA {SCHEMA}; CREATE TABLE {SCHEMA}.mine (id int)")  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="that discreet did not create: drop it, or choose another database"):
        load_tables(postgres, SCHEMA, tables)
    assert owner.execute(f"SELECT COUNT(*) FROM {SCHEMA}.mine").fetchall() == [(0,)]  # type: ignore[arg-type]


def test_a_database_that_does_not_answer(tables: dict[str, CsvTable]) -> None:
    with pytest.raises(EngineError, match="cannot be written there") as caught:
        load_tables("postgresql://SECRET@127.0.0.1:1/none", SCHEMA, tables)
    assert "SECRET" not in str(caught.value)
