"""The server's database: one SQLite file, or a PostgreSQL database that several instances share."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, final

from discreet.address import is_address
from discreet.errors import Invalid
from discreet.extras import require
from discreet.server.store.schema import MIGRATIONS

Row: TypeAlias = tuple[Any, ...]
PATIENCE = 30.0  # seconds to wait for another writer


class Database(Protocol):
    """Rows that are durable once `writing` has ended. Statements use `?`, and SQL that SQLite and PostgreSQL share."""

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
    """One file that only its owner can read; each thread has its own connection."""

    def __init__(self, path: str) -> None:
        self._path, self._local, self._lock = path, threading.local(), threading.Lock()
        self._all: list[sqlite3.Connection] = []
        if path != ":memory:":
            if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
                raise Invalid("the folder of the server's database does not exist: create it, or choose another path")
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        with self.writing() as run:
            done = _version(run)
            for number, statements in enumerate(MIGRATIONS[done:], start=done + 1):
                for statement in statements:
                    run(statement)
                run("INSERT INTO migrations (number) VALUES (?)", number)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        if self._path == ":memory:":
            with self._lock:
                return self._connection.execute(sql, values).fetchall()
        return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Any]:
        with self._lock:  # threads of this process queue here; other processes wait in SQLite
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield lambda sql, *values: connection.execute(sql, values).fetchall()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._path == ":memory:" and self._all:
            return self._all[0]
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            for pragma in ("journal_mode = delete", "synchronous = extra", "foreign_keys = on"):
                found.execute(f"PRAGMA {pragma}")
            self._local.connection = found
            self._all.append(found)
        return found

    def close(self) -> None:
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._local = threading.local()


def _version(run: Any) -> int:
    run("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)")
    found: Sequence[Row] = run("SELECT coalesce(max(number), 0) FROM migrations")
    done = int(found[0][0])
    if done > len(MIGRATIONS):
        raise Invalid("the server's database was written by a newer version of discreet: update discreet")
    return done
