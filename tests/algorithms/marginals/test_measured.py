"""Noisy marginals: totals, averages of the same clique, and first guesses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from algorithms.marginals.replay import table, taped

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement, independent, measure, merge_measurements, total_of
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending

DOMAIN = Domain.of({"a": 2, "b": 3})


def test_the_total_is_weighted_by_variance() -> None:
    one, two = NoisyMeasurement((0,), np.array([10.0, 20.0]), 1.0), NoisyMeasurement((1,), np.array([1.0, 2.0, 3.0]), 2.0)
    assert total_of([one]) == 30
    assert total_of([one, two]) == pytest.approx((30 / 2 + 6 / 12) / (1 / 2 + 1 / 12))
    assert total_of([NoisyMeasurement((0,), np.array([-5.0, -5.0]), 1.0)]) == 1
    assert total_of([NoisyMeasurement((0,), np.array([0.0, 0.0]), 1e6)]) == 1


def test_the_weighted_total_is_the_least_noisy() -> None:
    random = np.random.default_rng(0)
    runs = [
        (
            total_of(
                [NoisyMeasurement((0,), 500 + random.normal(0, 3, 2), 3.0), NoisyMeasurement((1,), 1000 / 3 + random.normal(0, 1, 3), 1.0)]
            )
        )
        for _ in range(4000)
    ]
    assert np.mean(runs) == pytest.approx(1000, abs=0.2)
    assert np.var(runs) == pytest.approx(1 / (1 / 18 + 1 / 3), rel=0.12)


def test_the_same_clique_is_averaged() -> None:
    a, b, c = (NoisyMeasurement((0,), np.array([v, 0.0]), d) for v, d in ((10.0, 1.0), (20.0, 2.0), (5.0, 0.5)))
    found = merge_measurements([a, b, NoisyMeasurement((1,), np.zeros(3), 1.0), c])
    assert [one.clique for one in found] == [(0,), (1,)]
    assert found[0].values[0] == pytest.approx((10 + 20 / 4 + 5 * 4) / (1 + 1 / 4 + 4))
    assert found[0].deviation == pytest.approx((1 + 1 / 4 + 4) ** -0.5)
    assert merge_measurements([c, b, a])[0].values[0] == pytest.approx(found[0].values[0])


def test_nothing_is_impossible() -> None:
    for values in (np.array([-5.0, 100.0]), np.zeros(2), np.array([-1e9, -1e9])):
        found = independent(DOMAIN, [NoisyMeasurement((0,), values, 2.0)], 100)
        assert found[0].sum() == pytest.approx(1)
        assert (found[0] > 0).all()
        np.testing.assert_allclose(found[1], 1 / 3)


def test_measuring_is_in_records_and_paid() -> None:
    rows = [(0, 0)] * 300 + [(1, 2)] * 100
    spending = Spending(MeasurementBudget.zcdp(1))
    with taped() as steps:
        found = measure(table(DOMAIN, rows).marginals([(0,)]), (0,), spending, Fraction(1, 2), table(DOMAIN, rows))
    assert found.deviation == pytest.approx(1)
    np.testing.assert_allclose(found.values, [300, 100], atol=10)
    assert spending.left == Fraction(1, 2)
    assert spending.losses[0][0] == "marginal of a"
    assert len(steps) == 1
