"""A ledger in a PostgreSQL database, for many hosts."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar, final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from discreet.errors import LedgerError
from discreet.ledger import walls
from discreet.ledger.address import divided
from discreet.ledger.chain import Entry, digest
from discreet.ledger.history import distrust
from discreet.ledger.storage import State, Storage

TESTED = range(14, 19)  # major versions of PostgreSQL
PATIENCE = 30.0  # seconds to wait for other writers

# Without these a server may lose what it has confirmed. A failed fsync must stop it (data_sync_retry), for a second one may lie.
DURABLE = {"fsync": "on", "full_page_writes": "on", "data_sync_retry": "off"}
# Where the address does not say otherwise: a host that is gone is noticed, and not waited for.
_DEFAULTS = {
    "connect_timeout": "10", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "30000",
    "application_name": "discreet",
}  # fmt: skip

_COLUMNS = "sequence, kind, body, previous, at, hash"
_AT_ONCE = 500  # rows
_CREATION = 0x64697363  # "disc": the advisory lock under which tables are made

_FAILURES = (psycopg.Error, OSError, UnicodeError)

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")

_inherited: list[Connection] = []  # connections of a parent process: neither used nor closed here


@final
class PostgresStorage(Storage):
    """Keep a ledger in one schema of a database. Each process has one connection, and the ledger lets one thread at a time use it.

    A writer first locks the one row of `about`. READ COMMITTED is what this needs: each statement after the lock sees all that earlier
    writers committed, and nobody commits meanwhile, so writers run one after another, and no isolation level is relied on. (REPEATABLE
    READ and SERIALIZABLE would look at a snapshot from before the wait.) The state is replaced on condition that it is still the one
    that was read, so even a writer that came past the lock would fail. A commit is seen by others only when it is durable.

    An error of the driver's may name the host, the user, the database: it is never shown, nor chained to the one that is.
    """

    def __init__(self, address: str, *, create: bool, patience: float = PATIENCE) -> None:
        self._address, self._schema = divided(address)
        self._create, self._patience = create, patience
        self._connection: Connection | None = None
        self._process = os.getpid()

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._released(self._begin(walls.begin_reading(self._patience))):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._committed(self._begin(walls.begin_writing(self._patience))):
            if len(self._rows(f"SELECT version FROM {self._schema}.about FOR UPDATE")) != 1:
                raise distrust("its tables are not those of a ledger")
            yield

    def _begin(self, begin: str) -> Connection:
        """Begin, on a new connection if the old one was lost since the last block: nothing was written on it."""
        connection = self._open()
        if isinstance(_attempt(lambda: connection.execute(begin)), LedgerError):
            self.close()
            connection = self._open()
            self._start(connection, begin)
        return connection

    def _start(self, connection: Connection, begin: str) -> None:
        failure = _attempt(lambda: connection.execute(begin))
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
        """Commit; whatever is not a plain yes may or may not have been one.

        A server that is made to stop waiting for its standby says yes with a warning, and one that had rolled back says ROLLBACK.
        """
        warnings: list[object] = []
        connection.add_notice_handler(warnings.append)
        try:
            with _impatience(connection, self._patience):
                said = _attempt(lambda: connection.execute("COMMIT").statusmessage)
            connection.remove_notice_handler(warnings.append)
        except BaseException:  # an interrupt: nobody will know
            self.close()
            raise
        if said == "COMMIT" and not warnings:
            return
        self.close()
        raise LedgerError(
            "the ledger's last write may or may not have reached the disk, so it counts as spent; nothing was released. "
            "Make sure that the database is running and has room, then ask again with the same key, or pay again."
        )

    def _roll_back(self, connection: Connection) -> None:
        try:
            failed = isinstance(_attempt(lambda: connection.execute("ROLLBACK")), LedgerError)
        except BaseException:
            self.close()
            raise
        if failed:
            self.close()  # a connection that cannot roll back is of no more use

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def state(self) -> State | None:
        rows = self._rows(f"SELECT sequence, head, filter FROM {self._schema}.state")
        if len(rows) > 1:
            raise distrust("it has two states")
        return State(*rows[0]) if rows else None

    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        stop = 2**62 if stop is None else stop
        wanted = f"SELECT {_COLUMNS} FROM {self._schema}.entries WHERE sequence >= %s AND sequence < %s ORDER BY sequence LIMIT {_AT_ONCE}"
        while rows := self._rows(wanted, start, stop):
            for row in rows:
                if not all(isinstance(value, str) for value in row[1:]):
                    raise distrust(f"entry {row[0]} is not what was written")
                yield Entry(*row)
            start = rows[-1][0] + 1

    def append(self, entry: Entry, filter: str) -> None:
        row = (entry.sequence, entry.kind, entry.text, entry.previous, entry.at, entry.hash, _once(entry))
        self._execute(f"INSERT INTO {self._schema}.entries ({_COLUMNS}, once) VALUES (%s, %s, %s, %s, %s, %s, %s)", *row)
        if entry.sequence == 0:
            wanted = f"INSERT INTO {self._schema}.state (id, sequence, head, filter) VALUES (1, 0, %s, %s)"
            written = self._execute(wanted, entry.hash, filter)
        else:
            written = self._execute(
                f"UPDATE {self._schema}.state SET sequence = %s, head = %s, filter = %s WHERE id = 1 AND sequence = %s AND head = %s",
                *(entry.sequence, entry.hash, filter, entry.sequence - 1, entry.previous),
            )
        if written.rowcount != 1:
            raise LedgerError("another writer came between; nothing was spent and nothing was released. Ask again.")

    def inspect(self) -> None:
        found = sorted(row[0] for row in self._rows(walls.LOOK.replace("%(schema)s", f"'{self._schema}'")))
        if not self._is_there() or found != walls.expected(self._schema):
            raise distrust("its tables are not those of a ledger")

    def _execute(self, sql: str, *values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        connection = self._connection
        if connection is None or connection.closed:
            raise LedgerError("the ledger was closed in the middle of its work; nothing was released. Open it again.")
        done = _attempt(lambda: connection.execute(sql, values))
        if isinstance(done, LedgerError):
            raise done
        return done

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._execute(sql, *values).fetchall()

    # ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> Connection:
        """The connection of this process, to a server and to tables that were looked at."""
        if self._connection is not None and self._process != os.getpid():
            _inherited.append(self._connection)  # closing it here would end the parent's session
            self._connection = None
        if self._connection is None or self._connection.closed:
            self._process = os.getpid()
            self._connection = connection = _connected(self._address)
            try:
                _require_durable(connection)
                self._recognise(connection)
            except BaseException:
                self.close()
                raise
        return self._connection

    def _recognise(self, connection: Connection) -> None:
        self._start(connection, walls.begin_reading(self._patience))
        with self._released(connection):
            there = self._is_there()
            if there:
                self.inspect()
        if not there:
            self._make(connection)

    def _is_there(self) -> bool:
        """Whether this schema holds a ledger of this version; anything else that it holds is left alone."""
        tables = self._rows("SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)", self._schema)
        if not tables:
            return False
        if ("about",) in tables:
            about = self._rows(f"SELECT application, version FROM {self._schema}.about")
            if about == [(walls.APPLICATION, walls.VERSION)]:
                return True
            if [row[0] for row in about] == [walls.APPLICATION]:
                raise LedgerError("this ledger was made by another version of discreet: use that version, for nothing is converted")
        raise LedgerError("there are tables here that are not a ledger of discreet; they were left as they are: choose another name")

    def _make(self, connection: Connection) -> None:
        """Make the tables, unless another process was quicker."""
        if not self._create:
            raise LedgerError("there is no ledger here: check its address and its name")
        self._start(connection, walls.begin_writing(self._patience))
        with self._committed(connection):
            self._execute(f"SELECT pg_advisory_xact_lock({_CREATION})")
            if not self._is_there():
                if not self._rows("SELECT 1 FROM pg_namespace WHERE nspname = %s", self._schema):
                    self._execute(f"CREATE SCHEMA {self._schema}")
                for statement in walls.statements(self._schema):
                    self._execute(statement)
            self.inspect()

    def close(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self.close()


@contextmanager
def _impatience(connection: Connection, patience: float) -> Iterator[None]:
    """Ask the server to give up if the block takes too long; its own timeouts do not count while it commits."""
    timer = threading.Timer(patience, lambda: _attempt(connection.cancel_safe))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _once(entry: Entry) -> str | None:
    """What may be written once only: a key's spend, a spend's release. A key is kept as its digest, for not every text is one here."""
    body = json.loads(entry.text)  # floats stay tagged, and a long release is not walked through
    match entry.kind:
        case "spend" if body["key"] is not None:
            return f"key {digest(body['key'])}"
        case "release":
            return f"spend {body['spend']}"
    return None


def _connected(address: str) -> Connection:
    def work() -> Connection:
        given: dict[str, Any] = _DEFAULTS | conninfo_to_dict(address) | {"client_encoding": "utf8"}
        return psycopg.connect(**given, autocommit=True, prepare_threshold=None)  # prepared statements and poolers do not go together

    connection = _attempt(work)
    if isinstance(connection, LedgerError):
        raise _unreachable()
    return connection


def _require_durable(connection: Connection) -> None:
    """Refuse a server that was not tested, that may lose a commit, or that only follows another one."""
    if connection.info.server_version // 10_000 not in TESTED:
        raise LedgerError(f"the ledger's database must be PostgreSQL {TESTED[0]} to {TESTED[-1]}: keep the ledger in one of these")
    wanted = ", ".join(f"current_setting('{name}')" for name in DURABLE)
    found = _attempt(lambda: connection.execute(f"SELECT pg_is_in_recovery(), {wanted}"))
    if isinstance(found, LedgerError):
        raise found
    standby, *settings = found.fetchall()[0]
    if standby:
        raise LedgerError("the ledger's database is a standby, which cannot be written: give the address of the primary server")
    for (name, wanted), value in zip(DURABLE.items(), settings, strict=True):
        if value != wanted:
            raise LedgerError(f"the ledger's database has {name} = {value}, with which a debit could be lost: set it to {wanted}")


def _attempt(work: Callable[[], Result]) -> Result | LedgerError:
    """What work gives, or what to say instead; given back and not raised, so that the driver's own error is not chained to it."""
    try:
        return work()
    except _FAILURES as error:
        return explained(error)


def _unreachable() -> LedgerError:
    return LedgerError(
        "the ledger's database cannot be reached: check its address, that it is running and that this role may connect to it. "
        "Nothing was spent and nothing was released."
    )


def explained(error: Exception) -> LedgerError:
    """Say what to do about an error of the driver's before a commit; its own words are not repeated."""
    code = getattr(error, "sqlstate", None) or "08000"
    match code[:2]:
        case _ if code in ("55P03", "57014", "40001", "40P01"):
            return LedgerError("the ledger is busy: others kept it for too long. Nothing was spent and nothing was released. Ask again.")
        case _ if code in ("42501", "25006"):
            return LedgerError(
                "the ledger cannot be used by this role: let it use the schema, read and insert entries, and read, insert and update the "
                "state and the row about the ledger. Nothing was spent or released."
            )
        case "08" | "57" | "28" | "3D" | "25":
            return _unreachable()
        case "53" | "58":
            return LedgerError(
                "the ledger's database is out of room or failing. Nothing was released. Make room or repair it, then ask again."
            )
        case _:
            return distrust("PostgreSQL cannot read it, or stopped a write that breaks its rules")
