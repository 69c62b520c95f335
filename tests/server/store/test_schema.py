"""The tables: migrations are applied once, and secrets have no column."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.server.store import schema
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import open_database
from discreet.server.store.instances import Instance
from discreet.server.store.schema import MIGRATIONS


def test_each_migration_is_applied_once(place: Path) -> None:
    for _ in range(3):
        opened = open_database(place / "server.db")
        assert opened.rows("SELECT number FROM migrations") == [(number,) for number in range(1, len(MIGRATIONS) + 1)]
        opened.close()


def test_secrets_have_no_column() -> None:
    text = " ".join(statement for statements in MIGRATIONS for statement in statements)
    assert not any(word in text.split() for word in ("secret", "cookie", "token", "form"))


def test_what_the_first_version_wrote_is_carried_over(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", MIGRATIONS[:1])
    first = open_database(where)
    Accounts(first).add("ann", "analyst", None)
    with first.writing() as run:
        run(
            "INSERT INTO jobs (id, account, dataset, title, request, body, state, created) "
            "VALUES ('one', 'ann', 'clinic', 'a title', '{}', '', 'running', 1)"
        )
    first.close()
    monkeypatch.undo()
    newest = open_database(where)
    assert [account.name for account in Accounts(newest).all()] == ["ann"]
    assert [job.id for job in Instance(newest).take_over()] == ["one"]
    newest.close()
