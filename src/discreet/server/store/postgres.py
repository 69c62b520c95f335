"""The server's database in PostgreSQL, which several instances share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

import psycopg

from discreet.errors import LedgerError
from discreet.server.store.schema import migrate
from discreet.server.store.storable import UNUSABLE, storable

_LOCK = 0x64697376  # "disv": one writer at a time, as in SQLite


@final
class PostgresDatabase:
    """Tables in the schema `discreet_server` of a database; a connection is used by one thread at a time."""

    is_shared = True

    def __init__(self, address: str) -> None:
        self._address, self._closed = address, False
        self._idle: list[psycopg.Connection[Any]] = []
        try:
            with self.writing() as run:
                run("CREATE SCHEMA IF NOT EXISTS discreet_server")
                migrate(run)
        except BaseException:
            self.close()
            raise

    def reserve(self) -> None:
        """It is shared: nothing is reserved."""

    def now(self) -> float:
        return float(self.rows("SELECT extract(epoch FROM clock_timestamp())")[0][0])

    def rows(self, sql: str, *values: Any) -> list[Any]:
        with self._connected() as connection:
            return _rows(connection.execute(_placeholders(sql), storable(values)))

    @contextmanager
    def writing(self) -> Iterator[Any]:
        with self._connected() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            yield lambda sql, *values: _rows(connection.execute(_placeholders(sql), storable(values)))

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection that no other thread uses meanwhile, and that answers: the database may have been restarted."""
        connection = self._live() or self._opened()
        try:
            yield connection
        except psycopg.OperationalError:
            connection.close()
            raise LedgerError(UNUSABLE) from None
        finally:
            if self._closed or connection.closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _live(self) -> psycopg.Connection[Any] | None:
        while True:
            try:
                found = self._idle.pop()
            except IndexError:
                return None
            try:
                found.execute("SELECT 1")
            except psycopg.Error:
                found.close()
            else:
                return found

    def _opened(self) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(self._address, autocommit=True, options="-c search_path=discreet_server")
        except psycopg.Error:
            raise LedgerError(UNUSABLE) from None

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()


def _placeholders(sql: str) -> Any:
    return sql.replace("%", "%%").replace("?", "%s")


def _rows(cursor: psycopg.Cursor[Any]) -> list[Any]:
    return cursor.fetchall() if cursor.description is not None else []
