"""Inverse sensitivity: the law from its definition, its privacy on all small neighbours, and its accuracy."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from mechanisms.brute import Data, all_data, neighbours
from scipy import stats
from scripted import Seeded

from discreet.errors import Invalid
from discreet.mechanisms.robust.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.sensitivity import Adjacency

POINTS, MOST = 6, 4
ENDS = {"lower": 0, "upper": POINTS - 1, "step": 1}


def law(mechanism: InverseSensitivity, data: Data) -> np.ndarray[Any, Any]:
    """The probability of every value, from the pieces that the mechanism draws from."""
    scores, starts, sizes = mechanism.shells(list(data))
    weights = np.zeros(mechanism.statistic.most + 1)
    for score, start, size in zip(scores.tolist(), starts.tolist(), sizes.tolist(), strict=True):
        weights[start : start + size] += math.exp(float(mechanism.epsilon) / 2 * score)
    return weights / weights.sum()


def test_every_value_is_in_one_piece_with_its_own_length() -> None:
    for statistic in (Robust.median(**ENDS), Robust.interquartile_range(**ENDS), Robust.trimmed_mean("1/4", **ENDS)):
        mechanism = InverseSensitivity(epsilon=2, statistic=statistic)
        for data in ((), (1, 1, 2), (0, 0, 5, 5), (5,)):
            scores, starts, sizes = mechanism.shells(list(data))
            found = statistic.local(list(data), mechanism.changes)
            inside = {z: -s for s, start, n in zip(scores, starts, sizes, strict=True) for z in range(start, start + n)}
            assert sizes.sum() == len(inside)
            assert sorted(inside) == list(range(statistic.most + 1))
            for z in range(statistic.most + 1):
                first = next((k for k in range(mechanism.changes) if found.low[k] <= z <= found.high[k]), mechanism.changes)
                assert inside[z] == first


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [1, "1/3", 4])
def test_the_law_is_private_on_all_small_neighbours(adjacency: Adjacency, epsilon: Any) -> None:
    worst = 0.0
    for statistic in (Robust.median(**ENDS, adjacency=adjacency), Robust.interquartile_range(**ENDS, adjacency=adjacency)):
        mechanism = InverseSensitivity(epsilon=epsilon, statistic=statistic)
        laws = {data: law(mechanism, data) for data in all_data(POINTS, MOST) if data or adjacency == "add/remove"}
        for data, here in laws.items():
            for other in neighbours(data, POINTS, adjacency):
                if other in laws:
                    ratios = np.log(here / laws[other])
                    worst = max(worst, np.abs(ratios).max() / float(mechanism.epsilon))
                    assert np.ptp(ratios) <= float(mechanism.epsilon) * (1 + 1e-9)  # bounded range
    assert 0.4 < worst <= 1 + 1e-9


def test_a_rate_twice_too_high_is_caught() -> None:
    mechanism = InverseSensitivity(epsilon=2, statistic=Robust.median(**ENDS))
    laws = {data: law(mechanism, data) for data in all_data(POINTS, MOST)}
    pairs = [(laws[a], laws[b]) for a in laws for b in neighbours(a, POINTS, "add/remove") if b in laws]
    assert max(np.abs(np.log(a / b)).max() for a, b in pairs) > 1.01  # so this law is not 1-DP


def test_draws_have_the_law() -> None:
    mechanism, size = InverseSensitivity(epsilon=2, statistic=Robust.median(**ENDS)), 20_000
    bits, data = Seeded(3), (1, 1, 2, 4)
    drawn = Counter(int(mechanism.sample(list(data), bits)) for _ in range(size))
    assert stats.chisquare([drawn[z] for z in range(POINTS)], law(mechanism, data) * size).pvalue > 1e-4


def test_too_little_epsilon_is_refused_before_there_are_records() -> None:
    with pytest.raises(Invalid, match="too small"):
        InverseSensitivity(epsilon="1e-9", statistic=Robust.median(**ENDS))
    with pytest.raises(Invalid, match="Robust"):
        InverseSensitivity(epsilon=1, statistic="median")  # type: ignore[arg-type]


def test_accuracy_in_changes() -> None:
    statistic = Robust.trimmed_mean("1/10", lower=0, upper=1000, step=1)
    mechanism = InverseSensitivity(epsilon=1, statistic=statistic)
    data = np.arange(100, 500)
    far = int(mechanism.error(0.9))
    found = statistic.local(data, far)
    low, high = statistic.to_value(int(found.low[far])), statistic.to_value(int(found.high[far]))
    bits, size = Seeded(8), 600
    missed = sum(not low <= mechanism.sample(data, bits) <= high for _ in range(size))
    assert missed < 0.1 * size + 5 * math.sqrt(0.09 * size)
