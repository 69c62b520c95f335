"""The sources of Spark tables; nothing here reads a value."""

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

from discreet.engines.paths import fixed_folder, require_no_partitions
from discreet.engines.spark.dialect import SPARK
from discreet.errors import EngineError

_PATTERN = re.compile(r"([][{}?*^\\])")
_TEXTS = (".csv", ".tsv")
_LOCAL = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}  # of a session that we start


@final
@frozen(eq=False)
class SparkFrame:
    """A DataFrame."""

    frame: Any

    @property
    def session(self) -> Any:
        return self.frame.sparkSession


@final
@frozen(eq=False)
class SparkTable:
    """A table or view that a session knows by name."""

    session: Any
    table: str


SparkSource: TypeAlias = SparkFrame | SparkTable


def read_source(name: str, given: Any) -> SparkSource:
    """Classify a source by its type."""
    match given:
        case SparkFrame():
            return given
        case DataFrame():
            return SparkFrame(given)
        case (session, str() as table) if is_session(session):
            return SparkTable(session, table)
    if is_session(given):
        return SparkTable(given, SPARK.identifier(name))
    raise EngineError(f"{name}: give a Spark DataFrame, a SparkSession, or a pair of a SparkSession and a table name")


def is_session(given: object) -> bool:
    """Whether this is a Spark session, in this process or of Spark Connect."""
    return isinstance(given, SparkSession) or is_remote(given)


def is_remote(given: object) -> bool:
    """Whether this is a Spark Connect session; its class is not imported, for its libraries may not be installed."""
    return type(given).__module__ == "pyspark.sql.connect.session" and type(given).__name__ == "SparkSession"


def tables_of(data: object) -> dict[str, Any] | None:
    """The tables of a session, each as a source: its temporary views and the tables of its current database; None for other data."""
    if not is_session(data):
        return None
    found: dict[str, Any] = {}
    session: Any = data
    for table in session.catalog.listTables():
        place = [] if table.isTemporary else [part for part in (table.catalog, *(table.namespace or ())) if part]
        if table.isTemporary or table.name not in found:  # a temporary view hides a table
            found[table.name] = (data, ".".join(map(SPARK.identifier, [*place, table.name])))
    return found


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_files(sources: Mapping[str, Any], session: Any = None) -> dict[str, Any]:
    """Open the files among sources in Spark: in this session, or in that of the other sources, or in a local one."""
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


def _file(name: str, given: str, session: Any) -> SparkFrame:
    place = given
    if Path(given.removesuffix(".gz")).suffix.lower() in _TEXTS:
        raise EngineError(
            f"{name}: CSV is not read with Spark, where a line end or an extra field in one row may change how other rows are read: "
            "connect without engine='spark', or write the table as Parquet"
        )
    if "://" not in given:  # Spark resolves other addresses itself
        path = Path(given).expanduser().absolute()
        is_pattern = not path.exists() and (has_magic(path.name) or fixed_folder(path) != path.parent)
        if not path.exists() and not (is_pattern and fixed_folder(path).is_dir()):
            raise EngineError(f"{name}: there is no file {given}: check the path")
        given = str(path)
        place = "file://" + (given if is_pattern else _PATTERN.sub(r"\\\1", given))  # Spark takes brackets in a name for wildcards
    try:
        # folder names are not columns, as in other engines; all files must have the same type for a column
        frame = session.read.option("recursiveFileLookup", "true").option("mergeSchema", "true").parquet(place)
        files, columns = list(frame.inputFiles()), tuple(frame.columns)
        missing = _missing(files, columns)
    except Exception:
        files, columns, missing = [], (), []
    if not columns:
        raise EngineError(f"{name}: it cannot be opened; check that it is Parquet and readable")
    if missing:
        raise EngineError(f"{name}: not all of its files have {', '.join(missing[:5])}: write them again with the same columns")
    _require_stored(name, given, files, columns)
    return SparkFrame(frame)


def _missing(files: Sequence[str], columns: Collection[str]) -> list[str]:
    """Columns that a local file lacks; DuckDB refuses these too. Remote files are not opened one by one: there Spark gives NULL."""
    here = [re.sub("^//+", "/", unquote(file.split(":", 1)[1])) for file in files if file.startswith("file:")]
    return sorted({column for file in here for column in set(columns) - set(pq.read_schema(file).names)})


def _require_stored(name: str, given: str, files: Sequence[str], columns: Collection[str]) -> None:
    above = {part for part in unquote(given).split("/") if not has_magic(part)}  # folders above the given path say nothing about rows
    folders = {part for file in files for part in unquote(file).split("/")[:-1]} - above
    require_no_partitions(name, folders, columns, ", or pass a DataFrame that has it")
