"""Bounds chosen from a released histogram: the best of all, against brute force; and what clipping to them takes away."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from discreet.tables.histogram import Clipping, Histogram


def uneven(counts: list[float], whole: bool = False, outside: float = 0.0) -> Histogram:
    edges = tuple(Fraction(i * (i + 1), 1 if whole else 4) for i in range(len(counts) + 1))
    return Histogram(edges, tuple(counts), outside, outside, 0.0, 2.0, 3.0, whole)


def expected_square(found: Histogram, low: float, high: float, noise: float, corrected: bool) -> float:
    """The squared error of a sum that is clipped to [low, high], cell by cell."""
    under = over = lost = variance = 0.0
    for (a, b), count in zip(pairwise(map(float, found.edges)), found.counts, strict=True):
        b -= found.whole
        middle, wide = (a + b) / 2, b - a
        if b < low or (b <= low and a < low):
            under += count * (low - middle)
            lost += max(count, 0) * wide / 2
            variance += (low - middle) ** 2
        elif a >= high if not found.whole else a > high:
            over += count * (middle - high)
            lost += max(count, 0) * wide / 2
            variance += (middle - high) ** 2
    total = lost + (0 if corrected else max(under, 0) + max(over, 0))
    return noise**2 + total**2 + found.sd**2 * variance


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_bounds_are_the_best_of_all(corrected: bool, whole: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = uneven([float(x) for x in rng.integers(-5, 300, 9) * np.linspace(1, 0.01, 9) ** rng.integers(0, 4)], whole)
    scale = 10.0 ** rng.integers(-1, 4)

    def noise(low: Any, high: Any) -> Any:
        return scale * (high - low)

    best = found.best_clipping(noise, corrected)
    ends = [
        (float(low), float(high - whole))
        for i, low in enumerate(found.edges[:-1])
        for high in found.edges[i + 1 :]
        if float(low) < float(high - whole)
    ]
    scores = {pair: expected_square(found, *pair, scale * (pair[1] - pair[0]), corrected) for pair in ends}
    chosen = scores[float(best.low), float(best.high)]
    assert math.isclose(chosen, min(scores.values()), rel_tol=1e-9)


def test_what_clipping_takes_away() -> None:
    found = Histogram(tuple(map(Fraction, (0, 10, 20, 30))), (5.0, 100.0, 20.0), 0.0, 0.0, 0.0, 1.0, 1.0)
    clip = found._clipping(1, 1)
    assert (clip.low, clip.high) == (10, 20)
    assert clip.shift == 20 * (25 - 20) - 5 * (10 - 5)
    assert clip.sd == math.hypot(5, 5)
    assert clip.spread == 0.5 * (5 * 10 + 20 * 10)
    assert clip.most > abs(clip.shift) + clip.allowance
    assert found.unclipped.shift == found.unclipped.sd == 0


def test_the_estimate_of_what_clipping_takes_away_is_unbiased() -> None:
    """Over many noises, and values that are spread evenly over their cells."""
    rng, true = np.random.default_rng(5), np.array([40.0, 900.0, 300.0, 30.0])
    edges = tuple(map(Fraction, (0, 10, 20, 40, 80)))
    shifts, sd = [], 6.0
    for _ in range(4000):
        noisy = tuple(map(float, true + rng.normal(0, sd, 4)))
        shifts.append(Histogram(edges, noisy, 0.0, 0.0, 0.0, sd, 1.0)._clipping(1, 1).shift)
    exact = 300 * (30 - 20) + 30 * (60 - 20) - 40 * (10 - 5)
    expected = Histogram(edges, tuple(true), 0.0, 0.0, 0.0, sd, 1.0)._clipping(1, 1)
    assert expected.shift == exact
    assert abs(np.mean(shifts) - exact) < 6 * expected.sd / math.sqrt(4000)
    assert 0.9 < np.std(shifts) / expected.sd < 1.1


def test_whole_numbers_end_one_below_the_next_edge() -> None:
    found = Histogram(tuple(map(Fraction, (5, 6, 7, 10))), (50.0, 40.0, 9.0), 0.0, 0.0, 0.0, 1.0, 1.0, whole=True)
    assert (found.low, found.high) == (5, 9)
    assert not found.single_numbers
    one = Histogram((Fraction(7), Fraction(8)), (50.0,), 0.0, 0.0, 0.0, 1.0, 1.0, whole=True)
    assert (one.low, one.high) == (7, 8)  # bounds that are a range
    assert one.best_clipping(lambda low, high: high - low, corrected=True) == one.unclipped
    assert one.single_numbers


def test_a_column_with_many_rows_outside_is_not_learnt() -> None:
    assert uneven([50.0] * 4).learnt
    assert not uneven([50.0] * 4, outside=40.0).learnt
    assert not uneven([0.0] * 4).learnt


def test_quantiles_lie_within_the_edges() -> None:
    found = Histogram(tuple(map(Fraction, (0, 10, 20))), (100.0, 100.0), 0.0, 0.0, 0.0, 1.0, 1.0)
    assert found.quantiles(np.array([0, 0.25, 0.5, 1])).tolist() == [0, 5, 10, 20]
    assert uneven([-1.0, -2.0]).quantiles(np.array([0.5]))[0] == 0.75


def test_json_is_read_back() -> None:
    found = uneven([1.5, -2.0, 3.25], whole=True)
    assert Histogram.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize(
    "change",
    [{"edges": ["0"]}, {"edges": ["0", "2", "1", "3"]}, {"counts": []}, {"counts": [1, 2, math.nan]}, {"sd": math.inf},
     {"edges": ["0", "1/0", "2", "3"]}],
)  # fmt: skip
def test_other_json_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        Histogram.from_json(uneven([1.5, -2.0, 3.25]).to_json() | change)


def test_allowance_grows_with_what_may_lie_beyond() -> None:
    clip = Clipping(Fraction(0), Fraction(10), 5.0, 2.0, 1.0, 3.0, 4.0, 4.0)
    assert clip.allowance == 1 + 3 * 4
    assert clip.most == 5 + 1.645 * 2 + 13
