"""PostgreSQL: tables are queried in place, by generated SELECTs in read-only transactions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any, final

import numpy as np
import psycopg
from attrs import frozen
from numpy.typing import NDArray

from discreet.engines.engine import REOPEN, Columns, Engine, SentTable
from discreet.engines.identity import Identities, identity_refused
from discreet.engines.names import check_column_names
from discreet.engines.postgres import system_catalog
from discreet.engines.postgres.dialect import POSTGRES
from discreet.engines.postgres.server import CUT_OFF, Connection, Server
from discreet.engines.postgres.view import identity_problem, make_view
from discreet.errors import EngineError
from discreet.tables.kind import Kind, Value

_SCHEMES = ("postgresql://", "postgres://")
_AT_ONCE = 2**13  # rows that the client library buffers
# the types of a result, by their OIDs; the other allowed ones come as Python objects
_DTYPES: dict[int, Any] = {16: bool, 20: np.int64, 21: np.int64, 23: np.int64, 700: np.float64, 701: np.float64}
_CARRIED = {*_DTYPES, 25, 1043, 1082, 1114}


@final
@frozen
class _Table:
    select: str
    kinds: dict[str, Kind | None]


@final
class Postgres(Engine):
    """Run queries in a PostgreSQL database.

    Each table is read through a generated SELECT whose columns have our kinds. It is sent with each statement as a WITH, so nothing is
    created in the database. Every statement is one SELECT in its own read-only transaction, under our settings.

    Values that a kind cannot hold are read as NULL: NaN, and dates and timestamps outside the years 1 to 9999. Decimals are read as the
    nearest float, beyond 10^300 as infinity and closer to 0 than 10^-300 as 0. A text of more than a million bytes is truncated to its
    first 250,000 characters. Columns that the role may not read, and types without a kind (jsonb, arrays, intervals …), are left out.

    Assumes. The owner's views do not fail on any row, nor do functions that policies and generated columns call; they qualify the names
    that they use with schemas.
    """

    name = "postgres"
    dialect = POSTGRES

    def __init__(self, server: Server, tables: Mapping[str, _Table]) -> None:
        self._server, self._tables, self._lock = server, dict(tables), threading.Lock()
        self.version = server.version

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Any],
        declared: Mapping[str, Mapping[str, Kind]] | None = None,
        progress: Callable[[float], None] | None = None,
        identities: Identities | None = None,
    ) -> Postgres:
        """Open tables of one database: each source is its address, or a pair of the address and "schema.table".

        `identities` are columns that identify units; a table is refused if the database's own equality cannot be preserved there.
        """
        found = {name: _source(name, given) for name, given in sources.items()}
        if len({address for address, _ in found.values()}) != 1:
            raise EngineError("all tables must come from one PostgreSQL database: give at least one table, and the same address for all")
        server = Server(next(iter(found.values()))[0])
        try:
            wanted = {name: reference for name, (_, reference) in found.items()}
            return cls(server, _opened(server, wanted, declared or {}, identities or {}))
        except BaseException:
            server.close()
            raise

    def schema(self, table: str) -> dict[str, Kind | None]:
        if table not in self._tables:
            raise EngineError(f"there is no table {table}")
        return dict(self._tables[table].kinds)

    def problem(self) -> str | None:
        if not self._server.is_ours:
            return REOPEN
        found = CUT_OFF
        with self._lock:
            try:
                with self._server.transaction() as connection:
                    for name, table in self._tables.items():
                        found = f"{name}: it is missing, unreadable, or has changed its columns since it was opened: connect again"
                        connection.execute(f"SELECT * FROM ({table.select}) AS t LIMIT 0", binary=True)
            except psycopg.OperationalError:
                return CUT_OFF
            except psycopg.Error:
                return found
            except EngineError as error:
                return str(error)  # our own error: no connection could be opened
        return None

    def close(self) -> None:
        self._server.close()

    def batches(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        if not self._server.is_ours:
            raise EngineError(REOPEN)
        statement, values = self._written(sql, given)
        with self._lock, self._server.transaction() as connection:
            if rows is None:
                yield _whole(connection, statement, values)
            else:
                yield from _streamed(connection, statement, values, rows)

    def _written(self, sql: str, given: Sequence[SentTable]) -> tuple[str, list[Any]]:
        """The statement, after a WITH of the tables that it uses, and its public values as parameters."""
        named = [(POSTGRES.identifier(name), name, table) for name, table in self._tables.items()]
        before = [f"{quoted} AS NOT MATERIALIZED ({table.select})" for quoted, name, table in named if quoted in sql or name in sql]
        values: list[Any] = []
        for table in given:
            arrays = []
            for _, kind, listed in table.columns:
                values.append(_array(kind, listed))
                arrays.append(f"${len(values)}::{POSTGRES.type_name(kind)}[]")
            names = ", ".join(POSTGRES.identifier(name) for name, _, _ in table.columns)
            public = f"SELECT * FROM unnest({', '.join(arrays)}) AS g({names})"
            before.append(f"{POSTGRES.identifier(table.name)} AS MATERIALIZED ({public})")
        head = f"WITH {', '.join(before)} " if before else ""
        return f"{head}SELECT * FROM ({sql}) AS __q", values


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _source(name: str, given: Any) -> tuple[str, tuple[str | None, str]]:
    """The address, schema and table; an address alone means the table of the same name."""
    match given:
        case str() as address if address.startswith(_SCHEMES):
            return address, (None, name)
        case (str() as address, str() as text) if address.startswith(_SCHEMES):
            reference = system_catalog.read_reference(text)
            if reference is not None:
                return address, reference
    raise EngineError(f'{name}: give the address of a PostgreSQL database ("postgresql://…"), or a pair of the address and "schema.table"')


def _opened(
    server: Server,
    wanted: Mapping[str, tuple[str | None, str]],
    declared: Mapping[str, Mapping[str, Kind]],
    identities: Identities,
) -> dict[str, _Table]:
    """Find each table and make its view."""
    found: dict[str, _Table] = {}
    schemas: list[str] = []
    with suppress(psycopg.Error):
        schemas = _search_path(server)
    for name, (schema, table) in wanted.items():
        opened = None
        with suppress(psycopg.Error), server.transaction() as connection:
            place = system_catalog.find(connection, schemas if schema is None else [schema], table)
            opened = None if place is None else _table(connection, name, place, declared.get(name, {}), identities.get(name, ()))
        if opened is None:
            where = table if schema is None else f"{schema}.{table}"
            raise EngineError(f"{name}: the database has no table or view {where} that this role may read: pass (address, 'schema.table')")
        found[name] = opened
    return found


def _search_path(server: Server) -> list[str]:
    with server.before_settings() as connection:
        return system_catalog.search_path(connection)


def _table(connection: Connection, name: str, place: tuple[str, str], declared: Mapping[str, Kind], identities: Collection[str]) -> _Table:
    stored = system_catalog.stored_columns(connection, *place)
    check_column_names(name, tuple(column.name for column in stored))
    for column in stored:
        problem = identity_problem(column, declared.get(column.name)) if column.name in identities else None
        if problem is not None:
            raise identity_refused(name, column.name, *problem)
    seen = make_view(stored, declared, identities)
    if not seen.columns:
        raise EngineError(f"{name}: no column has a supported type, or the role may read none: grant SELECT, or cast the columns in a view")
    select = f"SELECT {', '.join(seen.columns)} FROM {'.'.join(map(POSTGRES.identifier, place))}"
    connection.execute(f"SELECT * FROM ({select}) AS t LIMIT 0", binary=True)  # whether it is readable, and all of it binds
    return _Table(select, seen.kinds)


def tables_of(data: object) -> dict[str, Any] | None:
    """The tables of a database that the role may read, each as a source; None for anything but an address."""
    if not isinstance(data, str) or not data.startswith(_SCHEMES):
        return None
    server, found = Server(data), None
    with suppress(psycopg.Error):
        schemas = _search_path(server)
        with server.transaction() as connection:
            found = system_catalog.tables(connection, schemas)
    server.close()
    if found is None:
        raise EngineError("PostgreSQL: the tables cannot be listed: check that the role may read the system catalog")
    return {table: (data, f"{POSTGRES.identifier(schema)}.{POSTGRES.identifier(table)}") for table, schema in found.items()}


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(connection: Connection, statement: str, values: list[Any]) -> Columns:
    # in binary, which permits only one statement
    with psycopg.RawCursor(connection) as cursor:
        cursor.execute(statement, values, binary=True)
        return _columns(_types(cursor), cursor.fetchall())


def _streamed(connection: Connection, statement: str, values: list[Any], rows: int) -> Iterator[Columns]:
    """The rows as the server sends them; a server-side cursor would prevent parallel execution."""
    with psycopg.RawCursor(connection) as cursor:
        at_once = min(rows, _AT_ONCE) if psycopg.capabilities.has_stream_chunked() else 1
        running = cursor.stream(statement, values, binary=True, size=at_once)
        try:
            batch = list(islice(running, rows))
            if not batch:  # then no types were sent either
                yield _whole(connection, f"SELECT * FROM ({statement}) AS __e LIMIT 0", values)
                return
            types = _types(cursor)
            while batch:
                yield _columns(types, batch)
                batch = list(islice(running, rows))
        finally:
            running.close()  # type: ignore[attr-defined]


def _types(cursor: psycopg.RawCursor[Any]) -> list[tuple[str, int]]:
    types = [(column.name, column.type_code) for column in cursor.description or ()]
    if not types or not _CARRIED.issuperset(code for _, code in types):
        raise EngineError("a result has a type that numpy would round")
    return types


def _columns(types: list[tuple[str, int]], rows: list[tuple[Any, ...]]) -> Columns:
    by_column = zip(*rows, strict=True) if rows else (() for _ in types)
    return {name: _column(values, _DTYPES.get(code)) for (name, code), values in zip(types, by_column, strict=True)}


def _column(values: tuple[Any, ...], dtype: Any) -> NDArray[Any]:
    if dtype is not None and None not in values:
        return np.array(values, dtype)
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _array(kind: Kind, values: Sequence[Value | None]) -> list[Any]:
    return [float(value) if isinstance(value, Fraction) else value for value in values] if kind is Kind.REAL else list(values)
