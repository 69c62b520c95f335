"""DuckDB: tables from files and data frames, in a database of our own that can reach nothing else."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, assert_never, final

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.equality import is_bytewise, require_equality
from discreet.engines.duckdb.files import Looked, look
from discreet.engines.duckdb.load import load, prepare, require_room
from discreet.engines.duckdb.mock import mock_rows
from discreet.engines.duckdb.reading import reading, unread
from discreet.engines.duckdb.ready import is_interrupted, problem_of
from discreet.engines.duckdb.scratch import Scratch
from discreet.engines.duckdb.sources import Csv, Database, Frame, Parquet, Source, Stored, check_names, read_source
from discreet.engines.duckdb.values import column, plain
from discreet.engines.duckdb.view import INTEGERS, UNREAD, view
from discreet.engines.engine import REOPEN, Columns, Engine, PublicTable
from discreet.engines.identity import Identities
from discreet.engines.interrupt import interruptible
from discreet.errors import EngineError
from discreet.tables.kind import Kind
from discreet.tables.table import Table

_TESTED = ((1, 2), (3, 0))  # from, and before
_OFTEN = 0.1  # seconds between two looks at the progress

_RESULT = '"__discreet_result"'

_CARRIED = INTEGERS | {"BOOLEAN", "FLOAT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP"}  # what a result may hold


@final
class DuckDB(Engine):
    """Run queries in DuckDB.

    Each table is a view whose columns have one of our kinds. A database of our own is locked: it reads the given sources and no other file,
    loads nothing, sees no Python variable and changes no setting. A connection that the user passes keeps the user's settings, so it is not
    locked; there only our own refusal of everything but one SELECT stands. Either way the analyst's text never comes here.

    Values that a kind cannot hold are missing (NULL): whole numbers beyond 64 bits, dates and timestamps outside the years 1 to 9999, and
    values of a CSV file or a data frame that cannot be read as the declared kind. In a Parquet file's text, a question mark stands for each
    byte that is no UTF-8.
    """

    name = "duckdb"
    version = duckdb.__version__
    dialect = DUCKDB

    def __init__(self, connection: duckdb.DuckDBPyConnection, progress: Callable[[float], None] | None, scratch: Scratch | None) -> None:
        self._connection, self._progress = connection, progress
        self._lock, self._process = threading.Lock(), os.getpid()
        self._schemas: dict[str, dict[str, Kind | None]] = {}
        self._frames: list[Any] = []  # the engine scans them in place
        self._scratch = scratch
        self._files: dict[str, tuple[Source, Looked | None]] = {}
        self._unread: dict[str, tuple[Csv, Path]] = {}  # text files, until the first question
        self._forget = weakref.finalize(self, scratch.remove if scratch else lambda: None)

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Any],
        declared: Mapping[str, Mapping[str, Kind]] | None = None,
        progress: Callable[[float], None] | None = None,
        threads: int | None = None,
        identities: Identities | None = None,
    ) -> DuckDB:
        """Open sources as tables; `declared` kinds are what loose texts are read as, `identities` tell units apart (or they are refused).

        Progress varies with the data: for its owner only.
        """
        _check_version(duckdb.__version__)
        kinds, units = declared or {}, identities or {}
        read = {name: read_source(name, given, kinds.get(name), units.get(name, ())) for name, given in sources.items()}
        kept = {id(source.connection): source.connection for source in read.values() if isinstance(source, Stored)}
        if kept and (len(kept) > 1 or not all(isinstance(source, Stored) for source in read.values())):
            raise EngineError("tables of a DuckDB connection go with tables of the same connection only: register the others there")
        scratch = None if kept else Scratch()
        usual = is_bytewise(next(iter(kept.values()))) if kept else True
        connection = _fresh(str(scratch.path), progress is not None, threads) if scratch else _beside(next(iter(kept.values())))
        engine = cls(connection, progress, scratch)
        try:
            for number, (name, source) in enumerate(read.items()):
                engine._add(number, name, source, kinds.get(name, {}), units.get(name, ()), usual)
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

    def problem(self) -> str | None:
        if self._process != os.getpid():
            return REOPEN
        with self._lock:
            if closed := problem_of(self._connection, (), None):
                return closed
            try:
                self.look_again()
            except EngineError as error:
                return str(error)
            return problem_of(self._connection, self._schemas, str(self._scratch.path) if self._scratch else None)

    def interrupted(self, error: Exception) -> bool:
        return is_interrupted(error)

    def close(self) -> None:
        if self._process == os.getpid():  # a child must not touch the parent's threads and files
            self._connection.close()
            self._forget()

    def batches(self, sql: str, given: Sequence[PublicTable], rows: int | None) -> Iterator[Columns]:
        if self._process != os.getpid():
            raise EngineError(REOPEN)
        with self._lock, self._with(given):
            self._load()
            if rows is None:
                yield self._execute(sql)
                return
            # numpy takes a result whole: so it is kept in the engine, which moves it to the disk if it is long, and taken in slices
            self._one_select(sql)
            kept = f"CREATE OR REPLACE TEMP TABLE {_RESULT} AS {sql}"
            interruptible(lambda: self._connection.execute(kept), self._connection.interrupt)
            try:
                length = int(self._connection.execute(f"SELECT COUNT(*) FROM {_RESULT}").fetchall()[0][0])
                for start in range(0, max(length, 1), rows):
                    yield self._execute(f"SELECT * FROM {_RESULT} WHERE rowid >= {start} AND rowid < {start + rows}")
            finally:
                self._connection.execute(f"DROP TABLE IF EXISTS {_RESULT}")

    def look_again(self) -> None:
        """Raise EngineError if a file is gone or has other columns than when it was opened, or if there is no room to read it.

        It is for whoever is about to pay: no row is read. The caller holds the lock.
        """
        for name, (source, before) in self._files.items():
            self._files[name] = source, look(self._connection, name, source, before)
        if self._unread and self._scratch is not None:
            require_room(self._scratch.path, [source for source, _ in self._unread.values()])

    def _load(self) -> None:
        """Read the text files, once."""
        for name, (source, folder) in tuple(self._unread.items()):
            load(self._connection, source, folder)
            del self._unread[name]

    @contextmanager
    def _with(self, given: Sequence[PublicTable]) -> Iterator[None]:
        """Have tables of public values there for one statement."""
        try:
            for table in given:
                self._connection.register(table.name, {name: column(kind, values) for name, kind, values in table.columns})
            yield
        finally:
            for table in given:
                self._connection.unregister(table.name)

    def _one_select(self, sql: str) -> duckdb.Statement:
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise EngineError("one SELECT at a time")
        return statements[0]

    def _execute(self, sql: str) -> Columns:
        with _watched(self._connection, self._progress):
            types, found = interruptible(lambda: self._fetched(sql), self._connection.interrupt)
            return {name: plain(values, sql_type) for (name, values), sql_type in zip(found.items(), types, strict=True)}

    def _fetched(self, sql: str) -> tuple[list[str], dict[str, Any]]:
        result = self._connection.execute(self._one_select(sql))
        types = [str(column[1]) for column in result.description or ()]
        if not _CARRIED.issuperset(types):
            raise EngineError("a result of a type that numpy would round")
        return types, result.fetchnumpy()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, number: int, name: str, source: Source, declared: Mapping[str, Kind], identities: Collection[str], usual: bool) -> None:
        """Make the view of one table; only its schema is looked at."""
        try:
            self._files[name] = source, look(self._connection, name, source)
            relation = self._relation(number, name, source)
            found = self._connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
            stored = {str(row[0]): str(row[1]) for row in found}
            stored |= dict.fromkeys(unread(self._connection, source, stored), UNREAD)
            check_names(name, tuple(stored))
            asked = {column: stored[column] for column in identities if column in stored}
            require_equality(self._connection, name, source, relation, asked, declared, usual)
            seen = view(stored, declared, reading(source, identities))
            if not seen.columns:
                raise EngineError(f"{name}: no column has a type that can be used")
            self._connection.execute(f"CREATE TEMP VIEW {DUCKDB.identifier(name)} AS SELECT {', '.join(seen.columns)} FROM {relation}")
            self._schemas[name] = seen.kinds
            return
        except duckdb.Error:
            pass
        raise EngineError(f"{name}: it cannot be opened; check that it is what its ending or type says, and that it can be read")

    def _relation(self, number: int, name: str, source: Source) -> str:
        match source:
            case Parquet(pattern):
                return f"read_parquet({DUCKDB.text(pattern)}, hive_partitioning=false, utf8_validation='replace')"
            case Csv():
                assert self._scratch is not None
                self._unread[name] = source, self._scratch.path / f"source-{number}"
                return prepare(self._connection, *self._unread[name])
            case Database(path, table):
                alias = f"source_{number}"
                self._connection.execute(f"ATTACH {DUCKDB.text(path)} AS {alias} (READ_ONLY)")
                return f"{alias}.{DUCKDB.identifier(table)}"
            case Frame(frame):
                self._frames.append(frame)
                self._connection.register(f"source {number}", frame)
                return DUCKDB.identifier(f"source {number}")
            case Stored(_, table):
                return self._place(table)
            case _:
                assert_never(source)

    def _place(self, table: str) -> str:
        """The full name of a stored table: our view may have the same short one."""
        where = "SELECT current_database(), current_schema()"
        database, schema = self._connection.execute(where).fetchall()[0]
        return ".".join(DUCKDB.identifier(part) for part in (database, schema, table))


# ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────────


def _check_version(version: str) -> None:
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not _TESTED[0] <= parts < _TESTED[1]:
        raise EngineError(f"engine version outside the tested range: DuckDB {version}; install duckdb>=2,<3")


def _beside(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A session of ours on the user's database; what texts are equal is not left to its settings."""
    ours = connection.cursor()
    ours.execute("SET SESSION default_collation='binary'")
    return ours


