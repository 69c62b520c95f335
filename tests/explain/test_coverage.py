"""The line below an answer: what its interval includes, and what it does not."""

from __future__ import annotations

import re

import pytest
from session.profile.people import quiet, session

MEAN = "SELECT AVG(cost) AS m FROM people"


@pytest.mark.parametrize("each", [1, 3])
def test_with_a_profile_clipping_is_included_and_assumptions_are_said(each: int) -> None:
    with session(each) as db:
        db.profile(epsilon=100, progress=quiet)
        said = repr(db.sql(MEAN).release(10))
    assert "for the noise and for the correction of clipping" in said
    assert "it assumes that fewer than" in said
    assert "rows have cost outside" in said
    assert bool(re.search(r"no unit has more than [\d,]+ rows", said)) == (each == 3)
    assert "excludes" not in said


def test_without_a_profile_both_are_excluded() -> None:
    with session(3, bounds={"cost": (0, 50)}, contributions={"rows": 2}) as db:
        said = repr(db.sql(MEAN).release(10))
        assert "it excludes bias from clipping cost to 0 … 50 and from limiting each unit's weight to that of 2 rows" in said
        assert "in each of 2 groups" not in said


def test_a_filter_is_not_known_to_the_profile() -> None:
    with session() as db:
        db.profile(epsilon=100, progress=quiet)
        assert "it excludes bias from clipping cost" in repr(db.sql(MEAN + " WHERE kind = 1").release(10))
