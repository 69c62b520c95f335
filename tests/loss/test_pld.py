"""The numerical route: never below exact references, and hardly above them."""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import common, privacy_loss_distribution
from loss import exactly
from scipy import integrate
from scipy.stats import norm

from discreet.loss import law as laws
from discreet.loss import pld
from discreet.loss.convert import gaussian_epsilon
from discreet.loss.leaves import BoundedRange, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss, Pure, RandomizedResponseLoss
from discreet.loss.loss import Loss, compose

OVER = 0.01  # the most that ε may be above the truth
SLOP = 1e-9  # what the references themselves may be off by, relatively


def lattice_case(seed: int) -> tuple[Loss, exactly.Pmf, float, float]:
    """A random composition whose losses all lie on one lattice, so that plain convolution is exact."""
    coin = random.Random(seed)
    unit = Fraction(coin.choice([1, 2, 5, 10, 30]), coin.choice([10, 100, 300]))
    parts: list[tuple[Loss, exactly.Pmf, int]] = []
    for _ in range(coin.randint(1, 3)):
        k = coin.choice([1, 1, 2, 3, 10, 40, 150])
        multiple = coin.randint(1, 6)
        match coin.randrange(3):
            case 0:
                choices = coin.choice([2, 2, 3, 8])
                pmf = exactly.randomized_response(multiple, float(unit), choices)
                parts.append((RandomizedResponseLoss(multiple * unit, choices), pmf, k))
            case 1:
                parts.append((Pure(multiple * unit), exactly.randomized_response(multiple, float(unit)), k))
            case _:
                parts.append((DiscreteLaplaceLoss(1 / unit, multiple), exactly.discrete_laplace(float(unit), multiple), k))
    loss = compose(k * part for part, _, k in parts)
    return loss, exactly.compose([(p, k) for _, p, k in parts]), float(unit), 10.0 ** -coin.uniform(0.5, 15)


def check_lattice(seed: int) -> float:
    loss, pmf, unit, delta = lattice_case(seed)
    found = loss.epsilon_at(delta)
    assert exactly.delta_of(pmf, unit, found) <= delta * (1 + SLOP), f"too small for seed {seed}: {loss}"
    by_pld = loss.routes(delta)["pld"]
    assert exactly.delta_of(pmf, unit, by_pld) <= delta * (1 + SLOP), f"the numerical route is too small for seed {seed}"
    truth = exactly.epsilon_of(pmf, unit, delta)
    at = truth * 0.7
    assert loss.delta_at(at) >= exactly.delta_of(pmf, unit, at) * (1 - SLOP)
    assert found <= truth * (1 + OVER) + 1e-4, f"{found} is too far above {truth} for seed {seed}: {loss}"
    return found / truth - 1 if truth > 0.01 else 0.0


@pytest.mark.parametrize("block", range(8))
def test_lattice_compositions(block: int) -> None:
    assert max(check_lattice(seed) for seed in range(6 * block, 6 * block + 6)) < OVER


@pytest.mark.slow
def test_a_thousand_lattice_compositions() -> None:
    over = [check_lattice(seed) for seed in range(1000, 2000)]
    assert max(over) < OVER
    assert float(np.median(over)) < 1e-4


def oracle(parts: list[tuple[str, Fraction, int]], delta: float) -> tuple[float, float]:
    """dp-accounting's optimistic and pessimistic ε: the truth lies between, so only the first can prove us too small."""
    found = []
    for pessimistic in (False, True):
        total = None
        for kind, parameter, k in parts:
            options = {
                "pessimistic_estimate": pessimistic,
                "value_discretization_interval": 2e-4,
                "use_connect_dots": pessimistic,  # it knows no optimistic version of connecting the dots
            }
            match kind:
                case "gaussian":
                    one = privacy_loss_distribution.from_gaussian_mechanism(float(1 / parameter) ** 0.5, **options)
                case _:
                    one = privacy_loss_distribution.from_laplace_mechanism(float(1 / parameter), **options)
            one = one.self_compose(k)
            total = one if total is None else total.compose(one)
        assert total is not None
        found.append(total.get_epsilon_for_delta(delta))
    return found[0], found[1]


def check_oracle(seed: int) -> float:
    coin = random.Random(seed)
    parts = [
        ("gaussian", Fraction(coin.randint(1, 100), 10_000), coin.choice([1, 5, 30])),
        ("laplace", Fraction(coin.randint(2, 60), 100), coin.choice([1, 4, 20, 60])),
        ("laplace", Fraction(coin.randint(1, 20), 100), coin.choice([1, 10])),
    ]
    parts = coin.sample(parts, coin.randint(1, 3))
    delta = 10.0 ** -coin.uniform(2, 9)
    loss = compose(k * (GaussianLoss(p) if kind == "gaussian" else LaplaceLoss(p)) for kind, p, k in parts)
    low, high = oracle(parts, delta)
    found = loss.epsilon_at(delta)
    assert found >= low * (1 - 1e-9) - 1e-9, f"too small for seed {seed}: {found} < {low} for {loss}"
    assert found <= max(low * (1 + OVER), high) + 1e-4, f"too large for seed {seed}: {found} > {high} for {loss}"
    return found / high - 1 if high > 0.01 else 0.0


@pytest.mark.parametrize("seed", range(12))
def test_against_dp_accounting(seed: int) -> None:
    check_oracle(seed)


@pytest.mark.slow
def test_many_against_dp_accounting() -> None:
    assert max(check_oracle(seed) for seed in range(100, 220)) < OVER