def _fresh(scratch: str, with_progress: bool, threads: int | None) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    settings = [
        "python_enable_replacements=false",  # else SQL could name any Python variable
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "pandas_analyze_sample=0",  # no type is guessed from values
        "preserve_insertion_order=false",
        "perfect_ht_threshold=20",  # whole units are counted in an array where their range allows it; up to about 40 MB a thread
        "TimeZone='UTC'",  # for texts without a zone
        f"temp_directory={DUCKDB.text(scratch)}",
        f"enable_progress_bar={str(with_progress).lower()}",
        "enable_progress_bar_print=false",
        *([f"threads={int(threads)}"] if threads else []),
    ]
    for setting in settings:
        connection.execute(f"SET {setting}")
    return connection


def _lock_down(connection: duckdb.DuckDBPyConnection, sources: list[Source], scratch: str) -> None:
    """From here on: no file but the sources, no extension, no setting."""
    files = [source.path for source in sources if isinstance(source, Database)]  # a text file is read by us
    for source in sources:
        if isinstance(source, Parquet) and not source.is_folder:
            files += [source.place, source.pattern]  # DuckDB asks for both: they differ where the name has brackets
    folders = [scratch, *(source.place for source in sources if isinstance(source, Parquet) and source.is_folder)]
    connection.execute(f"SET allowed_paths=[{', '.join(map(DUCKDB.text, files))}]")
    connection.execute(f"SET allowed_directories=[{', '.join(map(DUCKDB.text, folders))}]")
    connection.execute("SET enable_external_access=false")
    connection.execute("SET lock_configuration=true")


@contextmanager
def _watched(connection: duckdb.DuckDBPyConnection, progress: Callable[[float], None] | None) -> Iterator[None]:
    """Tell how far the query is (0 to 1) from another thread, if anyone wants to know."""
    if progress is None:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_OFTEN):
            if (percent := connection.query_progress()) >= 0:
                progress(min(percent, 100.0) / 100)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def tables_of(data: object) -> dict[str, Any] | None:
    """The tables of a DuckDB connection, each as a source; None for anything else."""
    if not isinstance(data, duckdb.DuckDBPyConnection):
        return None
    return {str(name): (data, str(name)) for (name,) in data.cursor().execute("SHOW TABLES").fetchall()}
