"""The fit: its gradient vanishes, another solver agrees, and no input makes it fail."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from discreet.algorithms.marginals.beliefs import Beliefs, axes_without, fitting
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.fit import fit
from discreet.algorithms.marginals.junction_tree import junction_tree
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import TreeModel, fit_dense, fit_tree
from discreet.algorithms.marginals.residual import BITS, Residual

DOMAIN = Domain.of({"a": 3, "b": 2, "c": 4})
CLIQUES: list[Clique] = [(0,), (0, 1), (1, 2)]


def problem(seed: int, total: float, deviation: float) -> tuple[Beliefs, np.ndarray, np.ndarray, np.ndarray]:
    """Potentials of a guess, noisy measurements, and their deviations, which differ."""
    random = np.random.default_rng(seed)
    beliefs = Beliefs(junction_tree(DOMAIN, CLIQUES), CLIQUES)
    truth = beliefs.evaluate(random.normal(0, 1, beliefs.size))[1] * total
    deviations = deviation * random.choice([0.5, 1.0, 2.0], beliefs.size)
    base = np.zeros(beliefs.size)
    base[:3] = random.normal(0, 0.3, 3)
    return beliefs, base, truth + random.normal(0, deviations), deviations


def objective(
    logits: np.ndarray, base: np.ndarray, measured: np.ndarray, deviations: np.ndarray, total: float, prior: float
) -> tuple[float, np.ndarray]:
    """What is minimised, over all distributions, without any theory; and its gradient."""
    everything = tuple(DOMAIN.columns)
    logs = (logits - logsumexp(logits)).reshape(DOMAIN.sizes)
    p = np.exp(logs)
    guess = np.broadcast_to(base[:3].reshape(fitting(DOMAIN, (0,), everything)), DOMAIN.sizes)
    guess = guess - logsumexp(guess)
    value = prior * total * float((p * (logs - guess)).sum())
    slope = prior * total * (logs - guess)
    start = 0
    for clique in CLIQUES:
        end = start + DOMAIN.cells(clique)
        off = (total * p.sum(axis=axes_without(clique, everything)).ravel() - measured[start:end]) / deviations[start:end]
        value += float(off @ off) / 2
        slope = slope + (total * off / deviations[start:end]).reshape(fitting(DOMAIN, clique, everything))
        start = end
    return value, (p * (slope - (p * slope).sum())).ravel()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("total", "deviation", "prior"), [(1000.0, 10.0, 0.05), (50.0, 20.0, 0.01), (1e5, 5.0, 0.1)])
def test_the_optimum_is_that_of_another_solver(seed: int, total: float, deviation: float, prior: float) -> None:
    beliefs, base, measured, deviations = problem(seed, total, deviation)
    found = fit(beliefs, base, measured, deviations, total, prior, np.zeros(beliefs.size), 2000, 5e-5)
    averages = beliefs.evaluate(base + found)[1]
    u = -found * prior * deviations
    gradient = u - (total * averages - measured) / deviations
    assert np.sqrt((gradient**2).mean()) <= 1e-4  # of the noise; floats end the search at about 2e-5 where counts are large
    logs = np.zeros(DOMAIN.sizes)
    for clique, theta in zip(CLIQUES, beliefs.split(base + found), strict=True):
        logs = logs + theta.reshape(fitting(DOMAIN, clique, tuple(DOMAIN.columns)))
    ours, _ = objective(logs.ravel(), base, measured, deviations, total, prior)
    problem_of = (base, measured, deviations, total, prior)
    other = minimize(objective, np.zeros(DOMAIN.size), problem_of, "L-BFGS-B", jac=True, options={"maxiter": 5000, "maxfun": 5000})
    assert ours <= other.fun + 1e-6 * (1 + abs(other.fun))
    assert other.fun == pytest.approx(ours, rel=1e-3, abs=1e-3)  # the other is near, so the same thing was minimised


@pytest.mark.parametrize("seed", range(5))
def test_a_warm_start_changes_time_only(seed: int) -> None:
    total, prior = 1000.0, 0.05
    beliefs, base, measured, deviations = problem(seed, total, 10.0)
    starts = [np.zeros(beliefs.size), np.random.default_rng(seed).normal(0, 3, beliefs.size)]
    found = [beliefs.evaluate(base + fit(beliefs, base, measured, deviations, total, prior, s, 3000, 1e-7))[1] for s in starts]
    np.testing.assert_allclose(found[0], found[1], atol=1e-7)


def test_a_warm_model_gives_the_same_model() -> None:
    random = np.random.default_rng(1)
    table = random.multinomial(3000, np.full(24, 1 / 24)).reshape(3, 2, 4) + 5
    measured = [NoisyMeasurement(c, (table.sum(axis=axes_without(c, (0, 1, 2))) + random.normal(0, 4, DOMAIN.shape(c))).ravel(), 4.0) for c in
                [(0,), (1,), (2,), (0, 1), (1, 2)]]  # fmt: skip
    first = fit_tree(DOMAIN, measured[:4])
    warm, cold = fit_tree(DOMAIN, measured, first, 500), fit_tree(DOMAIN, measured, None, 500)
    assert warm.total == cold.total
    for clique in combinations(range(3), 2):
        np.testing.assert_allclose(warm.marginal(clique), cold.marginal(clique), atol=1.0)  # a quarter of the noise


def sound(model: TreeModel) -> None:
    assert model.total >= 1
    for k in range(4):
        for clique in combinations(range(3), k):
            marginal = model.marginal(clique)
            assert np.isfinite(marginal).all()
            assert (marginal >= 0).all()
            assert marginal.sum() == pytest.approx(model.total, rel=1e-9)


@pytest.mark.parametrize("deviation", [1e-6, 1e-2, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("what", ["zero", "negative", "constant", "huge", "contradictory", "noise"])
def test_extreme_measurements(what: str, deviation: float) -> None:
    random = np.random.default_rng(3)
    measured = []
    for place, clique in enumerate([(0,), (1,), (2,), (0, 1), (1, 2)]):
        cells = DOMAIN.cells(clique)
        values = {
            "zero": np.zeros(cells),
            "negative": np.full(cells, -1e5),
            "constant": np.eye(1, cells)[0] * 5000,
            "huge": np.eye(1, cells)[0] * 1e12,
            "contradictory": np.roll(np.eye(1, cells)[0], place) * 10.0**place,
            "noise": random.normal(0, deviation, cells),
        }[what]
        measured.append(NoisyMeasurement(clique, values, deviation))
    with np.errstate(all="raise", under="ignore"):
        sound(fit_tree(DOMAIN, measured))


@pytest.mark.parametrize("deviation", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("level", [-1e6, 0.0, 1e6])
def test_extreme_residuals(level: float, deviation: float) -> None:
    random = np.random.default_rng(0)
    measured = [NoisyMeasurement(c, level + random.normal(0, deviation, Residual(DOMAIN, c, BITS).size), deviation) for c in [(0,), (1, 2)]]
    model = fit_dense(DOMAIN, measured, BITS, [np.full(s, 1 / s) for s in DOMAIN.sizes], 1000.0, 0.5 / deviation**2)
    assert np.isfinite(model.distribution).all()
    assert model.distribution.sum() == pytest.approx(1)


def test_constant_columns() -> None:
    domain = Domain.of({"a": 1, "b": 3, "c": 1})
    measured = [
        NoisyMeasurement((0,), np.array([101.0]), 1.0),
        NoisyMeasurement((1,), np.array([50.0, 49.0, 0.0]), 1.0),
        NoisyMeasurement((0, 2), np.array([99.0]), 1.0),
    ]
    model = fit_tree(domain, measured)
    assert model.marginal((0, 1, 2)).shape == (1, 3, 1)
    assert model.marginal((1,))[2] < 2
