"""Propose–test–release: what the proof needs of every small data set, the whole law, and slips that are caught."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from mechanisms.brute import Data, all_data, local_sensitivity, neighbours
from scripted import Seeded

from discreet.errors import Invalid
from discreet.loss.notions import Approx
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease, StabilityTest, StableMode
from discreet.mechanisms.sensitivity import Adjacency
from discreet.private import Private

POINTS, MOST = 5, 5
ENDS = {"lower": 0, "upper": POINTS - 1, "step": 1}


def premises(statistic: Robust, adjacency: Adjacency, bound: int, distance: Any) -> bool:
    """Whether distances move by one, are 0 where the local sensitivity exceeds the bound, and hold it elsewhere."""
    for data in all_data(POINTS, MOST):
        if not data and adjacency == "replace-one":
            continue
        true = local_sensitivity(data, POINTS, adjacency, 0, lambda other: statistic.local(list(other), 0).value)
        if true > bound and distance(data):
            return False
        for other in neighbours(data, POINTS, adjacency):
            if len(other) <= MOST and abs(distance(data) - distance(other)) > 1:
                return False
    return True


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("bound", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_proofs_premises_hold_on_all_small_data(adjacency: Adjacency, bound: int) -> None:
    for make in (Robust.median, Robust.interquartile_range):
        statistic = make(**ENDS, adjacency=adjacency)
        ptr = ProposeTestRelease(epsilon=2, delta="1/100", bound=bound, statistic=statistic)
        assert premises(statistic, adjacency, bound, lambda data, ptr=ptr, of=statistic: ptr._tested(of, list(data))[1])


def test_a_test_of_the_data_alone_is_caught() -> None:
    statistic = Robust.median(**ENDS)

    def alone(data: Data) -> int:  # passes whatever is calm itself, however near to trouble
        return 100 if statistic.local(list(data), 0).at_distance[0] <= 1 else 0

    assert not premises(statistic, "add/remove", 1, alone)


def test_distances_counted_one_too_far_are_caught() -> None:
    statistic = Robust.median(**ENDS)
    ptr = ProposeTestRelease(epsilon=2, delta="1/100", bound=1, statistic=statistic)
    assert not premises(statistic, "add/remove", 1, lambda data: ptr._tested(statistic, list(data))[1] + 1)


def test_the_whole_law_is_private() -> None:
    """Laplace noise in many cells, and no answer as one more: δ at the claimed ε, over all small neighbours."""
    statistic = Robust.median(**ENDS)
    ptr = ProposeTestRelease(epsilon=2, delta="1/100", bound=1, statistic=statistic)
    edges, scale = np.linspace(-12, 16, 400), float(ptr.noise.scale)

    def law(data: Data) -> np.ndarray[Any, Any]:
        value, distance = ptr._tested(statistic, list(data))
        at = edges - float(value)
        cdf = np.where(at < 0, np.exp(np.minimum(at, 0) / scale) / 2, 1 - np.exp(-np.maximum(at, 0) / scale) / 2)
        passes = ptr.chance(distance)
        return np.array([1 - passes, *passes * np.diff(np.concatenate([[0], cdf, [1]]))])

    laws = {data: law(data) for data in all_data(POINTS, MOST)}
    worst = max(
        np.maximum(0, laws[a] - math.exp(2) * laws[b]).sum() for a in laws for b in neighbours(a, POINTS, "add/remove") if b in laws
    )
    assert 0.001 < worst <= 0.01 + 1e-12


def test_the_optimal_test_passes_more_than_the_textbooks() -> None:
    test = StabilityTest(epsilon=1, delta="1e-6")
    threshold = math.log(1e6)
    assert all(test.chance(d) >= math.exp(-(threshold - d)) / 2 for d in range(2, 13))
    assert test.error(0.5) <= threshold + 1
    assert test.chance(test.longest) == 1
    assert test.chance(test.longest - 1) < 1


def test_pairs_work_for_any_statistic() -> None:
    ptr = ProposeTestRelease(epsilon=1, delta="1e-6", bound=2)
    assert ptr.release((100, 0)) is None
    found = ptr.release(Private((100.0, 5000)))
    assert isinstance(found, float)
    assert ptr.release(Private((float("nan"), None))) is None
    assert ptr.loss == Approx(1, "1e-6")
    assert ptr.loss_at(2) == Approx(1, "1e-6").group(2)
    for bad in (100, (1, 2, 3), (1, 0.5), ("x", 3)):
        with pytest.raises(Invalid):
            ptr.release(bad)


@pytest.mark.parametrize("pair", [("x", 5000), ([1], "x"), (None, [3]), (1e400, 1e400), (float("nan"), -3)])
def test_private_pairs_never_fail(pair: Any) -> None:
    found = ProposeTestRelease(epsilon=1, delta="1e-6", bound=2).release(Private(pair))
    assert found is None or isinstance(found, float)


def test_accuracy_is_that_of_the_noise() -> None:
    ptr = ProposeTestRelease(epsilon=1, delta="1e-6", bound=1, statistic=Robust.median(lower=0, upper=1000, step=1))
    data, bits, size, limit = np.repeat(np.arange(400, 601), 100), Seeded(4), 2000, ptr.error(0.9)
    found = [ptr.sample(data, bits) for _ in range(size)]
    assert None not in found
    missed = sum(abs(one - 500) > limit for one in found if one is not None)
    assert abs(missed - 0.1 * size) < 5 * math.sqrt(0.09 * size)  # neither more noise than is said, nor less
    assert all(ptr.sample([0] * 50 + [1000] * 50, bits) is None for _ in range(200))


# ── the most frequent label ──────────────────────────────────────────────────────────────────────────────────────────


def modes(adjacency: Adjacency, slip: int = 0) -> float:
    """The largest δ at the claimed ε over all small tables of three labels and their neighbours."""
    winner = StableMode(epsilon=1, delta="1/50", adjacency=adjacency)
    labels, worst = "abc", 0.0

    def law(counts: tuple[int, ...]) -> dict[str | None, float]:
        ordered = sorted(counts)
        lead = ordered[-1] - ordered[-2]
        distance = (lead + 1) // 2 if adjacency == "replace-one" else lead
        passes = winner.test.chance(max(distance + slip, 0))
        return {None: 1 - passes, labels[counts.index(max(counts))]: passes}

    for counts in product(range(6), repeat=3):
        steps = [(i, d) for i in range(3) for d in (-1, 1)]
        near = [tuple(c + (d if j == i else 0) for j, c in enumerate(counts)) for i, d in steps]
        if adjacency == "replace-one":
            near = [tuple(c - (j == i) + (j == k) for j, c in enumerate(counts)) for i in range(3) for k in range(3) if i != k]
        for other in near:
            if min(other) >= 0:
                here, there = law(counts), law(other)
                worst = max(worst, sum(max(0.0, p - math.e * there.get(label, 0.0)) for label, p in here.items()))
    return worst


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_modes_are_private_and_a_lead_counted_too_far_is_caught(adjacency: Adjacency) -> None:
    assert modes(adjacency) <= 0.02 + 1e-12
    assert modes(adjacency, slip=1) > 0.021


def test_modes_are_told_when_they_lead() -> None:
    winner = StableMode(epsilon=1, delta="1e-6", adjacency="replace-one")
    lead = int(winner.error(0.99))
    assert sum(winner.sample({"a": 10 + lead, "b": 10}, Seeded(i)) == "a" for i in range(300)) > 280
    for lead, distance in ((0, 0), (1, 1), (2, 1), (3, 2), (40, 20)):  # what is tested moves by one where a record is replaced
        passes = winner.test.chance(distance)
        told = sum(winner.sample({"a": 100 + lead, "b": 100}, Seeded(i)) == "a" for i in range(200)) / 200
        assert abs(told - passes) < 0.2
    assert StableMode(epsilon=1, delta="1e-6").error() == winner.test.error() == (winner.error() + 1) / 2
    assert winner.release({}) is None
    assert winner.release({"only": 1}) is None
    assert winner.release(Private({"only": 10**6, float("nan"): "x"})) == "only"
    assert winner.release((["x", "y"], [5, 5])) is None
