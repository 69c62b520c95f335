"""Each mechanism's price in each language, against suprema taken directly over orders, levels and pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from loss import exactly
from scipy.special import logsumexp
from scipy.stats import norm

from discreet import exact
from discreet.loss.convert import gaussian_delta
from discreet.loss.leaves import (
    BoundedRange,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GaussianThreshold,
    Gdp,
    LaplaceLoss,
    Pure,
    RandomizedResponseLoss,
    Zcdp,
)
from discreet.loss.loss import Loss

ORDERS = 1 + np.geomspace(1e-6, 1e4, 400)
EPSILONS = ["1/100", "1/3", "1", "3", "8"]


def atoms(loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """The privacy loss of a mechanism, from its definition: atoms, or a very fine midpoint rule for Laplace."""
    match loss:
        case Pure(epsilon=e):
            return np.array([float(e), -float(e)]), np.array([1, math.exp(-float(e))]) / (1 + math.exp(-float(e)))
        case RandomizedResponseLoss(epsilon=e, choices=c):
            w = math.exp(float(e)) + c - 1
            return np.array([float(e), 0, -float(e)]), np.array([math.exp(float(e)), c - 2, 1]) / w
        case DiscreteLaplaceLoss(scale=s, shift=d):
            low, mass = exactly.discrete_laplace(1 / float(s), d)
            return (low + np.arange(len(mass))) / float(s), mass
        case LaplaceLoss(epsilon=e):
            x = (np.arange(20_000) + 0.5) / 20_000
            inner = float(e) * (1 - 2 * x)
            mass = 0.5 * float(e) / 20_000 * np.exp(-float(e) * x)
            return np.r_[float(e), inner, -float(e)], np.r_[0.5, mass, math.exp(-float(e)) / 2]
    raise AssertionError(loss)


def divergences(loss: Loss, orders: np.ndarray) -> np.ndarray:
    at, mass = atoms(loss)
    keep = mass > 0
    return np.array([logsumexp((a - 1) * at[keep], b=mass[keep]) / (a - 1) for a in orders])


CASES = [
    *(Pure(e) for e in EPSILONS),
    *(LaplaceLoss(e) for e in EPSILONS),
    *(RandomizedResponseLoss(e, c) for e in EPSILONS for c in (2, 3, 10, 100)),
    *(DiscreteLaplaceLoss(s, d) for s in ("1/3", "2", "30") for d in (1, 2, 3, 10)),
]


@pytest.mark.parametrize("loss", CASES, ids=str)
def test_zcdp_and_renyi(loss: Loss) -> None:
    truth = divergences(loss, ORDERS[ORDERS > 1.001])
    orders = ORDERS[ORDERS > 1.001]
    rho = float(loss.rho)
    assert (truth <= rho * orders * (1 + 1e-8) + 1e-9).all()
    curve = loss.renyi(orders)
    assert (curve >= truth * (1 - 1e-7) - 1e-12).all()
    assert (curve <= truth * (1 + 1e-6) + 1e-9 / (orders - 1)).all() or (curve <= rho * orders * (1 + 1e-12)).all()
    at, mass = atoms(loss)
    if not (isinstance(loss, RandomizedResponseLoss) and loss.choices > 3):
        assert rho == pytest.approx(float((at * mass).sum()), rel=1e-6)  # tight: the mean loss, the limit at order 1


def profile(loss: Loss, e: float) -> float:
    at, mass = atoms(loss)
    above = at > e
    return float((mass[above] * -np.expm1(e - at[above])).sum())


@pytest.mark.parametrize("loss", CASES, ids=str)
def test_gdp_dominates_and_is_tight(loss: Loss) -> None:
    square = loss.mu_squared
    levels = np.linspace(-0.999, 0.999, 61) * float(loss.epsilon)
    truth = [profile(loss, e) for e in levels]
    assert all(gaussian_delta(square, Fraction(float(e))) >= t * (1 - 1e-9) - 1e-9 for e, t in zip(levels, truth, strict=True))
    smaller = square * Fraction(98, 100)
    corners = np.concatenate([levels, np.linspace(-0.02, 0.02, 41) * float(loss.epsilon)])
    assert any(gaussian_delta(smaller, Fraction(float(e))) < profile(loss, float(e)) for e in corners)


def test_bounded_range_is_the_worst_pair() -> None:
    """Losses t or t − ε: the prices are suprema over t."""
    for eta in (0.001, 0.1, 1.0, 4.0, 20.0, 100.0):
        loss = BoundedRange(Fraction(str(eta)))
        t = np.linspace(0, eta, 4003)[1:-1]
        p = -np.expm1(t - eta) / -math.expm1(-eta)
        mean = t - eta * (1 - p)
        assert mean.max() <= float(loss.rho) * (1 + 1e-9)
        assert mean.max() >= float(loss.rho) * (1 - 1e-4)
        q = np.exp(-t) * p
        mu = norm.isf(np.expm1(t) / math.expm1(eta)) + norm.isf(q)
        mu = mu[np.isfinite(mu)]
        assert mu.max() <= math.sqrt(loss.mu_squared) * (1 + 1e-9)
        assert mu.max() >= math.sqrt(loss.mu_squared) * (1 - 1e-4)
        orders = 1 + np.geomspace(1e-2, 50, 60)
        curve = loss.renyi(orders)
        for a, bound in zip(orders, curve, strict=True):
            s = a - 1
            moment = np.logaddexp(np.log(p) + s * t, np.log(np.expm1(t) / math.expm1(eta)) + s * (t - eta)) / s
            assert moment.max() <= bound * (1 + 1e-9) + 1e-15 / s
            assert moment.max() <= float(loss.rho) * a * (1 + 1e-9) + 1e-15 / s
        assert loss.rho <= loss.epsilon**2 / 8


def test_each_step_of_the_proof_for_bounded_range() -> None:
    """The hazard's slope, the two functions that fall, the derivative of μ and where |b| ≤ a, on grids."""
    x = np.linspace(1e-3, 30, 20_001)
    hazard = {side: np.exp(norm.logpdf(x) - norm.logsf(side * x)) for side in (1, -1)}
    for side, h in hazard.items():
        slope = h * (h - side * x)
        assert (slope >= 0).all()
        assert (slope < 1).all()
    both = norm.logsf(x) + norm.logcdf(x)
    assert (np.diff(2 * norm.logpdf(x) - both) < 0).all()
    assert (np.diff(both - norm.logpdf(x)) < 0).all()
    for eta in (0.1, 1.0, 4.0, 20.0):
        t = np.linspace(eta / 1000, eta * 0.999, 4001)
        c = -1 / math.expm1(-eta)
        b, a = norm.isf(-c * np.expm1(-t)), norm.isf(c * math.exp(-eta) * np.expm1(t))
        k = {name: np.exp(norm.logsf(at) + norm.logcdf(at) - norm.logpdf(at)) for name, at in (("a", a), ("b", b))}
        slope = (k["b"] - k["a"]) / (norm.sf(b) - norm.sf(a))
        np.testing.assert_allclose(np.gradient(a - b, t)[50:-50], slope[50:-50], rtol=0.02, atol=2e-5)
        assert (a[t <= eta / 2] >= np.abs(b[t <= eta / 2]) - 1e-12).all()
        assert (slope[t < eta * 0.49] > 0).all()
        assert (slope[t > eta * 0.51] < 0).all()


