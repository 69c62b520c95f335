"""The server's database: one SQLite file, or a PostgreSQL database that several instances share."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol, TypeAlias, final

from discreet.address import is_address
from discreet.errors import Invalid, LedgerError
from discreet.extras import require
from discreet.server.store.schema import migrate
from discreet.server.store.storable import UNUSABLE, storable

Row: TypeAlias = tuple[Any, ...]
ONE_SERVER = (
    "another server is using this database: stop it first, give this one another database, or share one in PostgreSQL among several servers"
)
PATIENCE = 30.0  # seconds to wait for another writer


class Database(Protocol):
    """Rows that are durable once `writing` has ended. Statements use `?`, and SQL that SQLite and PostgreSQL share."""

    is_shared: bool  # whether several servers may use it

    def reserve(self) -> None:
        """Be the only server that uses it until it is closed, where it is not shared; Invalid if there is one."""

    def now(self) -> float:
        """Seconds since 1970, by a clock that all who use it share."""

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Read."""

    def writing(self) -> Any:
        """Be the only writer inside the block; the block gets a function that runs a statement and returns its rows."""

    def close(self) -> None:
        """Close all connections."""


def open_database(place: str | os.PathLike[str]) -> Database:
    """Open the database at a path or an address, and bring its tables to the newest version."""
    if is_address(place):
        require("psycopg")
        from discreet.server.store.postgres import PostgresDatabase

        return PostgresDatabase(os.fspath(place))
    return SqliteDatabase(os.fspath(place))


@final
class SqliteDatabase:
    """One file that only its owner can read. A connection is used by one thread at a time, and kept for the next one."""

    is_shared = False

    def __init__(self, path: str) -> None:
        if path == ":memory:":
            raise Invalid("the server's database is a file, so that accounts and jobs survive a restart: give a path")
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise Invalid("the folder of the server's database does not exist: create it, or choose another path")
        self._path, self._lock, self._closed = path, threading.Lock(), False
        self._idle: list[sqlite3.Connection] = []
        self._reserved: int | None = None
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError:
            raise Invalid("the server's database cannot be written: make its file and folder writable, or choose another path") from None
        try:
            with self.writing() as run:
                migrate(run)
        except BaseException:
            self.close()
            raise

    def reserve(self) -> None:
        lock = os.open(f"{self._path}.lock", os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system ends it with the process, however that ends
        except OSError:
            os.close(lock)
            raise Invalid(ONE_SERVER) from None
        self._reserved = lock

    def now(self) -> float:
        return time.time()

    def rows(self, sql: str, *values: Any) -> list[Row]:
        with self._connected() as connection:
            return connection.execute(sql, storable(values)).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Any]:
        with self._lock, self._connected() as connection:  # threads of this process queue here; other processes wait in SQLite
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield lambda sql, *values: connection.execute(sql, storable(values)).fetchall()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def copy_to(self, path: str) -> None:
        """Write a consistent copy into another file, while others go on."""
        with self._connected() as connection, closing(sqlite3.connect(path)) as copy:
            connection.backup(copy)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile. There are as many as were ever needed at once, not one a thread."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._opened()
        try:
            yield connection
        except (sqlite3.OperationalError, sqlite3.NotSupportedError):
            raise LedgerError(UNUSABLE) from None
        finally:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _opened(self) -> sqlite3.Connection:
        try:
            found = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            # with a write-ahead log, who reads never waits for who writes; its reset is safe here, where one process writes in turn
            for pragma in ("journal_mode = wal", "synchronous = extra", "foreign_keys = on"):
                found.execute(f"PRAGMA {pragma}")
        except sqlite3.DatabaseError:
            raise Invalid("this file is not a database of a server, or it is damaged; it was not changed: choose another path") from None
        return found

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        if self._reserved is not None:
            os.close(self._reserved)
            self._reserved = None
