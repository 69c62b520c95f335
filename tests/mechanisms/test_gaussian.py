"""The Gaussian mechanism: calibration, stated error, and the textbook's constants."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve
from scipy import stats
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms import sensitivity, textbook
from discreet.mechanisms.gaussian import Gaussian
from discreet.private import Private


def delta_of(scale: float, moved: float, epsilon: float) -> float:
    mu = moved / scale
    return float(stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize("moved", [1, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-3), (10, 1e-9)])
def test_the_scale_is_the_least_that_is_private(epsilon: float, delta: float, moved: int) -> None:
    scale = float(Gaussian(epsilon=epsilon, delta=delta, sensitivity=moved).scale)
    assert delta_of(scale, moved, epsilon) <= delta * (1 + 1e-6)
    assert delta_of(scale * (1 - 1e-4), moved, epsilon) > delta


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_the_whole_error_is_the_least_that_holds(size: int) -> None:
    for scale in (0.4, 3, 20):
        mechanism = Gaussian(scale=scale)
        law = laws.rounded_gaussian(scale, 400)
        for confidence in (0.5, 0.95, 0.999):
            k = mechanism.error(confidence, size)

            def inside(k: float, law: dict[int, float] = law) -> float:
                return math.fsum(p for z, p in law.items() if abs(z) <= k) ** size

            assert inside(k) >= confidence - 1e-12
            assert k == 0 or inside(k - 1) < confidence


def test_the_real_error_is_the_quantile_and_half_a_step() -> None:
    """K = 1000, β = 0.05: 4.05 against the union bound's 4.60."""
    mechanism = Gaussian(scale=1)
    assert evolve(mechanism, whole=False).error(0.95, 1000) == pytest.approx(4.05, abs=5e-3)
    assert textbook.gaussian_sup(1000, 0.05, 1) == pytest.approx(4.60, abs=5e-3)
    for size in (1, 10, 1000):
        for confidence in (0.5, 0.95, 0.9999):
            t = evolve(mechanism, whole=False).error(confidence, size)
            assert t == pytest.approx(stats.norm.ppf((1 + confidence ** (1 / size)) / 2), abs=1e-4)
            assert t - 2.0**-17 <= textbook.gaussian_sup(size, 1 - confidence, 1)


def test_the_error_of_a_histogram_under_replacement() -> None:
    """√2 is not whole, yet counts stay whole: the rounded noise passes 9.8 as often as Z passes 9.5, more than 5 %."""
    mechanism = Gaussian(scale=5, sensitivity=sensitivity.histogram("replace-one").l2)
    assert isinstance(mechanism.release(3), int)
    law = laws.rounded_gaussian(5, 200)
    assert math.fsum(p for z, p in law.items() if abs(z) > mechanism.error(0.95)) <= 0.05


def test_the_classic_constants() -> None:
    for constant, function in (("1.25", textbook.gaussian_constant_dwork_roth), ("2", textbook.gaussian_constant_lecture)):
        classic = Gaussian.classic(epsilon=0.5, delta=1e-5, sensitivity=2, constant=constant)  # type: ignore[arg-type]
        assert float(classic.scale) == pytest.approx(function(1e-5) * 2 / 0.5, rel=1e-9)
        assert classic.scale > Gaussian(epsilon=0.5, delta=1e-5, sensitivity=2).scale
        assert delta_of(float(classic.scale), 2, 0.5) < 1e-5
    for epsilon in (1, 10):
        with pytest.raises(Invalid, match=r"discreet\.Gaussian\(epsilon=…, delta=…\)"):  # what a user can type
            Gaussian.classic(epsilon=epsilon, delta=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"epsilon": 1}, {"delta": 0.1}, {"rho": 1, "epsilon": 1}, {"epsilon": 1, "delta": 0}, {"scale": 0}, {"rho": -1}, {"rho": None}],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Gaussian(**wrong)


def test_zcdp() -> None:
    mechanism = Gaussian(rho="1/8", sensitivity=3)
    assert mechanism.scale**2 >= Fraction(9) / (2 * Fraction(1, 8))
    assert mechanism.loss.rho is not None
    assert mechanism.loss.rho <= Fraction(1, 8)


@pytest.mark.parametrize("answer", [math.nan, math.inf, 1e308, 10**400, None, [math.nan, 10.0], [10**400, 1]])
def test_private_answers_are_total(answer: Any) -> None:
    Gaussian(rho=1).release(Private(answer))
