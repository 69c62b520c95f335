"""Limits of one question and of a session; what was not charged is not counted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.agents.limits import DAY, Limits, Spending
from discreet.errors import BudgetExceeded, Invalid


def test_one_question() -> None:
    limits = Limits("0.3", 1, 0.1)
    limits.require(Fraction(3, 10))
    with pytest.raises(BudgetExceeded, match=r"at most ε = 0\.3 .* costs 0\.4"):
        limits.require(Fraction(4, 10))
    assert [limits.needs_confirmation(Fraction(one, 100)) for one in (10, 11)] == [False, True]
    with pytest.raises(Invalid, match="not be negative"):
        Limits(-1)


def test_a_session_lasts_a_day() -> None:
    now = [0.0]
    spending = Spending(Fraction(1), lambda: now[0])
    spending.take(Fraction(3, 5))
    with pytest.raises(BudgetExceeded, match=r"may spend ε = 0\.4 more"):
        spending.take(Fraction(1, 2))
    take_back = spending.take(Fraction(2, 5))
    assert spending.left == 0
    take_back()
    assert spending.left == Fraction(2, 5)
    now[0] = DAY
    assert spending.left == 1
