"""Prices as text: an ε and a δ, and the privacy loss of groups of several units."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.loss.loss import Loss
from discreet.loss.promise import GROUPS, group_price

_SHORT = 1e-4  # smaller numbers are written as powers of ten


def amount(value: Fraction) -> str:
    """An ε or a δ in few digits.

    >>> amount(Fraction(1, 2)), amount(Fraction(1, 3)), amount(Fraction(1, 32_000_000))
    ('0.5', '0.3333', '3.1e-08')
    """
    return f"{float(value):.2g}" if 0 < value < _SHORT else f"{float(value):.4g}"


def price(epsilon: Fraction, delta: Fraction = Fraction(0)) -> str:
    """A price as text; a δ of 0 is left out.

    >>> price(Fraction(1, 2)), price(Fraction(1), Fraction(1, 10**6))
    ('ε = 0.5', 'ε = 1, δ = 1e-06')
    """
    return f"ε = {amount(epsilon)}" + (f", δ = {amount(delta)}" if delta else "")


def group_loss_lines(loss: Loss, epsilon: Fraction, delta: Fraction) -> list[str]:
    """The privacy loss of groups of several units: by the best route, and never more than group privacy of its (ε, δ).

    >>> from discreet.loss.notions import Approx
    >>> group_loss_lines(Approx("1/2", "1e-6"), Fraction(1, 2), Fraction("1e-6"))[0]
    'for 2 units together: ε = 1 and δ = 2.6e-06'
    """
    lines = []
    for k in GROUPS:
        cost, mass = group_price(loss, epsilon, delta, k)
        told = f"ε = {cost:.4g}" + (f" and δ = {float(mass):.2g}" if mass else "")
        lines.append(f"for {k} units together: {told if math.isfinite(cost) else 'no guarantee'}")
    return lines
