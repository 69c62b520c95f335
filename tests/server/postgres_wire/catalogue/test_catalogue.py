"""Catalogue statements over the wire: time limits, what they may cost, and several data sets."""

from __future__ import annotations

import time

import psycopg
import pytest
from server.postgres_wire.wire import Wire

from discreet.server.postgres_wire.catalogue import catalogue

SLOW = "SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e, pg_type f, pg_type g, pg_type h, pg_type i"


def test_what_takes_too_long_is_ended_and_the_next_one_runs(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_SECONDS", 0.5)
    with psycopg.connect(wire.uri(), autocommit=True) as connection:
        begin = time.monotonic()
        with pytest.raises(psycopg.Error) as error:
            connection.execute(SLOW)
        assert error.value.sqlstate == "57014"
        assert time.monotonic() - begin < 10
        monkeypatch.setattr(catalogue, "_SECONDS", 20.0)
        assert connection.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)


def test_statements_that_fail_tell_nothing_of_the_inside(wire: Wire) -> None:
    with psycopg.connect(wire.uri(), autocommit=True) as connection:
        with pytest.raises(psycopg.Error) as error:
            connection.execute("SELECT relname + relkind FROM pg_class")
        assert error.value.diag.message_primary == "this catalogue statement is not supported"
        assert connection.execute("SELECT 'x'::int4").fetchone() == (None,)


def test_catalogues_name_the_account_that_asks(wire: Wire) -> None:
    for account in ("ann", "bob", "owner"):
        with psycopg.connect(wire.uri(account), autocommit=True) as connection:
            assert connection.execute("SELECT current_user, session_user").fetchone() == (account, account)
            roles = connection.execute("SELECT rolname FROM pg_roles").fetchall()
            assert roles == [("discreet",)]  # nobody learns the names of others


def test_what_others_sent_makes_nothing_faster() -> None:
    """A question that somebody else has just sent must not be recognised sooner: its text is read again for each connection."""
    ann, bob = (catalogue.Catalogue(catalogue._Process({}), "clinic", name, ("visits",), lambda *_: None) for name in ("ann", "bob"))
    ann.read("SELECT COUNT(*) FROM visits")
    ann.read("SELECT COUNT(*) FROM visits")
    bob.read("SELECT COUNT(*) FROM visits")
    assert (ann._read.cache_info().misses, bob._read.cache_info().misses) == (1, 1)


def test_dates_and_lists(wire: Wire) -> None:
    with psycopg.connect(wire.uri(), autocommit=True) as connection:
        row = connection.execute("SELECT date '2026-01-31' AS d, current_schemas(true) AS s, now() IS NOT NULL AS n").fetchone()
        assert row is not None
        assert str(row[0]) == "2026-01-31"
        assert row[1:] == (["pg_catalog", "public"], True)
