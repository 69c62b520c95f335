"""A ledger in a PostgreSQL database, shared by many hosts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

import psycopg

from discreet.errors import LedgerError
from discreet.ledger import postgres_schema as ddl
from discreet.ledger.address import split_address
from discreet.ledger.chain import Entry, digest
from discreet.ledger.history import untrusted
from discreet.ledger.postgres_server import Connection, cancelled_after, connect_to_server, require_durable, try_or_explain
from discreet.ledger.storage import Lease, State, Storage

PATIENCE = 30.0  # seconds to wait for other writers

_COLUMNS = "sequence, kind, body, previous, at, hash"
_AT_ONCE = 500  # rows
_CREATION = 0x64697363  # "disc": the advisory lock under which tables are created

_inherited: list[Connection] = []  # connections of a parent process: neither used nor closed here


@final
class PostgresStorage(Storage):
    """Store a ledger in one schema of a database. Each process has one connection, which one thread at a time uses.

    A writer first locks the only row of `about`. This needs READ COMMITTED: each statement after the lock sees all that earlier writers
    committed, and nobody commits meanwhile. So writers run one after another, and no isolation level is relied on. (REPEATABLE READ and
    SERIALIZABLE would use a snapshot from before the wait.) The state is replaced only if it is still the one that was read, so even a
    writer that bypassed the lock would fail. A commit is visible to others only when it is durable.

    An error of the driver may name the host, the user and the database: it is never shown, nor chained to the error that is.
    """

    def __init__(self, address: str, *, create: bool, patience: float = PATIENCE) -> None:
        self._address, self._schema = split_address(address)
        self._create, self._patience = create, patience
        self._connection: Connection | None = None
        self._process = os.getpid()

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._released(self._begin(ddl.begin_reading(self._patience))):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._committed(self._begin(ddl.begin_writing(self._patience))):
            if len(self._rows(f"SELECT version FROM {self._schema}.about FOR UPDATE")) != 1:
                raise untrusted("its tables are not those of a ledger")
            yield

    def _begin(self, begin: str) -> Connection:
        """Begin a transaction; on a new connection if the old one was lost since the last block, when nothing was being written."""
        connection = self._open()
        if isinstance(try_or_explain(lambda: connection.execute(begin)), LedgerError):
            self.close()
            connection = self._open()
            self._start(connection, begin)
        return connection

    def _start(self, connection: Connection, begin: str) -> None:
        failure = try_or_explain(lambda: connection.execute(begin))
        if isinstance(failure, LedgerError):
            self.close()
            raise failure

    @contextmanager
    def _released(self, connection: Connection) -> Iterator[None]:
        try:
            yield
        finally:
            self._roll_back(connection)

    @contextmanager
    def _committed(self, connection: Connection) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._roll_back(connection)
            raise
        self._commit(connection)

    def _commit(self, connection: Connection) -> None:
        """Commit; without a clear confirmation the transaction may or may not have been committed.

        A server that stops waiting for its standby confirms with a warning, and one that has rolled back replies ROLLBACK.
        """
        warnings: list[object] = []
        connection.add_notice_handler(warnings.append)
        try:
            with cancelled_after(connection, self._patience):
                reply = try_or_explain(lambda: connection.execute("COMMIT").statusmessage)
            connection.remove_notice_handler(warnings.append)
        except BaseException:  # an interrupt: the outcome is unknown
            self.close()
            raise
        if reply == "COMMIT" and not warnings:
            return
        self.close()
        raise LedgerError(
            "the last write of the ledger may or may not be durable, so it counts as spent; nothing was released. "
            "Check that the database is running and has free space, then ask again with the same key, or pay again."
        )

    def _roll_back(self, connection: Connection) -> None:
        try:
            failed = isinstance(try_or_explain(lambda: connection.execute("ROLLBACK")), LedgerError)
        except BaseException:
            self.close()
            raise
        if failed:
            self.close()  # a connection that cannot roll back is not used again

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def state(self) -> State | None:
        rows = self._rows(f"SELECT sequence, head, filter FROM {self._schema}.state")
        if len(rows) > 1:
            raise untrusted("it has two states")
        return State(*rows[0]) if rows else None

    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        stop = 2**62 if stop is None else stop
        while found := self._found("sequence >= %s AND sequence < %s", start, stop):
            yield from found
            start = found[-1].sequence + 1

    def _found(self, condition: str, *values: Any, order: str = "sequence", limit: str = f"{_AT_ONCE}") -> list[Entry]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM {self._schema}.entries WHERE {condition} ORDER BY {order} LIMIT {limit}", *values)
        for row in rows:
            if not all(isinstance(value, str) for value in row[1:]):
                raise untrusted(f"entry {row[0]} was changed")
        return [Entry(*row) for row in rows]

    def _one(self, condition: str, *values: Any, order: str = "sequence") -> Entry | None:
        return next(iter(self._found(condition, *values, order=order, limit="1")), None)

    def checkpoint(self) -> Entry | None:
        return self._one("kind = 'checkpoint'", order="sequence DESC")

    def spend_under(self, key: str) -> Entry | None:
        return self._one("once = %s", _of_key(key))

    def release_for(self, spend: int) -> Entry | None:
        return self._one("once = %s", _of_spend(spend))

    def first_release(self, question: str) -> Entry | None:
        return self._one("kind = 'release' AND question = %s", digest(question))

    def received(self, question: str, analyst: str) -> Entry | None:
        return self._one("once = %s", _of_receiving(question, analyst))

    def unanswered(self) -> list[Entry]:
        paid = f"SELECT 1 FROM {self._schema}.entries AS r WHERE r.once = 'spend ' || entries.sequence"
        return self._found(f"kind = 'spend' AND NOT EXISTS ({paid})", limit="ALL")

    def append(self, entry: Entry, filter: str) -> None:
        row = (entry.sequence, entry.kind, entry.text, entry.previous, entry.at, entry.hash, *_marks(entry))
        self._execute(f"INSERT INTO {self._schema}.entries ({_COLUMNS}, once, question) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", *row)
        if entry.sequence == 0:
            wanted = f"INSERT INTO {self._schema}.state (id, sequence, head, filter) VALUES (1, 0, %s, %s)"
            written = self._execute(wanted, entry.hash, filter)
        else:
            written = self._execute(
                f"UPDATE {self._schema}.state SET sequence = %s, head = %s, filter = %s WHERE id = 1 AND sequence = %s AND head = %s",
                *(entry.sequence, entry.hash, filter, entry.sequence - 1, entry.previous),
            )
        if written.rowcount != 1:
            raise LedgerError("another writer interfered; nothing was spent and nothing was released. Ask again.")

    def clock(self) -> float:
        return float(self._rows("SELECT extract(epoch FROM clock_timestamp())::float8")[0][0])

    def leases(self) -> list[Lease]:
        wanted = f"SELECT name, holder, expires, analyst, charge FROM {self._schema}.leases ORDER BY name"
        return [Lease(*row) for row in self._rows(wanted)]

    def lease(self, lease: Lease) -> None:
        self._execute(
            f"INSERT INTO {self._schema}.leases (name, holder, expires, analyst, charge) VALUES (%s, %s, %s, %s, %s) ON CONFLICT (name) "
            "DO UPDATE SET (holder, expires, analyst, charge) = (EXCLUDED.holder, EXCLUDED.expires, EXCLUDED.analyst, EXCLUDED.charge)",
            *(lease.name, lease.holder, lease.expires, lease.analyst, lease.charge),
        )

    def drop_lease(self, name: str) -> None:
        self._execute(f"DELETE FROM {self._schema}.leases WHERE name = %s", name)

    def inspect(self) -> None:
        self._inspect_tables()
        marks = {row[0]: row[1:] for row in self._rows(f"SELECT sequence, once, question FROM {self._schema}.entries")}
        try:
            agreed = all(marks[entry.sequence] == _marks(entry) for entry in self.entries(0))
        except (KeyError, TypeError, ValueError, RecursionError):
            agreed = False
        if not agreed:
            raise untrusted("its index does not match its entries")

    def _inspect_tables(self) -> None:
        found = sorted(row[0] for row in self._rows(ddl.INSPECTION.replace("%(schema)s", f"'{self._schema}'")))
        if not self._is_there() or found != ddl.expected(self._schema):
            raise untrusted("its tables are not those of a ledger")

    def _execute(self, sql: str, *values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        connection = self._connection
        if connection is None or connection.closed:
            raise LedgerError("the ledger was closed during an operation; nothing was released. Open it again.")
        done = try_or_explain(lambda: connection.execute(sql, values))
        if isinstance(done, LedgerError):
            raise done
        return done

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._execute(sql, *values).fetchall()

    # ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> Connection:
        """The connection of this process, to a server and tables that were checked."""
        if self._connection is not None and self._process != os.getpid():
            _inherited.append(self._connection)  # closing it here would end the parent's session
            self._connection = None
        if self._connection is None or self._connection.closed:
            self._process = os.getpid()
            self._connection = connection = connect_to_server(self._address)
            try:
                require_durable(connection)
                self._recognise(connection)
            except BaseException:
                self.close()
                raise
        return self._connection

    def _recognise(self, connection: Connection) -> None:
        self._start(connection, ddl.begin_reading(self._patience))
        with self._released(connection):
            there = self._is_there()
            if there:
                self._inspect_tables()
        if not there:
            self._create_tables(connection)

    def _is_there(self) -> bool:
        """Whether this schema contains a ledger of this version; LedgerError if it contains anything else."""
        tables = self._rows("SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)", self._schema)
        if not tables:
            return False
        if ("about",) in tables:
            about = self._rows(f"SELECT application, version FROM {self._schema}.about")
            if about == [(ddl.APPLICATION, ddl.VERSION)]:
                return True
            if [row[0] for row in about] == [ddl.APPLICATION]:
                raise LedgerError("this ledger has another format: run `discreet migrate` on it, which keeps the old one")
        raise LedgerError("the schema has tables that are not a ledger of discreet; they were not changed: choose another ledger name")

    def _create_tables(self, connection: Connection) -> None:
        """Create the tables, unless another process was faster."""
        if not self._create:
            raise LedgerError("there is no ledger at this address: check the address and the ledger name")
        self._start(connection, ddl.begin_writing(self._patience))
        with self._committed(connection):
            self._execute(f"SELECT pg_advisory_xact_lock({_CREATION})")
            if not self._is_there():
                if not self._rows("SELECT 1 FROM pg_namespace WHERE nspname = %s", self._schema):
                    self._execute(f"CREATE SCHEMA {self._schema}")
                for statement in ddl.statements(self._schema):
                    self._execute(statement)
            self._inspect_tables()

    def use(self, connection: Connection) -> None:
        """Use a connection that the caller opened and will close."""
        self._process, self._connection = os.getpid(), connection

    def close(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self.close()


def _marks(entry: Entry) -> tuple[str | None, str | None]:
    """The index values of an entry: what may be written only once, and the question of a release.

    Once are written the spend of a key, the release of a spend, and what an analyst is charged for receiving the answer to a question.
    Keys and questions are stored as digests, for PostgreSQL does not store every text.
    """
    if entry.kind not in ("spend", "release", "receive"):
        return None, None
    body = json.loads(entry.text)  # floats stay tagged
    if entry.kind == "spend":
        return None if body["key"] is None else _of_key(body["key"]), None
    if entry.kind == "receive":
        return _of_receiving(body["question"], body["analyst"]), None
    return _of_spend(body["spend"]), digest(body["question"])


def _of_key(key: str) -> str:
    return f"key {digest(key)}"


def _of_spend(sequence: int) -> str:
    return f"spend {sequence}"


def _of_receiving(question: str, analyst: str) -> str:
    return f"receive {digest([question, analyst])}"
