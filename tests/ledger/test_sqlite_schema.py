"""The schema of a ledger file: created, recognised, and configured to be durable."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from ledger.tampering import TERMS, spend_some

from discreet.errors import LedgerError
from discreet.ledger import sqlite_schema
from discreet.ledger.ledger import open_ledger
from discreet.ledger.sqlite import SqliteStorage
from discreet.loss.leaves import Pure


def test_sqlite_is_told_to_be_durable(place: Path) -> None:
    ledger = open_ledger(place / "a", TERMS)
    storage = ledger._storage
    assert isinstance(storage, SqliteStorage)
    assert storage._connection is not None
    for name, value in sqlite_schema.PRAGMAS.items():
        assert sqlite_schema._pragma(storage._connection, name) in (value, None if name == "mmap_size" else value)
    assert sqlite_schema._pragma(storage._connection, "application_id") == sqlite_schema.APPLICATION


@pytest.mark.parametrize("setting", [("journal_mode", "truncated"), ("synchronous", 7), ("cell_size_check", 5)])
def test_a_setting_that_does_not_take_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, object]) -> None:
    monkeypatch.setitem(sqlite_schema.PRAGMAS, *setting)
    with pytest.raises(LedgerError, match=f"does not accept {setting[0]}"):
        open_ledger(place / "a", TERMS)


def test_a_write_ahead_log_is_put_back_to_a_rollback_journal(place: Path) -> None:
    spend_some(place / "a")
    connection = sqlite3.connect(place / "a")
    assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    connection.close()
    ledger = open_ledger(place / "a", TERMS)
    ledger.spend(Pure(1), question="q")
    assert sorted(path.name for path in place.iterdir()) == ["a", "a-journal", "a-turns"]
    assert ledger.verify().entries == 10


def test_the_statements_are_those_of_format_four() -> None:
    """Existing files are compared with these, letter by letter."""
    text = "\n".join(sqlite_schema.SCHEMA)
    assert (sqlite_schema.VERSION, sha256(text.encode()).hexdigest()) == (
        4,
        "c401643b54b15ecb35267cd978774ab56d77d171e54eeb82096927dde864ce8a",
    )


def test_other_files_are_recognised_before_they_are_changed(place: Path) -> None:
    connection = sqlite3.connect(place / "other")
    connection.execute("CREATE TABLE visits (id INTEGER)")
    connection.commit()
    connection.close()
    before = (place / "other").read_bytes()
    with pytest.raises(LedgerError, match="not a ledger of discreet, and was not changed: choose another path"):
        sqlite_schema.open_connection(f"file:{place / 'other'}?mode=rw", 1)
    assert (place / "other").read_bytes() == before
