"""A ledger in one SQLite file, or in memory."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, final
from urllib.parse import quote

from discreet.errors import LedgerError
from discreet.ledger.chain import Entry
from discreet.ledger.history import untrusted
from discreet.ledger.sqlite_schema import open_connection
from discreet.ledger.storage import Lease, State, Storage
from discreet.ledger.turns import Turns

PATIENCE = 30.0  # seconds to wait for others

_COLUMNS = "sequence, kind, body, previous, at, hash"
_AT_ONCE = 500  # rows; each query is read to its end, so that no cursor holds a lock

_FAILURES = (sqlite3.Error, UnicodeError)  # for a damaged file, even the text of the error may be invalid

_inherited: list[sqlite3.Connection] = []  # connections of a parent process: neither used nor closed here


@final
class SqliteStorage(Storage):
    """Store a ledger in a file. Each process has one connection, which one thread at a time uses."""

    def __init__(self, path: str, *, create: bool, patience: float = PATIENCE) -> None:
        self._path = None if path == ":memory:" else os.path.abspath(path)
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._file: tuple[int, int] | None = None  # device and inode
        self._turns = Turns(self._path, patience)
        if self._path is not None:
            _create_file(self._path, create)

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def reading(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """A transaction, in order of arrival; SQLite's own lock excludes other writers."""
        with self._turns.turn(), self._begun(begin):
            yield

    @contextmanager
    def _begun(self, begin: str) -> Iterator[None]:
        try:
            connection = self._open()
        except _FAILURES as error:
            raise as_ledger_error(error) from None
        try:
            connection.execute(begin)  # inside, as is the end: an interrupt may come just after the begin or before the end
            yield
            self._commit(connection)
        except _FAILURES as error:
            self._roll_back(connection)
            raise as_ledger_error(error) from None
        except BaseException:
            self._roll_back(connection)
            raise

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            known = _code(error) == sqlite3.SQLITE_BUSY and connection.in_transaction  # readers held their locks: nothing was written
            self._roll_back(connection)
            if known:
                raise as_ledger_error(error) from None
            self.close()
            raise LedgerError(
                "the last write of the ledger may or may not be durable, so it counts as spent; nothing was released. "
                "Check that the disk works and has free space, then ask again with the same key, or pay again."
            ) from None
        except BaseException:  # an interrupt: whether it was written is unknown
            self._roll_back(connection)
            self.close()
            raise

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.close()  # a connection that cannot roll back is not used again

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def state(self) -> State | None:
        rows = self._rows("SELECT sequence, head, filter FROM state")
        if len(rows) > 1:
            raise untrusted("it has two states")
        return State(*rows[0]) if rows else None

    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        stop = 2**62 if stop is None else stop
        while found := self._found("sequence >= ? AND sequence < ?", start, stop):
            yield from found
            start = found[-1].sequence + 1

    def _found(self, condition: str, *values: Any, order: str = "sequence", limit: int = _AT_ONCE) -> list[Entry]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM entries WHERE {condition} ORDER BY {order} LIMIT {limit}", *values)
        for row in rows:
            if not all(isinstance(value, str) for value in row[1:]):
                raise untrusted(f"entry {row[0]} was changed")
        return [Entry(*row) for row in rows]

    def _one(self, condition: str, *values: Any, order: str = "sequence") -> Entry | None:
        return next(iter(self._found(condition, *values, order=order, limit=1)), None)

    def checkpoint(self) -> Entry | None:
        return self._one("kind = 'checkpoint'", order="sequence DESC")

    def spend_under(self, key: str) -> Entry | None:
        return self._one("kind = 'spend' AND json_extract(body, '$.key') = ?", key)

    def release_for(self, spend: int) -> Entry | None:
        return self._one("kind = 'release' AND json_extract(body, '$.spend') = ?", spend)

    def first_release(self, question: str) -> Entry | None:
        return self._one("kind = 'release' AND json_extract(body, '$.question') = ?", question)

    def received(self, question: str, analyst: str) -> Entry | None:
        of_both = "json_extract(body, '$.question') = ? AND json_extract(body, '$.analyst') = ?"
        return self._one(f"kind = 'receive' AND {of_both}", question, analyst)

    def unanswered(self) -> list[Entry]:
        answered = "SELECT json_extract(body, '$.spend') FROM entries WHERE kind = 'release'"
        return self._found(f"kind = 'spend' AND sequence NOT IN ({answered})", limit=-1)

    def append(self, entry: Entry, filter: str) -> None:
        row = (entry.sequence, entry.kind, entry.text, entry.previous, entry.at, entry.hash)
        self._execute(f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", *row)
        if entry.sequence == 0:
            written = self._execute("INSERT INTO state (id, sequence, head, filter) VALUES (1, 0, ?, ?)", entry.hash, filter)
        else:
            written = self._execute(
                "UPDATE state SET sequence = ?, head = ?, filter = ? WHERE id = 1 AND sequence = ? AND head = ?",
                *(entry.sequence, entry.hash, filter, entry.sequence - 1, entry.previous),
            )
        if written.rowcount != 1:
            raise LedgerError("another writer interfered; nothing was spent and nothing was released. Ask again.")

    def clock(self) -> float:
        return time.time()

    def leases(self) -> list[Lease]:
        return [Lease(*row) for row in self._rows("SELECT name, holder, expires, analyst, charge FROM leases ORDER BY name")]

    def lease(self, lease: Lease) -> None:
        row = (lease.name, lease.holder, lease.expires, lease.analyst, lease.charge)
        self._execute("INSERT OR REPLACE INTO leases (name, holder, expires, analyst, charge) VALUES (?, ?, ?, ?, ?)", *row)

    def drop_lease(self, name: str) -> None:
        self._execute("DELETE FROM leases WHERE name = ?", name)

    def inspect(self) -> None:
        if self._rows("PRAGMA integrity_check(1)") != [("ok",)]:
            raise untrusted("its file is damaged")

    def _execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if self._connection is None:
            raise LedgerError("the ledger was closed during an operation; nothing was released. Open it again.")
        return self._connection.execute(sql, values)

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._execute(sql, *values).fetchall()

    # ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> sqlite3.Connection:
        """The connection of this process, to the file that was first opened."""
        if self._connection is not None and self._process != os.getpid():
            _inherited.append(self._connection)  # SQLite forbids even closing it here
            self._connection = None
        if self._path is None:
            if self._process != os.getpid():
                raise LedgerError("a ledger in memory cannot be shared with a forked process, for each would spend it: use a file")
            self._connection = self._connection or open_connection(":memory:", self._patience)
            return self._connection
        if self._file not in (None, _identity(self._path)):
            raise untrusted("its file was replaced while it was in use: open it again")
        if self._connection is None:
            self._process = os.getpid()
            self._connection = open_connection(f"file:{quote(self._path)}?mode=rw", self._patience)
            self._file = self._file or _identity(self._path)
        return self._connection

    def close(self) -> None:
        if self._connection is not None and self._process == os.getpid() and self._path is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        connection: sqlite3.Connection | None = getattr(self, "_connection", None)
        if connection is not None and self._process == os.getpid():
            connection.close()


def _create_file(path: str, create: bool) -> None:
    """Create the file, readable by its owner only; an existing file is not changed."""
    if not os.path.isdir(os.path.dirname(path)):
        raise LedgerError("the folder of the ledger does not exist: create it, or choose another path")
    if os.path.exists(path):
        return
    if not create:
        raise LedgerError("there is no ledger at this path: check the path")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass  # another process was faster; opening and closing its file here would drop SQLite's locks on it
    except OSError:
        raise LedgerError("the file of the ledger cannot be created: make its folder writable, or choose another path") from None


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        raise untrusted("its file is missing") from None
    return found.st_dev, found.st_ino


def _code(error: Exception) -> int:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF  # the primary code, without the extended one


def as_ledger_error(error: Exception) -> LedgerError:
    """Our error for one of SQLite before a commit, with what to do; the message of SQLite is not repeated."""
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LedgerError("the ledger is busy: others locked it for too long. Nothing was spent and nothing was released. Ask again.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return LedgerError(
                "the ledger cannot be written: make its file and folder writable for this process. Nothing was spent or released."
            )
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_NOMEM:
            return LedgerError(
                "the disk of the ledger is full or failing. Nothing was released. Free space or move the ledger, and ask again."
            )
        case sqlite3.SQLITE_NOTADB:
            return LedgerError("this file is not a ledger of discreet, or it is damaged; it was not changed. Choose another path.")
        case _:
            return untrusted("SQLite cannot read it, or rejected a write that violates its constraints")
