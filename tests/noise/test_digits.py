"""The second sampler of the discrete Laplace law, against the first and against its own theorem."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scripted import Seeded

from discreet import exact
from discreet.noise.digits import DigitLaplace
from discreet.noise.laplace import DiscreteLaplace, Geometric


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(37, 10), Fraction(143), Fraction(12345, 7)], ids=str)
def test_two_implementations_agree(scale: Fraction) -> None:
    """Digits and inversion, 200,000 fixed draws each: the distribution functions differ by less than the 1e-9 quantile of Kolmogorov's."""
    n = 200_000
    a = np.sort(DiscreteLaplace(scale).sample(n, Seeded(11)))
    b = np.sort(DigitLaplace(scale).sample(n, Seeded(12)))
    grid = np.arange(int(min(a[0], b[0])), int(max(a[-1], b[-1])) + 1)
    gap = np.abs(np.searchsorted(a, grid, "right") - np.searchsorted(b, grid, "right")).max() / n
    assert gap < math.sqrt(-math.log(1e-9 / 2) / 2 * 2 / n)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(3)], ids=str)
def test_digit_thresholds_are_exact(scale: Fraction) -> None:
    """The product formula itself: Π over digits gives the geometric law, in balls, for every number below 2⁸."""
    with exact.precision(256):
        ones = [DigitLaplace(scale)._digit(i) for i in range(12)]
        high = 1 - (-exact.ball(2**12) / exact.ball(scale)).exp()  # P[G < 2¹²]
        for g in range(256):
            product = exact.ball(1)
            for i, p in enumerate(ones):
                product *= p if g >> i & 1 else 1 - p
            assert (product * high).overlaps(Geometric(scale).mass(g))
