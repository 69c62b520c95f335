"""What a table of Spark may come from; nothing here reads a value."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from glob import has_magic
from pathlib import Path
from typing import Any, TypeAlias, final
from urllib.parse import unquote

import pyarrow.parquet as pq
from attrs import frozen
from pyspark.sql import DataFrame, SparkSession

from discreet.engines.duckdb.sources import fixed_part
from discreet.engines.spark.dialect import SPARK
from discreet.errors import EngineError

_PATTERN = re.compile(r"([][{}?*^\\])")
_TEXTS = (".csv", ".tsv")
_LOCAL = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}  # of a session that nobody gave


@final
@frozen(eq=False)
class Frame:
    """A DataFrame."""

    frame: Any

    @property
    def session(self) -> Any:
        return self.frame.sparkSession


@final
@frozen(eq=False)
class Named:
    """A table or view that a session knows by name."""

    session: Any
    table: str


Source: TypeAlias = Frame | Named


def read_source(name: str, given: Any) -> Source:
    """Find out what a source is, from its type."""
    match given:
        case Frame():
            return given
        case DataFrame():
            return Frame(given)
        case (session, str() as table) if is_session(session):
            return Named(session, table)
    if is_session(given):
        return Named(given, SPARK.identifier(name))
    raise EngineError(f"{name}: give a Spark DataFrame, a SparkSession, or a pair of a SparkSession and a table's name")


def is_session(given: object) -> bool:
    """Whether this is a session, in this process or of Spark Connect."""
    return isinstance(given, SparkSession) or is_remote(given)


def is_remote(given: object) -> bool:
    """Whether this is a session of Spark Connect, whose class loads only where its libraries are installed."""
    return type(given).__module__ == "pyspark.sql.connect.session" and type(given).__name__ == "SparkSession"


def tables_of(data: object) -> dict[str, Any] | None:
    """The tables of a session, each as a source: the views of its own and the tables of its current database; None for anything else."""
    if not is_session(data):
        return None
    found: dict[str, Any] = {}
    session: Any = data
    for table in session.catalog.listTables():
        place = [] if table.isTemporary else [part for part in (table.catalog, *(table.namespace or ())) if part]
        if table.isTemporary or table.name not in found:  # a view of the session's own hides a table
            found[table.name] = (data, ".".join(map(SPARK.identifier, [*place, table.name])))
    return found


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_files(sources: Mapping[str, Any], session: Any = None) -> dict[str, Any]:
    """Have Spark read the files among sources: in this session, or in that of the other sources, or in a local one."""
    files = {name: os.fspath(given) for name, given in sources.items() if isinstance(given, str | os.PathLike)}
    if not files:
        return dict(sources)
    others = [read_source(name, given).session for name, given in sources.items() if name not in files]
    reader: Any = session if session is not None else others[0] if others else _local()
    return {name: _file(name, files[name], reader) if name in files else given for name, given in sources.items()}


def _local() -> SparkSession:
    try:
        return SparkSession.active()
    except Exception:  # there is none yet
        pass
    builder = SparkSession.builder.appName("discreet")
    for name, value in _LOCAL.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception:
        pass
    raise EngineError("Spark does not start: install Java 17 or 21 and set JAVA_HOME, or pass a SparkSession")


def _file(name: str, given: str, session: Any) -> Frame:
    place = given
    if Path(given.removesuffix(".gz")).suffix.lower() in _TEXTS:
        raise EngineError(
            f"{name}: Spark is not asked to read CSV: there one row's line end or number of fields changes how others are read, or fails. "
            "Leave engine='spark' away, or write the table as Parquet"
        )
    if "://" not in given:  # what is elsewhere, Spark finds by its address
        path = Path(given).expanduser().absolute()
        is_pattern = not path.exists() and (has_magic(path.name) or fixed_part(path) != path.parent)
        if not path.exists() and not (is_pattern and fixed_part(path).is_dir()):
            raise EngineError(f"{name}: there is no file {given}")
        given = str(path)
        place = "file://" + (given if is_pattern else _PATTERN.sub(r"\\\1", given))  # Spark takes brackets in a name for a pattern
    try:
        # folders are no columns, as in other engines; all files must store a column in the same way
        frame = session.read.option("recursiveFileLookup", "true").option("mergeSchema", "true").parquet(place)
        files, columns = list(frame.inputFiles()), tuple(frame.columns)
        lacking = _lacking(files, columns)
    except Exception:
        files, columns, lacking = [], (), []
    if not columns:
        raise EngineError(f"{name}: it cannot be opened; check that it is Parquet and that it can be read")
    if lacking:
        raise EngineError(f"{name}: not all of its files have {', '.join(lacking[:5])}: write them again with the same columns")
    _require_no_partitions(name, given, files, columns)
    return Frame(frame)


def _lacking(files: Sequence[str], columns: Collection[str]) -> list[str]:
    """Columns that a local file lacks, as DuckDB refuses them too; files elsewhere are not opened one by one: there, Spark says NULL."""
    here = [re.sub("^//+", "/", unquote(file.split(":", 1)[1])) for file in files if file.startswith("file:")]
    return sorted({column for file in here for column in set(columns) - set(pq.read_schema(file).names)})


def _require_no_partitions(name: str, given: str, files: Sequence[str], columns: Collection[str]) -> None:
    """Folders named column=value hold a column that no file has; those above what was given say nothing of its rows."""
    above = {part for part in unquote(given).split("/") if not has_magic(part)}
    folders = {part for file in files for part in unquote(file).split("/")[:-1] if "=" in part} - above
    if lacking := sorted({folder.split("=")[0] for folder in folders} - set(columns)):
        raise EngineError(
            f"{name}: {', '.join(lacking)} is told by the names of folders ({lacking[0]}=…) and not stored in the files, and folders are "
            "not read as columns: write the files again with it, or give a DataFrame that has it"
        )
