"""A profile is kept in the ledger, and found by later sessions of the same version of the data."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from session.profile.people import frame, quiet, session

import discreet
from discreet.ledger.chain import digest
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure


@pytest.fixture
def file(tmp_path: Path) -> Path:
    frame().write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def opened(file: Path, **declared: Any) -> discreet.Session:
    return session(data=file, ledger=None, **declared)


def used(db: discreet.Session) -> Any:
    return db._pipeline.catalog.tables[0].profile


def test_later_sessions_use_the_newest(file: Path) -> None:
    with opened(file) as db:
        first, second = db.profile(epsilon=1, progress=quiet), db.profile(epsilon=2, progress=quiet)
        spent = db.spent
    with opened(file) as db:
        assert used(db) == second.table != first.table
        assert db.profile(epsilon=1, progress=quiet).to_text() == first.to_text()
        assert db.spent == spent


def test_other_declarations_are_kept_and_the_profile_is_still_used(file: Path) -> None:
    with opened(file) as db:
        found = db.profile(epsilon=20, progress=quiet)
    with opened(file, bounds={"age": (0, 99)}, keys={"town": ["Hull"]}) as db:
        table = db._pipeline.catalog.tables[0]
        assert table.profile == found.table
        age, town, cost = (table.column(name) for name in ("age", "town", "cost"))
        assert age is not None
        assert town is not None
        assert cost is not None
        assert (age.bounds, town.keys) == ((0, 99), ("Hull",))
        assert cost.bounds is None  # its range clips what is summed, and nothing else
        assert "excludes bias from clipping age to 0 … 99" in repr(db.sql("SELECT AVG(age) AS m FROM people").release(5))


def test_a_new_version_of_the_data_has_no_profile(file: Path) -> None:
    with opened(file) as db:
        db.profile(epsilon=1, progress=quiet)
    with opened(file, version="2") as db:
        assert used(db) is None


def test_a_question_from_before_the_profile_is_answered_as_it_was_planned(file: Path) -> None:
    with opened(file) as db:
        before = db.sql("SELECT AVG(cost) AS m FROM people")
        said = str(before.plan(1).explain())
        db.profile(epsilon=20, progress=quiet)
        assert str(before.plan(1).explain()) == said
        assert "profile" not in repr(before.release(1))
        after = db.sql("SELECT AVG(cost) AS m FROM people").release(1)
        assert "uses the profile of people" in repr(after)
        assert not after.repeated


# ── profiles that cannot be read ─────────────────────────────────────────────────────────────────────────────────────


def put(file: Path, number: int, text: str) -> None:
    """Store a text as a profile, as another version of discreet would: paid for, and hash-chained."""
    terms = Terms(1000, "0.0001", "each id", "add/remove")
    asked = {"is": "Profile", "table": "people", "unit": "each id", "number": number}
    ledger = open_ledger(f"{file}.ledger", terms)
    ledger.store(ledger.spend(Pure(1), question=digest(["profile", asked, "1"])), {"release": text})
    ledger.close()


@pytest.mark.parametrize("text", ["", "not JSON", '{"format": 1, "kind": "profile"}', '{"format": 2, "kind": "profile", "answers": {}}'])
def test_a_profile_that_cannot_be_read_counts_as_absent_and_can_be_bought_again(file: Path, text: str) -> None:
    opened(file).close()
    put(file, 0, text)
    with pytest.warns(
        UserWarning, match=r"newest profile of people .* is not used: .* buy another with db\.profile\('people', epsilon=…\)"
    ) as told:
        db = opened(file)
    assert [Path(one.filename).name for one in told] == ["people.py"]  # where connect was called
    with db:
        assert used(db) is None
        before = db.spent
        bought = db.profile(epsilon=1, progress=quiet)
        assert db.spent != before
        assert used(db) == bought.table
    with opened(file) as db:  # no warning: there is a newer one
        assert used(db) == bought.table
        assert db.profile(epsilon=1, progress=quiet).to_text() == bought.to_text()


def test_the_profile_before_one_that_cannot_be_read_is_used(file: Path) -> None:
    with opened(file) as db:
        first = db.profile(epsilon=1, progress=quiet)
    put(file, 1, "{}")
    with pytest.warns(UserWarning, match="is not used, but the one before it is"):
        db = opened(file)
    with db:
        assert used(db) == first.table


def test_a_profile_that_was_changed_in_the_ledger_is_still_reported(file: Path) -> None:
    with opened(file) as db:
        db.profile(epsilon=1, progress=quiet)
    with closing(sqlite3.connect(f"{file}.ledger")) as hand, hand:
        for (name,) in hand.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            hand.execute(f"DROP TRIGGER {name}")
        hand.execute("UPDATE entries SET body = replace(body, 'people', 'peeple') WHERE kind = 'release'")
    with pytest.raises(discreet.errors.LedgerError):
        opened(file)
