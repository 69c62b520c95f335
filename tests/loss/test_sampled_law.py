"""Laws on random samples: just above the closed profile in every direction, and never below."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from discreet.loss import law as laws
from discreet.loss.sampled_law import SampledLaw, Side

STEP = 2.0**-10


def gaussian(mu: float) -> Callable[[float], float]:
    return lambda e: float(norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu))


def laplace(epsilon: float) -> Callable[[float], float]:
    def profile(e: float) -> float:
        if e >= epsilon:
            return 0.0
        return -math.expm1((e - epsilon) / 2) if e > -epsilon else -math.expm1(e)

    return profile


BASES: list[tuple[laws.LossLaw, Callable[[float], float]]] = [
    (laws.NormalLaw(Fraction(1)), gaussian(1.0)),
    (laws.NormalLaw(Fraction(1, 16)), gaussian(0.25)),
    (laws.BoundedLaw(1.0, 0.5, 0.0, 0.25), laplace(1.0)),
]


def truth(profile: Callable[[float], float], q: float, side: Side, e: float) -> float:
    """The profile of the mixture in each direction, from that of the base."""

    def removed(e: float) -> float:
        inner = 1 + math.expm1(e) / q
        return q * profile(math.log(inner)) if inner > 0 else -math.expm1(e)

    def added(e: float) -> float:
        return -math.expm1(e) + math.exp(e) * removed(-e)

    return {"removed": removed, "added": added, "replaced": lambda e: max(removed(e), added(e))}[side](e)


def hockey_stick(law: laws.LossLaw, epsilon: float) -> float:
    dots = law.dots(STEP, *law.extent(0.0, 60.0))
    losses = STEP * (dots.low + np.arange(len(dots.mass))) + dots.shift
    above = losses > epsilon
    return float((dots.mass[above] * -np.expm1(epsilon - losses[above])).sum()) + dots.above


@pytest.mark.parametrize("side", ["removed", "added", "replaced"])
@pytest.mark.parametrize("rate", ["1/100", "1/3", "19/20"])
@pytest.mark.parametrize("base", range(len(BASES)))
def test_dots_lie_just_above_the_profile(base: int, rate: str, side: Side) -> None:
    inner, profile = BASES[base]
    law = SampledLaw(inner, Fraction(rate), side)
    for e in (-0.5, -0.1, -0.003, 0.0, 0.002, 0.01, 0.1, 0.5, 1.0):
        true = truth(profile, float(Fraction(rate)), side, e)
        assert true - 1e-13 <= hockey_stick(law, e) <= true + 1e-4
    shy = SampledLaw(inner, Fraction(rate) * Fraction(9, 10), side)
    assert hockey_stick(shy, 0.0) < truth(profile, float(Fraction(rate)), side, 0.0) * 0.95


def test_what_has_no_loss_is_the_centre() -> None:
    """Replacing is symmetric: each loss has e^−ℓ of its mass at −ℓ, and all masses add up to 1."""
    dots = SampledLaw(laws.NormalLaw(Fraction(1)), Fraction(1, 4), "replaced").dots(2.0**-6, -4.0, 4.0)
    losses = 2.0**-6 * (dots.low + np.arange(len(dots.mass)))
    assert dots.mass.sum() + dots.above == pytest.approx(1, abs=1e-9)
    assert (dots.mass * np.exp(-losses)).sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("side", ["removed", "added"])
@pytest.mark.parametrize("rate", [0.01, 0.4])
def test_moments_are_bounded_from_above(rate: float, side: Side) -> None:
    law = SampledLaw(laws.NormalLaw(Fraction(1)), Fraction(str(rate)), side)
    for s in (0.5, 2.0, 5.0, 12.0):

        def integrand(x: float, s: float = s) -> float:
            mixed = math.log1p(rate * math.expm1(x))  # x has the law N(−½, 1) under Q
            return math.exp((s + 1 if side == "removed" else -s) * mixed) * math.exp(-((x + 0.5) ** 2) / 2) / math.sqrt(2 * math.pi)

        true = math.log(integrate.quad(integrand, -12, 30, limit=400, points=[-3, 0, 3, 8, 13])[0])
        found = float(law.log_moment(np.array([s]))[0])
        assert true - 1e-9 <= found <= true * 1.01 + 1e-3


def test_extreme_bases_stay_in_range() -> None:
    law = SampledLaw(laws.NormalLaw(Fraction(10**6)), Fraction(1, 100), "removed")
    assert law.moments(0.0, 40.0) == (math.inf, math.inf)
    assert np.isfinite(law.log_moment(np.array([1e-3]))).all()
