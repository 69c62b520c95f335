"""The schema of a ledger in PostgreSQL: it never changes within a format, and every deviation is seen."""

from __future__ import annotations

from hashlib import sha256

import psycopg
import pytest
from ledger.shelves import Schemas

from discreet.ledger import postgres_schema as ddl
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms


def test_the_statements_are_those_of_format_four() -> None:
    """Existing ledgers are compared with these, also the bodies of the triggers."""
    text = "\n".join(ddl.statements("discreet_x"))
    assert (ddl.VERSION, sha256(text.encode()).hexdigest()) == (4, "3a569ee4d96ff3e2745fe1715b01964c1e371fa5174c84070effe1b5675700c9")


def test_an_inspection_finds_what_is_expected_and_one_line_more(schemas: Schemas) -> None:
    open_ledger(schemas.at("a"), Terms(1, 0, "id")).close()
    schema = schemas.schema("a")
    look = ddl.INSPECTION.replace("%(schema)s", f"'{schema}'").replace("%%", "%")
    with psycopg.connect(schemas.uri, autocommit=True) as connection:
        connection.execute("SET search_path = pg_catalog, pg_temp")
        assert sorted(row[0] for row in connection.execute(look)) == ddl.expected(schema)  # type: ignore[arg-type]
        connection.execute(f"CREATE INDEX more ON {schema}.entries (at)")  # type: ignore[arg-type]
        assert {row[0] for row in connection.execute(look)} - set(ddl.expected(schema)) == {"index more f t"}  # type: ignore[arg-type]


@pytest.mark.parametrize(("given", "used"), [("off", "on"), ("remote_apply", "remote_apply")])
def test_writing_is_durable_whatever_was_set(schemas: Schemas, given: str, used: str) -> None:
    with psycopg.connect(schemas.uri, autocommit=True) as connection:
        connection.execute(f"SET synchronous_commit = {given}")  # type: ignore[arg-type]
        connection.execute(ddl.begin_writing(1.5))  # type: ignore[arg-type]
        found = [
            connection.execute(f"SHOW {name}").fetchone()  # type: ignore[arg-type]
            for name in ("synchronous_commit", "lock_timeout", "statement_timeout", "transaction_isolation", "search_path")
        ]
        connection.execute("ROLLBACK")
    assert found == [(used,), ("1500ms",), ("3s",), ("read committed",), ("pg_catalog, pg_temp",)]


def test_reading_is_a_snapshot_that_writes_nothing(schemas: Schemas) -> None:
    with psycopg.connect(schemas.uri, autocommit=True) as connection:
        connection.execute(ddl.begin_reading(1))  # type: ignore[arg-type]
        found = [connection.execute(f"SHOW {name}").fetchone() for name in ("transaction_isolation", "transaction_read_only")]  # type: ignore[arg-type]
        connection.execute("ROLLBACK")
    assert found == [("repeatable read",), ("on",)]
