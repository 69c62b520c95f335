"""A profile as a release: columns by name, rows, and the draft of a policy."""

from __future__ import annotations

import pytest
from session.profile.people import quiet, session

from discreet.tables.policy import read_policy


def test_a_draft_has_what_was_found() -> None:
    for each in (1, 3):
        with session(each) as db:
            found = db.profile(epsilon=100, progress=quiet)
            declared = read_policy(found.to_toml()).catalog({"people": db._engine.schema("people")}).table("people")
        assert declared is not None
        assert (declared.one_row, declared.contributions.rows) == (each == 1, found.table.limit)
        for one in found.columns:
            column = declared.column(one.name)
            assert column is not None
            assert column.bounds == one.bounds
            assert set(column.keys or ()) == set(one.keys or ()) - {None}
        assert "# bought: ε = 100" in found.to_toml()


def test_columns_are_found_by_name() -> None:
    with session() as db:
        found = db.profile(epsilon=100, progress=quiet)
    assert found["age"] is found.columns[0]
    assert len(found) == len(found.rows) == 7
    with pytest.raises(KeyError):
        found["nothing"]
    low, high = found.intervals[0]["missing %"]
    assert low <= found.rows[0]["missing %"] <= high


def test_notes_say_how_many_there_are() -> None:
    with session(3) as db:
        found = db.profile(epsilon=100, progress=quiet)
    assert "at most 3 rows of each count in full" in "\n".join(found.accuracy_notes)
