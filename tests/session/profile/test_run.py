"""What a profile finds is what is there, up to noise; and what it cannot keep is left out."""

from __future__ import annotations

import numpy as np
import polars
import pyarrow as pa
import pytest
from session.profile.people import DAY, frame, quiet, session

import discreet
from discreet.session.profile.profile import Profile


@pytest.mark.parametrize("each", [1, 3])
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_what_is_there_is_found(each: int, adjacency: str) -> None:
    with session(each, adjacency=adjacency) as db:
        found = db.profile(epsilon=100, progress=quiet)
    assert abs(found.table.rows - 3000) < 50
    assert found.table.limit == (None if each == 1 else 3)
    assert abs(found.table.units - 3000 / each) < 50
    for name, least, most, room in (("age", 20, 79, 60), ("cost", 0.1, 99.8, 160), ("day", DAY.toordinal(), DAY.toordinal() + 89, 366)):
        low, high = found[name].bounds or (0, 0)
        assert least - room <= low <= least + 1
        assert most - 1 <= high <= most + room
    assert abs((found["cost"].zeros or 0) - 600) < 50
    assert {0, 1, 2} <= set(found["kind"].keys or ())
    assert found["ok"].keys == (False, True, None)
    assert set(found["town"].keys or ()) == {"York", "Bath"}  # the third is too long to be declared
    assert not found["name"].learnt
    assert found["age"].histogram is not None
    assert abs(found["age"].histogram.missing - 300) < 50


def test_whatever_is_found_is_read_back() -> None:
    """Texts that are too long for a declaration, or hold NUL, once made a stored profile unreadable."""
    with session() as db:
        found = db.profile(epsilon=100, progress=quiet)
        assert Profile.from_text(found.to_text()).to_text() == found.to_text()
        assert db.profile(epsilon=100, progress=quiet).repeated


def test_very_many_columns_are_counted_in_several_statements() -> None:
    data = {"wide": polars.DataFrame({f"c{i}": [j % 5 for j in range(500)] for i in range(40)})}
    with session(data=data, unit=discreet.each_row(), one_row_per_unit=False) as db:
        found = db.profile(epsilon=400, progress=quiet)
    assert len(found) == 40
    assert all({0, 1, 2, 3, 4} <= set(one.keys or ()) for one in found.columns)


def test_an_empty_table_has_nothing() -> None:
    with session(data={"people": frame().head(0)}) as db:
        found = db.profile(epsilon=1, progress=quiet)
    assert (found["town"].keys, found["name"].keys) == (None, None)  # values that nobody has are never found
    assert "not learnt" in repr(found)


def test_few_large_numbers_among_zeros_are_not_left_out() -> None:
    """200 of 27,000 rows, spread over octaves of which none is clear by itself: once 0 … 1 was believed, with an interval of no width."""
    values = np.zeros(27_000, int)
    values[:200] = np.arange(200) % 30 + 1
    with session(data={"people": pa.table({"id": np.arange(len(values)), "days": values})}) as db:
        found = db.profile(epsilon=1, progress=quiet)
        answer = db.sql("SELECT AVG(days) AS m FROM people").release(epsilon=0.5)
    low, high = answer.intervals[0]["m"]
    assert not found["days"].learnt or low <= values.mean() <= high
    assert found["days"].bounds is None or found["days"].bounds[1] > 8
