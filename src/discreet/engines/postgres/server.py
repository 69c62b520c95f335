"""A session on a PostgreSQL server: read-only, under settings of ours, and silent about where it is."""

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

# what a statement means must not depend on what the owner, the role or the database has set
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",  # nobody's function or operator stands in for one of PostgreSQL's own
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "extra_float_digits": "3",
    "jit": "off",  # our expressions are long, and each statement's would be compiled anew
    "work_mem": "64MB",  # units are counted in memory where they are not too many
    "hash_mem_multiplier": "2",
}
_SET = f"SELECT {', '.join(f'pg_catalog.set_config({name!r}, {value!r}, true)' for name, value in _SETTINGS.items())}"

UNREACHED = (
    "PostgreSQL: no connection could be opened; check the address (host, port, database, user, password), and that the server lets this "
    "machine in"
)
CUT_OFF = "PostgreSQL: the connection was cut off; ask again when the server answers"
CLOSED = "PostgreSQL: this connection was closed: connect again"


@final
class Server:
    """One session, opened again if it was cut off between two statements; neither the address nor who we are there is shown by anything."""

    def __init__(self, address: str) -> None:
        self._address, self._process = address, os.getpid()
        self._lines = [_connect(address)]
        self._forget = weakref.finalize(self, _hang_up, self._lines, self._process)
        self.version = _version(self._lines[0])
        complaint = _complaint(self._lines[0], self.version)
        if complaint is not None:
            self.close()
            raise EngineError(complaint)

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it: one that forked must leave it alone."""
        return self._process == os.getpid()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction: a single snapshot, read-only, under our settings, and nothing of it stays."""
        connection = self._begun()
        try:
            yield connection
        finally:
            with suppress(psycopg.Error):  # the line may be cut
                connection.rollback()

    @contextmanager
    def before_settings(self) -> Iterator[Connection]:
        """A transaction under the role's own settings."""
        connection = self._lines[0]
        try:
            yield connection
        finally:
            with suppress(psycopg.Error):
                connection.rollback()

    def close(self) -> None:
        """End the session."""
        if self.is_ours:
            self._forget()

    def _begun(self) -> Connection:
        """A connection with a transaction begun; no statement was sent yet, so it may be tried again on a new line."""
        if not self._forget.alive:
            raise EngineError(CLOSED)
        if self._lines:  # none, if it was cut off and no other could be opened so far
            with suppress(psycopg.OperationalError):
                self._lines[0].execute(_SET)
                return self._lines[0]
        _hang_up(self._lines, self._process)
        self._lines.append(_connect(self._address))
        self._lines[0].execute(_SET)
        return self._lines[0]


def _connect(address: str) -> Connection:
    connection = None
    with suppress(psycopg.Error, UnicodeError, ValueError):  # what they say names the host and the user
        wishes = {"connect_timeout": _PATIENCE, "application_name": "discreet", **conninfo_to_dict(address), "client_encoding": "UTF8"}
        # no prepared statements, and settings last for a transaction: so a pooler may stand between
        connection = psycopg.connect(make_conninfo(**{name: str(value) for name, value in wishes.items()}), prepare_threshold=None)
    if connection is None:
        raise EngineError(UNREACHED)
    connection.read_only, connection.isolation_level = True, IsolationLevel.REPEATABLE_READ
    return connection


def _version(connection: Connection) -> str:
    number = connection.info.server_version
    return f"{number // 10_000}.{number % 10_000}"


def _complaint(connection: Connection, version: str) -> str | None:
    """Why this server will not do, if so."""
    if not _TESTED[0] <= connection.info.server_version // 10_000 <= _TESTED[1]:
        return f"engine version outside the tested range: PostgreSQL {version}; use a server of version {_TESTED[0]} to {_TESTED[1]}"
    if connection.info.parameter_status("server_encoding") != "UTF8":
        return "PostgreSQL: the database must be encoded in UTF8, for else a text may be one that cannot be read"
    return None


def _hang_up(lines: list[Connection], process: int) -> None:
    while lines and process == os.getpid():  # a child would end the parent's session
        lines.pop().close()
