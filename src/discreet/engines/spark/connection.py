"""Our own session beside the user's: its settings, public tables as input, and results as Arrow."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, TypeVar

import pyarrow as pa
from pyspark import RDD
from pyspark.logger import PySparkLogger
from pyspark.serializers import NoOpSerializer
from pyspark.sql import SparkSession

from discreet.engines.engine import SentTable, is_interrupt
from discreet.engines.interrupt import interruptible
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.sources import is_remote
from discreet.errors import EngineError
from discreet.tables.kind import Kind, Value

T = TypeVar("T")

SETTINGS = {
    # No value may raise. Our SQL is total with either setting (see dialect.py). If a view of the owner's, or we, are wrong, an overflow
    # that wraps around stays within its row, while an error would be visible.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "false",  # otherwise ${…} in a name would be substituted
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.subexpressionElimination.skipForShortcutExpr": "true",  # the right side of AND is not computed before the left
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # otherwise dates before 1582 may raise
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.aggregatePushdown": "false",  # the minima and maxima of files ignore NaN
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20",  # counting 10⁶ units takes two thirds of the time
    "spark.sql.maxBroadcastTableSize": "256MB",  # see NO_BROADCAST
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16MB",  # compressed; a long result reaches the driver in whole partitions
    "spark.sql.maxPlanStringLength": "10000",  # Spark keeps the plans of a thousand statements, and ours are long
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": "67108864",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
}

NO_BROADCAST = {
    # A broadcast table must fit the memory of the driver and arrive in time; its size depends on the data.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.maxBroadcastTableSize": "8GB",  # joins without an equality still need a broadcast
}

_CARRIED = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.large_string(),
    "date": pa.date32(),
    "timestamp_ntz": pa.timestamp("us"),
}

_ARROW = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.large_string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


def own_session(session: Any) -> Any:
    """A new session with our settings; those of the user's session do not change."""
    own = session.cloneSession() if is_remote(session) else session.newSession()
    for name, value in SETTINGS.items():
        own.conf.set(name, value)
    return own


@contextmanager
def without_broadcast(own: Any) -> Iterator[None]:
    """Run statements without broadcast joins."""
    before = {name: own.conf.get(name, None) for name in NO_BROADCAST}
    for name, value in NO_BROADCAST.items():
        own.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                own.conf.unset(name)
            else:
                own.conf.set(name, value)


def cancellable(own: Any, act: Callable[[], T]) -> T:
    """Run `act` in Spark without log output, so that Ctrl-C cancels it; only its own jobs are cancelled."""
    tag = f"discreet_{uuid.uuid4().hex}"

    # within this process the tags of a session do not apply to the thread that collects; those of the context do
    context = None if is_remote(own) else own.sparkContext

    def tagged() -> T:  # tags are per thread
        with silent():
            (own.addTag if context is None else context.addJobTag)(tag)
            try:
                return act()
            finally:
                (own.removeTag if context is None else context.removeJobTag)(tag)

    def cancel() -> None:
        with suppress(Exception):  # it is tried again until nothing runs
            (own.interruptTag if context is None else context.cancelJobsWithTag)(tag)

    return interruptible(tagged, cancel)


def is_alive(own: Any) -> bool:
    """Whether statements can be sent; no row is read and no job starts."""
    try:
        if is_remote(own):
            return not own.is_stopped and bool(own.sql("SELECT 1 AS one").schema)
        return own.sparkContext._jsc is not None and not own._jsparkSession.sparkContext().isStopped()
    except Exception as error:
        if is_interrupt(error):
            raise
        return False


def close_session(own: Any) -> None:
    """Close our session; the server, or the context shared with the user's session, keeps running."""
    if is_remote(own):
        own.client.release_session()
        own.client.close()


def refresh_tables(own: Any, places: Iterable[str]) -> None:
    """Drop cached file listings of tables, in our session only; through Spark Connect, tables that the user cached are read again too."""
    if not is_remote(own):
        own._jsparkSession.sessionState().catalog().invalidateAllCachedTables()
        return
    for place in places:
        own.catalog.refreshTable(place)


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def schema_of(frame: Any) -> pa.Schema:
    """The columns of a result, in Arrow's types."""
    types = dict(frame.dtypes)
    if not _CARRIED.keys() >= set(types.values()):
        raise EngineError("a result has a type that is not supported")
    return pa.schema([(name, _CARRIED[sql_type]) for name, sql_type in types.items()])


def arrow_tables(frame: Any) -> Iterator[pa.Table]:
    """A result as several tables; the driver holds one partition at a time, however long the result is."""
    schema = schema_of(frame)
    session = frame.sparkSession
    if is_remote(session):
        for piece in session.client.to_table_as_iterator(frame._plan.to_proto(session.client), {}):
            if isinstance(piece, pa.Table):
                yield piece.cast(schema)
        return
    packed: Any = RDD(frame._jdf.toArrowBatchRdd().toJavaRDD(), session.sparkContext, NoOpSerializer())
    for piece in packed.toLocalIterator():
        yield pa.Table.from_batches([pa.ipc.read_record_batch(pa.py_buffer(piece), schema)])


# ── tables of public values ──────────────────────────────────────────────────────────────────────────────────────────


def frame_of(own: Any, given: SentTable) -> Any:
    """Public values as a DataFrame."""
    columns = {name: pa.array(map(_plain, values), _ARROW[kind]) for name, kind, values in given.columns}
    schema = ", ".join(f"{SPARK.identifier(name)} {SPARK.type_name(kind)}" for name, kind, _ in given.columns)
    with _keep_active_session(own):
        return own.createDataFrame(pa.table(columns), schema)


def _plain(value: Value | None) -> Any:
    return float(value) if isinstance(value, Fraction) else value


_ACTIVE = threading.Lock()


@contextmanager
def _keep_active_session(own: Any) -> Iterator[None]:
    """Restore the active session: PySpark makes the session that creates a DataFrame active for everybody."""
    if is_remote(own):
        yield
        return
    with _ACTIVE:
        javas: Any = SparkSession._get_j_spark_session_class(own._jvm)
        python, java = SparkSession._activeSession, javas.getActiveSession()
        try:
            yield
        finally:
            SparkSession._activeSession = python
            if java.isDefined():
                javas.setActiveSession(java.get())
            else:
                javas.clearActiveSession()


# ── logs and progress ────────────────────────────────────────────────────────────────────────────────────────────────

_SILENT = threading.local()


def _may_log(record: logging.LogRecord) -> bool:
    return not getattr(_SILENT, "on", False)


for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(_may_log)  # not logging.getLogger: the logger must have their class


@contextmanager
def silent() -> Iterator[None]:
    """Suppress PySpark's log of errors for our statements: it logs an error before raising it, and the error may contain data."""
    before, _SILENT.on = getattr(_SILENT, "on", False), True
    try:
        yield
    finally:
        _SILENT.on = before


def fraction_done(own: Any) -> float | None:
    """The fraction of the tasks of running stages that is done; None if nothing runs, or through Spark Connect."""
    if is_remote(own):
        return None
    tracker = own.sparkContext.statusTracker()
    stages = [found for number in tracker.getActiveStageIds() if (found := tracker.getStageInfo(number)) is not None]
    tasks = sum(stage.numTasks for stage in stages)
    return sum(stage.numCompletedTasks for stage in stages) / tasks if tasks else None


def qualified_name(parts: Sequence[str]) -> str:
    """A qualified name, each part quoted."""
    return ".".join(map(SPARK.identifier, parts))