def test_bounded_range_profile_is_the_supremum() -> None:
    for eta in (0.3, 1.0, 3.0):
        t = np.linspace(0, eta, 20_001)
        p = (math.exp(eta) - np.exp(t)) / math.expm1(eta)
        for e in np.linspace(-0.99 * eta, 0.99 * eta, 41):
            sticks = p * np.maximum(0, -np.expm1(e - t)) + (1 - p) * np.maximum(0, -np.expm1(e - (t - eta)))
            assert sticks.max() == pytest.approx(math.expm1((e - eta) / 2) ** 2 / -math.expm1(-eta), abs=1e-8)


def lattice_delta(unit: float, shift: int, e: float) -> float:
    return exactly.delta_of(exactly.discrete_laplace(unit, shift), unit, e)


@pytest.mark.parametrize("unit", [0.05, 0.7, 2.0])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_a_coarse_lattice_dominates_a_finer_one(unit: float, shift: int) -> None:
    for e in np.linspace(-0.99, 0.99, 37) * unit * shift:
        coarse = lattice_delta(unit, shift, e)
        continuous = -math.expm1((e - unit * shift) / 2)
        for m in (2, 3, 10):
            fine = lattice_delta(unit / m, m * shift, e)
            assert coarse >= fine * (1 - 1e-12) >= continuous * (1 - 1e-11)


