"""A session of our own beside the user's: its settings, what goes into it and how results come out."""

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

from discreet.engines.engine import PublicTable, is_interrupt
from discreet.engines.interrupt import interruptible
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.sources import is_remote
from discreet.errors import EngineError
from discreet.tables.kind import Kind, Value

T = TypeVar("T")

_OFTEN = 0.1  # seconds between two looks at the progress

SETTINGS = {
    # Nothing that a row holds may raise. What we write is total either way (see dialect.py); where the owner's own views and we are wrong,
    # a value that wraps around stays in its row, while an error would be seen.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "false",  # else ${…} in a name would be replaced
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.subexpressionElimination.skipForShortcutExpr": "true",  # what stands behind AND is not computed before it
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # else dates before 1582 may raise
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.aggregatePushdown": "false",  # the minima and maxima of files leave NaN out
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20",  # counting 10⁶ units takes two thirds of the time
    "spark.sql.maxBroadcastTableSize": "256MB",  # see CAREFUL
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16MB",  # packed; a long result comes to the driver by whole partitions
    "spark.sql.maxPlanStringLength": "10000",  # Spark remembers the plans of a thousand statements, and ours are long
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": "67108864",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
}

CAREFUL = {
    # A table that is sent to all machines must fit the driver's memory, and must be there in time; how large it is depends on the data.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.maxBroadcastTableSize": "8GB",  # joins that are none by equality still need one
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
    """A session with settings of its own; the user's are left as they are."""
    own = session.cloneSession() if is_remote(session) else session.newSession()
    for name, value in SETTINGS.items():
        own.conf.set(name, value)
    return own


@contextmanager
def careful(own: Any) -> Iterator[None]:
    """Have statements meanwhile send no table to all machines."""
    before = {name: own.conf.get(name, None) for name in CAREFUL}
    for name, value in CAREFUL.items():
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
    """Do something in Spark, silently, that ends when Ctrl-C comes; only jobs of its own are cancelled."""
    tag = f"discreet_{uuid.uuid4().hex}"

    # in this process a session's tags do not reach the thread that collects, while the context's do
    context = None if is_remote(own) else own.sparkContext

    def tagged() -> T:  # tags belong to a thread
        with silent():
            (own.addTag if context is None else context.addJobTag)(tag)
            try:
                return act()
            finally:
                (own.removeTag if context is None else context.removeJobTag)(tag)

    def cancel() -> None:
        with suppress(Exception):  # it is tried again, until nothing runs
            (own.interruptTag if context is None else context.cancelJobsWithTag)(tag)

    return interruptible(tagged, cancel)


def is_alive(own: Any) -> bool:
    """Whether statements can be sent; no row is read and no job is started."""
    try:
        if is_remote(own):
            return not own.is_stopped and bool(own.sql("SELECT 1 AS one").schema)
        return own.sparkContext._jsc is not None and not own._jsparkSession.sparkContext().isStopped()
    except Exception as error:
        if is_interrupt(error):
            raise
        return False


def leave(own: Any) -> None:
    """Let go of our session; the server, or the context that it shares with the user's, stays."""
    if is_remote(own):
        own.client.release_session()
        own.client.close()


def look_again(own: Any, places: Iterable[str]) -> None:
    """Forget which files tables had; it is for our session alone, but through Spark Connect what the user cached of them is read again."""
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
        raise EngineError("a result of a type that is not carried")
    return pa.schema([(name, _CARRIED[sql_type]) for name, sql_type in types.items()])


def pieces(frame: Any) -> Iterator[pa.Table]:
    """A result in pieces, of which the driver holds one partition at a time, however long it is in all."""
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


def frame_of(own: Any, given: PublicTable) -> Any:
    """Public values as a DataFrame."""
    columns = {name: pa.array(map(_plain, values), _ARROW[kind]) for name, kind, values in given.columns}
    schema = ", ".join(f"{SPARK.identifier(name)} {SPARK.type_name(kind)}" for name, kind, _ in given.columns)
    with _unnoticed(own):
        return own.createDataFrame(pa.table(columns), schema)


def _plain(value: Value | None) -> Any:
    return float(value) if isinstance(value, Fraction) else value


_ACTIVE = threading.Lock()


@contextmanager
def _unnoticed(own: Any) -> Iterator[None]:
    """PySpark makes whichever session creates a frame the active one, which is then everybody's: put the former one back."""
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


# ── what is said meanwhile ───────────────────────────────────────────────────────────────────────────────────────────

_SILENT = threading.local()


def _may_speak(record: logging.LogRecord) -> bool:
    return not getattr(_SILENT, "on", False)


for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(_may_speak)  # not by logging's own getLogger: it must be of their class


@contextmanager
def silent() -> Iterator[None]:
    """PySpark writes errors to a log of its own before it raises them, and they may contain data: not those of our statements."""
    before, _SILENT.on = getattr(_SILENT, "on", False), True
    try:
        yield
    finally:
        _SILENT.on = before


@contextmanager
def watched(own: Any, progress: Callable[[float], None] | None) -> Iterator[None]:
    """Tell from another thread how far the tasks of running stages are (0 to 1), if anyone wants to know."""
    if progress is None or is_remote(own):
        yield
        return
    tracker, done = own.sparkContext.statusTracker(), threading.Event()

    def watch() -> None:
        while not done.wait(_OFTEN):
            stages = [found for number in tracker.getActiveStageIds() if (found := tracker.getStageInfo(number)) is not None]
            if tasks := sum(stage.numTasks for stage in stages):
                progress(sum(stage.numCompletedTasks for stage in stages) / tasks)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def named(values: Sequence[str]) -> str:
    """A place, quoted part by part."""
    return ".".join(map(SPARK.identifier, values))
