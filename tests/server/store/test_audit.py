"""The audit log: every change is caught, whoever makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import LedgerError
from discreet.server.store import audit
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database

Run = Callable[..., Any]
TAMPERS: dict[str, Callable[[Run], Any]] = {
    "another time": lambda run: run("UPDATE audit SET at = at + 1 WHERE sequence = 2"),
    "another account": lambda run: run("UPDATE audit SET account = 'bob' WHERE sequence = 2"),
    "nobody": lambda run: run("UPDATE audit SET account = NULL WHERE sequence = 2"),
    "another event": lambda run: run("UPDATE audit SET event = 'logged out' WHERE sequence = 2"),
    "another detail": lambda run: run("UPDATE audit SET detail = 'nothing' WHERE sequence = 2"),
    "one removed": lambda run: run("DELETE FROM audit WHERE sequence = 2"),
    "the first removed": lambda run: run("DELETE FROM audit WHERE sequence = 0"),
    "another hash": lambda run: run("UPDATE audit SET hash = previous WHERE sequence = 2"),
    "two swapped": lambda run: [run("UPDATE audit SET sequence = ? WHERE sequence = ?", *pair) for pair in ((99, 2), (2, 3), (3, 99))],
    "one put in": lambda run: run("INSERT INTO audit VALUES (?, 1.5, 'ann', 'token made', '', 'x', 'y')", 10**6),
}


@pytest.fixture
def log(database: Database, accounts: Accounts) -> Database:
    for name in ("bob", "cid", "dan"):
        accounts.add(name, "analyst", "owner")
    return database


def test_a_log_that_nobody_touched(log: Database) -> None:
    assert audit.verify(log) == 5
    assert [one.sequence for one in audit.entries(log, 2)] == [3, 4]
    assert [one.detail for one in audit.entries(log)][:2] == ["owner as owner", "ann as analyst"]


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_log_that_was_changed(log: Database, tamper: str) -> None:
    with log.writing() as run:
        TAMPERS[tamper](run)
    with pytest.raises(LedgerError, match="cannot be trusted"):
        audit.verify(log)


def test_an_event_is_written_with_what_it_records(log: Database, accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(audit, "_seal", fail)
    with pytest.raises(OSError):  # noqa: PT011
        accounts.add("eve", "analyst", "owner")
    monkeypatch.undo()
    assert accounts.get("eve") is None
    assert audit.verify(log) == 5
