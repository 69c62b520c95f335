"""Nested parts: how many queries a small database may miss, by exact fractions and by enumeration; what levels cost."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.classical.nested import Nested, most_missed
from discreet.errors import Invalid
from discreet.loss.loss import compose

BUDGETS: list[dict[str, Any]] = [{"epsilon": "3/2"}, {"rho": "1/7"}]


@pytest.mark.parametrize(("queries", "part", "count", "beta"), [(12, 4, 9, 0.1), (40, 10, 1, 0.05), (30, 29, 10**6, 0.01), (9, 3, 2, 0.5)])
def test_how_many_can_be_missed(queries: int, part: int, count: int, beta: float) -> None:
    """h is the least whole number with |Y|·C(|Q|−h−1, k)/C(|Q|, k) ≤ β, in exact fractions."""
    h = most_missed(queries, part, math.log(count), beta)

    def chance(h: int) -> Fraction:
        return Fraction(count * math.comb(max(queries - h - 1, 0), part), math.comb(queries, part))

    assert chance(h) <= Fraction(str(beta))
    assert h == 0 or chance(h - 1) > Fraction(str(beta))


def test_the_worst_database_of_all_generalises() -> None:
    """All 35 databases of 4 rows over 4 values and all 16 queries with targets half-way: over all 1,820 parts of 12, too many are
    missed in no larger share than β."""
    queries = np.array(list(itertools.product((0, 1), repeat=4)))
    databases = [np.bincount(c, minlength=4) for c in itertools.combinations_with_replacement(range(4), 4)]
    bad = np.abs((np.array(databases) / 4 - [0.4, 0.3, 0.2, 0.1]) @ queries.T) > 0.15
    beta = 0.3
    h = most_missed(16, 12, math.log(len(databases)), beta)
    assert 0 < h < 4
    parts = [list(part) for part in itertools.combinations(range(16), 12)]
    failed = sum(any(not row[part].any() and row.sum() > h for row in bad) for part in parts)
    assert failed / len(parts) <= beta


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("sizes", [(), (20,), (30, 8)])
def test_the_levels_share_the_budget(budget: dict[str, Any], sizes: tuple[int, ...]) -> None:
    nested = Nested(size=60, domain=4, rows=8, sizes=sizes, **budget)
    assert len(nested.hits) == len(nested.rounds) == len(sizes)
    assert len(nested.losses) == 2 + sum(nested.hits)
    whole = compose(nested.losses)
    if "epsilon" in budget:
        assert whole.epsilon == Fraction("3/2")
    else:
        assert Fraction("0.99") / 7 < (whole.rho or 0) <= Fraction(1, 7)


def test_each_level_doubles_the_error_at_least() -> None:
    nested = Nested(size=1000, domain=4, rows=64, sizes=(300, 80), epsilon=10, records=10**4)
    levels = nested.levels(10**4)
    assert [level.queries for level in levels] == [80, 300, 1000]
    for below, above in itertools.pairwise(levels):
        assert above.threshold > below.database
        assert above.answers > above.threshold
        assert above.database >= 2 * above.answers > 2 * below.answers


def test_the_best_parts_are_no_worse_than_none() -> None:
    plain = Nested(size=500, domain=4, rows=16, epsilon=1, records=10**4)
    best = plain.best(10**4, 2**8)
    assert best.top_level("0.95", 10**4).answers <= plain.top_level("0.95", 10**4).answers
    assert best.top_level("0.99", 10**4).answers == math.inf  # surer than β allows


def test_parts_must_fall() -> None:
    for wrong in ((60,), (20, 20), (10, 20)):
        with pytest.raises(Invalid, match="sizes must decrease"):
            Nested(size=60, domain=4, rows=8, sizes=wrong, epsilon=1)
