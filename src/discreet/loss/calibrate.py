"""Calibration: the least noise within a ceiling, rounded up to short rationals so that the loss provably does not exceed the ceiling."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number, ball
from discreet.loss.certify import rational_above, short_above
from discreet.loss.convert import gaussian_budget
from discreet.loss.loss import Loss

_BITS = 40  # of a scale: finer than any use needs, and short enough to read and to compute with


def laplace_scale(epsilon: Number, sensitivity: Number = 1) -> Fraction:
    """The scale b of Laplace noise for ε, exactly.

    Theorem (Dwork, McSherry, Nissim & Smith 2006).
        Noise of scale b = Δ/ε on a vector of ℓ₁ sensitivity Δ is ε-DP.

    >>> laplace_scale(0.1, 3)
    Fraction(30, 1)
    """
    return exact.positive(sensitivity, "sensitivity") / exact.positive(epsilon, "epsilon")


def gaussian_scale(epsilon: Number, delta: Number, sensitivity: Number = 1) -> Fraction:
    """The least σ of Gaussian noise for (ε, δ).

    Theorem (Balle & Wang 2018, theorem 8).
        Noise of standard deviation σ on a vector of ℓ₂ sensitivity Δ is (ε, δ)-DP if and only if, with μ = Δ/σ,
        Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) ≤ δ.

    >>> float(gaussian_scale(1, 1e-5))
    3.7306...
    """
    target, mass = exact.non_negative(epsilon, "epsilon"), exact.probability(delta, "delta")
    square = gaussian_budget(target, mass)
    if square == 0:
        raise Invalid("Gaussian noise needs delta > 0: give a delta, or use Laplace noise")
    return _scale_for(square, exact.positive(sensitivity, "sensitivity"))


def gaussian_scale_zcdp(rho: Number, sensitivity: Number = 1) -> Fraction:
    """The σ of Gaussian noise for ρ-zCDP.

    Theorem (Bun & Steinke 2016, proposition 6).
        Noise of standard deviation σ = Δ/√(2ρ) on a vector of ℓ₂ sensitivity Δ is ρ-zCDP.

    >>> gaussian_scale_zcdp("1/2")
    Fraction(1, 1)
    """
    return _scale_for(2 * exact.positive(rho, "rho"), exact.positive(sensitivity, "sensitivity"))


def _scale_for(square: Fraction, sensitivity: Fraction) -> Fraction:
    """A short σ with (Δ/σ)² ≤ square, decided exactly."""
    scale = short_above(rational_above(lambda: ball(sensitivity) / ball(square).sqrt()), _BITS)
    shorter = Fraction(round(scale)) if scale > 1 else scale
    return shorter if sensitivity**2 <= square * shorter**2 and abs(shorter - scale) * 2**30 < scale else scale


def classic_gaussian_scale(epsilon: Number, delta: Number, sensitivity: Number = 1, constant: Number = 1.25) -> Fraction:
    """The textbook's σ, whose variance is about half as large again as needed.

    Theorem (Dwork & Roth 2014, theorem A.1).
        For 0 < ε < 1, noise of standard deviation σ = √(2 ln(c/δ))·Δ/ε with c ≥ 5/4 is (ε, δ)-DP.

    Erratum. The sensitivity is in ℓ₂; the theorem is not proven for ε ≥ 1, and false for large ε.

    >>> float(classic_gaussian_scale(0.5, 1e-5))
    9.689...
    """
    e, mass = exact.positive(epsilon, "epsilon"), exact.positive(delta, "delta")
    c, change = exact.rational(constant, "constant"), exact.positive(sensitivity, "sensitivity")
    if not 0 < e < 1:
        raise Invalid(
            "the textbook's formula is proven for 0 < epsilon < 1 only: use discreet.Gaussian(epsilon=…, delta=…), "
            "which adds the least noise at every epsilon"
        )
    if not mass < 1:
        raise Invalid("delta must be below 1")
    if c < Fraction(5, 4):
        raise Invalid("the constant must be at least 1.25")
    return short_above(rational_above(lambda: (2 * (ball(c) / ball(mass)).log()).sqrt() * ball(change) / ball(e)), _BITS)


def least_scale(loss_of_scale: Callable[[Fraction], Loss], ceiling: Loss, bits: int = 24) -> Fraction:
    """A scale, within 2^−bits of the least, at which a mechanism's loss is within the ceiling; the loss must fall as the scale grows.

    Theorem (monotone search).
        The scale returned was itself tested: its loss is within the ceiling, whatever the shape of the loss.

    >>> from discreet.loss.leaves import LaplaceLoss, Pure
    >>> float(least_scale(lambda b: 10 * LaplaceLoss(1 / b), Pure(1)))
    10.0
    """

    def holds(scale: Fraction) -> bool:
        return loss_of_scale(scale).within(ceiling)

    high = Fraction(1)
    for _ in range(200):
        if holds(high):
            break
        high *= 2
    else:
        raise Invalid("no amount of noise brings this mechanism within the ceiling: raise the ceiling")
    low = high / 2
    while holds(low) and low > Fraction(1, 2**200):
        low, high = low / 2, low
    while high - low > high / 2**bits:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
