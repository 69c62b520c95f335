"""Several processes and threads: exact limits, one debit a key, and the same tests on broken ledgers."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from ledger.racing import side_by_side
from ledger.shelves import Schemas, Shelf

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import chain, postgres, sqlite
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.postgres import PostgresStorage
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

PROCESSES, ATTEMPTS, CAP = 8, 100, 400
TERMS = Terms(CAP, 0, "id")


def grants(ledger: Ledger, number: int, attempts: int = ATTEMPTS) -> int:
    granted = 0
    for i in range(attempts):
        try:
            ledger.spend(Pure(1), question=f"{number}.{i}")
            granted += 1
        except BudgetExceeded:
            pass
    return granted


@pytest.mark.parametrize("witnessed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_processes_together_get_the_cap_and_no_more(shelf: Shelf, witnessed: bool) -> None:
    witness = shelf.folder / "w" if witnessed else None
    granted = side_by_side(lambda number: grants(open_ledger(shelf.at("a"), TERMS, witness), number), PROCESSES)
    ledger = open_ledger(shelf.at("a"), TERMS, witness)
    assert sum(granted) == CAP == ledger.spent.epsilon == ledger.verify().spends
    assert ledger.remaining.epsilon == 0


def test_a_ledger_opened_before_the_fork_is_safe_after_it(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    ledger.spend(Pure(1), question="before")
    granted = side_by_side(lambda number: grants(ledger, number), PROCESSES)
    assert sum(granted) == CAP - 1
    assert ledger.spent.epsilon == CAP
    ledger.verify()


def test_no_connection_is_used_across_a_fork(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    storage = ledger._storage
    assert isinstance(storage, SqliteStorage | PostgresStorage)
    parents = storage._connection

    def child(number: int) -> bool:
        grants(ledger, number, 1)
        inherited = sqlite._inherited if isinstance(storage, SqliteStorage) else postgres._inherited
        return parents is not None and storage._connection is not parents and parents in inherited

    assert side_by_side(child, 2) == [True, True]
    assert storage._connection is parents
    assert grants(ledger, 3, 1) == 1  # and the children did not close it when they ended


def test_forking_while_another_thread_spends(shelf: Shelf) -> None:
    ledger, done = open_ledger(shelf.at("a"), Terms(10**9, 0, "id")), threading.Event()
    before: list[int] = []

    def keep_spending() -> None:
        while not done.is_set():
            before.append(grants(ledger, -len(before), attempts=1))

    thread = threading.Thread(target=keep_spending)
    thread.start()
    granted = [side_by_side(lambda number, round=round: grants(ledger, 10 * round + number, 5), 2) for round in range(10)]
    done.set()
    thread.join()
    assert sum(before) + sum(map(sum, granted)) == ledger.verify().spends
    assert all(sum(each) == 10 for each in granted)


def test_a_ledger_in_memory_is_not_shared_by_forking() -> None:
    ledger = open_ledger(":memory:", TERMS)

    def child(_: int) -> str:
        try:
            ledger.spend(Pure(1), question="q")
        except LedgerError as error:
            return str(error)
        return ""

    assert "in memory cannot be shared" in side_by_side(child, 1)[0]
    assert grants(ledger, 0, 1) == 1


@pytest.mark.parametrize("where", ["shelf", "memory"])
def test_threads_together_get_the_cap_and_no_more(shelf: Shelf, where: str) -> None:
    ledger = open_ledger(shelf.at("a") if where == "shelf" else ":memory:", Terms(100, 0, "id"))
    granted: list[int] = []
    threads = [threading.Thread(target=lambda n=n: granted.append(grants(ledger, n, 25))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 100 == ledger.verify().spends


def test_one_key_pays_once_across_processes_and_shows_one_release(shelf: Shelf) -> None:
    def child(number: int) -> tuple[int, list[str]]:
        ledger = open_ledger(shelf.at("a"), TERMS)
        shown = []
        for i in range(20):
            paid = ledger.spend(Pure(1), question=f"{i}", key=f"key {i}")
            shown.append(ledger.store(paid, {"noise": number}).body["release"]["noise"])
        return number, shown

    seen = side_by_side(child, PROCESSES)
    assert len({tuple(shown) for _, shown in seen}) == 1
    ledger = open_ledger(shelf.at("a"), TERMS)
    assert ledger.spent.epsilon == 20
    assert len(ledger.entries()) == 41


def test_opening_a_new_ledger_together(shelf: Shelf) -> None:
    heads = side_by_side(lambda _: open_ledger(shelf.at("a"), TERMS, shelf.folder / "w").entries()[0].hash, PROCESSES)
    assert len(set(heads)) == 1


def test_a_busy_ledger_says_so_and_spends_nothing(place: Path) -> None:
    open_ledger(place / "a", TERMS)
    ledger = Ledger(SqliteStorage(str(place / "a"), create=False, patience=0.05), TERMS)
    other = sqlite3.connect(place / "a", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="busy"):
        ledger.spend(Pure(1), question="q")
    other.execute("ROLLBACK")
    other.execute("BEGIN")
    other.execute("SELECT * FROM entries").fetchone()  # a reader that does not make way: the commit has to give up
    with pytest.raises(LedgerError, match="busy"):
        ledger.spend(Pure(1), question="q")
    other.close()
    assert ledger.spent.epsilon == 0
    assert grants(ledger, 0, 1) == 1


def test_a_busy_database_says_so_and_spends_nothing(schemas: Schemas) -> None:
    open_ledger(schemas.at("a"), TERMS)
    ledger = Ledger(schemas.storage("a", patience=0.05), TERMS)
    with schemas.hand("a") as other:
        with other.connection.transaction():
            other.execute("SELECT * FROM about FOR UPDATE")
            assert ledger.remaining.epsilon == CAP  # readers do not wait
            with pytest.raises(LedgerError, match="busy"):
                ledger.spend(Pure(1), question="q")
        with other.connection.transaction():
            other.execute("LOCK TABLE entries")
            with pytest.raises(LedgerError, match="busy"):
                ledger.find("q")
    assert ledger.spent.epsilon == 0
    assert grants(ledger, 0, 1) == 1


# ── broken ledgers are caught ────────────────────────────────────────────────────────────────────────────────────────


def read_check_write(path: Path) -> int:
    """The classic mistake: look, think, then write what you thought."""
    connection, granted = sqlite3.connect(path, isolation_level=None, timeout=30), 0
    for _ in range(10):
        (spent,) = connection.execute("SELECT spent FROM budget").fetchone()
        time.sleep(0.001)
        if spent < 40:
            connection.execute("UPDATE budget SET spent = ?", (spent + 1,))
            granted += 1
    connection.close()
    return granted


def test_read_check_write_overspends_in_the_same_race(place: Path) -> None:
    connection = sqlite3.connect(place / "naive", isolation_level=None)
    connection.execute("CREATE TABLE budget AS SELECT 0 AS spent")
    connection.close()
    assert sum(side_by_side(lambda _: read_check_write(place / "naive"), PROCESSES)) > 40


def test_a_writer_with_a_stale_view_is_stopped_by_each_wall(shelf: Shelf) -> None:
    """What would happen if a spend read the state outside its transaction: the triggers stop it, the key, the compare-and-swap."""
    stale, other = open_ledger(shelf.at("a"), TERMS), open_ledger(shelf.at("a"), TERMS)
    other.spend(Pure(1), question="meanwhile")
    body = {"question": "q", "key": None, "note": "", "analyst": None, "loss": {}, "charge": {}, "whole": None}
    old, skipping = chain.seal(1, "spend", body, stale._history.head), chain.seal(2, "spend", body, "f" * 64)
    storage = shelf.storage("a")
    with pytest.raises(LedgerError, match="violates its constraints"), storage.writing():
        storage.append(old, "{}")
    with shelf.hand("a") as hand:
        for trigger, table in (("entries_follow", "entries"), ("state_follows", "state")):
            hand.execute(f"DROP TRIGGER {trigger}" + (f" ON {table}" if isinstance(shelf, Schemas) else ""))
    with pytest.raises(LedgerError, match="violates its constraints"), storage.writing():
        storage.append(old, "{}")
    with pytest.raises(LedgerError, match="another writer"), storage.writing():
        storage.append(skipping, "{}")
    assert stale.spent.epsilon == 1
    assert len(stale.entries()) == 2


def test_the_children_were_really_other_processes() -> None:
    assert os.getpid() not in side_by_side(lambda _: os.getpid(), 3)
