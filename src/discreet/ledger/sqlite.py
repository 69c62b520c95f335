"""A ledger in one SQLite file, or in memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, final
from urllib.parse import quote

from discreet.errors import LedgerError
from discreet.ledger.chain import Entry
from discreet.ledger.history import distrust
from discreet.ledger.storage import State, Storage

APPLICATION = 0x64697363  # "disc"
VERSION = 2
PATIENCE = 30.0  # seconds to wait for other writers

# The triggers and unique indices are a second wall: what is written through this class never meets them.
SCHEMA = (
    """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY CHECK (sequence >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('terms', 'grant', 'spend', 'release') AND (kind = 'terms') = (sequence = 0)),
    body TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE CHECK (length(previous) = 64),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    at TEXT NOT NULL CHECK (length(at) = 27)
)""",
    """CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    head TEXT NOT NULL,
    filter TEXT NOT NULL
)""",
    "CREATE UNIQUE INDEX one_spend_a_key ON entries (json_extract(body, '$.key')) WHERE kind = 'spend'",
    "CREATE UNIQUE INDEX one_release_a_spend ON entries (json_extract(body, '$.spend')) WHERE kind = 'release'",
    """CREATE TRIGGER entries_follow BEFORE INSERT ON entries
WHEN NEW.sequence <> (SELECT count(*) FROM state) + coalesce((SELECT sequence FROM state), 0)
BEGIN SELECT RAISE(ABORT, 'entries follow one another'); END""",
    "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER entries_last BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END",
    """CREATE TRIGGER state_follows BEFORE UPDATE ON state
