"""The fit: its gradient vanishes, another solver agrees, and no input makes it fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from discreet.algorithms.marginals.beliefs import Beliefs
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.fit import fit
from discreet.algorithms.marginals.junction_tree import junction_tree
from discreet.algorithms.marginals.nesting import axes_without, fitting

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
