"""The places that keep ledgers, for tests that ask the same of each: by name, with what somebody with a free hand could do there."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import psycopg

from discreet.ledger import postgres_schema as ddl
from discreet.ledger import sqlite_schema
from discreet.ledger.chain import Entry
from discreet.ledger.postgres import PostgresStorage, _marks
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.storage import Storage

_numbers = itertools.count()


class Hand:
    """A connection that may do anything; values are marked by ? whatever the database."""

    def __init__(self, connection: Any, mark: str) -> None:
        self.connection, self.mark = connection, mark

    def execute(self, sql: str, values: Sequence[object] = ()) -> Any:
        return self.connection.execute(sql.replace("?", self.mark), values)


Tamper = Callable[[Hand], object]


class Shelf(ABC):
    """Ledgers by name, and a folder for the rest."""

    failures: tuple[type[Exception], ...]
    special: ClassVar[dict[str, Tamper]]  # edits that only this place knows

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def at(self, name: str) -> str:
        """Where the ledger of this name lies."""

    @abstractmethod
    def storage(self, name: str, patience: float = 30.0) -> Storage: ...

    @abstractmethod
    def hand(self, name: str) -> Any:
        """A block with a Hand on the ledger's tables."""

    @abstractmethod
    def behind_its_back(self, name: str) -> Any:
        """The same with the triggers out of the way; they are put back."""

    @abstractmethod
    def copy(self, old: str, new: str) -> None:
        """Make one ledger what another one is, as a backup would."""

    @abstractmethod
    def insert(self, hand: Hand, entry: Entry) -> None: ...


class Files(Shelf):
    """SQLite."""

    failures = (sqlite3.Error,)
    special: ClassVar = {
        "a blob for a text": lambda c: c.execute("UPDATE entries SET body = CAST(body AS BLOB) WHERE sequence = 4"),
        "text that is not text": lambda c: c.execute("UPDATE entries SET at = CAST(X'ff' || at AS TEXT) WHERE sequence = 4"),
        "the state moved": lambda c: c.execute("UPDATE state SET id = 2, head = ''"),
        "a wall taken down": lambda c: c.execute("DROP INDEX one_spend_a_key"),
        "a table put in": lambda c: c.execute("CREATE TABLE more (a)"),
        "another application": lambda c: c.execute("PRAGMA application_id = 7"),
        "another version": lambda c: c.execute("PRAGMA user_version = 1"),
    }

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def storage(self, name: str, patience: float = 30.0) -> SqliteStorage:
        return SqliteStorage(self.at(name), create=True, patience=patience)

    @contextmanager
    def hand(self, name: str) -> Iterator[Hand]:
        connection = sqlite3.connect(self.at(name), isolation_level=None)
        try:
            yield Hand(connection, "?")
        finally:
            connection.close()

    @contextmanager
    def behind_its_back(self, name: str) -> Iterator[Hand]:
        triggers = [sql for sql in sqlite_schema.SCHEMA if sql.startswith("CREATE TRIGGER")]
        with self.hand(name) as hand:
            for sql in triggers:
                hand.execute(f"DROP TRIGGER {sql.split()[2]}")
            hand.execute("PRAGMA ignore_check_constraints = ON")
            try:
                yield hand
            finally:
                for sql in triggers:
                    hand.execute(sql)

    def copy(self, old: str, new: str) -> None:
        shutil.copy(self.at(old), self.at(new))

    def insert(self, hand: Hand, entry: Entry) -> None:
        row = (entry.sequence, entry.kind, entry.text, entry.previous, entry.at, entry.hash)
        hand.execute("INSERT INTO entries (sequence, kind, body, previous, at, hash) VALUES (?, ?, ?, ?, ?, ?)", row)


class Schemas(Shelf):
    """PostgreSQL; each shelf has names of its own in one database."""

    failures = (psycopg.Error,)
    special: ClassVar = {
        "a wall taken down": lambda c: c.execute("ALTER TABLE entries DROP CONSTRAINT entries_once_key"),
        "a check taken down": lambda c: c.execute("ALTER TABLE state DROP CONSTRAINT state_id"),
        "a trigger taken down": lambda c: c.execute("DROP TRIGGER entries_follow ON entries"),
        "a trigger made harmless": lambda c: c.execute(
            "CREATE OR REPLACE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
        ),
        "a table that a crash empties": lambda c: c.execute("ALTER TABLE entries SET UNLOGGED"),
        "rows hidden": lambda c: c.execute("ALTER TABLE entries ENABLE ROW LEVEL SECURITY"),
        "a rule put in": lambda c: c.execute("CREATE RULE quiet AS ON INSERT TO entries DO INSTEAD NOTHING"),
        "a column of another type": lambda c: c.execute("ALTER TABLE entries ALTER COLUMN body TYPE bytea USING convert_to(body, 'UTF8')"),
        "a table put in": lambda c: c.execute("CREATE TABLE more (a integer)"),
        "another application": lambda c: c.execute("UPDATE about SET application = 'other'"),
        "another version": lambda c: c.execute("UPDATE about SET version = 1"),
        "nothing about it": lambda c: c.execute("DELETE FROM about"),
    }

    def __init__(self, folder: Path, uri: str) -> None:
        super().__init__(folder)
        self.uri, self.prefix = uri, f"t{next(_numbers)}"

    def at(self, name: str) -> str:
        return f"{self.uri}?ledger={self.prefix}_{name}"

    def schema(self, name: str) -> str:
        return f"discreet_{self.prefix}_{name}"

    def storage(self, name: str, patience: float = 30.0) -> PostgresStorage:
        return PostgresStorage(self.at(name), create=True, patience=patience)

    @contextmanager
    def hand(self, name: str) -> Iterator[Hand]:
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f"SET search_path = {self.schema(name)}")  # type: ignore[arg-type]
            yield Hand(connection, "%s")

    @contextmanager
    def behind_its_back(self, name: str) -> Iterator[Hand]:
        with self.hand(name) as hand:
            for table in ddl._COLUMNS:
                hand.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            try:
                yield hand
            finally:
                for table in ddl._COLUMNS:
                    hand.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def copy(self, old: str, new: str) -> None:
        storage = self.storage(new)
        with storage.reading():
            pass  # the tables are there
        storage.close()
        with self.behind_its_back(new) as hand, hand.connection.transaction():
            for table in ("entries", "state"):
                hand.execute(f"DELETE FROM {table}")
                hand.execute(f"INSERT INTO {table} SELECT * FROM {self.schema(old)}.{table}")

    def insert(self, hand: Hand, entry: Entry) -> None:
        row = (entry.sequence, entry.kind, entry.text, entry.previous, entry.at, entry.hash, *_marks(entry))
        hand.execute("INSERT INTO entries (sequence, kind, body, previous, at, hash, once, question) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
