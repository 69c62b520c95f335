"""How far robust statistics may be brought, held against every small data set."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mechanisms.brute import Data, all_data, local_sensitivity, neighbours, within

from discreet.errors import Invalid
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.sensitivity import Adjacency
from discreet.mechanisms.value_grid import Places

POINTS, MOST, CHANGES = 4, 4, 3
ENDS = {"lower": 0, "upper": POINTS - 1, "step": 1}
KINDS: tuple[Adjacency, ...] = ("add/remove", "replace-one")


def every(adjacency: Adjacency) -> list[Robust]:
    return [
        Robust.median(**ENDS, adjacency=adjacency),
        Robust.quantile("1/5", **ENDS, adjacency=adjacency),
        Robust.quantile("3/4", **ENDS, adjacency=adjacency),
        Robust.interquartile_range(**ENDS, adjacency=adjacency),
        Robust.trimmed_mean("1/8", **ENDS, adjacency=adjacency),
    ]


EVERY = [(statistic, adjacency) for adjacency in KINDS for statistic in every(adjacency)]
each = pytest.mark.parametrize(("statistic", "adjacency"), EVERY, ids=[f"{s.name}-{a}" for s, a in EVERY])


def plainly(statistic: Robust, data: Data) -> int:
    """The definition, read aloud: weights times the ⌈qn⌉-th smallest."""
    ranks = [(math.ceil(q * len(data)), weight) for q, weight in statistic.levels]
    return max(0, sum(weight * (sorted(data)[rank - 1] if rank else 0) for rank, weight in ranks))


def sets(adjacency: Adjacency) -> list[Data]:
    return [data for data in all_data(POINTS, MOST) if data or adjacency == "add/remove"]


@each
def test_values_are_the_definition(statistic: Robust, adjacency: Adjacency) -> None:
    assert all(statistic.local(list(data), 0).value == plainly(statistic, data) for data in sets(adjacency))


@each
def test_reach_holds_everything_that_so_many_changes_make(statistic: Robust, adjacency: Adjacency) -> None:
    exactly = len(statistic.levels) == 1
    for data in sets(adjacency):
        found = statistic.local(list(data), CHANGES)
        for k in range(CHANGES + 1):
            made = [plainly(statistic, other) for other in within(data, POINTS, adjacency, k) if other or adjacency == "add/remove"]
            assert found.low[k] <= min(made) <= max(made) <= found.high[k]
            if exactly and data and adjacency == "replace-one":
                assert (found.low[k], found.high[k]) == (min(made), max(made))


@each
def test_jumps_hold_every_local_sensitivity(statistic: Robust, adjacency: Adjacency) -> None:
    for data in sets(adjacency):
        at_distance = statistic.local(list(data), CHANGES - 1).at_distance
        for k in range(CHANGES):
            true = local_sensitivity(data, POINTS, adjacency, k, lambda other: plainly(statistic, other))
            assert at_distance[k] >= true
            if statistic.name == "median" and (adjacency == "replace-one" or data):
                assert at_distance[k] == true


def moved(statistic: Robust, adjacency: Adjacency) -> list[tuple[Data, Data]]:
    """Neighbours of which one reaches or jumps further with k changes than the other with k + 1, or moves further than its jump.

    Where units are replaced, some may have no value: then a record is added or removed.
    """
    broken = []
    for data in all_data(POINTS, MOST):
        here = statistic.local(list(data), CHANGES)
        for other in neighbours(data, POINTS, adjacency) | neighbours(data, POINTS, "add/remove"):
            there = statistic.local(list(other), CHANGES)
            nested = np.all(here.high[:-1] <= there.high[1:]) and np.all(here.low[:-1] >= there.low[1:])
            if (
                not nested
                or not np.all(here.at_distance[:-1] <= there.at_distance[1:])
                or abs(here.value - there.value) > here.at_distance[0]
            ):
                broken.append((data, other))
    return broken


@each
def test_neighbours_reach_as_far_with_one_change_more(statistic: Robust, adjacency: Adjacency) -> None:
    assert not moved(statistic, adjacency)


def test_ranks_of_another_adjacency_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    median = Robust.median(**ENDS)
    half = lambda self, q, size, steps: (-(-size // 2) - steps // 4, -(-size // 2) + steps // 4)  # noqa: E731
    monkeypatch.setattr(Robust, "_ranks", half)
    assert moved(median, "add/remove")


@each
def test_nothing_falls_and_the_ends_are_the_ends(statistic: Robust, adjacency: Adjacency) -> None:
    found = statistic.local([1, 1, 2], 40)
    assert all(a <= b for a, b in pairwise(found.at_distance.tolist()))
    assert all(a >= b for a, b in pairwise(found.low.tolist()))
    assert (found.low[-1], found.high[-1]) == (statistic.least, statistic.most)


def test_units_and_places() -> None:
    mean = Robust.trimmed_mean(0.25, lower=-10, upper=10, step=1)
    assert mean.unit == Fraction(1, 64)
    assert mean.to_value(mean.local([3] * 9, 0).value) == 3.0
    assert mean.to_value(-(10**9)) == -10.0
    assert mean.to_value(10**9) == 10.0
    spread = Robust.interquartile_range(lower=100, upper=200, step=1)
    assert spread.to_value(spread.local([110, 120, 130, 140], 0).value) == 20.0
    median = Robust.median(lower=0, upper=10, step=1)
    places = Places(np.array([7, 2, 2, 99]), np.array([1, 2, 1, 3]))
    assert median.local(places, 1).value == median.local([2, 2, 2, 7, 10, 10, 10], 1).value


def test_absurd_weights_are_no_error() -> None:
    places = Places(np.array([1, 2, 3]), np.array([2**62, 2**62, 2**62]))
    assert 0 <= Robust.quantile("0.999999", **ENDS).local(places, 3).value < POINTS


@pytest.mark.parametrize("q", [0, 1, "1/1000001", "half"])
def test_bad_levels(q: object) -> None:
    with pytest.raises(Invalid):
        Robust.quantile(q, lower=0, upper=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("trim", [0, "1/2", "1/2001"])
def test_bad_trims(trim: object) -> None:
    with pytest.raises(Invalid):
        Robust.trimmed_mean(trim, lower=0, upper=1)  # type: ignore[arg-type]
