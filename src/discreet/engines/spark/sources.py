"""What a table of Spark may come from; nothing here reads a value."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, final

from attrs import frozen
from pyspark.sql import DataFrame, SparkSession

from discreet.engines.spark.dialect import SPARK
from discreet.errors import EngineError

_PATTERN = re.compile(r"([][{}?*^\\])")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LOCAL = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}  # of a session that nobody gave


@final
@frozen(eq=False)
class Frame:
    """A DataFrame; the columns of a `loose` one are texts that say nothing about what they hold."""

    frame: Any
    loose: bool = False

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
    if "://" not in given:  # what is elsewhere, Spark finds by its address
        path = Path(given).expanduser().absolute()
        if not path.exists() and not path.parent.is_dir():
            raise EngineError(f"{name}: there is no file {given}")
        # Spark takes brackets in a name for a pattern
        place = "file://" + (_PATTERN.sub(r"\\\1", str(path)) if path.exists() else str(path))
    ending = Path(given.removesuffix(".gz")).suffix.lower()
    try:
        if ending in _DELIMITERS:
            return Frame(_csv(session, place, _DELIMITERS[ending]), loose=True)
        # folders are no columns, as in other engines; all files must store a column in the same way
        return Frame(session.read.option("recursiveFileLookup", "true").option("mergeSchema", "true").parquet(place))
    except Exception:
        pass
    raise EngineError(f"{name}: it cannot be opened; check that it is Parquet, or CSV by its ending, and that it can be read")


def _csv(session: Any, place: str, delimiter: str) -> Any:
    """A file of texts; what is malformed is cut or filled up, so no row makes an error."""
    reader = session.read.options(sep=delimiter, header="true", inferSchema="false", mode="PERMISSIVE", multiLine="true", escape='"')
    return reader.options(nullValue="", emptyValue="", encoding="UTF-8", maxCharsPerColumn="-1").csv(place)
