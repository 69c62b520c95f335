"""Choose the engine for data by its type or address; engines load on first use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from discreet.address import is_address
from discreet.engines.engine import Engine
from discreet.engines.identity import Identities
from discreet.engines.limits import EngineLimits
from discreet.errors import EngineError, Invalid
from discreet.extras import require
from discreet.tables.kind import Kind

ENGINES = ("duckdb", "postgres", "spark")
_LIBRARIES = {"postgres": ("psycopg",), "spark": ("pyspark", "pyarrow")}


def open_engine(
    sources: Mapping[str, Any],
    declared: Mapping[str, Mapping[str, Kind]] | None = None,
    engine: Any = None,
    identities: Identities | None = None,
    limits: EngineLimits | None = None,
) -> Engine:
    """Open sources as tables of the engine that they belong to; `engine` is "duckdb", "postgres", "spark" or a SparkSession.

    `identities` are the columns that identify units: a table is refused if the equality of its source cannot be preserved there. `limits`
    are for DuckDB; a database or a cluster has its own.
    """
    chosen = _chosen(engine, {belongs_to(source) for source in sources.values()})
    require_libraries(chosen)
    match chosen:
        case "postgres":
            from discreet.engines.postgres.engine import Postgres

            return Postgres.open(sources, declared, identities=identities)
        case "spark":
            from discreet.engines.spark.engine import Spark, read_files

            return Spark.open(read_files(sources, None if isinstance(engine, str) else engine), declared, identities=identities)
        case _:
            from discreet.engines.duckdb.engine import DuckDB

            return DuckDB.open(sources, declared, identities=identities, limits=limits)


def tables_of(data: object) -> dict[str, Any] | None:
    """All tables of a database or session, each as a source; None for data that is one table."""
    require_libraries(belongs_to(data))
    match belongs_to(data):
        case "postgres":
            from discreet.engines.postgres.engine import tables_of

            return tables_of(data)
        case "spark":
            from discreet.engines.spark.engine import tables_of as of_spark

            return of_spark(data)
        case _:
            from discreet.engines.duckdb.engine import tables_of as of_duckdb

            return of_duckdb(data)


def require_libraries(engine: str | None) -> None:
    """Raise unless the libraries of an engine are installed."""
    for library in _LIBRARIES.get(engine or "", ()):
        require(library, engine)


def belongs_to(source: object) -> str | None:
    """The engine of a source; None for a file, which several engines can read."""
    of = source[0] if isinstance(source, tuple) and source else source
    if isinstance(of, str | os.PathLike):
        return "postgres" if is_address(of) else None
    return "spark" if type(of).__module__.split(".")[0] == "pyspark" else "duckdb"


def _chosen(engine: Any, found: set[str | None]) -> str:
    wanted = "spark" if belongs_to(engine) == "spark" and engine is not None else engine
    if wanted is not None and wanted not in ENGINES:
        raise Invalid('engine must be "duckdb", "postgres", "spark" or a SparkSession; without engine= it is chosen by the data')
    theirs = {of for of in found if of is not None} | ({wanted} if wanted else set())
    if None in found and "postgres" in theirs:
        raise EngineError("PostgreSQL does not read files: load the file into a table of the database and name that table")
    if len(theirs) > 1:
        raise EngineError(f"these tables belong to different engines ({', '.join(sorted(theirs))}): move them all to one engine")
    return next(iter(theirs), "duckdb")
