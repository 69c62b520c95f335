"""Quantiles with guards: the stated confidence, exactly, on every small table; the price; the value lies between the ends."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems import laws

from discreet.errors import Invalid
from discreet.loss.notions import Pure
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.mechanisms.value_grid import Places, RelativeGrid, ValueGrid

POINTS = 6
GRID = ValueGrid.of(0, POINTS - 1, 1, whole=True)


def usual_quantiles(points: tuple[int, ...], q: Fraction) -> tuple[float, float]:
    """The least and the greatest number that is a q-quantile by the definition with ranks, or by linear interpolation."""
    ordered, n = sorted(points), len(points)
    by_rank = [x for x in ordered if sum(y < x for y in ordered) <= q * n <= sum(y <= x for y in ordered)]
    between = float(np.quantile(ordered, float(q)))
    return min(*by_rank, between), max(*by_rank, between)


def missed(mechanism: QuantileInterval, points: tuple[int, ...], reach: int) -> float:
    """The probability that an end is on the wrong side of the quantile, with guards at this distance."""
    least, greatest = usual_quantiles(points, mechanism.q)
    chances = 0.0
    for sign, wrong in ((-1, lambda z: z > least), (1, lambda z: z < greatest)):
        scores = laws.quantile_scores(points, mechanism.q, 0, POINTS, sign * reach)
        law = laws.softmax(scores, mechanism.guards[0].rate)
        chances += sum(float(p) for z, p in enumerate(law) if wrong(z))
    return chances


def tables() -> list[tuple[int, ...]]:
    """Multisets of up to three on six points, each record once and ten times."""
    small = [d for n in (1, 2, 3) for d in itertools.combinations_with_replacement(range(POINTS), n)]
    return [d * times for d in small for times in (1, 10)]


@pytest.mark.parametrize("q", ["1/2", "1/10", "3/4"])
def test_the_confidence_holds_for_all_small_tables(q: str) -> None:
    mechanism = QuantileInterval(epsilon=6, q=Fraction(q), grid=GRID, confidence=Fraction(9, 10))
    assert max(missed(mechanism, points, mechanism.reach) for points in tables()) <= 0.1 + 1e-12


def test_guards_without_distance_would_be_seen() -> None:
    mechanism = QuantileInterval(epsilon=6, q=Fraction(1, 2), grid=GRID, confidence=Fraction(9, 10))
    assert max(missed(mechanism, points, 0) for points in tables()) > 0.2
    assert max(missed(mechanism, points, mechanism.reach // 4) for points in tables()) > 0.1


def test_the_parts_cost_epsilon_in_all() -> None:
    mechanism = QuantileInterval(epsilon=3, q=Fraction(1, 3), grid=GRID, weight=7)
    assert sum(part.epsilon for part in (mechanism.middle, *mechanism.guards)) == 3
    assert mechanism.loss.within(Pure(3))
    assert not mechanism.loss.within(Pure(Fraction(299, 100)))
    low, high = mechanism.guards
    assert low.offset == -high.offset == -mechanism.reach < 0
    assert {part.weight for part in (mechanism.middle, low, high)} == {7}


def test_the_distance_grows_with_the_confidence_and_with_the_weight() -> None:
    made = [QuantileInterval(epsilon=1, q=Fraction(1, 2), grid=GRID, confidence=c) for c in (0.5, 0.95, 0.999)]
    assert made[0].reach < made[1].reach < made[2].reach
    heavy = QuantileInterval(epsilon=1, q=Fraction(1, 2), grid=GRID, weight=1024, one=1024)
    assert heavy.reach == pytest.approx(1024 * made[1].reach, rel=0.1)


@pytest.mark.parametrize("grid", [ValueGrid.of(0, 100, "1/8"), RelativeGrid(Fraction(1, 2**20), 64, -3000, 3000)], ids=str)
def test_the_value_lies_between_the_ends_and_the_ends_hold_the_median(grid: Any) -> None:
    """300 releases with fixed coins: at confidence 0.9, fewer than 30 misses; most are well within."""
    values = np.linspace(10.03, 90.3, 3001)
    mechanism = QuantileInterval(epsilon=1, q=Fraction(1, 2), grid=grid, confidence=Fraction(9, 10))
    found = [mechanism.sample(values, Shake(i)) for i in range(300)]
    assert all(one.low <= one.value <= one.high for one in found)
    assert sum(not one.low <= 50.165 <= one.high for one in found) <= 30
    assert np.median([one.high - one.low for one in found]) < 6


def test_few_records_leave_the_whole_grid() -> None:
    """Where guards cannot be placed the interval reaches to the ends of the grid, most of the time."""
    mechanism = QuantileInterval(epsilon=1, q=Fraction(1, 2), grid=GRID)
    for values in ([], [3]):
        found = [mechanism.sample(Places(np.array(values, np.int64), np.ones(len(values), np.int64)), Shake(i)) for i in range(100)]
        assert sum((one.low, one.high) == (0, POINTS - 1) for one in found) > 90


@pytest.mark.parametrize("wrong", [{"grid": 3}, {"confidence": 1}, {"weight": 0}, {"one": 0}, {"q": 0}, {"epsilon": 0}])
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        QuantileInterval(**({"epsilon": 1, "q": Fraction(1, 2), "grid": GRID} | wrong))
