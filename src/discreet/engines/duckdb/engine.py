"""DuckDB: tables from files and data frames, in a private database that can access nothing else."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, assert_never, final

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.equality import is_bytewise, require_equality
from discreet.engines.duckdb.files import FileState, check_files
from discreet.engines.duckdb.load import load, prepare, require_disk_space
from discreet.engines.duckdb.mock import mock_rows
from discreet.engines.duckdb.read_options import read_options, unsupported_columns, untyped_columns
from discreet.engines.duckdb.ready import is_interrupted, problem_of
from discreet.engines.duckdb.scratch import Scratch
from discreet.engines.duckdb.sources import ConnectionTable, Csv, Database, DuckDBSource, LocalFrame, Parquet, read_source
from discreet.engines.duckdb.values import public_column, result_column
from discreet.engines.duckdb.view import INTEGERS, UNSUPPORTED, make_view
from discreet.engines.engine import REOPEN, Columns, Engine, SentTable
from discreet.engines.identity import Identities
from discreet.engines.interrupt import interruptible
from discreet.engines.limits import EngineLimits, deadline
from discreet.engines.names import check_column_names
from discreet.engines.progress import reporting
from discreet.engines.version import require_tested
from discreet.errors import EngineError
from discreet.tables.kind import Kind
from discreet.tables.table import Table

_TESTED = ((2, 0), (3, 0))  # from, and before: as in pyproject.toml

T = TypeVar("T")
_RESULT = '"__discreet_result"'

_CARRIED = INTEGERS | {"BOOLEAN", "FLOAT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP"}  # types that a result may have


@final
class DuckDB(Engine):
    """Run queries in DuckDB.

    Each table is a view whose columns have our kinds. A database that we create is locked: it reads only the given sources, loads no
    extension, sees no Python variable and changes no setting. A connection that the user passes keeps the user's settings, so it is not
    locked; it is protected only because every statement must be one SELECT. In both cases the analyst's text never arrives here.

    Values that a kind cannot hold are read as NULL: integers beyond 64 bits, dates and timestamps outside the years 1 to 9999, and values
    of a CSV file or a data frame that do not parse as the declared kind. In the text of a Parquet file, each byte that is not UTF-8 is read
    as a question mark.
    """

    name = "duckdb"
    version = duckdb.__version__
    dialect = DUCKDB

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        progress: Callable[[float], None] | None,
        scratch: Scratch | None,
        seconds: float | None = None,
    ) -> None:
        self._connection, self._progress, self._seconds = connection, progress, seconds
        self._lock, self._process = threading.Lock(), os.getpid()
        self._schemas: dict[str, dict[str, Kind | None]] = {}
        self._untyped: dict[str, tuple[str, ...]] = {}
        self._frames: list[Any] = []  # DuckDB scans them in place, so they must stay alive
        self._scratch = scratch
        self._files: dict[str, tuple[DuckDBSource, FileState | None]] = {}
        self._unloaded: dict[str, tuple[Csv, Path]] = {}  # CSV files, until the first question
        self._forget = weakref.finalize(self, scratch.remove if scratch else lambda: None)

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Any],
        declared: Mapping[str, Mapping[str, Kind]] | None = None,
        progress: Callable[[float], None] | None = None,
        threads: int | None = None,
        identities: Identities | None = None,
        limits: EngineLimits | None = None,
    ) -> DuckDB:
        """Open sources as tables; untyped texts are read as the `declared` kinds, and `identities` must identify units or are refused.

        Progress depends on the data, so it is for the data owner only.
        """
        _check_version(duckdb.__version__)
        kinds, units = declared or {}, identities or {}
        read = {name: read_source(name, given, kinds.get(name), units.get(name, ())) for name, given in sources.items()}
        kept = {id(source.connection): source.connection for source in read.values() if isinstance(source, ConnectionTable)}
        if kept and (len(kept) > 1 or not all(isinstance(source, ConnectionTable) for source in read.values())):
            raise EngineError("tables of a DuckDB connection go only with tables of the same connection: register the others there")
        scratch = None if kept else Scratch()
        bytewise = is_bytewise(next(iter(kept.values()))) if kept else True
        may_use, shown = limits or EngineLimits(), progress is not None
        connection = _fresh(str(scratch.path), shown, threads, may_use.memory) if scratch else _beside(next(iter(kept.values())))
        engine = cls(connection, progress, scratch, may_use.seconds)
        try:
            for number, (name, source) in enumerate(read.items()):
                engine._add(number, name, source, kinds.get(name, {}), units.get(name, ()), bytewise)
            if scratch:
                _lock_down(connection, list(read.values()), str(scratch.path))
        except BaseException:
            engine.close()
            raise
        return engine

    @classmethod
    def mock(cls, tables: Iterable[Table]) -> DuckDB:
        """An engine with mock rows in tables of these schemas."""
        connection = duckdb.connect(":memory:")
        for table in tables:
            connection.execute(f"CREATE TABLE {DUCKDB.identifier(table.name)} AS {mock_rows(table)}")
        return cls.open({table.name: (connection, table.name) for table in tables})

    def schema(self, table: str) -> dict[str, Kind | None]:
        if table not in self._schemas:
            raise EngineError(f"there is no table {table}")
        return dict(self._schemas[table])

    def untyped(self, table: str) -> tuple[str, ...]:
        return self._untyped.get(table, ())

    def problem(self) -> str | None:
        if self._process != os.getpid():
            return REOPEN
        with self._lock:
            if closed := problem_of(self._connection, (), None):
                return closed
            try:
                self.check_sources()
            except EngineError as error:
                return str(error)
            return problem_of(self._connection, self._schemas, str(self._scratch.path) if self._scratch else None)

    def interrupted(self, error: Exception) -> bool:
        return is_interrupted(error)

    def close(self) -> None:
        if self._process == os.getpid():  # a forked child must not touch the threads and files of its parent
            self._connection.close()
            self._forget()

    def batches(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        if self._process != os.getpid():
            raise EngineError(REOPEN)
        with self._lock, self._with(given):
            self._load()
            if rows is None:
                yield self._execute(sql)
                return
            # numpy fetches a result as a whole: so it is stored in DuckDB, which spills a long one to disk, and fetched in slices
            self._one_select(sql)
            kept = f"CREATE OR REPLACE TEMP TABLE {_RESULT} AS {sql}"
            self._timed(lambda: self._connection.execute(kept))
            try:
                length = int(self._connection.execute(f"SELECT COUNT(*) FROM {_RESULT}").fetchall()[0][0])
                for start in range(0, max(length, 1), rows):
                    yield self._execute(f"SELECT * FROM {_RESULT} WHERE rowid >= {start} AND rowid < {start + rows}")
            finally:
                self._connection.execute(f"DROP TABLE IF EXISTS {_RESULT}")

    def check_sources(self) -> None:
        """Raise EngineError if a file is missing or its columns have changed since it was opened, or if the disk has no space to load it.

        It is called before paying and reads no row. The caller holds the lock.
        """
        for name, (source, before) in self._files.items():
            self._files[name] = source, check_files(self._connection, name, source, before)
        if self._unloaded and self._scratch is not None:
            require_disk_space(self._scratch.path, [source for source, _ in self._unloaded.values()])

    def _load(self) -> None:
        """Load the CSV files, once."""
        for name, (source, folder) in tuple(self._unloaded.items()):
            load(self._connection, source, folder)
            del self._unloaded[name]

    @contextmanager
    def _with(self, given: Sequence[SentTable]) -> Iterator[None]:
        """Register tables of public values for one statement."""
        try:
            for table in given:
                self._connection.register(table.name, {name: public_column(kind, values) for name, kind, values in table.columns})
            yield
        finally:
            for table in given:
                self._connection.unregister(table.name)

    def _one_select(self, sql: str) -> duckdb.Statement:
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise EngineError("a statement must be exactly one SELECT")
        return statements[0]

    def _execute(self, sql: str) -> Columns:
        with reporting(self._progress, lambda: _fraction_done(self._connection)):
            types, found = self._timed(lambda: self._fetched(sql))
            return {name: result_column(values, sql_type) for (name, values), sql_type in zip(found.items(), types, strict=True)}

    def _timed(self, act: Callable[[], T]) -> T:
        """Run a statement, which Ctrl-C and the time limit cancel."""
        with deadline(self._seconds, self._connection.interrupt):
            return interruptible(act, self._connection.interrupt)

    def _fetched(self, sql: str) -> tuple[list[str], dict[str, Any]]:
        result = self._connection.execute(self._one_select(sql))
        types = [str(column[1]) for column in result.description or ()]
        if not _CARRIED.issuperset(types):
            raise EngineError("a result has a type that numpy would round")
        return types, result.fetchnumpy()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(
        self, number: int, name: str, source: DuckDBSource, declared: Mapping[str, Kind], identities: Collection[str], bytewise: bool
    ) -> None:
        """Create the view of one table; only its schema is read."""
        try:
            self._files[name] = source, check_files(self._connection, name, source)
            relation = self._relation(number, name, source)
            found = self._connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
            stored = {str(row[0]): str(row[1]) for row in found}
            stored |= dict.fromkeys(unsupported_columns(self._connection, source, stored), UNSUPPORTED)
            check_column_names(name, tuple(stored))
            asked = {column: stored[column] for column in identities if column in stored}
            require_equality(self._connection, name, source, relation, asked, declared, bytewise)
            seen = make_view(stored, declared, read_options(source, identities))
            if not seen.columns:
                raise EngineError(f"{name}: no column has a supported type: store numbers, texts, booleans, dates or timestamps")
            self._connection.execute(f"CREATE TEMP VIEW {DUCKDB.identifier(name)} AS SELECT {', '.join(seen.columns)} FROM {relation}")
            self._schemas[name], self._untyped[name] = seen.kinds, untyped_columns(source, declared)
            return
        except duckdb.Error:
            pass
        raise EngineError(f"{name}: it cannot be opened; check that its format matches its file extension or type, and that it is readable")

    def _relation(self, number: int, name: str, source: DuckDBSource) -> str:
        match source:
            case Parquet(pattern):
                return f"read_parquet({DUCKDB.text(pattern)}, hive_partitioning=false, utf8_validation='replace')"
            case Csv():
                assert self._scratch is not None
                self._unloaded[name] = source, self._scratch.path / f"source-{number}"
                return prepare(self._connection, *self._unloaded[name])
            case Database(path, table):
                alias = f"source_{number}"
                self._connection.execute(f"ATTACH {DUCKDB.text(path)} AS {alias} (READ_ONLY)")
                return f"{alias}.{DUCKDB.identifier(table)}"
            case LocalFrame(frame):
                self._frames.append(frame)
                self._connection.register(f"source {number}", frame)
                return DUCKDB.identifier(f"source {number}")
            case ConnectionTable(_, table):
                return self._place(table)
            case _:
                assert_never(source)

    def _place(self, table: str) -> str:
        """The qualified name of a stored table: our view may have the same unqualified name."""
        where = "SELECT current_database(), current_schema()"
        database, schema = self._connection.execute(where).fetchall()[0]
        return ".".join(DUCKDB.identifier(part) for part in (database, schema, table))


# ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────────


def _check_version(version: str) -> None:
    require_tested("DuckDB", version, *_TESTED, "install duckdb>=2,<3")


def _beside(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A session of our own on the user's database; its settings must not decide which texts are equal."""
    ours = connection.cursor()
    ours.execute("SET SESSION default_collation='binary'")
    return ours


