"""A database that is lost, fails or is interrupted: nothing is answered, and what it cost is known or counted."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg
import pytest
from ledger.shelves import Schemas
from ledger.tampering import TERMS

from discreet.errors import LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.postgres import PostgresStorage
from discreet.ledger.postgres_server import as_ledger_error
from discreet.loss.leaves import Pure


def storage_of(ledger: Any) -> PostgresStorage:
    assert isinstance(ledger._storage, PostgresStorage)
    return ledger._storage


def terminate(schemas: Schemas, ledger: Any) -> None:
    """End the ledger's session from outside, as an administrator may."""
    connection = storage_of(ledger)._connection
    assert connection is not None
    session = (connection.info.backend_pid,)
    with schemas.hand("a") as hand:
        assert hand.execute("SELECT pg_terminate_backend(?)", session).fetchone() == (True,)
        while hand.execute("SELECT 1 FROM pg_stat_activity WHERE pid = ?", session).fetchall():
            pass


def test_a_connection_lost_between_two_spends_is_made_anew(schemas: Schemas) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    for i in range(3):
        terminate(schemas, ledger)
        assert ledger.spend(Pure(1), question=f"{i}").sequence == i + 1
        terminate(schemas, ledger)
        assert ledger.spent.epsilon == i + 1


def test_a_connection_lost_in_the_middle_of_a_spend_spends_nothing(schemas: Schemas) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    storage = storage_of(ledger)

    def lose_it() -> None:
        with storage.writing():
            terminate(schemas, ledger)
            storage.state()

    with pytest.raises(LedgerError, match=r"cannot be reached.*Nothing was spent") as raised:
        lose_it()
    assert raised.value.__context__ is None
    assert ledger.spent.epsilon == 0
    assert ledger.spend(Pure(1), question="q").sequence == 1


class FailingConnection:
    """A connection on which some statements fail, before or after they did their work."""

    def __init__(self, inner: Any, begins: str, code: str, *, after: bool) -> None:
        self.inner, self.begins, self.code, self.after = inner, begins, code, after

    def execute(self, sql: str, values: Any = None) -> Any:
        fails = sql.startswith(self.begins)
        if not fails or self.after:
            result = self.inner.execute(sql, values)
        if fails:
            raise psycopg.errors.lookup(self.code)("secret words of the server")
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("statement", ["SELECT version", "INSERT", "UPDATE", "SELECT sequence, head", "COMMIT"])
@pytest.mark.parametrize("code", ["53100", "58030", "XX001", "57P01", "08006"])
@pytest.mark.parametrize("after", [False, True])
def test_a_failing_server_answers_nothing_and_a_key_heals_it(schemas: Schemas, statement: str, code: str, after: bool) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    storage = storage_of(ledger)
    whole = storage._connection
    storage._connection = FailingConnection(whole, statement, code, after=after)  # type: ignore[assignment]
    with pytest.raises(LedgerError) as raised:
        ledger.spend(Pure(1), question="q", key="k")
    assert "secret" not in str(raised.value)
    assert raised.value.__context__ is None
    if statement == "COMMIT":
        assert "counts as spent" in str(raised.value)
        assert storage._connection is None  # what became of it is found out anew
    if isinstance(storage._connection, FailingConnection):
        storage._connection = whole
    assert ledger.spent.epsilon == (1 if statement == "COMMIT" and after else 0)
    assert ledger.claim(Pure(1), question="q", key="k")[1] is not (statement == "COMMIT" and after)
    assert ledger.spent.epsilon == 1
    ledger.verify()


def test_a_commit_that_rolled_back_is_no_commit(schemas: Schemas) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    storage = storage_of(ledger)
    assert storage._connection is not None
    with pytest.raises(LedgerError, match="counts as spent"), storage.writing(), suppress(psycopg.Error):
        storage._connection.execute("SELECT 1 / 0")  # PostgreSQL now answers COMMIT with ROLLBACK, and no error
    assert ledger.spent.epsilon == 0


def test_an_interrupt_during_the_commit_leaves_no_half_known_connection(schemas: Schemas) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    storage = storage_of(ledger)

    class Interrupted(FailingConnection):
        def execute(self, sql: str, values: Any = None) -> Any:
            if sql == "COMMIT":
                self.inner.execute(sql)
                raise KeyboardInterrupt
            return self.inner.execute(sql, values)

    storage._connection = Interrupted(storage._connection, "", "", after=True)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        ledger.spend(Pure(1), question="q", key="k")
    assert storage._connection is None
    assert ledger.claim(Pure(1), question="q", key="k")[1] is False


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("55P03", "busy"), ("40P01", "busy"), ("42501", "this role"), ("25006", "this role"), ("57P01", "cannot be reached"),
        ("25P03", "cannot be reached"), ("53100", "out of space"), ("53300", "out of space"), ("P0001", "cannot be trusted"),
        ("23505", "cannot be trusted"), ("42P01", "cannot be trusted"),
    ],
)  # fmt: skip
def test_each_failure_says_what_to_do(code: str, said: str) -> None:
    error = as_ledger_error(
        psycopg.errors.lookup(code)("secret") if code != "25P03" else psycopg.errors.IdleInTransactionSessionTimeout("secret")
    )
    assert said in str(error)
    assert "secret" not in str(error)
