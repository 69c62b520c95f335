"""What somebody with the file in hand could do to a ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.ledger import chain
from discreet.ledger.history import History
from discreet.ledger.ledger import open_ledger
from discreet.ledger.sqlite import SCHEMA
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

TERMS = Terms(10, 0, "id")
Tamper = Callable[[sqlite3.Connection], object]


def spend_some(path: Path, witness: Path | None = None, count: int = 4) -> None:
    ledger = open_ledger(path, TERMS, witness)
    for i in range(count):
        ledger.store(ledger.spend(Pure(1), question=f"{i}", key=f"k{i}"), {"rows": [{"n": 100 + i}]})
    ledger.close()


@contextmanager
def behind_its_back(path: Path) -> Iterator[sqlite3.Connection]:
    """Edit a ledger with its triggers out of the way, and put them back."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = [sql for sql in SCHEMA if sql.startswith("CREATE TRIGGER")]
    for sql in triggers:
        connection.execute(f"DROP TRIGGER {sql.split()[2]}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        yield connection
    finally:
        for sql in triggers:
            connection.execute(sql)
        connection.close()


def recompute(connection: sqlite3.Connection, keep: int) -> None:
    """Make the chain anew from some entry on, with cheaper spends; everything fits again, so only a witness can tell."""
    rows = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
    previous, history = chain.BEFORE_ALL, History()
    kept = connection.execute("SELECT sequence, kind, body, previous, at, hash FROM entries ORDER BY sequence LIMIT ?", (keep,)).fetchall()
    for row in kept:
        history.follow(chain.Entry(*row))
        previous = row[-1]
    connection.execute("DELETE FROM entries WHERE sequence >= ?", (keep,))
    for sequence, (kind, text) in enumerate(rows[keep:], start=keep):
        body = chain.read(text)
        if kind == "spend":
            body["charge"]["basic"] = ["1/1000", "0"]
        entry = chain.seal(sequence, kind, body, previous)
        history.follow(entry)
        previous = entry.hash
        connection.execute(
            "INSERT INTO entries (sequence, kind, body, previous, at, hash) VALUES (?, ?, ?, ?, ?, ?)",
            (sequence, kind, entry.text, entry.previous, entry.at, entry.hash),
        )
    connection.execute("UPDATE state SET sequence = ?, head = ?, filter = ?", (history.length - 1, history.head, history.standing.text))
