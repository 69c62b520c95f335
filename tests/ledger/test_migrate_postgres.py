"""A ledger of the previous format in PostgreSQL."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from ledger.shelves import Schemas

from discreet.errors import LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.migrate import migrate
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

OLD = (Path(__file__).parent / "format2.sql").read_text(encoding="utf-8")


SPENT = 4 * Fraction(1, 20) + 3 * Fraction(1, 50) + 3 * Fraction(1, 70)


def check(place: str | Path) -> None:
    ledger = open_ledger(place, Terms(1, "1e-6", "patient_id"))
    assert ledger.verify().spends == 10
    assert ledger.spent.epsilon is not None
    assert 0 <= ledger.spent.epsilon - SPENT <= Fraction(3, 10**40)
    assert ledger.allowance("ada").granted.epsilon == Fraction(3, 4)
    assert ledger.find("q2") == {"rows": [{"n": 2, "mean": 0.2}]}
    assert ledger.find("q0") is None
    paid = ledger.spend_of("k1")
    assert paid is not None
    assert (paid.body["note"], paid.body["analyst"]) == ("question 1", "ada")
    assert {entry.body["question"] for entry in ledger.pending()} == {"q0", "q3", "q6", "q9"}
    assert paid.at < ledger.entries()[-1].at  # times are kept
    ledger.spend(Pure(0.1), question="new", analyst="ada")


def test_an_old_schema_is_carried_over_and_kept(schemas: Schemas) -> None:
    source, schema = sqlite3.connect(":memory:"), schemas.schema("a")
    source.executescript(OLD)
    rows = source.execute("SELECT sequence, kind, body, previous, at, hash FROM entries ORDER BY sequence").fetchall()
    with psycopg.connect(schemas.uri, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")  # type: ignore[arg-type]
        connection.execute(f"CREATE TABLE {schema}.about (application text, version integer)")  # type: ignore[arg-type]
        connection.execute(f"INSERT INTO {schema}.about VALUES ('discreet', 2)")  # type: ignore[arg-type]
        columns = "sequence bigint, kind text, body text, previous text, at text, hash text"
        connection.execute(f"CREATE TABLE {schema}.entries ({columns})")  # type: ignore[arg-type]
        for row in rows:
            connection.execute(f"INSERT INTO {schema}.entries VALUES (%s, %s, %s, %s, %s, %s)", row)  # type: ignore[arg-type]
        connection.execute(f"CREATE TABLE {schema}.state (sequence bigint, head text, filter text)")  # type: ignore[arg-type]
        connection.execute(f"INSERT INTO {schema}.state VALUES (%s, %s, '')", (rows[-1][0], rows[-1][-1]))  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="discreet migrate"):
        open_ledger(schemas.at("a"))
    done = migrate(schemas.at("a"))
    assert done.old == f"{schema}_format2"
    check(schemas.at("a"))
    with psycopg.connect(schemas.uri) as connection:
        kept = connection.execute(f"SELECT count(*) FROM {done.old}.entries").fetchone()  # type: ignore[arg-type]
    assert kept == (len(rows),)
    with pytest.raises(LedgerError, match="not a ledger of format"):
        migrate(schemas.at("a"))