def test_a_thousand_gaussians_and_a_thousand_laplaces() -> None:
    loss = 1000 * GaussianLoss("1/2500") + 1000 * LaplaceLoss("1/100")
    pld._epsilon.cache_clear()
    start = time.perf_counter()
    found = loss.epsilon_at(1e-6)
    assert time.perf_counter() - start < 1  # about 0.04 s; the rest is for a busy machine
    assert 3.30611 < found < 3.3064  # dp-accounting: 3.30612


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-15", "1e-40", "1e-100"])
@pytest.mark.parametrize("square", [Fraction(1, 10_000), Fraction(1, 10), Fraction(1), Fraction(30)])
def test_one_normal_law_has_the_exact_answer(delta: str, square: Fraction) -> None:
    truth = gaussian_epsilon(square, delta)
    found = pld.epsilon(((laws.NormalLaw(square), 1),), Fraction(delta))
    assert truth <= found <= truth * 1.001 + 1e-6


@pytest.mark.parametrize("delta", ["1e-3", "1e-9", "1e-15", "1e-20"])
@pytest.mark.parametrize("k", [30, 100, 400])
def test_tiny_delta_through_real_convolution(delta: str, k: int) -> None:
    """Far in the tail, where transforms without a tilt drown in their rounding errors."""
    pmf = exactly.power(exactly.discrete_laplace(0.05, 3), k)
    loss = k * DiscreteLaplaceLoss(20, 3)
    found = pld.epsilon(loss.laws or (), Fraction(delta))
    truth = exactly.epsilon_of(pmf, 0.05, float(delta))
    assert truth * (1 - 1e-9) <= found <= truth * 1.005 + 1e-4


def test_ten_thousand_steps() -> None:
    found = (10_000 * LaplaceLoss("1/100")).epsilon_at(1e-6)
    assert 4.876258 * (1 - 1e-6) < found < 4.8768  # dp-accounting: 4.876258


def test_the_step_count_costs_nothing_on_a_fine_lattice() -> None:
    fine = (100 * DiscreteLaplaceLoss(10**8, 10**7)).epsilon_at(1e-6)
    assert abs(fine / (100 * LaplaceLoss("1/10")).epsilon_at(1e-6) - 1) < 1e-5


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("mu", [0.1, 0.7])
@pytest.mark.parametrize("kind", [LaplaceLoss, BoundedRange])
def test_a_continuous_mixture_against_quadrature(epsilon: float, mu: float, kind: type[LaplaceLoss] | type[BoundedRange]) -> None:
    """One bounded law and one normal: δ is the mean of the Gaussian profile over the bounded loss."""
    weight = 0.25 if kind is LaplaceLoss else 0.5 / -math.expm1(-epsilon)
    ends = 0.5 if kind is LaplaceLoss else 0.0
    square = Fraction(str(mu)) ** 2
    loss = kind(str(epsilon)) + GaussianLoss(square)
    for e in (0.1, 0.5, 1.0, 2.0):

        def inner(at: float, e: float = e) -> float:
            return float(norm.cdf(mu / 2 - (e - at) / mu) - math.exp(e - at + norm.logcdf(-mu / 2 - (e - at) / mu)))

        smooth = integrate.quad(lambda at: weight * math.exp((at - epsilon) / 2) * inner(at), -epsilon, epsilon, epsabs=0, epsrel=1e-10)[0]
        truth = smooth + ends * inner(epsilon) + ends * math.exp(-epsilon) * inner(-epsilon)
        if truth < 1e-11:
            continue  # the reference itself cancels there
        found = pld.delta(loss.laws or (), Fraction(str(e)))
        assert truth * (1 - 1e-6) <= found <= truth * 1.001 + 1e-15
        assert loss.epsilon_at(Fraction(truth)) >= e * (1 - 1e-6)


@pytest.mark.parametrize("k", [2, 50])
@pytest.mark.parametrize("delta", ["1e-3", "1e-12", "1e-30"])
def test_normal_laws_through_real_convolution(k: int, delta: str) -> None:
    """Normal laws are merged before anything is transformed; unmerged ones must give the same, a little higher."""
    goal = -math.log(float(delta))
    tilt = math.sqrt(2 * goal)
    composed = pld._compose(((laws.NormalLaw(Fraction(1, k + 1)), k), (laws.NormalLaw(Fraction(1, k + 1)), 1)), tilt, goal)
    assert composed is not None
    truth = gaussian_epsilon(1, delta)
    assert truth <= composed.epsilon(-goal) <= truth * 1.001


@pytest.mark.parametrize("tilt", [0.05, 0.5, 2.0])
def test_what_wraps_around_is_added(tilt: float) -> None:
    """A window that is far too narrow: what lies above it reappears below, and its bound must make up for it."""
    unit, k = 2.0**-4, 200
    pmf = exactly.power(exactly.randomized_response(1, unit), k)
    dots = Pure(Fraction(1, 16)).laws[0][0].dots(unit, -unit, unit)
    middle = int(np.sum(pmf[1] * (pmf[0] + np.arange(len(pmf[1])))))
    composed = pld._transform([(dots, k)], unit, middle - 12, 5, tilt, middle, math.sqrt(k) * unit)
    assert composed is not None
    for i in range(-8, 18, 3):
        e = unit * (middle + i)
        assert composed.delta(e) >= exactly.delta_of(pmf, unit, e) * (1 - SLOP)


def test_oracle_speaks_the_same_language() -> None:
    assert common.DifferentialPrivacyParameters(1.0, 0.0).epsilon == 1.0
    low, high = oracle([("laplace", Fraction(1, 10), 100)], 1e-6)
    assert low <= 4.692667 <= high * (1 + 1e-6)
