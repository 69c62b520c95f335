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
    """A place for such tables: rows with a number `rid` and a value `x`, the last of them missing."""

    def __init__(self, name: str, stores: Stores) -> None:
        self._name, self._stores = name, stores
        self._done: set[str] = set()

    def open(self, of: Type, backwards: bool = False) -> Engine:
        values = list(enumerate([*of.values, None]))
        found: Engine = getattr(self, f"_{self._name}")(of, values[::-1] if backwards else values)
        return found

    def _duckdb(self, of: Type, values: list[tuple[int, str | None]]) -> Engine:
        connection = duckdb.connect()
        if of.setup:
            connection.execute(of.setup)
        connection.execute(f"CREATE TABLE t (rid BIGINT, x {of.name})")
        for number, value in values:
            connection.execute(f"INSERT INTO t VALUES (?, CAST(? AS {of.name.split(' COLLATE')[0]}))", [number, value])
        return DuckDB.open({"t": (connection, "t")})

    def _postgres(self, of: Type, values: list[tuple[int, str | None]]) -> Engine:
        address, table = self._stores.database(), f"stored{next(_numbers)}"
        with psycopg.connect(address, autocommit=True) as connection:
            if of.setup and of.setup not in self._done:
                self._done.add(of.setup)
                connection.execute(of.setup)
            connection.execute(f"CREATE TABLE {table} (rid bigint, x {of.name})")
            for number, value in values:
                connection.execute(f"INSERT INTO {table} VALUES (%s, CAST(%s::text AS {of.name.split(' COLLATE')[0]}))", [number, value])
        return Postgres.open({"t": (address, f"public.{table}")})

    def _spark(self, of: Type, values: list[tuple[int, str | None]]) -> Engine:
        session = spark_session()
        bare = of.name.split(" COLLATE")[0]
        frame = session.createDataFrame(values, "rid BIGINT, x STRING")
        collated = f" COLLATE {of.name.split('COLLATE ')[1]}" if "COLLATE" in of.name else ""
        return Spark.open({"t": frame.selectExpr("rid", f"CAST(x AS {bare}){collated} AS x")})
