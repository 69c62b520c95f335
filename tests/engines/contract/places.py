"""Where tables of the contract are put: one place for each engine, in a session whose settings are odd."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import psycopg
from psycopg import sql

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Engine
from discreet.engines.postgres.dialect import POSTGRES
from discreet.engines.postgres.engine import Postgres
from discreet.tables.kind import Kind

Stored = Mapping[str, Mapping[str, tuple[Kind | str, Sequence[Any]]]]
"""Tables by name: columns by name, each a kind with Python values, or a type of the engine's SQL with values as texts that it casts."""

ZONE = "Asia/Kathmandu"  # what the session believes until we say otherwise
_numbers = itertools.count()


class Place(ABC):
    """A fresh place for tables."""

    zoned: str  # the type of a moment with a zone

    @abstractmethod
    def open(self, tables: Stored) -> Engine:
        """Put tables there and open them."""

    @abstractmethod
    def close(self) -> None:
        """Take everything away."""


class InDuckDB(Place):
    """Tables of a connection in memory."""

    zoned = "TIMESTAMPTZ"

    def __init__(self) -> None:
        self._opened: list[Engine] = []

    def open(self, tables: Stored) -> Engine:
        connection = duckdb.connect()
        connection.execute(f"SET TimeZone='{ZONE}'")
        for name, columns in tables.items():
            types = {column: kind if isinstance(kind, str) else DUCKDB.type_name(kind) for column, (kind, _) in columns.items()}
            listed = ", ".join(f"{DUCKDB.identifier(column)} {kind}" for column, kind in types.items())
            connection.execute(f"CREATE TABLE {DUCKDB.identifier(name)} ({listed})")
            if rows := list(zip(*(values for _, values in columns.values()), strict=True)):
                marks = ", ".join(f"CAST(? AS {kind})" for kind in types.values())
                connection.execute("BEGIN")
                connection.executemany(f"INSERT INTO {DUCKDB.identifier(name)} VALUES ({marks})", rows)
                connection.execute("COMMIT")
        engine = DuckDB.open({name: (connection, name) for name in tables})
        self._opened.append(engine)
        return engine

    def close(self) -> None:
        for engine in self._opened:
            engine.close()


class InPostgres(Place):
    """Tables of a schema of our own."""

    zoned = "TIMESTAMPTZ"

    def __init__(self, uri: str) -> None:
        self._uri, self._opened, self._schemas = _in_english(uri), list[Engine](), list[str]()

    def open(self, tables: Stored) -> Engine:
        schema = f"Contract {next(_numbers)}"
        with psycopg.connect(self._uri, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            self._schemas.append(schema)
            for columns in tables.values():
                self._create(connection, schema, f"t{next(_numbers)}", columns)
        odd = f"?options=-c%20TimeZone%3D{ZONE}%20-c%20DateStyle%3DGerman%20-c%20extra_float_digits%3D-5%20-c%20transform_null_equals%3Don"
        kept = dict(zip(tables, self._names(schema), strict=True))
        engine = Postgres.open({name: (self._uri + odd, f'"{schema}".{stored}') for name, stored in kept.items()})
        self._opened.append(engine)
        return engine

    def _names(self, schema: str) -> list[str]:
        with psycopg.connect(self._uri) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
        return sorted((str(name) for (name,) in found), key=lambda name: int(name[1:]))

    def _create(self, connection: Any, schema: str, name: str, columns: Mapping[str, tuple[Kind | str, Sequence[Any]]]) -> None:
        types = {column: kind if isinstance(kind, str) else POSTGRES.type_name(kind) for column, (kind, _) in columns.items()}
        place = sql.Identifier(schema, name)
        listed = sql.SQL(", ").join(sql.SQL("{} ").format(sql.Identifier(column)) + sql.SQL(kind) for column, kind in types.items())
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(place, listed))
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        with connection.cursor() as cursor, cursor.copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
            for row in rows:
                copy.write_row(row)

    def close(self) -> None:
        for engine in self._opened:
            engine.close()
        with psycopg.connect(self._uri, autocommit=True) as connection:
            for schema in self._schemas:
                connection.execute("SET client_min_messages = warning")
                connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))


@cache
def _in_english(uri: str) -> str:
    """A database that sorts as people do, where this PostgreSQL can; ours must not."""
    with psycopg.connect(uri, autocommit=True) as connection:
        try:
            english = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
            connection.execute(f"CREATE DATABASE english ENCODING 'UTF8' {english} TEMPLATE template0")
        except psycopg.Error:
            return uri
    return uri.replace("/postgres", "/english")
