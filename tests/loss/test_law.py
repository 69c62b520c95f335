"""Discretised loss laws: just above the true privacy profile, and never below."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate

from discreet.loss import law as laws
from discreet.loss.leaves import BoundedRange


def hockey_stick(law: laws.LossLaw, epsilon: float) -> float:
    dots = law.dots(2.0**-9, *law.extent(0.0, 60.0))
    losses = 2.0**-9 * (dots.low + np.arange(len(dots.mass)))
    above = losses > epsilon
    return float((dots.mass[above] * -np.expm1(epsilon - losses[above])).sum()) + dots.above


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_dots_lie_just_above_the_profile(epsilon: float) -> None:
    """Closed-form profiles: Laplace 1 − e^{(e−ε)/2}, bounded range (1 − e^{(e−ε)/2})²/(1 − e^−ε), Gaussian by quadrature."""
    for e in np.linspace(-0.9 * epsilon, 0.99 * epsilon, 23):
        truth = -math.expm1((e - epsilon) / 2)
        assert truth * (1 - 1e-12) <= hockey_stick(laws.BoundedLaw(epsilon, 0.5, 0.0, 0.25), e) <= truth + 2e-5
        range_law = (BoundedRange(str(epsilon)).laws or ())[0][0]
        truth = truth**2 / -math.expm1(-epsilon)
        assert truth * (1 - 1e-12) <= hockey_stick(range_law, e) <= truth + 2e-5
        mu = epsilon

        def density(loss: float, mu: float = mu, e: float = float(e)) -> float:
            z = (loss - mu * mu / 2) / mu
            return -math.expm1(e - loss) * math.exp(-z * z / 2) / (mu * math.sqrt(2 * math.pi))

        truth = integrate.quad(density, e, mu * mu / 2 + 12 * mu, epsabs=1e-13)[0]
        normal = laws.NormalLaw(Fraction(str(mu)) ** 2)
        assert truth - 1e-12 <= hockey_stick(normal, float(e)) <= truth + 2e-5


def test_an_optimistic_law_would_be_caught() -> None:
    """The check of the checks: a law that puts a hair less mass on top fails the comparison above."""
    shy = laws.BoundedLaw(1.0, 0.5 * 0.999, 0.0, 0.25)
    assert hockey_stick(shy, 0.5) < -math.expm1(-0.25) * (1 - 1e-12)
