"""Migrate a ledger of an older format: its chain is verified and carried over into a new one, and the old one is kept.

The old chain is verified first: its seals, its state, and its witness if it has one. The new ledger has the same terms, and its entries
keep their times. `carry.py` says what becomes of the entries. Those of format 3 are unchanged, with their receipts and their witness. Those
of format 2 are written anew: older receipts are verified against the old ledger, and the witness begins anew.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import Any, final
from urllib.parse import quote

from attrs import frozen

from discreet.address import is_address
from discreet.errors import LedgerError
from discreet.ledger.carry import OLDER, carry, keeps_hashes
from discreet.ledger.chain import Entry
from discreet.ledger.replay import Replay
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.sqlite_schema import APPLICATION
from discreet.ledger.witness import Witness

PATIENCE = 30.0  # seconds to wait for users of the old ledger
COLUMNS = "sequence, kind, body, previous, at, hash"
CLOSED = '{"migrated":true}'  # the state of a migrated file: no version spends from it any more
_NOTHING = "this is not a ledger of format 2 or 3, and was not changed: check the path"


@final
@frozen
class Migrated:
    """The number of entries of the new ledger, the location of the old one, and its format."""

    entries: int
    old: str
    version: int

    @property
    def keeps_receipts(self) -> bool:
        """Whether older receipts are still valid, because their entries are unchanged."""
        return keeps_hashes(self.version)


def migrate(place: str | os.PathLike[str], witness: str | os.PathLike[str] | None = None) -> Migrated:
    """Convert a ledger of an older format to this format, in the same place; the old one is kept beside it, closed.

    Users of the old ledger are waited for, and cannot spend from it afterwards. A ledger that was created with a witness needs it here. One
    of format 3 goes on with its witness; one of format 2 gets a new one in the same place, and the old one is kept beside it.
    """
    where, watch = os.fspath(place), None if witness is None else os.fspath(witness)
    if is_address(where):
        from discreet.ledger.migrate_postgres import migrate_database

        return Migrated(*migrate_database(where, partial(carry, watch=watch), OLDER))
    if not os.path.exists(where):
        raise LedgerError("there is no ledger at this path: check the path")
    path = os.path.realpath(where)
    return _migrate_file(path, watch)


def _migrate_file(path: str, watch: str | None) -> Migrated:
    new = f"{path}.new"
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, isolation_level=None, timeout=PATIENCE)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise LedgerError(_NOTHING)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in OLDER:
                raise LedgerError(_NOTHING)
            old = _kept_as(path, version)
            connection.execute("BEGIN EXCLUSIVE")  # no one reads or writes until the file is closed
            entries = [Entry(*row) for row in connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY sequence")]
            state = connection.execute("SELECT sequence, head, filter FROM state").fetchall()
            count = _written(version, entries, state, new, stat.S_IMODE(os.stat(path).st_mode), watch)
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
    if watch is not None and not keeps_hashes(version):
        _renew_witness(path, watch, version)
    return Migrated(count, old, version)


def _kept_as(path: str, version: int) -> str:
    """The name under which the old file is kept; LedgerError if it is taken, or if the file has a second name."""
    old = f"{path}.format{version}"
    if os.path.exists(old) and not os.path.samefile(old, path):
        raise LedgerError(f"{old} already exists: move it away first. Nothing was changed.")
    if os.stat(path).st_nlink > 1 and not os.path.exists(old):
        raise LedgerError("this file has a second name (a hard link), under which it could be migrated again: remove that name first")
    return old


def _written(version: int, entries: list[Entry], state: Sequence[Any], new: str, mode: int, watch: str | None) -> int:
    """Write the new file and verify it."""
    if os.path.exists(new):
        os.unlink(new)  # left by an interrupted migration
    storage = SqliteStorage(new, create=True)
    with storage.writing():
        count = carry(version, entries, state, storage, watch)
    replay = Replay()
    with storage.reading():
        storage.inspect()
        replay.follow(storage.entries(0))
    storage.close()
    os.chmod(new, mode)
    if os.path.exists(f"{new}-turns"):
        os.unlink(f"{new}-turns")
    return count


def _renew_witness(path: str, watch: str, version: int) -> None:
    os.replace(watch, f"{watch}.format{version}")
    storage = SqliteStorage(path, create=False)
    with storage.reading():
        state = storage.state()
    storage.close()
    assert state is not None, "it was just written"
    Witness(watch).add(state.sequence, state.head)
