"""The database: durable, one writer at a time, bounded in connections, and careful with texts."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from discreet.errors import Invalid, LedgerError
from discreet.server.store.database import Database, SqliteDatabase, open_database
from discreet.server.store.schema import MIGRATIONS

ADD = "INSERT INTO accounts (name, role, created) VALUES (?, 'analyst', 0)"


def names(database: Database) -> list[str]:
    return [row[0] for row in database.rows("SELECT name FROM accounts ORDER BY name")]


def test_what_was_written_is_there_after_opening_again(where: str) -> None:
    first = open_database(where)
    with first.writing() as run:
        run(ADD, "ann")
    first.close()
    again = open_database(where)
    assert names(again) == ["ann"]
    assert again.rows("SELECT count(*) FROM migrations") == [(len(MIGRATIONS),)]
    again.close()


def test_a_block_that_fails_writes_nothing(database: Database) -> None:
    def fail() -> None:
        with database.writing() as run:
            run(ADD, "ann")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(database) == []
    with database.writing() as run:
        run(ADD, "bob")
    assert names(database) == ["bob"]


def test_one_writer_at_a_time(database: Database) -> None:
    with database.writing() as run:
        run(ADD, "0")

    def increase(_: int) -> None:
        with database.writing() as run:
            [(name,)] = run("SELECT name FROM accounts")
            run("UPDATE accounts SET name = ?", str(int(name) + 1))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(increase, range(40)))
    assert names(database) == ["40"]


def test_connections_do_not_grow_with_the_threads_that_ever_were(database: Database) -> None:
    for _ in range(20):
        thread = threading.Thread(target=lambda: names(database))
        thread.start()
        thread.join()
    assert len(database._idle) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_texts_that_no_database_stores_are_refused(database: Database, text: str) -> None:
    with pytest.raises(Invalid, match="no database stores"):
        database.rows("SELECT 1 FROM accounts WHERE name = ?", text)


@pytest.mark.parametrize("text", ["'; DROP TABLE accounts; --", "%s", "?", "100%", "${x}"])
def test_values_are_never_sql(database: Database, text: str) -> None:
    with database.writing() as run:
        run(ADD, text)
    assert names(database) == [text]
    assert database.rows("SELECT name FROM accounts WHERE name = ?", text) == [(text,)]


def test_a_newer_database_is_refused(where: str) -> None:
    opened = open_database(where)
    with opened.writing() as run:
        run("INSERT INTO migrations (number) VALUES (?)", 1000)
    opened.close()
    with pytest.raises(Invalid, match="newer version"):
        open_database(where)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_its_owner_can_read_the_file(place: Path) -> None:
    open_database(place / "server.db").close()
    assert stat.S_IMODE(os.stat(place / "server.db").st_mode) == 0o600


def test_places_where_no_database_can_be(place: Path) -> None:
    for path, says in ((":memory:", "is a file"), (str(place / "no" / "server.db"), "folder")):
        with pytest.raises(Invalid, match=says):
            open_database(path)
    (place / "picture.png").write_bytes(b"no database at all, whatever it may be" * 100)
    with pytest.raises(Invalid, match="not a database"):
        open_database(place / "picture.png")


def test_a_copy_is_whole(place: Path) -> None:
    database = SqliteDatabase(str(place / "server.db"))
    with database.writing() as run:
        run(ADD, "ann")
    database.copy_to(str(place / "copy.db"))
    database.close()
    copy = open_database(place / "copy.db")
    assert names(copy) == ["ann"]
    copy.close()


def test_a_lock_that_lasts_is_an_error_with_advice(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.server.store.database.PATIENCE", 0.05)
    database = open_database(place / "server.db")
    other = sqlite3.connect(place / "server.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="busy"), database.writing() as run:
        run(ADD, "ann")
    other.execute("ROLLBACK")
    other.close()
    with database.writing() as run:
        run(ADD, "ann")
    assert names(database) == ["ann"]
    database.close()


# ── PostgreSQL ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_connection_that_was_cut_is_replaced_postgres(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("DROP SCHEMA IF EXISTS discreet_server CASCADE")
        database = open_database(postgres)
        assert names(database) == []
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    assert names(database) == []
    with database.writing() as run:
        run(ADD, "ann")
    database.close()


def test_an_address_without_a_server_is_an_error_without_the_password() -> None:
    with pytest.raises(LedgerError) as error:
        open_database("postgresql://ann:very-secret@127.0.0.1:1/none")
    assert "very-secret" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__
