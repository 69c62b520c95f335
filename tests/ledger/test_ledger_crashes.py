"""Kill -9 at any moment, disks that fail, commits that are never confirmed: no answer without a debit, no damaged file."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ledger.racing import answer, answered_without_a_debit, killed
from ledger.shelves import Files, Shelf

from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.terms import Terms
from discreet.ledger.witness import Witness
from discreet.loss.leaves import Pure

TERMS = Terms(10**6, 0, "id")
Ready = Callable[[], None]
Work = Callable[[Ledger, Path, str], None]


def pay_first(ledger: Ledger, log: Path, question: str) -> None:
    paid = ledger.spend(Pure(1), question=question, key=question)
    kept = ledger.store(paid, {"noise": os.getpid()}).body["release"]
    answer(log, question)
    answer(log.with_suffix(".seen"), f"{question} {kept['noise']}")


def answer_first(ledger: Ledger, log: Path, question: str) -> None:
    answer(log, question)
    ledger.spend(Pure(1), question=question)


def crash(shelf: Shelf, kills: int, work: Work) -> set[str]:
    """Kill a working process many times, some while they open the ledger; the questions answered and not paid."""
    coins, log, path, witness = random.Random(kills), shelf.folder / "log", shelf.at("a"), shelf.folder / "w"

    def child(number: int, ready: Ready) -> None:
        if number % 6 == 0:
            ready()
        ledger = open_ledger(path, TERMS, witness)
        for i in range(10**6):
            work(ledger, log, f"{number // 2}.{i}")  # every other child asks what the one before it asked
            if i == 0:
                ready()

    for number in range(kills):
        killed(lambda ready, number=number: child(number, ready), coins.uniform(0, 0.02))  # type: ignore[misc]
    return answered_without_a_debit(path, log, TERMS, witness)


def check_pay_first(shelf: Shelf, kills: int) -> None:
    assert crash(shelf, kills, pay_first) == set()
    ledger = open_ledger(shelf.at("a"), TERMS, shelf.folder / "w")
    seen = (shelf.folder / "log.seen").read_text().splitlines()
    questions = [entry.body["question"] for entry in ledger.entries() if entry.kind == "spend"]
    assert len(seen) >= kills // 2  # the children did come to something
    assert len(set(questions)) == len(questions)  # keys were asked again by the next child, and paid once
    assert len(set(seen)) == len({line.split()[0] for line in seen})  # and everybody saw the same noise
    if isinstance(shelf, Files):
        with shelf.hand("a") as hand:
            assert hand.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_no_answer_without_a_debit(shelf: Shelf) -> None:
    check_pay_first(shelf, 30)


@pytest.mark.slow
def test_no_answer_without_a_debit_in_many_kills(shelf: Shelf) -> None:
    check_pay_first(shelf, 300)


@pytest.mark.slow
def test_no_answer_without_a_debit_on_a_disk(tmp_path: Path) -> None:
    check_pay_first(Files(tmp_path), 100)


def test_answering_first_is_caught_by_the_same_kills(shelf: Shelf) -> None:
    assert any(crash(shelf, 10, answer_first) for _ in range(20))


def test_kills_while_a_ledger_is_begun(shelf: Shelf) -> None:
    coins = random.Random(11)
    for number in range(40 if isinstance(shelf, Files) else 15):
        path, witness = shelf.at(f"a{number}"), shelf.folder / f"w{number}"
        after = coins.uniform(0, 0.004 if isinstance(shelf, Files) else 0.03)
        killed(lambda ready, p=path, w=witness: (ready(), open_ledger(p, TERMS, w)), after)  # type: ignore[misc]
        ledger = open_ledger(path, TERMS, witness)
        ledger.spend(Pure(1), question="q")
        assert ledger.verify().entries == 2


# ── failures that are told ───────────────────────────────────────────────────────────────────────────────────────────


class FailingConnection:
    """A connection on which some statements fail, before or after they did their work."""

    def __init__(self, inner: sqlite3.Connection, begins: str, code: int, *, after: bool) -> None:
        self.inner, self.begins, self.code, self.after = inner, begins, code, after

    def execute(self, sql: str, *values: Any) -> Any:
        fails = sql.startswith(self.begins)
        if not fails or self.after:
            result = self.inner.execute(sql, *values)
        if fails:
            error = sqlite3.OperationalError("secret words of the system")
            error.sqlite_errorcode = self.code
            raise error
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "INSERT", "UPDATE", "SELECT sequence, head", "COMMIT"])
@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_CORRUPT])
@pytest.mark.parametrize("after", [False, True])
def test_a_failing_disk_answers_nothing_and_a_key_heals_it(place: Path, statement: str, code: int, after: bool) -> None:
    ledger = open_ledger(place / "a", TERMS)
    storage = ledger._storage
    assert isinstance(storage, SqliteStorage)
    whole = storage._connection
    storage._connection = FailingConnection(whole, statement, code, after=after)  # type: ignore[assignment, arg-type]
    with pytest.raises(LedgerError) as raised:
        ledger.spend(Pure(1), question="q", key="k")
    assert "secret" not in str(raised.value)
    if statement == "COMMIT":
        assert "counts as spent" in str(raised.value)
    if isinstance(storage._connection, FailingConnection):
        storage._connection = whole
        if whole is not None and whole.in_transaction:
            whole.execute("ROLLBACK")
    stands = ledger.spent.epsilon
    assert stands == (1 if statement == "COMMIT" and after else 0)
    ledger.spend(Pure(1), question="q", key="k")
    assert ledger.spent.epsilon == 1
    ledger.verify()


def test_a_full_disk(place: Path) -> None:
    ledger = open_ledger(place / "a", TERMS)
    storage = ledger._storage
    assert isinstance(storage, SqliteStorage)
    assert storage._connection is not None
    paid = ledger.spend(Pure(1), question="q")
    pages = storage._connection.execute("PRAGMA page_count").fetchone()[0]
    storage._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="full or failing"):
        ledger.store(paid, {"long": "x" * 100_000})
    assert ledger.find("q") is None
    storage._connection.execute("PRAGMA max_page_count = 1000000")
    assert ledger.store(paid, {"long": "y"}).sequence == 2


def test_a_witness_that_cannot_write_answers_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS, shelf.folder / "w")

    def fail(fd: int) -> None:
        raise OSError(5, "secret")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(LedgerError, match="witness of the ledger cannot be"):
            ledger.spend(Pure(1), question="q", key="k")
    assert ledger.spent.epsilon == 1  # never refunded
    assert ledger.spend(Pure(1), question="q", key="k").sequence == 1
    assert ledger.spent.epsilon == 1


def test_what_a_crash_left_unwitnessed_is_witnessed_before_it_is_shown(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS, shelf.folder / "w")
    paid = ledger.spend(Pure(1), question="q", key="k")

    def crash(self: Witness, sequence: int, digest: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Witness, "add", crash)
        with pytest.raises(KeyboardInterrupt):
            ledger.store(paid, {"noisy": 1})
    ledger = open_ledger(shelf.at("a"), TERMS, shelf.folder / "w")
    assert "\n2 " not in (shelf.folder / "w").read_text()
    assert ledger.find("q") == {"noisy": 1}
    assert "\n2 " in (shelf.folder / "w").read_text()
