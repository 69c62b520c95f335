"""What somebody with the tables in hand could do to a ledger."""

from __future__ import annotations

from pathlib import Path

from ledger.shelves import Hand, Shelf

from discreet.ledger import chain
from discreet.ledger.history import History
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

TERMS = Terms(10, 0, "id")


def spend_some(place: str | Path, witness: Path | None = None, count: int = 4) -> None:
    ledger = open_ledger(place, TERMS, witness)
    for i in range(count):
        ledger.store(ledger.spend(Pure(1), question=f"{i}", key=f"k{i}"), {"rows": [{"n": 100 + i}]})
    ledger.close()


def recompute(shelf: Shelf, hand: Hand, keep: int) -> None:
    """Make the chain anew from some entry on, with cheaper spends; everything fits again, so only a witness can tell."""
    rows = hand.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
    previous, history = chain.BEFORE_ALL, History()
    kept = hand.execute("SELECT sequence, kind, body, previous, at, hash FROM entries ORDER BY sequence LIMIT ?", (keep,)).fetchall()
    for row in kept:
        history.follow(chain.Entry(*row))
        previous = row[-1]
    hand.execute("DELETE FROM entries WHERE sequence >= ?", (keep,))
    for sequence, (kind, text) in enumerate(rows[keep:], start=keep):
        body = chain.read(text)
        if kind == "spend":
            body["charge"]["basic"] = ["0.001", "0"]
        entry = chain.seal(sequence, kind, body, previous)
        history.follow(entry)
        previous = entry.hash
        shelf.insert(hand, entry)
    hand.execute("UPDATE state SET sequence = ?, head = ?, filter = ?", (history.length - 1, history.head, history.standing.text))
