"""Ledgers of the format before, made anew in this one: every grant, spend and release as it was, with prices on the grid.

The old chain is verified first. Its terms are the same in the new one, and its entries keep their times. Prices are rounded up to the grid,
the budget and what was granted are rounded down: nothing that was typed in decimals changes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet import exact
from discreet.address import is_address
from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger.chain import BEFORE_ALL, Entry, seal
from discreet.ledger.history import History, distrust
from discreet.ledger.ledger import open_ledger
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.sqlite_schema import APPLICATION
from discreet.ledger.storage import Storage
from discreet.loss.charge import Charge
from discreet.loss.loss import ZERO

BEFORE = 2
_COLUMNS = "sequence, kind, body, previous, at, hash"


@final
@frozen
class Migrated:
    """What was made of a ledger, and where the old one lies now."""

    entries: int
    old: str


def migrate(place: str | os.PathLike[str]) -> Migrated:
    """Make a ledger of the format before one of this format, in the same place; the old one is kept beside it.

    Nobody may use the ledger meanwhile. Processes that have it open see that their file was replaced, and must open it again. A witness
    belongs to the old chain: begin another one for the new.
    """
    where = os.fspath(place)
    if is_address(where):
        from discreet.ledger.migrate_postgres import migrate_database

        return Migrated(*migrate_database(where, copied))
    old = f"{where}.format{BEFORE}"
    if os.path.exists(old):
        raise LedgerError(f"{old} is there already: move it away first. Nothing was changed.")
    entries, new = _read(where), f"{where}.new"
    if os.path.exists(new):
        os.unlink(new)  # of a migration that was interrupted
    storage = SqliteStorage(new, create=True)
    with storage.writing():
        count = copied(entries, storage)
    storage.close()
    open_ledger(new).verify()
    os.link(where, old)
    os.replace(new, where)
    return Migrated(count, old)


def _read(path: str) -> list[Entry]:
    """Every entry of an old file."""
    if not os.path.exists(path):
        raise LedgerError("there is no ledger here: check its path")
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
        try:
            known = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            rows = connection.execute(f"SELECT {_COLUMNS} FROM entries ORDER BY sequence").fetchall() if known and version == BEFORE else []
        finally:
            connection.close()
    except sqlite3.Error:
        raise LedgerError("this file is not a ledger of discreet, or it is damaged; it was left as it is. Choose another place.") from None
    if not known or version != BEFORE:
        raise LedgerError(f"this is no ledger of format {BEFORE}: there is nothing to migrate. It was left as it is.")
    return [Entry(*row) for row in rows]


def copied(entries: Iterable[Entry], storage: Storage) -> int:
    """Verify an old chain and write it into a new place, which is being written to; how many entries that made."""
    history = History()
    places: dict[int, int] = {}  # spend, as it was numbered → as it is
    questions: dict[int, str] = {}
    for entry, body in _carried(entries):
        if entry.kind == "release":
            body = {"spend": places[body["spend"]], "question": questions[body["spend"]], "release": body["release"]}
        new = seal(history.length, entry.kind, body, history.head, entry.at)
        try:
            step = history.judge(new)
        except BudgetExceeded:
            raise LedgerError(
                "this ledger has used up its budget, which does not fit the grid of prices to the last digit: keep it, and begin another"
            ) from None
        storage.append(new, step.standing.text)
        history.accept(step)
        if entry.kind == "spend":
            places[entry.sequence], questions[entry.sequence] = new.sequence, body["question"]
        if history.due:
            step = history.judge(seal(history.length, "checkpoint", history.summary, history.head))
            storage.append(step.entry, step.standing.text)
            history.accept(step)
    if history.terms is None:
        raise distrust("it has no entries")
    return history.length


def _carried(entries: Iterable[Entry]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Old entries with their bodies in the new form."""
    head = BEFORE_ALL
    for place, entry in enumerate(entries):
        if entry.sequence != place or entry.previous != head or not entry.sound:
            raise distrust(f"entry {place} is not what was written")
        head = entry.hash
        body = entry.body
        match entry.kind:
            case "terms":
                body = body | {"format": BEFORE + 1, "witnessed": False}
                body |= {name: exact.short(exact.grid_down(Fraction(body[name]))) for name in ("epsilon", "delta")}
            case "grant":
                body |= {name: exact.short(exact.grid_down(Fraction(body[name]))) for name in ("epsilon", "delta")}
            case "spend":
                body |= {"charge": _on_grid(body["charge"]), "whole": None}
        yield entry, body


def _on_grid(charge: dict[str, Any]) -> dict[str, Any]:
    epsilon, mass = charge["basic"]
    prices = Charge((_up(epsilon), _up(mass) or ZERO), _up(charge["rho"]), _up(charge["mu_squared"]), _up(charge["delta"]) or ZERO)
    return prices.to_json()


def _up(price: str | None) -> Fraction | None:
    return None if price is None else exact.grid_up(Fraction(price))