def _fresh(scratch: str, with_progress: bool, threads: int | None, memory: str | None = None) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    settings = [
        "python_enable_replacements=false",  # otherwise SQL could read any Python variable
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "pandas_analyze_sample=0",  # no type is guessed from values
        "preserve_insertion_order=false",
        "perfect_ht_threshold=20",  # integer units are counted in an array where their range allows it; up to about 40 MB per thread
        "TimeZone='UTC'",  # for texts without a zone
        f"temp_directory={DUCKDB.text(scratch)}",
        f"enable_progress_bar={str(with_progress).lower()}",
        "enable_progress_bar_print=false",
        *([f"threads={int(threads)}"] if threads else []),
        *([f"memory_limit={DUCKDB.text(memory)}"] if memory else []),
    ]
    for setting in settings:
        connection.execute(f"SET {setting}")
    return connection


def _lock_down(connection: duckdb.DuckDBPyConnection, sources: list[DuckDBSource], scratch: str) -> None:
    """From here on, allow no file but the sources, no extension and no change of settings."""
    files = [source.path for source in sources if isinstance(source, Database)]  # CSV files are read by us
    for source in sources:
        if isinstance(source, Parquet) and not source.is_folder:
            files += [source.place, source.pattern]  # DuckDB checks both: they differ if the name contains brackets
    folders = [scratch, *(source.place for source in sources if isinstance(source, Parquet) and source.is_folder)]
    connection.execute(f"SET allowed_paths=[{', '.join(map(DUCKDB.text, files))}]")
    connection.execute(f"SET allowed_directories=[{', '.join(map(DUCKDB.text, folders))}]")
    connection.execute("SET enable_external_access=false")
    connection.execute("SET lock_configuration=true")


def _fraction_done(connection: duckdb.DuckDBPyConnection) -> float | None:
    percent = connection.query_progress()
    return min(percent, 100.0) / 100 if percent >= 0 else None


def tables_of(data: object) -> dict[str, Any] | None:
    """The tables of a DuckDB connection, each as a source; None for anything else."""
    if not isinstance(data, duckdb.DuckDBPyConnection):
        return None
    return {str(name): (data, str(name)) for (name,) in data.cursor().execute("SHOW TABLES").fetchall()}
