"""A clinic in PostgreSQL, with things that others put there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

Run = Callable[[str], Any]


@pytest.fixture(scope="module")
def owner(postgres: str) -> Iterator[psycopg.Connection]:
    """The owner of the database, with a schema, a role that may read little, and odd things that others put on the path."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS clinic CASCADE; DROP SCHEMA IF EXISTS other CASCADE; DROP ROLE IF EXISTS reader")
        connection.execute("CREATE SCHEMA clinic; CREATE SCHEMA other; CREATE ROLE reader LOGIN PASSWORD 'tender-s3cret'")
        connection.execute("GRANT USAGE ON SCHEMA clinic TO reader")
        connection.execute("CREATE TABLE clinic.visits AS SELECT i AS id, i % 3 AS dept, i / 2.0 AS cost FROM generate_series(1, 9) AS i")
        connection.execute('CREATE TABLE clinic."Odd ""Name"".1" (a int, b text)')
        connection.execute('INSERT INTO clinic."Odd ""Name"".1" VALUES (1, \'x\')')
        connection.execute("CREATE VIEW clinic.seen AS SELECT id FROM clinic.visits WHERE id > 5")
        connection.execute("CREATE MATERIALIZED VIEW clinic.kept AS SELECT id FROM clinic.visits WHERE id > 7")
        connection.execute("CREATE TABLE clinic.parts (id int, at date) PARTITION BY RANGE (at)")
        connection.execute("CREATE TABLE clinic.parts_1 PARTITION OF clinic.parts FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')")
        connection.execute("INSERT INTO clinic.parts VALUES (1, '2024-02-29')")
        connection.execute("CREATE TABLE other.visits (id int); CREATE TABLE other.more (id int)")
        yield connection
        connection.execute("DROP SCHEMA clinic CASCADE; DROP SCHEMA other CASCADE; DROP ROLE reader")


@pytest.fixture
def run(owner: psycopg.Connection) -> Run:
    return lambda text: owner.execute(text)


@pytest.fixture
def clinic(owner: psycopg.Connection, postgres: str) -> str:
    """The address, with the schema on its path."""
    return f"{postgres}?options=-c%20search_path%3Dclinic,other"
