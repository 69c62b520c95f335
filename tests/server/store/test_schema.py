"""The tables: migrations are applied once, and secrets have no column."""

from __future__ import annotations

from pathlib import Path

from discreet.server.store.database import open_database
from discreet.server.store.schema import MIGRATIONS


def test_each_migration_is_applied_once(place: Path) -> None:
    for _ in range(3):
        opened = open_database(place / "server.db")
        assert opened.rows("SELECT number FROM migrations") == [(number,) for number in range(1, len(MIGRATIONS) + 1)]
        opened.close()


def test_secrets_have_no_column() -> None:
    text = " ".join(statement for statements in MIGRATIONS for statement in statements)
    assert not any(word in text.split() for word in ("secret", "cookie", "token", "form"))
