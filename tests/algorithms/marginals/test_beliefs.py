"""Belief propagation against sums over the whole domain, also where numbers leave the range of floats."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.marginals.test_junction_tree import made_up

from discreet.algorithms.marginals.beliefs import Beliefs
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.junction_tree import junction_tree
from discreet.algorithms.marginals.nesting import axes_without, fitting


def by_force(domain: Domain, cliques: list[Clique], potentials: list[np.ndarray]) -> tuple[float, np.ndarray]:
    """The logarithm of the sum of all weights, and the distribution, cell by cell."""
    logs = np.zeros(domain.sizes)
    everything = tuple(domain.columns)
    for clique, theta in zip(cliques, potentials, strict=True):
        logs = logs + theta.reshape(fitting(domain, clique, everything))
    top = logs.max()
    weights = np.exp(logs - top)
    return float(top + np.log(weights.sum())), weights / weights.sum()


def check(domain: Domain, cliques: list[Clique], flat: np.ndarray, beliefs: Beliefs) -> None:
    log_total, whole = by_force(domain, cliques, beliefs.split(flat))
    everything = tuple(domain.columns)
    found, marginals = beliefs.of(flat)
    assert found == pytest.approx(log_total, rel=1e-12, abs=1e-9)
    for clique, marginal in zip(beliefs.tree.cliques, marginals, strict=True):
        np.testing.assert_allclose(marginal, whole.sum(axis=axes_without(clique, everything)), atol=1e-11)
    log_again, averages = beliefs.evaluate(flat)
    assert log_again == found
    for clique, marginal in zip(cliques, beliefs.split(averages), strict=True):
        np.testing.assert_allclose(marginal, whole.sum(axis=axes_without(clique, everything)), atol=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_all_marginals_by_brute_force(seed: int) -> None:
    domain, cliques = made_up(seed)
    cliques = cliques or [(0,)]
    beliefs = Beliefs(junction_tree(domain, cliques), cliques)
    random = np.random.default_rng(seed + 1000)
    for scale in (0.1, 3.0, 50.0):
        check(domain, cliques, random.normal(0, scale, beliefs.size), beliefs)


def test_potentials_of_plus_and_minus_700() -> None:
    for seed in range(40):
        domain, cliques = made_up(seed)
        cliques = cliques or [(0,)]
        beliefs = Beliefs(junction_tree(domain, cliques), cliques)
        random = np.random.default_rng(seed)
        check(domain, cliques, random.choice([-700.0, 0.0, 700.0], beliefs.size), beliefs)


def test_potentials_that_cancel() -> None:
    """One clique makes b = 0 e^1400 times as likely and the other as much less likely: all rows are equally likely."""
    domain = Domain.of(dict.fromkeys("abc", 2))
    cliques: list[Clique] = [(0, 1), (1, 2)]
    beliefs = Beliefs(junction_tree(domain, cliques), cliques)
    flat = np.array([700.0, -700.0, 700.0, -700.0, -700.0, -700.0, 700.0, 700.0])
    log_total, averages = beliefs.evaluate(flat)
    assert log_total == pytest.approx(np.log(8), abs=1e-9)
    np.testing.assert_allclose(averages, 0.25)


def test_nothing_is_asked() -> None:
    domain = Domain.of({"a": 3, "b": 1})
    beliefs = Beliefs(junction_tree(domain, []), [()])
    log_total, averages = beliefs.evaluate(np.array([5.0]))
    assert log_total == pytest.approx(5 + np.log(3))
    assert averages.tolist() == [1.0]


def test_shapes_that_fit() -> None:
    domain = Domain.of({"a": 2, "b": 3, "c": 4})
    assert fitting(domain, (0, 2), (0, 1, 2)) == (2, 1, 4)
    assert axes_without((1,), (0, 1, 2)) == (0, 2)
