"""How units choose the most popular value: each votes once for each of its values, and one unit's largest votes are what is paid for."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from plan import samples as tables
from run.test_write import KEYS, K, X, run
from theorems.laws import noisy_max

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.plan.bounding import Groups, Rows, Single, Votes
from discreet.plan.resolve import ONE_FOR_CHOICES, most_groups, votes
from discreet.run.source import Source
from discreet.run.write import write_votes

FLOOR = "CAST(FLOOR(__e0) AS BIGINT)"
WAYS = [Votes(limit, one) for limit in (1, 2, 3, 4) for one in (4, ONE_FOR_CHOICES)]
Cells = dict[tuple[Any, int], int]


def source(groups: list[str] | None = KEYS, keyed: bool = True) -> Source:
    named = None if groups is None else tuple((key,) for key in groups)
    return Source(tables.scan(), (("k", K),) if keyed else (), named if keyed else None, DUCKDB)


def counted(found: list[tables.Row], how: Votes, keyed: bool = True) -> Cells:
    """What the statement gives, by group and value."""
    out = run(found, write_votes(source(keyed=keyed), X, FLOOR, how))
    return dict(zip(zip(out["k0"] if keyed else [None] * len(out["v"]), out["v"], strict=True), out["w"], strict=True))


def by_definition(found: list[tables.Row], how: Votes, keyed: bool = True) -> Cells:
    ballots = {
        (unit, key if keyed else None, int(clean // 1))
        for unit, key, value in found
        if unit is not None and (key in KEYS or not keyed) and (clean := tables.clamped(value)) is not None
    }
    groups = Counter(unit for unit, _ in {(unit, key) for unit, key, _ in ballots})
    expected: Counter[tuple[Any, int]] = Counter()
    for unit, key, value in ballots:
        expected[key, value] += how.one * how.limit // max(groups[unit], how.limit)
    return dict(expected)


@pytest.mark.parametrize("how", WAYS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_votes_are_what_they_are_said_to_be(how: Votes, seed: int) -> None:
    found = tables.rows(seed)
    assert counted(found, how) == by_definition(found, how)


@pytest.mark.parametrize("seed", range(3))
def test_without_groups_everybody_has_one_whole_vote_for_each_value(seed: int) -> None:
    found = tables.rows(seed)
    assert counted(found, Votes(1, 1), keyed=False) == by_definition(found, Votes(1, 1), keyed=False)


def test_forty_rows_in_one_group_are_one_vote_for_each_of_their_values() -> None:
    found: list[tables.Row] = [(1, "k0", float(i % 3)) for i in range(40)]
    assert counted(found, Votes(1, ONE_FOR_CHOICES)) == {("k0", value): ONE_FOR_CHOICES for value in range(3)}
    assert counted(found, Votes(1, 1), keyed=False) == {(None, value): 1 for value in range(3)}


# ── what one unit moves ──────────────────────────────────────────────────────────────────────────────────────────────


CELLS = [(key, value) for key in ("k0", "k1", "k2") for value in (0.0, 1.0)]
BALLOTS = [[cell for cell, there in zip(CELLS, chosen, strict=True) if there] for chosen in itertools.product((0, 1), repeat=len(CELLS))]


def matrix(of: Cells) -> np.ndarray[Any, Any]:
    return np.array([[of.get((key, value), 0) for value in (0, 1)] for key in ("k0", "k1", "k2")])


@pytest.mark.parametrize("how", [Votes(1, 8), Votes(2, 8), Votes(2, 7), Votes(3, 1)], ids=repr)
def test_no_unit_moves_more_than_is_paid_for(how: Votes) -> None:
    """Every set of rows that one unit may have, and every pair of them, through the statement itself."""
    base: list[tables.Row] = [(9, "k0", 1.0), (8, "k1", 0.0), (8, "k2", 1.0)]
    before = matrix(counted(base, how))
    added = [matrix(counted([*base, *((1, *cell) for cell in rows for _ in range(1 + len(rows) % 3))], how)) - before for rows in BALLOTS]
    most = 0
    for own in added:
        assert own.min() >= 0  # votes only grow: monotone
        assert own.max(axis=1).sum() <= how.weight
        most = max(most, int(own.max(axis=1).sum()))
    assert most == how.weight  # and not less: it is the sensitivity
    replaced = [b - a for a, b in itertools.product(added, repeat=2)]
    apart = [int((d.max(axis=1) - d.min(axis=1)).sum()) for d in replaced]
    assert max(apart) == 2 * how.weight


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("how", [Votes(1, 4), Votes(2, 4)], ids=repr)
def test_the_winners_of_all_groups_together_are_private(how: Votes, monotone: bool) -> None:
    """The exact law of the winners, on all neighbours of a table; half the sensitivity is caught."""
    base = np.array([[5, 4], [4, 4], [0, 3]])
    units = [matrix(by_definition([(1, *cell) for cell in rows], how)) for rows in BALLOTS]
    neighbours = [(np.zeros_like(own), own) for own in units] if monotone else list(itertools.product(units[::3], units[1::3]))

    def loss(sensitivity: int) -> float:
        rate = NoisyMax(epsilon=Fraction(3, 2), sensitivity=sensitivity, monotone=monotone).rate
        worst = 0.0
        for a, b in neighbours:
            ratios = [np.log(noisy_max(list(x), rate, "exponential") / noisy_max(list(y), rate, "exponential")) for x, y in zip(base + a, base + b, strict=True)]  # fmt: skip  # noqa: E501
            worst = max(worst, sum(r.max() for r in ratios), sum(-r.min() for r in ratios))
        return worst

    assert loss(how.weight) <= 1.5 + 1e-9
    assert loss(how.weight // 2) > 1.5 + 1e-3


# ── from limits to votes ─────────────────────────────────────────────────────────────────────────────────────────────


def test_limits_say_in_how_many_groups_a_unit_votes() -> None:
    assert votes(Single(), len(KEYS)) == Single()
    assert votes(Rows(40), 0) == votes(Groups(1, 7), 0) == Votes(1, 1)
    assert votes(Rows(3), len(KEYS)) == Votes(3, ONE_FOR_CHOICES)
    assert votes(Rows(40), len(KEYS)) == Votes(len(KEYS), ONE_FOR_CHOICES)  # there are no more groups
    assert votes(Groups(2, 50), len(KEYS)) == Votes(2, ONE_FOR_CHOICES)
    assert votes(Rows(40), None) == Votes(40, ONE_FOR_CHOICES)


def test_how_many_groups_there_can_be() -> None:
    assert most_groups(2, (("a", "b"), ("a", "c"), (None, "c")), other=False) == 4  # rows of (None, b) are read too
    assert most_groups(2, (), other=False) == 1
    assert most_groups(2, (("a", "b"),), other=True) == 2
    assert most_groups(0, ((),), other=False) == 0
    assert most_groups(1, None, other=False) is None
