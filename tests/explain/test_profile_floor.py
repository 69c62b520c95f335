"""What a profile does not know remains in the error, whatever is paid: forecasts and refused targets say so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from plan.questions import catalog, steps

import discreet
from discreet.errors import Invalid
from discreet.explain.profile_floor import ProfileFloor, profile_floors


def test_without_a_profile_there_is_no_floor() -> None:
    plan = steps("SELECT AVG(x) AS m FROM t", catalog({"rows": 1}))
    assert profile_floors(plan, {one.total: np.ones(1) for one in plan.totals}, 0.95) == {}


def test_a_floor_is_mentioned_if_it_is_most_of_the_error() -> None:
    floor = ProfileFloor(6.0, "t", "…")
    assert floor.dominates(10)
    assert not floor.dominates(12)


def test_a_target_that_the_profile_keeps_out_of_reach() -> None:
    """However large ε is, what the profile does not know remains: the message says so, and what would help."""
    rows = pa.table({"id": range(4000), "x": [2.0 ** (i % 97 / 10) for i in range(4000)]})
    with discreet.connect({"t": rows}, unit="id", epsilon=10**5, delta=1e-3, one_row_per_unit=True, ledger=":memory:") as db:
        db.profile(epsilon="0.5", progress=lambda what, share: None)
        mean = db.sql("SELECT AVG(x) AS m FROM t")
        least = mean.plan(5000).error()["m"]
        with pytest.raises(Invalid, match=r"no ε reaches ± 0\.01 for m: ± [0-9.]+ come from the profile of t, not from noise\.") as told:
            mean.price({"m": 0.01})
        assert 'Declare bounds={"x": (low, high)}, buy a better profile' in str(told.value)
        assert mean.price({"m": 2 * least}) < 100  # what is within reach has a price
        assert mean.price({"m": 10**6}) == Fraction(1, 10**5)  # the least that a question may cost
        said = f", of which ± {least:,.4g} come from the profile of t, not from noise"
        assert said in repr(mean.plan(5000).error())
        assert said in str(mean.plan(5000).explain())
        assert "come from the profile" not in repr(db.sql("SELECT COUNT(*) AS n FROM t").plan(1).error())  # nothing of it is needed here
