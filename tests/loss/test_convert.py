"""The conversion theorems against independent evaluations, and the errata they are known for."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy import optimize
from scipy.stats import norm

from discreet.loss import convert


def test_basic_and_advanced_composition() -> None:
    assert convert.basic_composition([(0.1, 1e-9)] * 10) == (1, Fraction(1, 10**8))
    epsilon, delta = convert.advanced_composition(0.1, 1e-8, 100, 1e-6)
    assert float(epsilon) == pytest.approx(math.sqrt(200 * math.log(1e6)) * 0.1 + 10 * math.expm1(0.1), rel=1e-15)
    assert delta == Fraction(1, 10**6) + Fraction(1, 10**6)
    assert float(epsilon) < 10  # with e^ε + 1, as in some copies, it would be 26.3 and useless


def gaussian(mu: float, e: float) -> float:
    return float(norm.cdf(mu / 2 - e / mu) - math.exp(e + norm.logcdf(-mu / 2 - e / mu)))


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 5.0, 20.0])
def test_gaussian_profile(mu: float) -> None:
    square = Fraction(str(mu)) ** 2
    for e in (0.0, 0.01, 0.5, 2.0, 10.0):
        truth = gaussian(mu, e)
        if truth > 1e-9:
            assert convert.gaussian_delta(square, e) == pytest.approx(truth, rel=1e-6)
    for delta in (0.3, 1e-3, 1e-9, 1e-15, 1e-200):
        e = convert.gaussian_epsilon(square, delta)
        assert convert.gaussian_delta(square, Fraction(e)) <= delta
        assert e == 0 or convert.gaussian_delta(square, Fraction(e) * (1 - Fraction(1, 10**9))) > delta


def test_gaussian_far_out() -> None:
    assert 0 < convert.gaussian_delta(1, 30) < 1e-180
    assert convert.gaussian_delta(1, 1000) < 1e-300
    assert convert.gaussian_delta(10**6, 1) == pytest.approx(1)
    assert convert.gaussian_delta(Fraction(1, 10**30), 0) == pytest.approx(1e-15 / math.sqrt(2 * math.pi), rel=1e-9)


def test_budgets_are_the_inverses() -> None:
    for e, d in ((1, "1e-9"), ("1/10", "1e-5"), (8, "1e-3")):
        epsilon, delta = Fraction(e), Fraction(d)
        square = convert.gaussian_budget(epsilon, delta)
        assert convert.gaussian_within(square, epsilon, delta)
        assert not convert.gaussian_within(square * (1 + Fraction(1, 10**9)), epsilon, delta)
        rho = convert.zcdp_budget(epsilon, delta)
        assert convert.zcdp_epsilon(rho, delta) <= epsilon < convert.zcdp_epsilon(rho * (1 + Fraction(1, 10**9)), delta)
    assert convert.gaussian_budget(Fraction(1), Fraction(0)) == convert.zcdp_budget(Fraction(1), Fraction(0)) == 0


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.5, 10.0])
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-12])
def test_zcdp_minimises_over_orders(rho: float, delta: float) -> None:
    def cost(log_s: float) -> float:
        s = math.exp(log_s)
        return (1 + s) * rho + (-math.log(delta) + s * math.log(s / (1 + s)) - math.log(1 + s)) / s

    truth = max(0.0, optimize.minimize_scalar(cost, bounds=(-12, 16), method="bounded", options={"xatol": 1e-10}).fun)
    found = convert.zcdp_epsilon(rho, delta)
    assert truth * (1 - 1e-9) <= found <= truth * (1 + 1e-6) + 1e-12
    assert found == 0 or convert.zcdp_delta(rho, found) == pytest.approx(delta, rel=1e-4)
    assert found <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_zcdp_is_never_below_the_gaussian_it_covers() -> None:
    for square in (Fraction(1, 100), Fraction(1), Fraction(9)):
        for delta in (1e-2, 1e-6, 1e-12):
            assert convert.zcdp_epsilon(square / 2, delta) >= convert.gaussian_epsilon(square, delta)


def test_renyi_is_zcdp_at_one_order() -> None:
    assert convert.renyi_epsilon(5, "5/2", 1e-6) >= convert.zcdp_epsilon("1/2", 1e-6)
    e = convert.renyi_epsilon(5, "5/2", 1e-6)
    assert convert.renyi_delta(5, "5/2", Fraction(e)) == pytest.approx(1e-6, rel=1e-9)


def test_revealed_mass() -> None:
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    assert convert.left_after(tenth, convert.revealed_or(tenth, half)) == half
    assert convert.left_after(half, tenth) == 0
    assert convert.revealed_or(Fraction(1), Fraction(0)) == 1


def test_group_privacy() -> None:
    found = convert.group_delta(Fraction(1), Fraction(1, 10**6), 4)
    by_steps = 1e-6 * sum(math.exp(i) for i in range(4))  # triangle inequality, one unit at a time
    assert float(found) == pytest.approx(by_steps, rel=1e-14)
    assert found >= Fraction(by_steps) * (1 - Fraction(1, 10**15))
    assert convert.group_delta(Fraction(100), Fraction(1, 2), 1) == Fraction(1, 2)
    assert convert.group_delta(Fraction(1000), Fraction(1, 10**9), 2) == 1
