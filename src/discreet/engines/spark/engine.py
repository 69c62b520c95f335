"""Spark: tables of a session, DataFrames and files, queried in our own session."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, final

import pyspark

from discreet.engines.engine import REOPEN, Columns, Engine, SentTable, is_interrupt
from discreet.engines.identity import Identities, identity_refused
from discreet.engines.names import check_column_names
from discreet.engines.progress import reporting
from discreet.engines.spark.columns import in_batches, to_columns
from discreet.engines.spark.connection import (
    arrow_tables,
    cancellable,
    close_session,
    fraction_done,
    frame_of,
    is_alive,
    own_session,
    qualified_name,
    refresh_tables,
    schema_of,
    silent,
    without_broadcast,
)
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.sources import SparkSource, SparkTable, is_remote, read_files, read_source, tables_of
from discreet.engines.spark.view import identity_problem, make_view
from discreet.engines.version import require_tested
from discreet.errors import EngineError
from discreet.tables.kind import Kind

__all__ = ["Spark", "read_files", "tables_of"]

_TESTED = ((4, 0), (5, 0))  # from, and before


@final
class Spark(Engine):
    """Run queries in Spark.

    They run in our own session, which shares the context of the user's session, but neither its settings nor its views; the user's session
    does not change. Each table is sent with a statement as a WITH whose columns have our kinds. A table that is given by name is looked up
    by every statement; a DataFrame stays what it was when it was given. A DataFrame is passed as a temporary view with a random name:
    within this process a global one, until the engine is closed; through Spark Connect one of the user's session, for a moment.

    A statement that fails is tried once more without broadcast joins, which takes less memory.

    Values that a kind cannot hold are read as NULL: dates and timestamps outside the years 1 to 9999. Bytes of texts that are not UTF-8
    are replaced.

    Assumes. The owner's own views and DataFrames do not raise on any of their rows.
    """

    name = "spark"
    version = pyspark.__version__
    dialect = SPARK

    def __init__(self, session: Any, own: Any, handed: list[str], progress: Callable[[float], None] | None) -> None:
        self._own, self._progress, self._process = own, progress, os.getpid()
        self._lock = threading.Lock()
        self.version = str(own.version)
        self._views: dict[str, str] = {}
        self._named: dict[str, str] = {}  # qualified names of tables that are looked up by every statement
        self._schemas: dict[str, dict[str, Kind | None]] = {}
        self._forget = weakref.finalize(self, _forget, session, own, handed, self._process)

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Any],
        declared: Mapping[str, Mapping[str, Kind]] | None = None,
        progress: Callable[[float], None] | None = None,
        identities: Identities | None = None,
    ) -> Spark:
        """Open sources as tables; `identities` must identify units, or the table is refused.

        Progress depends on the data, so it is for the data owner only.
        """
        _check_version(pyspark.__version__)
        read = {name: read_source(name, given) for name, given in sources.items()}
        session = _one_session([source.session for source in read.values()])
        handed: list[str] = []
        with silent():
            own, places = _connected(session, read, handed)
            engine = cls(session, own, handed, progress)
            try:
                _check_version(engine.version)
                for name in read:
                    engine._add(name, places[name], (declared or {}).get(name, {}), (identities or {}).get(name, ()))
                engine._named = {name: places[name] for name, source in read.items() if isinstance(source, SparkTable)}
            except BaseException:
                engine.close()
                raise
        return engine

    def schema(self, table: str) -> dict[str, Kind | None]:
        if table not in self._schemas:
            raise EngineError(f"there is no table {table}")
        return dict(self._schemas[table])

    def problem(self) -> str | None:
        if self._process != os.getpid():
            return REOPEN
        if not self._forget.alive:
            return "this engine is closed: connect again"
        with silent():
            if not is_alive(self._own):
                return "Spark was stopped, or its server does not answer: start a session and connect again"
            refresh_tables(self._own, self._named.values())
            for name, view in self._views.items():
                try:
                    self._own.sql(view).schema  # noqa: B018 - it is analysed, and no row is read
                except Exception as error:
                    if is_interrupt(error):
                        raise
                    return f"{name}: it is missing, unreadable, or has changed its columns since it was opened: connect again"
        return None

    def close(self) -> None:
        if self._process == os.getpid():  # a forked child must not touch the connection of its parent
            self._views.clear()
            self._forget()

    def batches(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        if self._process != os.getpid():
            raise EngineError(REOPEN)
        if not self._forget.alive:
            raise EngineError("this engine is closed: connect again")
        with self._with(given) as views, reporting(self._progress, lambda: fraction_done(self._own)):
            with silent():
                refresh_tables(self._own, (self._named[name] for name in self._named if name in sql))
            text, begun = _statement(sql, self._views | views), False
            try:
                for batch in self._fetched(text, rows):
                    begun = True
                    yield batch
                return
            except Exception as error:
                if begun or is_interrupt(error):
                    raise
            with self._lock, without_broadcast(self._own):
                yield from self._fetched(text, rows)

    def _fetched(self, text: str, rows: int | None) -> Iterator[Columns]:
        with silent():
            frame = self._own.sql(text)
            empty = schema_of(frame).empty_table()
            found = arrow_tables(frame)
        tables = iter([cancellable(self._own, frame.toArrow)]) if rows is None else in_batches(self._each(found), empty, rows)
        for table in tables:
            yield to_columns(table)

    def _each(self, found: Iterator[Any]) -> Iterator[Any]:
        while (piece := cancellable(self._own, lambda: next(found, None))) is not None:
            yield piece

    @contextmanager
    def _with(self, given: Sequence[SentTable]) -> Iterator[dict[str, str]]:
        """Register tables of public values for one statement."""
        made = {table.name: _random() for table in given}
        try:
            with silent():
                for table in given:
                    frame_of(self._own, table).createOrReplaceTempView(made[table.name])
            yield {name: f"SELECT * FROM {SPARK.identifier(place)}" for name, place in made.items()}
        finally:
            for place in made.values():
                self._own.catalog.dropTempView(place)

    def _add(self, name: str, place: str, declared: Mapping[str, Kind], identities: Collection[str]) -> None:
        """Make the view of one table; only its schema is read."""
        try:
            stored = self._own.sql(f"SELECT * FROM {place}").dtypes
        except Exception:
            stored = None
        if stored is None:
            raise EngineError(f"{name}: it cannot be opened; check that it exists and is readable")
        check_column_names(name, tuple(column for column, _ in stored))
        for column, sql_type in stored:
            problem = identity_problem(column, sql_type, declared.get(column)) if column in identities else None
            if problem is not None:
                raise identity_refused(name, column, *problem)
        seen = make_view(dict(stored), declared, identities)
        if not seen.columns:
            raise EngineError(f"{name}: no column has a supported type: store numbers, texts, booleans, dates or timestamps")
        self._views[name] = f"SELECT {', '.join(seen.columns)} FROM {place}"
        self._schemas[name] = seen.kinds


def _statement(sql: str, views: Mapping[str, str]) -> str:
    """One SELECT, after a WITH of the tables that it may use."""
    needed = [f"{SPARK.identifier(name)} AS ({select})" for name, select in views.items() if name in sql]
    return f"{'WITH ' if needed else ''}{', '.join(needed)} SELECT * FROM ({sql}) AS __q"


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_version(version: str) -> None:
    require_tested("Spark", version, *_TESTED, "use Spark 4, and install pyspark>=4,<5")


def _one_session(sessions: list[Any]) -> Any:
    if not sessions:
        raise EngineError("give at least one table")
    first = sessions[0]
    same = all(session is first or (not is_remote(first) and _context(session) is _context(first)) for session in sessions)
    if not same:
        raise EngineError("these tables belong to different Spark sessions: open them all in one session")
    return first


def _context(session: Any) -> Any:
    return None if is_remote(session) else session.sparkContext


def _connected(session: Any, read: Mapping[str, SparkSource], handed: list[str]) -> tuple[Any, dict[str, str]]:
    """Our own session, and the name of each table in it; through Spark Connect it starts as a copy of the user's session."""
    try:
        own = None if is_remote(session) else _own(session)
        places = {name: _place(name, source, own, handed) for name, source in read.items()}
        own = _own(session, handed) if own is None else own
    except BaseException:
        _drop_views(session, handed)
        raise
    if is_remote(session):
        _drop_views(session, handed)
    return own, places


