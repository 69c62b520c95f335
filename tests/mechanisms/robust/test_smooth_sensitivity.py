"""Smooth sensitivity: the ladder, and the whole law on every pair of small neighbours."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mechanisms.brute import Data, all_data, neighbours
from scipy import stats
from scripted import Seeded

from discreet import exact
from discreet.errors import Invalid
from discreet.loss.notions import Approx, Pure
from discreet.mechanisms.robust import smooth_sensitivity
from discreet.mechanisms.robust.order_statistics import LocalSensitivity, Robust
from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity, WidthLadder
from discreet.mechanisms.sensitivity import Adjacency
from discreet.private import Private

POINTS, MOST = 9, 3
ENDS = {"lower": 0, "upper": POINTS - 1, "step": 1}


def law(mechanism: SmoothSensitivity, data: Data) -> list[float]:
    """The exact law of the release, which is clamped to the grid and so finite."""
    statistic = mechanism.statistic
    assert statistic is not None
    ladder = smooth_sensitivity._ladder(mechanism.smoothness, mechanism.most)
    found = statistic.local(list(data), mechanism.changes)
    noise = mechanism._law(ladder.width(ladder.rung(found.at_distance)) / mechanism.rate)
    with exact.precision(160):
        inside = [noise.mass(k - found.value) for k in range(1, POINTS - 1)]
        low = noise.beyond(found.value) / 2 if found.value else exact.ball(1) - noise.beyond(1) / 2
        above = POINTS - 1 - found.value
        high = noise.beyond(above) / 2 if above else exact.ball(1) - noise.beyond(1) / 2
        return [float(p.mid()) for p in (low, *inside, high)]


def excess(mechanism: SmoothSensitivity, adjacency: Adjacency) -> float:
    """The largest δ at the claimed ε over all small neighbours."""
    grow, laws = math.exp(mechanism.epsilon), {}
    for data in all_data(POINTS, MOST):
        laws[data] = law(mechanism, data)
    pairs = ((laws[data], laws[other]) for data in laws for other in neighbours(data, POINTS, adjacency) if other in laws)
    return max(math.fsum(max(0.0, p - grow * q) for p, q in zip(one, two, strict=True)) for one, two in pairs)


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), ("1/4", 0), (3, 0), (1, "1/100"), (2, "1e-6")])
def test_the_law_is_private_on_all_small_neighbours(adjacency: Adjacency, epsilon: Any, delta: Any) -> None:
    mechanism = SmoothSensitivity(epsilon=epsilon, delta=delta, statistic=Robust.median(**ENDS, adjacency=adjacency))
    assert sum(law(mechanism, (1, 4))) == pytest.approx(1)
    assert excess(mechanism, adjacency) <= float(mechanism.delta) + 1e-12


@pytest.mark.parametrize("delta", [0, "1/100"])
@pytest.mark.parametrize("data", [(4, 4, 4), (1, 4, 7)])
def test_draws_have_that_law(delta: Any, data: Data) -> None:
    """What was proved above is what is sampled."""
    mechanism, size = SmoothSensitivity(epsilon=2, delta=delta, statistic=Robust.median(**ENDS)), 6000
    bits = Seeded(21)
    drawn = Counter(int(mechanism.sample(np.array(data), bits)) for _ in range(size))
    assert stats.chisquare([drawn[z] for z in range(POINTS)], np.array(law(mechanism, data)) * size).pvalue > 1e-4


def test_the_local_sensitivity_itself_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsmoothed(self: WidthLadder, at_distance: Any) -> int:
        return int(np.searchsorted(self.rungs, at_distance[0] * self.one))

    monkeypatch.setattr(WidthLadder, "rung", unsmoothed)
    assert excess(SmoothSensitivity(epsilon=1, statistic=Robust.median(**ENDS)), "add/remove") > 0.05


def test_a_width_that_moves_too_fast_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smooth_sensitivity, "_smoothness", lambda epsilon, delta: 1)  # twice as wide at each rung
    mechanism = SmoothSensitivity.__new__(SmoothSensitivity)
    mechanism.__attrs_init__(epsilon=Fraction(1, 4), delta=Fraction(0), statistic=Robust.median(**ENDS), most=8, unit=Fraction(1))
    monkeypatch.setattr(SmoothSensitivity, "rate", property(lambda self: self.epsilon / 2))
    assert excess(mechanism, "add/remove") > 0.01


def test_laplace_noise_is_not_pure() -> None:
    """A common slip: Laplace noise with the smooth sensitivity needs a δ."""
    mechanism = SmoothSensitivity(epsilon=1, delta="1/1000", statistic=Robust.median(**ENDS))
    with exact.precision(128):  # what the theorem's δ comes from: the wider law far out
        narrow, m = 1.0, mechanism.smoothness
        wide = narrow * (1 + 1 / m)
        far = 100 * m
        ratio = math.log(narrow / wide) + far / narrow - far / wide
    assert ratio > float(mechanism.epsilon)


@pytest.mark.parametrize(("epsilon", "delta", "smoothness"), [(1, 0, 2), ("1/10", 0, 20), (1, "1e-6", 20), (4, "1e-6", 6)])
def test_constants_are_the_theorems(epsilon: Any, delta: Any, smoothness: int) -> None:
    mechanism = SmoothSensitivity(epsilon=epsilon, delta=delta, statistic=Robust.median(**ENDS))
    assert mechanism.smoothness == smoothness
    m, half = smoothness, float(mechanism.epsilon) / 2
    if delta:
        assert math.exp(-m * (half + math.log1p(1 / m))) / (m + 1) <= float(mechanism.delta)
        assert math.exp(-(m - 1) * (half + math.log1p(1 / (m - 1)))) / m > float(mechanism.delta)
        assert mechanism.loss == Approx(mechanism.epsilon, mechanism.delta)
        assert m < 2 * math.log(2 / float(mechanism.delta)) / float(mechanism.epsilon)  # the paper's constant needs more
    else:
        assert mechanism.loss == Pure(mechanism.epsilon)
    assert mechanism.loss_at(3).epsilon_at(0.1) > mechanism.loss.epsilon_at(0.1)


def test_rungs_rise_slowly_enough_and_reach_the_top() -> None:
    for smoothness, most in [(1, 5), (20, 10**6), (3000, 2**20), (7, 2**50)]:
        ladder = smooth_sensitivity._ladder(smoothness, most)
        rungs = [int(rung) for rung in ladder.rungs]
        assert all(b * smoothness <= a * (smoothness + 1) and b > a for a, b in pairwise(rungs))
        assert rungs[0] == ladder.one
        assert rungs[-1] >= most * ladder.one


def test_a_rung_moves_by_one_between_neighbours() -> None:
    ladder = smooth_sensitivity._ladder(5, POINTS - 1)
    for adjacency in ("add/remove", "replace-one"):
        statistic = Robust.median(**ENDS, adjacency=adjacency)
        for data in all_data(POINTS, MOST):
            here = ladder.rung(statistic.local(list(data), len(ladder.rungs)).at_distance)
            for other in neighbours(data, POINTS, adjacency):
                assert abs(here - ladder.rung(statistic.local(list(other), len(ladder.rungs)).at_distance)) <= 1


def test_accuracy_where_the_data_are_calm_and_where_they_are_not() -> None:
    statistic = Robust.median(lower=0, upper=1000, step=1)
    calm = np.array([500 + i % 21 - 10 for i in range(2000)])
    for delta in (0, "1e-6"):
        mechanism = SmoothSensitivity(epsilon=1, delta=delta, statistic=statistic)
        found = statistic.local(calm, mechanism.changes)
        ladder = smooth_sensitivity._ladder(mechanism.smoothness, mechanism.most)
        width = ladder.width(ladder.rung(found.at_distance))
        bits, limit, size = Seeded(11), mechanism.error(0.9, sensitivity=width), 2000
        missed = sum(abs(mechanism.sample(calm, bits) - 500) > limit for _ in range(size))
        assert missed < 0.1 * size + 5 * math.sqrt(0.09 * size)
        assert mechanism.error(0.9) > 20 * limit  # at its largest it is far wider


def test_a_general_local_answer() -> None:
    mechanism = SmoothSensitivity(epsilon=2, most=100, unit="1/4")
    ends = np.array([0, 0])
    calm = LocalSensitivity(40, ends, ends, np.array([0, 1, 2, 100]))
    assert abs(mechanism.release(Private(calm)) - 10) < 10**9
    assert mechanism.error(sensitivity=1) < mechanism.error()
    with pytest.raises(Invalid):
        mechanism.release([1, 2])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, 10**400, "x", [1]])
@pytest.mark.parametrize("at_distance", [[None], [10**30], [float("nan"), 1.5], ["x"], [], [-5, 2]])
def test_private_answers_never_fail(value: Any, at_distance: Any) -> None:
    mechanism = SmoothSensitivity(epsilon=2, most=100)
    empty = np.array([], np.int64)
    assert isinstance(mechanism.release(Private(LocalSensitivity(value, empty, empty, at_distance))), float)
    assert isinstance(mechanism.release(Private(LocalSensitivity(value, empty, empty, np.array(at_distance, object)))), float)


def test_jumps_that_end_early_count_as_the_largest() -> None:
    """A list of jumps that is shorter than the ladder says nothing of what lies beyond: there anything may happen."""
    ladder = smooth_sensitivity._ladder(5, 100)
    last = len(ladder.rungs) - 1
    for length in (1, 3, last - 1, last, last + 5):
        assert ladder.rung(np.zeros(length, np.int64)) == max(0, last - length)


@pytest.mark.parametrize("bad", [{}, {"most": 3, "statistic": Robust.median(**ENDS)}, {"most": 2**60}, {"statistic": 3}])
def test_bad_arguments(bad: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        SmoothSensitivity(epsilon=1, **bad)


def test_too_little_epsilon_is_refused_before_there_are_records() -> None:
    with pytest.raises(Invalid, match="too small"):
        SmoothSensitivity(epsilon="1e-12", statistic=Robust.median(lower=0, upper=1))
