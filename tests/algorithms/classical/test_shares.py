"""Shares of a budget: what is made from them costs at most that, in ε and in ρ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.algorithms.classical.shares import BudgetShare
from discreet.errors import Invalid
from discreet.loss.loss import compose


@pytest.mark.parametrize("rho", ["1e-9", "1/1000", "1/3", 2, 50])
def test_what_is_made_of_rho_costs_at_most_rho(rho: Any) -> None:
    share, limit = BudgetShare.of(rho=rho), Fraction(rho)
    for made in (share.count(3), share.choice(3), share.test(7, 3)):
        assert made.loss.rho is not None
        assert made.loss.rho <= limit
    assert share.count(3).loss.rho > limit * (1 - Fraction(1, 10**6))  # type: ignore[operator]
    if limit < 1:  # √(8ρ) and √(2ρ) are tight for small ρ
        for made in (share.choice(3), share.test(7, 3)):
            assert made.loss.rho > limit * Fraction(9, 10) or limit > Fraction(1, 10)  # type: ignore[operator]


def test_parts_of_epsilon_are_exact() -> None:
    share = BudgetShare.of(epsilon="7/3").part(5, 2)
    assert share.count(2).loss.epsilon == share.choice(2).loss.epsilon == share.test(0, 2).loss.epsilon == Fraction(14, 15)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-9"), ("5", "1e-3")])
def test_of_epsilon_and_delta_the_better(epsilon: str, delta: str) -> None:
    """Few parts stay pure, many become ρ; either way all parts together are (ε, δ), and each is about as good as the pure one or better."""
    kinds = []
    for parts in (1, 2, 5, 20, 100, 1000):
        share = BudgetShare.of(epsilon, delta=delta, parts=parts).part(parts)
        kinds.append(share.rho is None)
        for made in (share.count(1), share.choice(1), share.test(0, 1)):
            assert compose(parts * [made.loss]).epsilon_at(Fraction(delta)) <= float(epsilon)
        pure = BudgetShare.of(epsilon).part(parts)
        assert share.choice(1).epsilon >= pure.choice(1).epsilon
        assert share.count(1).error(size=10) <= pure.count(1).error(size=10) * 1.2
    assert kinds == sorted(kinds, reverse=True)
    assert not kinds[-1]
    assert BudgetShare.of(epsilon, delta=0, parts=1000) == BudgetShare.of(epsilon)


def test_one_of_the_two() -> None:
    budgets: list[dict[str, Any]] = [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": -1}]
    for wrong in [*budgets, {"rho": 1, "delta": "1e-6"}, {"delta": "1e-6"}, {"epsilon": 1, "delta": 1}]:
        with pytest.raises(Invalid):
            BudgetShare.of(**wrong)
