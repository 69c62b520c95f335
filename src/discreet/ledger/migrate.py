"""Migrate a ledger of the previous format: every grant, spend and release is copied, with prices on the grid.

The old chain is verified first: its seals, its state, and its witness if it has one. The new ledger has the same terms, and its entries
keep their times. Prices are rounded up to the grid, budgets and grants are rounded down: decimals that people type do not change.
Receipts name entries of the old chain, and are verified against the old ledger, which is kept.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from typing import Any, final
from urllib.parse import quote

from attrs import frozen

from discreet import exact
from discreet.address import is_address
from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger.chain import BEFORE_ALL, Entry, seal
from discreet.ledger.history import History, untrusted
from discreet.ledger.replay import Replay
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.sqlite_schema import APPLICATION
from discreet.ledger.storage import Storage
from discreet.ledger.witness import Witness
from discreet.loss.charge import Charge
from discreet.loss.loss import ZERO

BEFORE = 2
PATIENCE = 30.0  # seconds to wait for users of the old ledger
COLUMNS = "sequence, kind, body, previous, at, hash"
CLOSED = '{"migrated":true}'  # the state of a migrated file: no version spends from it any more
_NOTHING = f"this is not a ledger of format {BEFORE}, and was not changed: check the path"


@final
@frozen
class Migrated:
    """The number of entries of the new ledger, and the location of the old one."""

    entries: int
    old: str


def migrate(place: str | os.PathLike[str], witness: str | os.PathLike[str] | None = None) -> Migrated:
    """Convert a ledger of the previous format to this format, in the same place; the old one is kept beside it, closed.

    Users of the old ledger are waited for, and cannot spend from it afterwards. A ledger that was created with a witness needs it here; it
    gets a new witness in the same place, and the old one is kept beside it.
    """
    where, watch = os.fspath(place), None if witness is None else os.fspath(witness)
    if is_address(where):
        from discreet.ledger.migrate_postgres import migrate_database

        return Migrated(*migrate_database(where, lambda entries, state, storage: copied(entries, state, storage, watch), BEFORE))
    if not os.path.exists(where):
        raise LedgerError("there is no ledger at this path: check the path")
    path = os.path.realpath(where)
    if os.stat(path).st_nlink > 1 and not os.path.exists(f"{path}.format{BEFORE}"):
        raise LedgerError("this file has a second name (a hard link), under which it could be migrated again: remove that name first")
    return _migrate_file(path, watch)


def _migrate_file(path: str, watch: str | None) -> Migrated:
    old, new = f"{path}.format{BEFORE}", f"{path}.new"
    if os.path.exists(old) and not os.path.samefile(old, path):
        raise LedgerError(f"{old} already exists: move it away first. Nothing was changed.")
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, isolation_level=None, timeout=PATIENCE)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise LedgerError(_NOTHING)
            if connection.execute("PRAGMA user_version").fetchone()[0] != BEFORE:
                raise LedgerError(_NOTHING)
            connection.execute("BEGIN EXCLUSIVE")  # no one reads or writes until the file is closed
            entries = [Entry(*row) for row in connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY sequence")]
            state = connection.execute("SELECT sequence, head, filter FROM state").fetchall()
            count = _written(entries, state, new, stat.S_IMODE(os.stat(path).st_mode), watch)
            connection.execute("DROP TRIGGER IF EXISTS state_follows")
            connection.execute("UPDATE state SET filter = ?", (CLOSED,))
            connection.execute("COMMIT")
    except sqlite3.Error:
        raise LedgerError(
            "this file is damaged, in use or not a ledger of discreet: check the path, and stop its users. Nothing was migrated."
        ) from None
    if not os.path.exists(old):
        os.link(path, old)
    os.replace(new, path)
    if watch is not None:
        _renew_witness(path, watch)
    return Migrated(count, old)


def _written(entries: list[Entry], state: Sequence[Any], new: str, mode: int, watch: str | None) -> int:
    """Write the new file and verify it."""
    if os.path.exists(new):
        os.unlink(new)  # left by an interrupted migration
    storage = SqliteStorage(new, create=True)
    with storage.writing():
        count = copied(entries, state, storage, watch)
    replay = Replay()
    with storage.reading():
        storage.inspect()
        replay.follow(storage.entries(0))
    storage.close()
    os.chmod(new, mode)
    if os.path.exists(f"{new}-turns"):
        os.unlink(f"{new}-turns")
    return count


def _renew_witness(path: str, watch: str) -> None:
    os.replace(watch, f"{watch}.format{BEFORE}")
    storage = SqliteStorage(path, create=False)
    with storage.reading():
        state = storage.state()
    storage.close()
    assert state is not None, "it was just written"
    Witness(watch).add(state.sequence, state.head)


def copied(entries: Iterable[Entry], state: Sequence[Any], storage: Storage, watch: str | None) -> int:
    """Verify an old chain and write it to a storage, inside `writing`; return the number of new entries."""
    history = History()
    places: dict[int, int] = {}  # old sequence of a spend → new sequence
    questions: dict[int, str] = {}
    old = list(entries)
    _check_state(old, state)
    _check_witness(old, watch)
    for entry, body in _carried(old):
        if entry.kind == "release":
            body = {"spend": places[body["spend"]], "question": questions[body["spend"]], "release": body["release"]}
        new = seal(history.length, entry.kind, body, history.head, entry.at)
        try:
            step = history.judge(new)
        except BudgetExceeded:
            raise LedgerError(
                "this ledger has used up its budget, which is not a multiple of the price grid: keep it, and create a new ledger"
            ) from None
        storage.append(new, step.standing.text)
        history.accept(step)
        if entry.kind == "spend":
            places[entry.sequence], questions[entry.sequence] = new.sequence, body["question"]
        if history.due:
            step = history.judge(seal(history.length, "checkpoint", history.summary, history.head))
            storage.append(step.entry, step.standing.text)
            history.accept(step)
    return history.length


def _check_state(entries: Sequence[Entry], state: Sequence[Any]) -> None:
    """The state must match the last entry: otherwise the chain was truncated."""
    if not entries or len(state) != 1:
        raise untrusted("its entries or its state are missing")
    sequence, head, _ = state[0]
    if (sequence, head) != (entries[-1].sequence, entries[-1].hash):
        raise untrusted("its state does not match its entries")


def _check_witness(entries: Sequence[Entry], watch: str | None) -> None:
    if watch is None:
        if entries[0].body.get("witnessed"):
            raise LedgerError("this ledger has a witness, without which an older copy could be accepted: pass the file of the witness")
        return
    witness = Witness(watch)
    witness.read_new()
    witness.check(len(entries), lambda sequence: entries[sequence].hash)


def _carried(entries: Iterable[Entry]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Old entries with their bodies in the new format."""
    head = BEFORE_ALL
    for place, entry in enumerate(entries):
        if entry.sequence != place or entry.previous != head or not entry.sound:
            raise untrusted(f"entry {place} was changed")
        head = entry.hash
        body = entry.body
        match entry.kind:
            case "terms":
                body = body | {"format": BEFORE + 1}
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
