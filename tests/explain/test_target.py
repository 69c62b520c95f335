"""The least ε for a target error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import catalog

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
