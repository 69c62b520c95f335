"""PostgreSQL: tables where they are, read through SELECTs of ours in read-only transactions."""

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

from discreet.engines.duckdb.sources import check_names
from discreet.engines.engine import REOPEN, Columns, Engine, PublicTable
from discreet.engines.identity import Identities, unkept
from discreet.engines.postgres import catalogue
from discreet.engines.postgres.dialect import POSTGRES
from discreet.engines.postgres.server import CUT_OFF, Connection, Server
from discreet.engines.postgres.view import view, why_unkept
from discreet.errors import EngineError
from discreet.tables.kind import Kind, Value

_SCHEMES = ("postgresql://", "postgres://")
_AT_ONCE = 2**13  # rows that the client's library holds
# what a result may hold, by PostgreSQL's numbers of types; the others come as Python's objects
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

    Each table is read through a SELECT of ours whose columns have one of our kinds; it goes with each statement, so that nothing is made in
    the database. Every statement is one SELECT in a read-only transaction of its own, under settings that are ours.

    Values that a kind cannot hold are missing (NULL): NaN, and dates and timestamps outside the years 1 to 9999. Decimals are read as the
    nearest float, beyond 10^300 as infinity and nearer to 0 than 10^-300 as 0; of a text of more than a million bytes the first 250,000
    characters count. Columns that the role may not read, and types without a kind (jsonb, arrays, intervals …), are left out.

    Assumes. A view of the owner's does not fail on any row, nor do functions that policies and generated columns call; they name the
    schemas of what they use.
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

        `identities` are columns that tell units apart; where the database's own equality cannot be kept, the table is refused.
        """
        found = {name: _source(name, given) for name, given in sources.items()}
        if len({address for address, _ in found.values()}) != 1:
            raise EngineError("tables of one PostgreSQL database go together: give the same address for all, and at least one table")
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
                        found = f"{name}: it is gone, may not be read any more, or has other columns than when it was opened: connect again"
                        connection.execute(f"SELECT * FROM ({table.select}) AS t LIMIT 0", binary=True)
            except psycopg.OperationalError:
                return CUT_OFF
            except psycopg.Error:
                return found
            except EngineError as error:
                return str(error)  # of ours: no connection could be opened
        return None

    def close(self) -> None:
        self._server.close()

    def batches(self, sql: str, given: Sequence[PublicTable], rows: int | None) -> Iterator[Columns]:
        if not self._server.is_ours:
            raise EngineError(REOPEN)
        statement, values = self._written(sql, given)
        with self._lock, self._server.transaction() as connection:
            if rows is None:
                yield _whole(connection, statement, values)
            else:
                yield from _streamed(connection, statement, values, rows)

    def _written(self, sql: str, given: Sequence[PublicTable]) -> tuple[str, list[Any]]:
        """The statement with the tables that it names before it, and the public values that go with it."""
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
    """The address, and where the table is; a bare address means the table of the same name."""
    match given:
        case str() as address if address.startswith(_SCHEMES):
            return address, (None, name)
        case (str() as address, str() as text) if address.startswith(_SCHEMES):
            reference = catalogue.read_reference(text)
            if reference is not None:
                return address, reference
    raise EngineError(f'{name}: give the address of a PostgreSQL database ("postgresql://…"), or a pair of it and "schema.table"')


def _opened(
    server: Server,
    wanted: Mapping[str, tuple[str | None, str]],
    declared: Mapping[str, Mapping[str, Kind]],
    identities: Identities,
) -> dict[str, _Table]:
    """Find each table and decide how it is seen."""
    found: dict[str, _Table] = {}
    schemas: list[str] = []
    with suppress(psycopg.Error):
        schemas = _path(server)
    for name, (schema, table) in wanted.items():
        opened = None
        with suppress(psycopg.Error), server.transaction() as connection:
            place = catalogue.find(connection, schemas if schema is None else [schema], table)
            opened = None if place is None else _table(connection, name, place, declared.get(name, {}), identities.get(name, ()))
        if opened is None:
            where = table if schema is None else f"{schema}.{table}"
            raise EngineError(
                f"{name}: the database has no table or view {where} that this role may read; name it as (address, 'schema.table')"
            )
        found[name] = opened
    return found


def _path(server: Server) -> list[str]:
    with server.before_settings() as connection:
        return catalogue.path(connection)


def _table(connection: Connection, name: str, place: tuple[str, str], declared: Mapping[str, Kind], identities: Collection[str]) -> _Table:
    stored = catalogue.columns(connection, *place)
    check_names(name, tuple(column.name for column in stored))
    for column in stored:
        problem = why_unkept(column, declared.get(column.name)) if column.name in identities else None
        if problem is not None:
            raise unkept(name, column.name, *problem)
    seen = view(stored, declared, identities)
    if not seen.columns:
        raise EngineError(f"{name}: no column has a type that can be used, or the role may read none")
    select = f"SELECT {', '.join(seen.columns)} FROM {'.'.join(map(POSTGRES.identifier, place))}"
    connection.execute(f"SELECT * FROM ({select}) AS t LIMIT 0", binary=True)  # may it be read, and does all of it make sense
    return _Table(select, seen.kinds)


def tables_of(data: object) -> dict[str, Any] | None:
    """The tables of a database that the role may read, each as a source; None for anything but an address."""
    if not isinstance(data, str) or not data.startswith(_SCHEMES):
        return None
    server, found = Server(data), None
    with suppress(psycopg.Error):
        schemas = _path(server)
        with server.transaction() as connection:
            found = catalogue.tables(connection, schemas)
    server.close()
    if found is None:
        raise EngineError("PostgreSQL: the tables cannot be listed; check that the role may read the catalogue")
    return {table: (data, f"{POSTGRES.identifier(schema)}.{POSTGRES.identifier(table)}") for table, schema in found.items()}


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(connection: Connection, statement: str, values: list[Any]) -> Columns:
    # binary, so that it goes as one statement and no more
    with psycopg.RawCursor(connection) as cursor:
        cursor.execute(statement, values, binary=True)
        return _columns(_types(cursor), cursor.fetchall())


def _streamed(connection: Connection, statement: str, values: list[Any], rows: int) -> Iterator[Columns]:
    """The rows as the server sends them; a cursor of the server's would keep it from working in parallel."""
    with psycopg.RawCursor(connection) as cursor:
        at_once = min(rows, _AT_ONCE) if psycopg.capabilities.has_stream_chunked() else 1
        running = cursor.stream(statement, values, binary=True, size=at_once)
        try:
            batch = list(islice(running, rows))
            if not batch:  # then the types did not come either
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
        raise EngineError("a result of a type that numpy would round")
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
