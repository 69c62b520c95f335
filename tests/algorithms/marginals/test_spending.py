"""Accounts: what a mechanism bought for a price costs, in both currencies, and that nothing is used unpaid."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.errors import Invalid
from discreet.loss.leaves import GaussianLoss, Zcdp
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private

PRICES = [Fraction(10) ** k for k in range(-12, 7)] + [Fraction(1, 3), Fraction(14973, 10**6), Fraction(7, 11)]
BUDGETS = [MeasurementBudget.zcdp, MeasurementBudget.gdp]


@pytest.mark.parametrize("make", BUDGETS)
@pytest.mark.parametrize("length", [Fraction(1), Fraction(14143, 10000), Fraction(2**30 + 1, 3)])
def test_gaussian_noise_costs_its_price_and_no_more(make: object, length: Fraction) -> None:
    for price in PRICES:
        budget = make(price)  # type: ignore[operator]
        paid = budget.price(Spending(budget).gaussian(price, length).loss)
        assert price * (1 - Fraction(1, 10**5)) <= paid <= price


@pytest.mark.parametrize("make", BUDGETS)
def test_a_choice_costs_its_price_and_no_more(make: object) -> None:
    for price in PRICES:
        budget = make(price)  # type: ignore[operator]
        mechanism = Spending(budget).selection(price, 6)
        paid = budget.price(mechanism.loss)
        assert paid <= price
        assert mechanism.sensitivity == 6
        assert mechanism.monotone is False
        if 10**-9 <= price <= Fraction(1, 100):
            assert paid >= price * Fraction(99, 100)  # where ε is small the bound is tight


def test_what_is_claimed() -> None:
    assert MeasurementBudget.zcdp("0.1").loss == Zcdp(Fraction(1, 10))
    assert MeasurementBudget.gdp("0.1").loss == GaussianLoss(Fraction(1, 10))


def test_every_use_is_paid_and_kept() -> None:
    spending = Spending(MeasurementBudget.zcdp(1))
    mechanism = spending.gaussian(Fraction(1, 3), Fraction(1))
    for i in range(3):
        assert spending.used == pytest.approx(i / 3, abs=1e-9)
        spending.release(f"step {i}", mechanism, Private([0]))
    assert [what for what, _ in spending.losses] == ["step 0", "step 1", "step 2"]
    assert sum(loss.rho for _, loss in spending.losses) == 1 - spending.left
    with pytest.raises(Invalid, match="more than what is left"):
        spending.release("step 3", mechanism, Private([0]))
    assert len(spending.losses) == 3


def test_a_refused_step_is_not_run() -> None:
    spending = Spending(MeasurementBudget.zcdp("0.1"))
    with pytest.raises(Invalid, match="more than what is left"):
        spending.release(
            "too dear", Spending(MeasurementBudget.zcdp(1)).gaussian(Fraction(1), Fraction(1)), None
        )  # None would fail if it were read
    assert spending.left == Fraction(1, 10)


def test_other_mechanisms_are_priced_by_the_currency() -> None:
    assert MeasurementBudget.zcdp(1).price(Laplace(epsilon=1).loss) < Fraction(1, 2)
    with pytest.raises(Invalid, match="positive"):
        MeasurementBudget.zcdp(0)
