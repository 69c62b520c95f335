"""Losses of bare guarantees: budgets as ceilings, and infinite loss without noise."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import Invalid
from discreet.loss.leaves import (
    Approx,
    GaussianLoss,
    Gdp,
    LaplaceLoss,
    Pure,
    Revealed,
    Zcdp,
)
from discreet.loss.loss import NOTHING


def test_budgets_are_ceilings() -> None:
    assert (10 * Pure(0.1)).within(Pure(1))
    assert not (10 * Pure(0.1) + Pure("1e-30")).within(Pure(1))
    assert (10 * Approx(0.1, 1e-10)).within(Approx(1, 1e-9))
    assert not (11 * Approx(0, 1e-10)).within(Approx(1, 1e-9))
    assert Pure(1).within(Approx(1, 0))
    assert (2 * Zcdp("1/4")).within(Zcdp("1/2"))
    assert not (2 * Zcdp("1/4") + Approx(0, 1e-20)).within(Zcdp("1/2"))
    assert (25 * Gdp("1/5")).within(Gdp(1))
    assert not (26 * Gdp("1/5")).within(Gdp(1))
    assert not Revealed().within(Approx(100, 0.999))
    assert NOTHING.within(Pure(0))
    assert (1000 * GaussianLoss("1/2500") + 1000 * LaplaceLoss("1/100")).within(Approx("3.307", 1e-6))
    with pytest.raises(Invalid, match="cannot serve as a budget"):
        Pure(1).within(LaplaceLoss(1))


def test_zero_noise_is_infinite_loss() -> None:
    for loss in (Revealed(), Revealed() + Pure(1), 3 * Revealed(), Revealed() | Pure(1), Revealed().group(2)):
        assert loss.epsilon_at(0.999) == math.inf
        assert loss.delta_at(1000) == 1
    assert 0 * Revealed() == NOTHING


def test_a_ceiling_of_each_notion_is_exact() -> None:
    for kind, limit in ((Pure, Fraction(1, 3)), (Zcdp, Fraction(1, 7)), (Gdp, Fraction(2, 5))):
        assert kind(limit).within(kind(limit))
        assert not kind(limit + Fraction(1, 10**30)).within(kind(limit))
        assert kind(limit / 2).below(kind(limit))
        assert not kind(limit).below(kind(limit / 2))
    assert not Zcdp("1e-9").within(Pure(100))
    assert not Zcdp("1e-9").within(Gdp(100))
    assert Approx("1/2", "1e-6").below(Approx("1/2", "1e-5"))
    assert not Approx("1/2", "1e-5").below(Approx("1/2", "1e-6"))
