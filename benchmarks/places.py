"""Where the rows of W3 are asked at scale: a Spark that reads the Parquet file, and a PostgreSQL of our own into which it was copied."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
from attrs import frozen
from peers.local_spark import moved, named, opened
from servers import start_postgres

TABLE = "w3"
_AT_ONCE = 2**18  # rows
_TYPES = {"user_id": "bigint", "dept": "integer", "amount": "double precision"}


@frozen
class Place:
    """An engine with a table: what our sessions connect to, and how a plain query runs in a session of the user's."""

    name: str
    data: Any
    fetch: Callable[[str], Any]
    moved: Callable[[Callable[[], Any]], float | None] = lambda _: None  # the bytes that a call moves between tasks, where one can tell


# ── Spark ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def spark() -> Iterator[Any]:
    """One session for all sizes: it takes long to start and to warm up."""
    session = opened()
    try:
        yield session
    finally:
        session.stop()


def on_spark(session: Any, path: Path) -> Place:
    """The file as a DataFrame."""
    frame = session.read.parquet(str(path))
    frame.createOrReplaceTempView(TABLE)

    def measured(work: Callable[[], Any]) -> float:
        group = secrets.token_hex(8)
        named(session, group)
        work()
        return float(moved(session, group))

    return Place("Spark", frame, lambda sql: session.sql(sql).collect(), measured)


# ── PostgreSQL ───────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a server of our own, on the disk and durable as it comes."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-postgres-"))
    try:
        server = start_postgres(folder)
        try:
            yield server.uri
        finally:
            server.remove()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def on_postgres(uri: str, path: Path) -> Iterator[Place]:
    """The rows of a file, copied and analysed."""
    with psycopg.connect(uri, autocommit=True) as connection:
        _copy(connection, path)
        yield Place("PostgreSQL", (uri, f"public.{TABLE}"), lambda sql: connection.execute(sql).fetchall())


def _copy(connection: psycopg.Connection, path: Path) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    connection.execute(f"CREATE TABLE {TABLE} ({', '.join(f'{name} {kind}' for name, kind in _TYPES.items())})")
    with connection.cursor().copy(f"COPY {TABLE} ({', '.join(_TYPES)}) FROM STDIN (FORMAT csv)") as into:
        for batch in pq.ParquetFile(path).iter_batches(_AT_ONCE, columns=list(_TYPES)):
            into.write(_text(batch))
    connection.execute(f"VACUUM (FREEZE, ANALYZE) {TABLE}")  # else the first who read it would write to it


def _text(batch: Any) -> bytes:
    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=False))
    return bytes(sink.getvalue())
