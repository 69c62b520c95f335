"""A session on a PostgreSQL server: read-only, under our settings; it never shows its address."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, final

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from discreet.errors import EngineError

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_TESTED = (14, 18)  # the first and the last version
_PATIENCE = 30  # seconds for a server to answer at all

# the meaning of a statement must not depend on settings of the owner, the role or the database
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",  # no user's function or operator can shadow one of PostgreSQL's
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "extra_float_digits": "3",
    "jit": "off",  # our expressions are long, and each statement would be compiled again
    "work_mem": "64MB",  # units are counted in memory unless they are too many
    "hash_mem_multiplier": "2",
}
_SET = f"SELECT {', '.join(f'pg_catalog.set_config({name!r}, {value!r}, true)' for name, value in _SETTINGS.items())}"

UNREACHED = (
    "PostgreSQL: no connection could be opened; check the address (host, port, database, user, password), and that the server accepts "
    "connections from this machine"
)
CUT_OFF = "PostgreSQL: the connection was lost; ask again when the server answers"
CLOSED = "PostgreSQL: this connection was closed: connect again"


@final
class Server:
    """One session, reopened if it was lost between two statements; no message shows its address or user."""

    def __init__(self, address: str) -> None:
        self._address, self._process = address, os.getpid()
        self._connections = [_connect(address)]
        self._forget = weakref.finalize(self, _disconnect, self._connections, self._process)
        self.version = _version(self._connections[0])
        complaint = _complaint(self._connections[0], self.version)
        if complaint is not None:
            self.close()
            raise EngineError(complaint)

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it: a forked child must not use it."""
        return self._process == os.getpid()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction: a single snapshot, read-only, under our settings, rolled back at the end."""
        connection = self._begin()
        try:
            yield connection
        finally:
            with suppress(psycopg.Error):  # the connection may be lost
                connection.rollback()

    @contextmanager
    def before_settings(self) -> Iterator[Connection]:
        """A transaction under the role's own settings."""
        connection = self._connections[0]
        try:
            yield connection
        finally:
            with suppress(psycopg.Error):
                connection.rollback()

    def close(self) -> None:
        """End the session."""
        if self.is_ours:
            self._forget()

    def _begin(self) -> Connection:
        """A connection in a transaction; no statement was sent yet, so a new connection may be tried."""
        if not self._forget.alive:
            raise EngineError(CLOSED)
        if self._connections:  # none if it was lost and no other could be opened since
            with suppress(psycopg.OperationalError):
                self._connections[0].execute(_SET)
                return self._connections[0]
        _disconnect(self._connections, self._process)
        self._connections.append(_connect(self._address))
        self._connections[0].execute(_SET)
        return self._connections[0]


def _connect(address: str) -> Connection:
    connection = None
    with suppress(psycopg.Error, UnicodeError, ValueError):  # their messages name the host and the user
        options = {"connect_timeout": _PATIENCE, "application_name": "discreet", **conninfo_to_dict(address), "client_encoding": "UTF8"}
        # no prepared statements, and settings last for a transaction: so a connection pooler is supported
        connection = psycopg.connect(make_conninfo(**{name: str(value) for name, value in options.items()}), prepare_threshold=None)
    if connection is None:
        raise EngineError(UNREACHED)
    connection.read_only, connection.isolation_level = True, IsolationLevel.REPEATABLE_READ
    return connection


def _version(connection: Connection) -> str:
    number = connection.info.server_version
    return f"{number // 10_000}.{number % 10_000}"


def _complaint(connection: Connection, version: str) -> str | None:
    """Why this server cannot be used; None if it can."""
    if not _TESTED[0] <= connection.info.server_version // 10_000 <= _TESTED[1]:
        return f"engine version outside the tested range: PostgreSQL {version}; use a server of version {_TESTED[0]} to {_TESTED[1]}"
    if connection.info.parameter_status("server_encoding") != "UTF8":
        return "PostgreSQL: the encoding of the database must be UTF8, or some texts could not be read: convert the database"
    return None


def _disconnect(connections: list[Connection], process: int) -> None:
    while connections and process == os.getpid():  # a child would end the session of its parent
        connections.pop().close()
