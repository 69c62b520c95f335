"""Coded tables: counts by brute force, their moves between neighbours, and what is refused."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from algorithms.marginals.replay import every_row, neighbours, table, tables

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.errors import Error, Invalid
from discreet.private import reveal

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 1})
CLIQUES = [c for k in range(4) for c in combinations(range(3), k)]


def test_counts_by_brute_force() -> None:
    random = np.random.default_rng(0)
    rows = [every_row(DOMAIN)[i] for i in random.integers(0, 6, 50)]
    held = reveal(table(DOMAIN, rows).marginals(CLIQUES))
    for clique in CLIQUES:
        seen = Counter(tuple(row[i] for i in clique) for row in rows)
        expected = np.array([seen[cell] for cell in np.ndindex(*DOMAIN.shape(clique))])
        assert held[clique].dtype == np.int64
        np.testing.assert_array_equal(held[clique], expected)


@pytest.mark.parametrize("replace_one", [False, True])
def test_neighbours_are_as_near_as_said(replace_one: bool) -> None:
    for rows in tables(DOMAIN, 2):
        one = table(DOMAIN, rows, replace_one)
        mine = reveal(one.marginals(CLIQUES))
        for other in neighbours(DOMAIN, rows, replace_one):
            theirs = reveal(table(DOMAIN, other, replace_one).marginals(CLIQUES))
            for clique in CLIQUES:
                off = mine[clique] - theirs[clique]
                assert np.abs(off).sum() <= one.l1_sensitivity
                assert max(off[off > 0].sum(), -off[off < 0].sum()) <= one.one_sided_sensitivity
                assert Fraction(int((off**2).sum())) <= one.l2_sensitivity**2


def test_codes_outside_count_as_the_nearest() -> None:
    """An error would tell that such a code is there."""
    held = reveal(CodedTable(DOMAIN, {"a": [-5, 7], "b": [2**40, 1], "c": [3, 0]}).marginals([(0,), (1,), (2,)]))
    assert [held[(i,)].tolist() for i in range(3)] == [[1, 1], [0, 1, 1], [2]]
    unsigned = np.array([2**64 - 1, 0], np.uint64)
    held = reveal(CodedTable(DOMAIN, {"a": unsigned, "b": unsigned, "c": unsigned}).marginals([(1,)]))
    assert held[(1,)].tolist() == [1, 0, 1]


def test_an_empty_table() -> None:
    held = reveal(table(DOMAIN, []).marginals(CLIQUES))
    assert all(not held[c].any() and held[c].size == DOMAIN.cells(c) for c in CLIQUES)


def test_counts_are_private() -> None:
    with pytest.raises(Error, match="private"):
        table(DOMAIN, [(0, 0, 0)]).marginals([(0,)])[0,]  # type: ignore[index]


def test_refused() -> None:
    good = np.zeros(3, np.int64)
    for bad in (np.zeros(3), np.zeros((3, 1), np.int64), np.zeros(2, np.int64), np.array(["x", "y", "z"])):
        with pytest.raises(Invalid, match="whole numbers, all of the same length"):
            CodedTable(DOMAIN, {"a": good, "b": bad, "c": good})
