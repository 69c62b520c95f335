"""The schema of a ledger in SQLite: how a file is created, recognised and configured."""

from __future__ import annotations

import sqlite3
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger.history import untrusted

APPLICATION = 0x64697363  # "disc"
VERSION = 4

# The triggers and unique indices are a second line of defence: writes through SqliteStorage never violate them.
SCHEMA = (
    """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY CHECK (sequence >= 0),
    kind TEXT NOT NULL
        CHECK (kind IN ('terms', 'grant', 'spend', 'release', 'receive', 'checkpoint') AND (kind = 'terms') = (sequence = 0)),
    body TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE CHECK (length(previous) = 64),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    at TEXT NOT NULL CHECK (length(at) = 27)
)""",
    """CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    head TEXT NOT NULL,
    filter TEXT NOT NULL
)""",
    """CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires REAL NOT NULL,
    analyst TEXT,
    charge TEXT
)""",
    "CREATE UNIQUE INDEX one_spend_a_key ON entries (json_extract(body, '$.key')) WHERE kind = 'spend'",
    "CREATE UNIQUE INDEX one_release_a_spend ON entries (json_extract(body, '$.spend')) WHERE kind = 'release'",
    "CREATE INDEX releases_of_a_question ON entries (json_extract(body, '$.question'), sequence) WHERE kind = 'release'",
    """CREATE UNIQUE INDEX one_receive_a_question_and_analyst
ON entries (json_extract(body, '$.question'), json_extract(body, '$.analyst')) WHERE kind = 'receive'""",
    "CREATE INDEX checkpoints ON entries (sequence) WHERE kind = 'checkpoint'",
    """CREATE TRIGGER entries_follow BEFORE INSERT ON entries
WHEN NEW.sequence <> (SELECT count(*) FROM state) + coalesce((SELECT sequence FROM state), 0)
BEGIN SELECT RAISE(ABORT, 'entries follow one another'); END""",
    "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER entries_last BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END",
    """CREATE TRIGGER state_follows BEFORE UPDATE ON state
WHEN NEW.sequence <> OLD.sequence + 1 OR NEW.head IS NOT (SELECT hash FROM entries WHERE sequence = NEW.sequence)
BEGIN SELECT RAISE(ABORT, 'the state follows the entries'); END""",
    "CREATE TRIGGER state_lasts BEFORE DELETE ON state BEGIN SELECT RAISE(ABORT, 'the state is never deleted'); END",
)

# The rollback journal, and not the write-ahead log: SQLite up to 3.51.2 can corrupt a WAL that is reset under several writers, and
# Python versions ship older ones. The journal is truncated and synced at each commit, which is faster than removing it and syncing the
# folder, and lasts as well through a power failure.
PRAGMAS = {
    "journal_mode": "truncate",
    "synchronous": 3,  # EXTRA
    "fullfsync": 1,
    "mmap_size": 0,
    "cell_size_check": 1,
}


def open_connection(target: str, patience: float) -> sqlite3.Connection:
    """Open a connection; the file is recognised before anything in it is changed."""
    connection = sqlite3.connect(target, timeout=patience, isolation_level=None, check_same_thread=False, uri=target != ":memory:")
    try:
        if _is_blank(connection):
            _configure(connection, target == ":memory:")
            _create(connection)
        else:
            _recognise(connection)
            _configure(connection, target == ":memory:")
        _recognise(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _pragma(connection: sqlite3.Connection, pragma: str) -> Any:
    row = connection.execute(f"PRAGMA {pragma}").fetchone()
    return None if row is None else row[0]


def _is_blank(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    return not tables and bool(_pragma(connection, "application_id") == 0)


def _recognise(connection: sqlite3.Connection) -> None:
    if _pragma(connection, "application_id") != APPLICATION:
        raise LedgerError("this file is not a ledger of discreet, and was not changed: choose another path")
    if _pragma(connection, "user_version") != VERSION:
        raise LedgerError("this ledger has another format: run `discreet migrate` on it, which keeps the old one")
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    if sorted(str(sql) for (sql,) in found) != sorted(SCHEMA):
        raise untrusted("its tables are not those of a ledger")


def _configure(connection: sqlite3.Connection, in_memory: bool) -> None:
    for name, value in PRAGMAS.items():
        found = _pragma(connection, f"{name} = {value}")
        found = _pragma(connection, name) if found is None else found
        if found not in (value, None if name == "mmap_size" else value) and not (in_memory and name == "journal_mode"):
            raise LedgerError(f"SQLite does not accept {name} = {value} here, without which a debit could be lost: use another disk")


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_blank(connection):  # checked again, now that nobody else can write
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
