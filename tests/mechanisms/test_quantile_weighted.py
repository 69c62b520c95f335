"""Quantiles of weighted places, as an engine counts them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scripted import Seeded

from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.value_grid import Places

POINTS = 5


def law(mechanism: Quantile, weights: tuple[int, ...]) -> list[float]:
    """The output law by the definition: P(z) ∝ exp(−rate·distance), from the target's rank to the ranks of z."""
    target, rate = float(mechanism.q) * sum(weights), float(mechanism.rate)
    scores = [-max(sum(weights[:z]) - target, target - sum(weights[: z + 1]), 0) for z in range(POINTS)]
    masses = [math.exp(rate * score) for score in scores]
    return [mass / sum(masses) for mass in masses]


def spread(a: list[float], b: list[float]) -> float:
    """The range of the log-ratio."""
    ratios = [math.log(p / r) for p, r in zip(a, b, strict=True)]
    return max(ratios) - min(ratios)


@pytest.mark.parametrize("q", ["1/2", "1/10", "19/20"])
@pytest.mark.parametrize("weight", [1, 3])
def test_one_unit_in_several_groups_costs_epsilon_in_all(q: str, weight: int) -> None:
    """All tables of two groups, all ways for one unit to spread its weight over them: the ranges add up to ε at most, and reach it."""
    mechanism = Quantile(epsilon=1, q=Fraction(q), lower=0, upper=POINTS - 1, step=1, weight=weight)
    worst = 0.0
    for base in itertools.product((0, 2), repeat=POINTS):
        for first in range(weight + 1):
            for z, y in itertools.product(range(POINTS), repeat=2):
                one = tuple(w + first * (i == z) for i, w in enumerate(base))
                two = tuple(w + (weight - first) * (i == y) for i, w in enumerate(base))
                before = law(mechanism, base)
                worst = max(worst, spread(before, law(mechanism, one)) + spread(before, law(mechanism, two)))
    assert worst <= 1 + 1e-9
    assert worst > 0.5


def test_half_the_weight_would_be_seen() -> None:
    wrong = Quantile(epsilon=1, q=0.5, lower=0, upper=POINTS - 1, step=1, weight=1)
    base = (4, 0, 0, 0, 4)
    assert spread(law(wrong, base), law(wrong, (8, 0, 0, 0, 4))) > 1


def test_places_are_read_like_values() -> None:
    mechanism = Quantile(epsilon=1, q=0.5, lower=0, upper=9, step=1)
    values = [1, 1, 4, 7, 7, 7]
    places = Places(np.array([7, 1, 4, 7]), np.array([1, 2, 1, 2]))  # in any order, the same point twice
    assert [mechanism.sample(values, Seeded(i)) for i in range(50)] == [mechanism.sample(places, Seeded(i)) for i in range(50)]


def test_places_beyond_the_grid_and_weights_below_nothing() -> None:
    mechanism = Quantile(epsilon=1, q=0.5, lower=0, upper=9, step=1)
    tidy = mechanism.grid.tidy(Places(np.array([-5, 0, 99, 3]), np.array([2, 1, 4, -7])))
    assert tidy.points.tolist() == [0, 3, 9]
    assert tidy.counts.tolist() == [3, 0, 4]
    assert 0 <= mechanism.sample(Places(np.array([], np.int64), np.array([], np.int64)), Seeded(1)) <= 9
