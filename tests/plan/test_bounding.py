"""Contribution bounds: what no unit exceeds, by the definition of the weights."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from discreet.plan.bounding import Groups, Rows, Sensitivity, Single, Votes, between_neighbours


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_weights_of_rows_add_up_to_no_more_than_the_limit(limit: int) -> None:
    bounding = Rows(limit, one=64)
    for n in range(1, 40):
        weight = min(bounding.one, bounding.one * limit // n)
        assert n * weight <= bounding.sensitivity.l1
        assert weight <= bounding.heaviest


@pytest.mark.parametrize(("limit", "per_group", "euclidean"), list(product([1, 2, 3], [1, 2], [False, True])))
def test_weights_of_groups_stay_within_both_norms(limit: int, per_group: int, euclidean: bool) -> None:
    bounding = Groups(limit, per_group, euclidean, one=64)
    for m, c in product(range(1, 12), range(1, 6)):
        share = math.sqrt(limit / max(m, limit)) if euclidean else limit / max(m, limit)
        in_group = c * math.floor(bounding.one * share * per_group / max(c, per_group))
        assert in_group <= bounding.heaviest
        assert math.sqrt(m) * in_group <= float(bounding.sensitivity.l2) * (1 + 1e-12)
        assert euclidean or m * in_group <= bounding.sensitivity.l1


def test_votes_and_single_rows() -> None:
    assert Votes(3, 8).weight == 24
    assert Single().sensitivity == Sensitivity(1, Fraction(1))
    assert (Rows(4).groups, Rows(4).values, Groups(3, 2).groups, Groups(3, 2).values) == (4, 4, 3, 6)


def test_replacing_a_unit_doubles_at_most() -> None:
    found = Sensitivity(3, Fraction(2))
    assert between_neighbours(found, "add/remove", signed=True) == found
    assert between_neighbours(found, "replace-one", signed=True) == Sensitivity(6, Fraction(4))
    unsigned = between_neighbours(found, "replace-one", signed=False)
    assert unsigned.l1 == 6
    assert 2 * math.sqrt(2) <= unsigned.l2 < 2 * 1.42
