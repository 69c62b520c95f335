"""The base of boosting: what it costs, how many draws its theorem needs, and how near its answers are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scripted import Seeded

from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.synthesis import BoundedBase, FewRows, draws_needed, edge_of
from discreet.errors import Invalid

QUERIES = Queries.thresholds(4)
DATA = [400, 100, 0, 500]


def base(**more: Any) -> FewRows:
    return FewRows(**({"queries": QUERIES, "rows": 200, "draws": 6, "share": BudgetShare.of(epsilon=1)} | more))


@pytest.mark.parametrize("budget", [{"epsilon": "3/2"}, {"rho": "1/7"}], ids=str)
def test_one_synthesis_costs_its_share(budget: dict[str, Any]) -> None:
    """The noise covers the drawn queries and the number of records: seven numbers, each of sensitivity top."""
    share = BudgetShare.of(**budget)
    made = base(share=share)
    if share.epsilon is not None:
        assert made.loss.epsilon == share.epsilon
        assert made.measuring.sensitivity == 7
    else:
        assert share.rho is not None
        assert share.rho * Fraction(999, 1000) < (made.loss.rho or 0) <= share.rho
        assert 7 <= made.measuring.sensitivity**2 < 7 + Fraction(1, 10**9)


@pytest.mark.parametrize(("domain", "rows", "beta"), [(2, 3, "0.1"), (4, 10, "0.001"), (16, 40, "1e-6")])
def test_the_least_number_of_draws(domain: int, rows: int, beta: str) -> None:
    """(¾)ᵏ·|Y| ≤ β for k draws and not for one fewer, in exact fractions."""
    k = draws_needed(domain, rows, beta)
    assert Fraction(3, 4) ** k * small_databases(domain, rows) <= Fraction(beta) < Fraction(3, 4) ** (k - 1) * small_databases(domain, rows)


def test_a_bound_is_stated_only_with_enough_draws() -> None:
    needed = draws_needed(4, 200, Fraction(1, 40))
    few, enough = base(draws=needed - 1), base(draws=needed)
    assert isinstance(enough, BoundedBase)
    bound = few.error_bound(Fraction(19, 20), 1000, Fraction(1, 4))
    assert bound == (math.inf, f"{needed - 1} drawn queries are too few to represent the others: use draws={needed}")
    assert enough.error_bound(Fraction(19, 20), 1000, Fraction(1, 4)) == (enough.near(Fraction(39, 40), 1000), "")


def test_the_drawn_queries_are_as_near_as_stated() -> None:
    made, drawn = base(draws=4, share=BudgetShare.of(epsilon=20)), np.arange(4)
    near = made.near(1 - Fraction(1, 10**6), 1000)
    assert near < 400
    for seed in range(50):
        answers = made.sample(DATA, drawn, Seeded(seed))
        assert np.abs(answers - QUERIES.answers(DATA)).max() <= near


def test_wrong_input() -> None:
    with pytest.raises(Invalid, match="expects 6 drawn queries"):
        base().sample(DATA, np.arange(3), Seeded(0))
    with pytest.raises(Invalid, match="4 values"):
        base().check([1, 2, 3])
    for wrong in (0, "1/2", 1, -1):
        with pytest.raises(Invalid, match="edge"):
            edge_of(wrong)
