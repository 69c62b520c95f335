"""Forecasts: by group size, for true values that are given, for assumed bounds and limits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import catalog, steps

from discreet.errors import Invalid
from discreet.explain.forecast import TYPICAL_LIMITS, forecast

MEAN = "SELECT COUNT(*) AS n, AVG(x) AS m FROM t"


def test_a_count_has_one_width_and_a_mean_one_for_each_size() -> None:
    found = forecast(steps(MEAN, catalog({"rows": 1})))
    assert isinstance(found["n"], float)
    means = found["m"]
    assert isinstance(means, dict)
    assert sorted(means.values(), reverse=True) == list(means.values())
    single = forecast(steps(MEAN, catalog({"rows": 1})), size=1000)["m"]
    assert single == pytest.approx(means[1000])


def test_the_worst_true_value_is_no_better() -> None:
    plan = steps(MEAN, catalog({"rows": 1}))
    found = forecast(plan, size=1000)
    worst, typical = found.worst["m"], found["m"]
    assert isinstance(worst, float)
    assert isinstance(typical, float)
    assert worst >= typical
    centred = forecast(plan, size=1000, at={"m": 50.0})["m"]
    assert isinstance(centred, float)
    assert centred <= worst
    assert "depending on the true value" in repr(found)


def test_open_limits_are_assumed_and_open_bounds_are_unknown() -> None:
    found = forecast(steps("SELECT SUM(x) AS s FROM t", catalog(bounds=None)))
    assert found["s"] is None
    assert found.assumed == {"rows": TYPICAL_LIMITS["rows"]}
    assert "assuming a discovered limit of rows = 10" in repr(found)
    narrow, wide = (
        forecast(steps("SELECT SUM(x) AS s FROM t", catalog(bounds=None)), assume={"x": (0, high), "rows": 2})["s"] for high in (10, 100)
    )
    assert wide == pytest.approx(10 * narrow, rel=0.01)  # type: ignore[operator]


def test_names_that_are_not_open() -> None:
    with pytest.raises(Invalid, match="assume must be a dict"):
        forecast(steps(MEAN, catalog({"rows": 1})), assume={"nobody": 3})
    with pytest.raises(Invalid, match="confidence must lie between"):
        forecast(steps(MEAN, catalog({"rows": 1})), confidence=1 - 1e-12)


@pytest.mark.parametrize("place", [None, 50.0, 95.0, 10**6])
def test_a_mean_is_not_forecast_outside_its_range(place: float | None) -> None:
    """In a tiny group nothing is known but the range: the half-width reaches to its further end, and no further."""
    found = forecast(steps(MEAN, catalog({"rows": 1}), epsilon=Fraction(1, 100)), size=1, at=None if place is None else {"m": place})
    low, high = 0, 100
    mean = 75 if place is None else min(max(place, low), high)
    assert found["m"] == pytest.approx(max(mean - low, high - mean), rel=0.01)
