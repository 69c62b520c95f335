"""The least ε for a target error."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from plan.questions import catalog

import discreet
from discreet.errors import Invalid
from discreet.explain.forecast import Forecast
from discreet.explain.target import least_epsilon, target_errors
from discreet.query.sql.read import read

QUESTION = read("SELECT COUNT(*) AS n, AVG(x) AS m FROM t", catalog())


def at(epsilon: Fraction) -> Forecast:
    width = 3 / float(epsilon)
    return Forecast({"n": width, "m": {100: 1.0, 1000: 0.1}}, 0.95, worst={"n": 2 * width, "m": None})


def test_the_least_epsilon_of_three_digits() -> None:
    assert least_epsilon(at, {"n": 3.0}, surely=False) == 1
    assert least_epsilon(at, {"n": 3.0}, surely=True) == 2
    assert least_epsilon(at, {"n": 7.0}, surely=False) == Fraction(429, 1000)


def test_targets_that_cannot_be_met_or_read() -> None:
    with pytest.raises(Invalid, match="no ε reaches this target"):
        least_epsilon(at, {"n": 1e-9}, surely=False)
    with pytest.raises(Invalid, match="give size=1000"):
        least_epsilon(at, {"m": 1.0}, surely=False)
    with pytest.raises(Invalid, match="declare its bounds"):
        least_epsilon(at, {"m": 1.0}, surely=True)
    with pytest.raises(Invalid, match="there are n, m"):
        target_errors({"q": 1}, QUESTION)
    assert target_errors({"n": "2.5"}, QUESTION) == {"n": 2.5}


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
