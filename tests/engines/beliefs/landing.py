"""Tables of one column of a stored type, in each engine."""

from __future__ import annotations

import itertools

import duckdb
import psycopg
from engines.beliefs.stores import Stores
from engines.beliefs.types import Type
from spark_server import spark_session

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Engine
from discreet.engines.postgres.engine import Postgres
from discreet.engines.spark.engine import Spark

_numbers = itertools.count()


class Landing:
    """A place for such tables: rows with a number `rid`, and one value in several columns x0, x1, …; the last row's is missing."""

    def __init__(self, name: str, stores: Stores) -> None:
        self._name, self._stores = name, stores
        self._done: set[str] = set()

    def open(self, of: Type, copies: int, backwards: bool = False) -> Engine:
        values = list(enumerate([*of.values, None]))
        found: Engine = getattr(self, f"_{self._name}")(of, copies, values[::-1] if backwards else values)
        Stores.interpret(found)
        return found

    def _duckdb(self, of: Type, copies: int, values: list[tuple[int, str | None]]) -> Engine:
        connection = duckdb.connect()
        if of.setup:
            connection.execute(of.setup)
        connection.execute(f"CREATE TABLE t (rid BIGINT, {', '.join(f'x{i} {of.name}' for i in range(copies))})")
        for number, value in values:
            marks = ", ".join([f"CAST(? AS {of.bare})"] * copies)
            connection.execute(f"INSERT INTO t VALUES (?, {marks})", [number, *[value] * copies])
        return DuckDB.open({"t": (connection, "t")})

    def _postgres(self, of: Type, copies: int, values: list[tuple[int, str | None]]) -> Engine:
        address, table = self._stores.database(), f"stored{next(_numbers)}"
        with psycopg.connect(address, autocommit=True) as connection:
            if of.setup and of.setup not in self._done:
                self._done.add(of.setup)
                connection.execute(of.setup)
            connection.execute(f"CREATE TABLE {table} (rid bigint, {', '.join(f'x{i} {of.name}' for i in range(copies))})")
            marks = ", ".join([f"CAST(%s::text AS {of.bare})"] * copies)
            for number, value in values:
                connection.execute(f"INSERT INTO {table} VALUES (%s, {marks})", [number, *[value] * copies])
        return Postgres.open({"t": (address, f"public.{table}")})

    def _spark(self, of: Type, copies: int, values: list[tuple[int, str | None]]) -> Engine:
        frame = spark_session().createDataFrame(values, "rid BIGINT, x STRING")
        collated = of.name.removeprefix(of.bare)
        return Spark.open({"t": frame.selectExpr("rid", *(f"CAST(x AS {of.bare}){collated} AS x{i}" for i in range(copies)))})
