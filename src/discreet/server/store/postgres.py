"""The server's database in PostgreSQL, which several instances share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

import psycopg

from discreet.errors import Invalid
from discreet.server.store.schema import MIGRATIONS

_LOCK = 0x64697376  # "disv": one writer at a time, as in SQLite


@final
class PostgresDatabase:
    """Tables in the schema `discreet_server` of a database; each thread has its own connection."""

    def __init__(self, address: str) -> None:
        self._address, self._local, self._lock = address, threading.local(), threading.Lock()
        self._all: list[psycopg.Connection[Any]] = []
        with self.writing() as run:
            run("CREATE SCHEMA IF NOT EXISTS discreet_server")
            run("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)")
            done = int(run("SELECT coalesce(max(number), 0) FROM migrations")[0][0])
            if done > len(MIGRATIONS):
                raise Invalid("the server's database was written by a newer version of discreet: update discreet")
            for number, statements in enumerate(MIGRATIONS[done:], start=done + 1):
                for statement in statements:
                    run(statement)
                run("INSERT INTO migrations (number) VALUES (?)", number)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        connection = self._connection
        try:
            return _rows(connection.execute(_placeholders(sql), values))
        except psycopg.OperationalError:
            return _rows(self._again(connection).execute(_placeholders(sql), values))

    @contextmanager
    def writing(self) -> Iterator[Any]:
        connection = self._connection
        if connection.closed or connection.broken:
            connection = self._again(connection)
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            yield lambda sql, *values: _rows(connection.execute(_placeholders(sql), values))

    @property
    def _connection(self) -> psycopg.Connection[Any]:
        found: psycopg.Connection[Any] | None = getattr(self._local, "connection", None)
        return self._opened() if found is None else found

    def _again(self, connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
        connection.close()
        return self._opened()

    def _opened(self) -> psycopg.Connection[Any]:
        try:
            found = psycopg.connect(self._address, autocommit=True, options="-c search_path=discreet_server")
        except psycopg.Error:
            raise Invalid("the server's database does not answer: check its address") from None
        self._local.connection = found
        with self._lock:
            self._all.append(found)
        return found

    def close(self) -> None:
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._local = threading.local()


def _placeholders(sql: str) -> Any:
    return sql.replace("%", "%%").replace("?", "%s")


def _rows(cursor: psycopg.Cursor[Any]) -> list[Any]:
    return cursor.fetchall() if cursor.description is not None else []
