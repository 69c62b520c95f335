"""The same rows in each engine: Parquet for DuckDB and Spark, COPY into PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql
from spark_server import spark_session

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Engine
from discreet.engines.postgres.engine import Postgres
from discreet.engines.spark.engine import Spark, read_files

ENGINES = ["duckdb", "postgres", "spark"]
_INTERPRETED = {"codegen.wholeStage": "false", "codegen.factoryMode": "NO_CODEGEN", "adaptive.enabled": "false", "shuffle.partitions": "1"}
Tables = Mapping[str, pa.Table]
_TYPES = {
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "float": "real",
    "double": "double precision",
    "decimal128(38, 10)": "numeric(38, 10)",
    "string": "text",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "timestamp[us, tz=UTC]": "timestamptz",
}
_numbers = itertools.count()


class Stores:
    """Opens engines over rows, and closes them all; servers start when they are asked for."""

    def __init__(self, folder: Path, address: Callable[[], str]) -> None:
        self._folder, self._address = folder, address
        self._opened: list[Engine] = []
        self._database: str | None = None

    def open(self, name: str, tables: Tables, pieces: int = 1) -> Engine:
        """An engine over these rows; `pieces` is in how many files or partitions they lie."""
        match name:
            case "duckdb":
                engine: Engine = DuckDB.open(self._parquet(tables, pieces), threads=1)
            case "postgres":
                engine = self._postgres(tables)
            case _:
                engine = Spark.open(read_files(self._parquet(tables, pieces), spark_session()))
        self._opened.append(engine)
        return engine

    def close(self) -> None:
        for engine in self._opened:
            engine.close()

    @staticmethod
    def interpret(engine: Engine, on: bool = True) -> None:
        """Have Spark interpret expressions: for a few rows that is much faster than compiling them, which it does otherwise."""
        if isinstance(engine, Spark):
            for name, value in _INTERPRETED.items():
                if on:
                    engine._own.conf.set(f"spark.sql.{name}", value)
                else:
                    engine._own.conf.unset(f"spark.sql.{name}")

    def _parquet(self, tables: Tables, pieces: int) -> dict[str, Path]:
        folder, places = self._folder / str(next(_numbers)), {}
        folder.mkdir(parents=True)
        for name, table in tables.items():
            places[name] = folder / (f"{name}.parquet" if pieces == 1 else name)
            if pieces == 1:
                pq.write_table(table, places[name])
                continue
            places[name].mkdir()
            each = -(-table.num_rows // pieces) or 1
            for piece in range(pieces):
                pq.write_table(table.slice(piece * each, each), places[name] / f"{piece}.parquet", row_group_size=max(each // 3, 1))
        return places

    def _postgres(self, tables: Tables) -> Engine:
        address, schema = self.database(), f"beliefs {next(_numbers)}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            for name, table in tables.items():
                place = sql.Identifier(schema, name)
                columns = [sql.SQL("{} ").format(sql.Identifier(field.name)) + sql.SQL(_TYPES[str(field.type)]) for field in table.schema]
                connection.execute(sql.SQL("CREATE TABLE {} ({})").format(place, sql.SQL(", ").join(columns)))
                with connection.cursor() as cursor, cursor.copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
                    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                        copy.write_row(row)
                connection.execute(sql.SQL("ANALYZE {}").format(place))
        return Postgres.open({name: (address, f'"{schema}"."{name}"') for name in tables})

    def database(self) -> str:
        """A database that orders texts as people do, not by their bytes, where the server can."""
        if self._database is None:
            address = self._address()
            self._database = address
            with psycopg.connect(address, autocommit=True) as connection:
                try:
                    connection.execute("CREATE DATABASE beliefs TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
                    self._database = address.rsplit("/", 1)[0] + "/beliefs"
                except psycopg.Error:
                    pass  # built without ICU
        return self._database
