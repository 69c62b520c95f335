"""Calibrated noise is within its ceiling, and no smaller noise is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import Invalid
from discreet.loss.calibrate import classic_gaussian_scale, gaussian_scale, gaussian_scale_zcdp, laplace_scale, least_scale
from discreet.loss.convert import gaussian_delta
from discreet.loss.leaves import Approx, GaussianLoss, LaplaceLoss, Pure, Zcdp

SMALLER = Fraction(10**9 - 1, 10**9)


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "1", "5", "30"])
@pytest.mark.parametrize("delta", ["1/10", "1e-5", "1e-9", "1e-15"])
def test_gaussian_scale_is_least(epsilon: str, delta: str) -> None:
    scale = gaussian_scale(epsilon, delta, 3)
    assert gaussian_delta(9 / scale**2, epsilon) <= Fraction(delta)
    assert gaussian_delta(9 / (scale * SMALLER) ** 2, epsilon) > Fraction(delta)
    assert GaussianLoss(9 / scale**2).within(Approx(epsilon, delta))
    assert scale.denominator.bit_length() < 64


def test_known_scales() -> None:
    assert float(gaussian_scale(1, 1e-5)) == pytest.approx(3.730631634944469, rel=1e-9)
    assert laplace_scale("1/3", 2) == 6
    assert gaussian_scale_zcdp("1/2", 5) == 5
    rho = Fraction(1, 3)
    scale = gaussian_scale_zcdp(rho)
    assert GaussianLoss(1 / scale**2).within(Zcdp(rho))
    assert not GaussianLoss(1 / (scale * SMALLER) ** 2).within(Zcdp(rho))


def test_the_textbook_is_sound_where_proven_and_refused_elsewhere() -> None:
    for constant in (1.25, 2):
        scale = classic_gaussian_scale(0.5, 1e-5, 2, constant)
        assert scale > gaussian_scale(0.5, 1e-5, 2)
        assert gaussian_delta(4 / scale**2, 0.5) <= 1e-5
    for epsilon, constant in ((1, 1.25), (10, 1.25), (0.5, 1)):
        with pytest.raises(Invalid):
            classic_gaussian_scale(epsilon, 1e-5, 1, constant)


def test_the_textbook_is_false_for_large_epsilon() -> None:
    scale = Fraction(classic_gaussian_scale("1/10", 1e-5)) / 100  # the formula at ε = 10
    assert gaussian_delta(1 / scale**2, 10) > 2e-5


def test_least_scale_for_a_composition() -> None:
    ceiling = Approx(1, 1e-6)
    scale = least_scale(lambda b: 30 * LaplaceLoss(1 / b) + GaussianLoss(1 / (2 * b) ** 2), ceiling, bits=12)
    assert (30 * LaplaceLoss(1 / scale) + GaussianLoss(1 / (2 * scale) ** 2)).within(ceiling)
    assert not (30 * LaplaceLoss(1 / (scale * Fraction(99, 100)))).within(ceiling)
    assert least_scale(lambda b: 4 * Pure(1 / b), Pure(1)) == 4
    with pytest.raises(Invalid, match="no amount"):
        least_scale(lambda b: Pure(1), Pure("1/2"))


def test_impossible_requests() -> None:
    for bad in (lambda: gaussian_scale(1, 0), lambda: laplace_scale(0), lambda: gaussian_scale_zcdp(0), lambda: laplace_scale(1, 0)):
        with pytest.raises(Invalid):
            bad()