@pytest.mark.parametrize("unit", [0.05, 0.7, 2.0])
@pytest.mark.parametrize("move", [(1, 1), (1, 2), (3, 2), (1, 1, 1), (2, 0, 4)])
def test_a_vector_is_dominated_by_its_norm(unit: float, move: tuple[int, ...]) -> None:
    vector = exactly.compose([(exactly.discrete_laplace(unit, d), 1) for d in move if d])
    total = sum(move)
    for e in np.linspace(-0.99, 0.99, 37) * unit * total:
        assert exactly.delta_of(vector, unit, e) <= lattice_delta(unit, total, e) * (1 + 1e-12)
    # and not by anything less, so the test can fail
    assert any(exactly.delta_of(vector, unit, e) > lattice_delta(unit, total - 1, e) for e in np.linspace(-0.99, 0.99, 37) * unit * total)


def test_languages_agree_where_they_must() -> None:
    assert GaussianLoss(4).mu_squared == Gdp(2).mu_squared == 4
    assert GaussianLoss(4).rho == Gdp(2).rho == 2
    assert Zcdp(2).rho == 2
    assert DiscreteLaplaceLoss(10**6, 10**6).rho == pytest.approx(LaplaceLoss(1).rho, rel=1e-9)
    assert DiscreteLaplaceLoss(10**6, 10**6).mu_squared == pytest.approx(LaplaceLoss(1).mu_squared, rel=1e-5)
    assert DiscreteLaplaceLoss(3, 1).mu_squared == pytest.approx(Pure("1/3").mu_squared, rel=1e-15)


@pytest.mark.parametrize("loss", [Pure("1e-9"), LaplaceLoss("1e-9"), BoundedRange("1e-9"), DiscreteLaplaceLoss(10**9, 1)], ids=str)
def test_tiny_parameters_keep_their_precision(loss: Loss) -> None:
    share = {"Pure": 0.5, "LaplaceLoss": 0.5, "BoundedRange": 0.125, "DiscreteLaplaceLoss": 0.5}[type(loss).__name__]
    assert float(loss.rho) == pytest.approx(share * 1e-18, rel=1e-6)


@pytest.mark.parametrize(
    "loss", [Pure(10**9), LaplaceLoss(10**5), BoundedRange(10**5), RandomizedResponseLoss(10**4, 5), Gdp(10**9)], ids=str
)
def test_huge_parameters_are_survived(loss: Loss) -> None:
    assert loss.delta_at(1) == 1
    assert loss.epsilon_at(1e-6) > 9000


@pytest.mark.parametrize("epsilon", ["0.0011", "0.0012624", "0.02", "1"])
def test_bounded_range_renyi_is_never_below_the_truth(epsilon: str) -> None:
    """The closed form for small ε and orders near 1, where floats cancel, against balls at 300 bits."""
    orders = 1 + np.geomspace(2.0**-16, 64, 60)
    stated = BoundedRange(epsilon).renyi(orders)
    with exact.precision(300):
        e = exact.ball(exact.rational(epsilon))
        for order, value in zip(orders.tolist(), stated.tolist(), strict=True):
            s = exact.point(order) - 1
            a, b = (e * (s + 1)).expm1() * (-e * s).exp(), (e * s).expm1() * (-e * s).exp()  # A and B of the docstring
            y = s * a / ((s + 1) * b)
            moment = s * y.log() + ((a - y * b) / e.expm1()).log()
            assert exact.rational(repr(value)) * (1 + exact.rational("1e-15")) >= exact.lower(moment / s)


def test_gaussian_behind_a_threshold() -> None:
    """For one unit: Gaussian noise and a revelation. For k: not k of them, but what (ε, δ) gives."""
    loss = GaussianThreshold("1/20", "1e-6")
    assert loss.delta_at(1) == pytest.approx(1e-6 + GaussianLoss("1/20").delta_at(1), rel=1e-6)
    assert loss.group(1) == loss
    assert loss.group(10).delta_at(5) > 100 * 10 * 1e-6
    assert GaussianThreshold("1/20", 0).group(3) == GaussianLoss("9/20")