def _own(session: Any, handed: Sequence[str] = ()) -> Any:
    try:
        own = own_session(session)
        for name in handed:
            own.table(name).schema  # noqa: B018 - a copied view exists only after its first use
        return own
    except Exception:
        pass
    raise EngineError(
        "Spark cannot open a second session: check that it is running; a Spark Connect server must be of version 4.1 or later"
    )


def _random() -> str:
    return f"discreet_{uuid.uuid4().hex}"


def _place(name: str, source: SparkSource, own: Any, handed: list[str]) -> str:
    """The name of a table in our session: its qualified name, or for a DataFrame that of its temporary view."""
    try:
        if isinstance(source, SparkTable):
            found = source.session.catalog.getTable(source.table)
            place = qualified_name([part for part in (found.catalog, *(found.namespace or ()), found.name) if part])
            if not found.isTemporary and (own is None or own.catalog.tableExists(place)):
                return place
        frame = source.session.table(source.table) if isinstance(source, SparkTable) else source.frame
        return _pass_as_view(frame, handed)
    except Exception:
        pass
    raise EngineError(f"{name}: it cannot be opened; check that it exists and is readable")


def _pass_as_view(frame: Any, handed: list[str]) -> str:
    handed.append(_random())
    if is_remote(frame.sparkSession):
        frame.createTempView(handed[-1])
        return qualified_name(handed[-1:])
    frame.createGlobalTempView(handed[-1])
    return qualified_name([frame.sparkSession.conf.get("spark.sql.globalTempDatabase"), handed[-1]])


def _drop_views(session: Any, handed: Sequence[str]) -> None:
    """Drop the temporary views; if Spark has stopped there are none."""
    with suppress(Exception), silent():
        for name in handed:
            (session.catalog.dropTempView if is_remote(session) else session.catalog.dropGlobalTempView)(name)


def _forget(session: Any, own: Any, handed: Sequence[str], process: int) -> None:
    if process == os.getpid():
        _drop_views(session, () if is_remote(session) else handed)
        with suppress(Exception), silent():
            close_session(own)
