"""A profile as a release: columns by name, rows, and the draft of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from session.profile.people import quiet, session

from discreet.tables.policy import read_policy
from discreet.tables.profile import TableProfile


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
    assert "each weighs at most as much as 3 rows" in "\n".join(found.accuracy_notes)


@pytest.mark.parametrize("each", [1, 3])
def test_rows_that_found_keys_leave_out_are_counted_where_units_are_rows(each: int) -> None:
    towns = pa.table({"id": [i // each for i in range(3000)], "town": [["York", "Bath"][i % 2] for i in range(3000)]})
    with session(each, {"people": towns}) as db:
        db.profile("people", epsilon=100, progress=quiet)
        notes = str(db.ask("SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon=50))
    assert "values of town that the profile did not find are left out" in notes
    assert ("no more than about" in notes) == (each == 1)  # else the profile has counted units


@pytest.mark.parametrize("sign", [1, -1])
def test_large_numbers_do_not_lock_the_ledger(sign: int, tmp_path: Path) -> None:
    """Milliseconds since 1970, and numbers beyond the coarse grid: what was paid for can be read, and the ledger opened again."""
    rows = {
        "id": range(4000),
        "at": [sign * (1.7e12 + 7e6 * i) for i in range(4000)],
        "far": [sign * (1e30 + 1e27 * i) for i in range(4000)],
    }
    given = {"data": {"people": pa.table(rows)}, "ledger": str(tmp_path / "a.ledger")}
    with session(**given) as db:
        found = db.profile(epsilon=2, progress=quiet)
        assert found["at"].learnt
        assert not found["far"].learnt
        assert repr(found)
    with session(**given) as db:
        assert db.profile(epsilon=2, progress=quiet).repeated
        mean = db.sql("SELECT AVG(at) AS m FROM people").release(epsilon=1)
    low, high = mean.intervals[0]["m"]
    assert low <= sign * (1.7e12 + 7e6 * 3999 / 2) <= high


@pytest.mark.parametrize(
    ("column", "part", "forged"),
    [
        ("age", "declared", ["0", "1e30000000"]),
        ("day", "histogram", {"edges": ["0", "1000000000000000"], "counts": [1.0]}),
        ("day", "histogram", {"edges": ["-5", "-3"], "counts": [1.0]}),
        ("day", "histogram", {"edges": ["1/3", "2/3"], "counts": [1.0]}),
    ],
)
def test_numbers_that_cannot_be_are_refused(column: str, part: str, forged: Any) -> None:
    """Each of these once took all memory, all time, or failed later."""
    with session() as db:
        said = db.profile(epsilon=100, progress=quiet).table.to_json()
    place = next(one for one in said["columns"] if one["name"] == column)
    place[part] = {**place[part], **forged} if isinstance(forged, dict) else forged
    with pytest.raises(ValueError, match=r".*"):
        TableProfile.from_json(said, "", "")
