"""The rates of smooth sensitivity against brute force: never too narrow a law, and none that could be narrower."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet import exact
from discreet.exact import Ball
from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity, _cauchy_rate


def cauchy_ratio(place: float, width: float) -> float:
    """The largest |ln of the ratio| of Cauchy laws at (0, 1) and (place, width), on a grid of angles, which covers the whole line."""
    t = np.tan(np.linspace(-math.pi / 2 + 1e-9, math.pi / 2 - 1e-9, 400_001))
    ratios = np.log(width) + np.log1p(t**2) - np.log((t - place) ** 2 + width**2)
    return float(np.abs(ratios).max())


def laplace_mass(epsilon: float, place: float, width: float) -> tuple[float, float]:
    """δ at ε between Laplace laws at (0, 1) and (place, width), each way round, by Gauss–Legendre on short pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-80 * width, 80 * width + place, 400_001)
    half = np.diff(edges)[:, None] / 2
    z, w = (edges[:-1, None] + half + half * nodes).ravel(), (half * weights).ravel()
    narrow, wide = np.exp(-np.abs(z)) / 2, np.exp(-np.abs(z - place) / width) / (2 * width)
    grow = math.exp(epsilon)
    return tuple(float(np.maximum(a - grow * b, 0) @ w) for a, b in ((wide, narrow), (narrow, wide)))  # type: ignore[return-value]


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "2", "5"])
def test_cauchy_noise_is_exactly_private(epsilon: str) -> None:
    mechanism = SmoothSensitivity(epsilon=epsilon, most=100)
    e, a, r = float(mechanism.epsilon), float(mechanism.rate), 1 + 1 / mechanism.smoothness
    worst = max(cauchy_ratio(share * a, width) for share in (0.5, 1) for width in np.linspace(1, r, 9))
    assert worst <= e * (1 + 1e-9)
    assert max(cauchy_ratio(a * 1.001, width) for width in (1, r)) > e  # a rate above is no longer private
    assert a > 1.7 * (e - math.log(r))  # what moving the width first and then the place would give


def test_the_cauchy_rate_at_one() -> None:
    assert float(SmoothSensitivity(epsilon=1, most=100).rate) == pytest.approx(2 * math.sinh(0.5), rel=1e-15)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/4", "1", "3", "1000"])
@pytest.mark.parametrize("m", [1, 2, 7, 10**6])
def test_the_cauchy_rate_is_within_the_theorem(epsilon: str, m: int) -> None:
    """Decided in balls: both conditions of the theorem hold for the rational that is used."""
    e = exact.positive(epsilon, "epsilon")
    with exact.precision(400):
        c: Ball = (exact.ball(e).exp() + (-exact.ball(e)).exp()) / 2 - 1
        left = 2 * (1 + 1 / exact.ball(m)) * c - 1 / exact.ball(m) ** 2
        if not left > 0:  # the width alone would tell too much: such an m is never used
            return
        a = exact.ball(_cauchy_rate(e, m))
        assert a**2 <= 2 * c
        assert a**2 <= left
        if e <= 64:
            larger = (a * (1 + exact.ball(2) ** -80)) ** 2
            assert larger > 2 * c or larger > left


LATER = [pytest.param(*one, marks=pytest.mark.slow) for one in (("1/2", "1/100"), ("1", "1e-6"), ("4", "1e-6"))]


@pytest.mark.parametrize(("epsilon", "delta"), [("2", "1e-4"), ("8", "1/1000"), *LATER])
def test_laplace_noise_is_exactly_private(epsilon: str, delta: Any) -> None:
    mechanism = SmoothSensitivity(epsilon=epsilon, delta=delta, most=100)
    e, a, m = float(mechanism.epsilon), float(mechanism.rate), mechanism.smoothness
    r = 1 + 1 / m
    for place in (0.0, a / 2, a):
        for width in (1, (1 + r) / 2, r):
            assert max(laplace_mass(e, place, width)) <= float(mechanism.delta) * (1 + 1e-6)
    formula = math.exp(-m * (e + math.log(r))) * math.cosh(m * a) / (m + 1)
    assert laplace_mass(e, a, r)[0] == pytest.approx(formula, rel=1e-5)
    assert laplace_mass(e, a * 1.01, r)[0] > float(mechanism.delta)
    assert a > 1.05 * e / 2