WHEN NEW.sequence <> OLD.sequence + 1 OR NEW.head IS NOT (SELECT hash FROM entries WHERE sequence = NEW.sequence)
BEGIN SELECT RAISE(ABORT, 'the state follows the entries'); END""",
    "CREATE TRIGGER state_lasts BEFORE DELETE ON state BEGIN SELECT RAISE(ABORT, 'the state is never deleted'); END",
)

# The rollback journal, and not the write-ahead log: SQLite up to 3.51.2 can corrupt a WAL that is reset under several writers, and
# Pythons ship older ones. EXTRA also syncs the folder after the journal is gone, without which a power cut could undo a commit.
PRAGMAS = {
    "journal_mode": "delete",
    "synchronous": 3,  # EXTRA
    "fullfsync": 1,
    "mmap_size": 0,
    "cell_size_check": 1,
}


_COLUMNS = "sequence, kind, body, previous, at, hash"
_AT_ONCE = 500  # rows; each query is read to its end, so that no cursor holds a lock

_FAILURES = (sqlite3.Error, UnicodeError)  # of a damaged file even the error's text may not be text

_inherited: list[sqlite3.Connection] = []  # connections of a parent process: neither used nor closed here


@final
class SqliteStorage(Storage):
    """Keep a ledger in a file. Each process has one connection, and the ledger lets one thread at a time use it."""

    def __init__(self, path: str, *, create: bool, patience: float = PATIENCE) -> None:
        self._path = None if path == ":memory:" else os.path.abspath(path)
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._file: tuple[int, int] | None = None  # device and inode
        if self._path is not None:
            _make_file(self._path, create)

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def reading(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            connection = self._open()
            connection.execute(begin)
        except _FAILURES as error:
            raise explained(error) from None
        try:
            yield
        except _FAILURES as error:
            self._roll_back(connection)
            raise explained(error) from None
        except BaseException:
            self._roll_back(connection)
            raise
        self._commit(connection)

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            known = _code(error) == sqlite3.SQLITE_BUSY and connection.in_transaction  # readers did not make way: nothing was written
            self._roll_back(connection)
            if known:
                raise explained(error) from None
            self.close()
            raise LedgerError(
                "the ledger's last write may or may not have reached the disk, so it counts as spent; nothing was released. "
                "Make sure that the disk is sound and has room, then ask again with the same key, or pay again."
            ) from None

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.close()  # a connection that cannot roll back is of no more use

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def state(self) -> State | None:
        rows = self._rows("SELECT sequence, head, filter FROM state")
        if len(rows) > 1:
            raise distrust("it has two states")
        return State(*rows[0]) if rows else None

    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        stop = 2**62 if stop is None else stop
        while rows := self._rows(
            f"SELECT {_COLUMNS} FROM entries WHERE sequence >= ? AND sequence < ? ORDER BY sequence LIMIT {_AT_ONCE}", start, stop
        ):
            for row in rows:
                if not all(isinstance(value, str) for value in row[1:]):
                    raise distrust(f"entry {row[0]} is not what was written")
                yield Entry(*row)
            start = rows[-1][0] + 1

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
            raise LedgerError("another writer came between; nothing was spent and nothing was released. Ask again.")

    def inspect(self) -> None:
        if self._rows("PRAGMA integrity_check(1)") != [("ok",)]:
            raise distrust("its file is damaged")

    def _execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if self._connection is None:
            raise LedgerError("the ledger was closed in the middle of its work; nothing was released. Open it again.")
        return self._connection.execute(sql, values)

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._execute(sql, *values).fetchall()

    # ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> sqlite3.Connection:
        """The connection of this process, to the file that was opened."""
        if self._connection is not None and self._process != os.getpid():
            _inherited.append(self._connection)  # SQLite forbids even closing it here
            self._connection = None
        if self._path is None:
            if self._process != os.getpid():
                raise LedgerError("a ledger in memory cannot be shared with a forked process: each would spend it. Keep it in a file.")
            self._connection = self._connection or _connected(":memory:", self._patience)
            return self._connection
        if self._file not in (None, _identity(self._path)):
            raise distrust("its file was replaced while it was in use; open it again")
        if self._connection is None:
            self._process = os.getpid()
            self._connection = _connected(f"file:{quote(self._path)}?mode=rw", self._patience)
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


def _make_file(path: str, create: bool) -> None:
    """Create the file for its owner only; one that exists is left alone."""
    if not os.path.isdir(os.path.dirname(path)):
        raise LedgerError("the ledger's folder does not exist: create it, or choose another place")
    if os.path.exists(path):
        return
    if not create:
        raise LedgerError("there is no ledger here: check its path")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass  # another process was quicker; opening and closing its file here would drop SQLite's locks on it
    except OSError:
        raise LedgerError("the ledger's file cannot be created: let this process write to its folder, or choose another place") from None


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        raise distrust("its file is gone") from None
    return found.st_dev, found.st_ino


def _connected(target: str, patience: float) -> sqlite3.Connection:
    """Open a connection; say who the file is before anything of it is changed."""
    connection = sqlite3.connect(target, timeout=patience, isolation_level=None, check_same_thread=False, uri=target != ":memory:")
    try:
        if _is_blank(connection):
            _configure(connection, target == ":memory:")
            _create(connection)
        else:
            _recognise(connection)
            _configure(connection, target == ":memory:")
        _recognise(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _asked(connection: sqlite3.Connection, pragma: str) -> Any:
    row = connection.execute(f"PRAGMA {pragma}").fetchone()
    return None if row is None else row[0]


def _is_blank(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    return not tables and bool(_asked(connection, "application_id") == 0)


def _recognise(connection: sqlite3.Connection) -> None:
    if _asked(connection, "application_id") != APPLICATION:
        raise LedgerError("this file is not a ledger of discreet and was left as it is: choose another place")
    if _asked(connection, "user_version") != VERSION:
        raise LedgerError("this ledger was made by another version of discreet: use that version, for nothing is converted")
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    if sorted(str(sql) for (sql,) in found) != sorted(SCHEMA):
        raise distrust("its tables are not those of a ledger")


def _configure(connection: sqlite3.Connection, in_memory: bool) -> None:
    for name, value in PRAGMAS.items():
        found = _asked(connection, f"{name} = {value}")
        found = _asked(connection, name) if found is None else found
        if found not in (value, None if name == "mmap_size" else value) and not (in_memory and name == "journal_mode"):
            raise LedgerError(f"SQLite does not accept {name} = {value} here, without which a debit could be lost: use another place")


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_blank(connection):  # still so, now that nobody else can write
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _code(error: Exception) -> int:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF  # without the extension


def explained(error: Exception) -> LedgerError:
    """Say what to do about an error of SQLite's before a commit; its own words are not repeated."""
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LedgerError("the ledger is busy: others kept it for too long. Nothing was spent and nothing was released. Ask again.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return LedgerError(
                "the ledger cannot be written: let this process write to its file and folder. Nothing was spent or released."
            )
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_NOMEM:
            return LedgerError("the ledger's disk is full or failing. Nothing was released. Make room or move the ledger, then ask again.")
        case sqlite3.SQLITE_NOTADB:
            return LedgerError("this file is not a ledger of discreet, or it is damaged; it was left as it is. Choose another place.")
        case _:
            return distrust("SQLite cannot read it, or stopped a write that breaks its rules")
