"""Charges: rounded up to the grid, added and subtracted exactly, ∞ kept apart, and read back as written."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from loss.test_loss import losses

from discreet import exact
from discreet.errors import Invalid
from discreet.loss.charge import MOST, NOTHING, Charge
from discreet.loss.leaves import Approx, GaussianLoss, Pure, Revealed, Zcdp
from discreet.loss.loss import Loss

STEP = Fraction(1, exact.GRID)


def amounts(charge: Charge) -> list[Fraction | None]:
    return [*charge.basic, charge.rho, charge.mu_squared, charge.delta]


@settings(max_examples=60, deadline=None)
@given(losses)
def test_every_amount_is_the_losses_own_rounded_up(loss: Loss) -> None:
    charge = Charge.of(loss, pure=False)
    true = [*loss.basic, loss.rho, loss.mu_squared, loss.delta]
    for charged, amount in zip(amounts(charge), true, strict=True):
        if amount is None or charged is None:
            assert charged is amount is None
        else:
            assert amount <= charged < amount + STEP
            assert exact.GRID % charged.denominator == 0


def test_a_budget_without_delta_asks_for_basic_composition_alone() -> None:
    pure = Charge.of(Pure("1/2"))
    assert amounts(pure) == [Fraction(1, 2), 0, None, None, 0]
    assert Charge.of(Pure("1/2"), pure=False).rho is not None


def test_infinite_amounts_stay_infinite() -> None:
    gaussian = Charge.of(GaussianLoss(1), pure=False)
    assert gaussian.basic[0] is None
    assert gaussian.plus(Charge.of(Pure(1), pure=False)).basic[0] is None
    assert gaussian.minus(Charge.of(Pure(1), pure=False)).basic[0] is None
    assert Charge.of(Revealed(), pure=False).delta == 1
    assert Charge.of(Pure(MOST), pure=False).basic[0] == MOST
    assert Charge.of(Pure(MOST + 1), pure=False).basic[0] is None


def test_sums_and_remainders() -> None:
    third, half = (Charge.of(Approx(epsilon, "1e-9"), pure=False) for epsilon in ("1/3", "1/2"))
    both = third.plus(half)
    assert amounts(both) == [a + b for a, b in zip(amounts(third), amounts(half), strict=True)]  # type: ignore[operator]
    assert both.minus(third) == half
    assert third.minus(both) == NOTHING
    assert third.plus(NOTHING) == third
    ten = NOTHING
    for _ in range(10):
        ten = ten.plus(Charge.of(Pure(0.1)))
    assert ten.basic == (1, 0)


def test_either_covers_each() -> None:
    parts = [Approx(1, "1e-9"), Approx("1/2", "1e-6"), Pure(2)]
    cover = Charge.either(parts)
    for loss in parts:
        for most, one in zip(amounts(cover), amounts(Charge.of(loss, pure=False)), strict=True):
            assert most is not None
            assert one is not None
            assert most >= one
    assert cover.basic == (2, Fraction(1, 10**6))
    assert Charge.either([Zcdp(1), Pure(1)]).basic[0] is None


@settings(max_examples=40, deadline=None)
@given(losses)
def test_round_trip(loss: Loss) -> None:
    charge = Charge.of(loss, pure=False)
    assert Charge.from_json(json.loads(json.dumps(charge.to_json()))) == charge


@pytest.mark.parametrize(
    "change",
    [
        {"basic": 1},
        {"basic": ["1"]},
        {"basic": ["-1", "0"]},
        {"basic": ["1/3", "0"]},
        {"rho": "x"},
        {"delta": None},
        {"mu_squared": []},
    ],
    ids=str,
)
def test_what_is_no_charge_is_invalid(change: dict[str, Any]) -> None:
    record = Charge.of(Pure(1), pure=False).to_json()
    assert Charge.from_json(record) == Charge.of(Pure(1), pure=False)
    with pytest.raises(Invalid, match="record of a charge"):
        Charge.from_json(record | change)
    with pytest.raises(Invalid, match="record of a charge"):
        Charge.from_json({key: value for key, value in record.items() if key not in change})
