"""A server that is stopped before, between and during questions: no debit without an attempt to read, and the session recovers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from servers import NoServer, Server, postgres_server

import discreet
from discreet.engines.engine import FAILED
from discreet.engines.postgres.server import UNREACHED
from discreet.errors import EngineError

SLOW = "SELECT COUNT(*) AS n FROM slow"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of our own, for we stop it; a view of it takes its time."""
    try:
        running = postgres_server()
        server = running.__enter__()
    except NoServer as reason:
        pytest.skip(str(reason))
    with psycopg.connect(server.uri, autocommit=True) as owner:
        owner.execute("CREATE TABLE visits AS SELECT i AS id, i % 7 AS dept FROM generate_series(1, 1000) AS i")
        owner.execute("CREATE VIEW slow AS SELECT id, dept FROM visits WHERE pg_sleep(0.02) IS NOT NULL")
    yield server
    running.__exit__(None, None, None)


@pytest.fixture
def db(server: Server, tmp_path: Path) -> Iterator[discreet.Session]:
    tables = {"visits": (server.uri, "public.visits"), "slow": (server.uri, "public.slow")}
    with discreet.connect(tables, unit="id", epsilon=100, ledger=tmp_path / "ledger", one_row_per_unit=True) as session:
        yield session


def count(db: discreet.Session, epsilon: int, text: str = "SELECT COUNT(*) AS n FROM visits") -> float:
    found = db.ask(text, epsilon=epsilon).rows[0]["n"]
    assert abs(found - 1000) < 50  # e⁻⁵⁰ at ε = 1
    return float(found)


def test_stopped_before_the_first_question(server: Server, db: discreet.Session) -> None:
    server.stop("fast")
    try:
        for _ in range(8):  # one that was asked while the server was down never worked again, and each later question paid
            with pytest.raises(EngineError) as caught:
                count(db, 1)
            assert str(caught.value) == f"{UNREACHED}. Nothing was charged"
    finally:
        server.start()
    assert db.history() == []
    count(db, 1)
    assert db.spent.epsilon == 1


def test_stopped_between_questions(server: Server, db: discreet.Session) -> None:
    count(db, 1)
    server.stop("immediate")
    try:
        assert abs(count(db, 1) - 1000) < 50  # stored: it needs no server
        with pytest.raises(EngineError, match="Nothing was charged"):
            count(db, 2)
    finally:
        server.start()
    count(db, 2)
    server.stop("fast")
    server.start()  # nobody asked meanwhile
    count(db, 3)
    assert db.spent.epsilon == 6


def test_stopped_during_a_question(server: Server, db: discreet.Session) -> None:
    """The debit stays, for rows were read; the same session goes on."""
    told: list[BaseException] = []

    def ask() -> None:
        try:
            db.ask(SLOW, epsilon=1)
        except BaseException as error:
            told.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    with psycopg.connect(server.uri, autocommit=True) as owner:
        running = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'discreet' AND state = 'active' AND query LIKE '%slow%'"
        began = time.monotonic()
        while owner.execute(running).fetchone() == (0,) and time.monotonic() - began < 15:
            time.sleep(0.02)
    server.stop("immediate")
    asking.join(30)
    server.start()
    assert [str(error) for error in told] == [FAILED]
    assert db.spent.epsilon == 1
    count(db, 2)
    assert db.spent.epsilon == 3


def test_a_table_that_is_gone_costs_nothing(server: Server, db: discreet.Session) -> None:
    with psycopg.connect(server.uri, autocommit=True) as owner:
        owner.execute("ALTER TABLE visits RENAME COLUMN dept TO ward")
        try:
            with pytest.raises(EngineError, match=r"^visits: it is missing, unreadable.*Nothing was charged"):
                count(db, 1)
        finally:
            owner.execute("ALTER TABLE visits RENAME COLUMN ward TO dept")
    assert db.spent.epsilon == 0
    count(db, 1)


def test_an_engine_that_was_closed_costs_nothing(db: discreet.Session) -> None:
    db._engine.close()
    with pytest.raises(EngineError, match=r"was closed: connect again\. Nothing was charged"):
        count(db, 1)
    assert db.spent.epsilon == 0
