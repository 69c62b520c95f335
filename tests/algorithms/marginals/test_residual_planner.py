"""The plan: what it costs, that nothing near it is better, and its errors against simulated noise."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from algorithms.marginals.test_residual import from_residuals

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.residual_planner import ResidualPlan, plan_residuals, subsets
from discreet.algorithms.marginals.workload import Workload

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 5, "d": 4, "one": 1})
WORKLOADS = [
    Workload.all_of(DOMAIN, 1),
    Workload.all_of(DOMAIN, 2),
    Workload.all_of(DOMAIN, 3),
    Workload.of(DOMAIN, {("a", "b", "c"): 5, ("c", "d"): 1, ("one",): 1}),
]
IDS = ["1", "2", "3", "own"]


def shares(plan: ResidualPlan) -> np.ndarray:
    return np.array([plan.residual(c).share for c in plan.cliques])


def cost(plan: ResidualPlan, variances: np.ndarray) -> float:
    """The weighted sum of expected errors for a budget of 1."""
    scaled = ResidualPlan(plan.domain, plan.workload, plan.bits, plan.cliques, variances * (shares(plan) / variances).sum())
    return sum(plan.workload.weights[c] * e for c, e in scaled.expected_errors(1.0).items())


@pytest.mark.parametrize("workload", WORKLOADS, ids=IDS)
def test_the_price_is_the_budget(workload: Workload) -> None:
    plan = plan_residuals(DOMAIN, workload)
    assert (shares(plan) / plan.variances).sum() == pytest.approx(1, rel=1e-9)
    assert (shares(plan) / plan.scaled(0.3)).sum() == pytest.approx(0.3, rel=1e-9)
    guessed = plan_residuals(DOMAIN, workload, {0: 100.0, 1: 10.0, 2: 0.5, 3: 0.01})
    assert (shares(guessed) / guessed.variances).sum() == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("workload", WORKLOADS, ids=IDS)
def test_no_other_variances_are_better(workload: Workload) -> None:
    plan = plan_residuals(DOMAIN, workload)
    least = cost(plan, plan.variances)
    random = np.random.default_rng(0)
    for size in (0.01, 0.1, 1.0):
        for _ in range(60):
            assert cost(plan, plan.variances * np.exp(random.normal(0, size, len(plan.variances)))) >= least * (1 - 1e-7)
    for i in range(len(plan.cliques)):
        for factor in (0.9, 1.1):
            other = plan.variances.copy()
            other[i] *= factor
            assert cost(plan, other) >= least * (1 - 1e-7)


def test_the_closed_form() -> None:
    """One marginal of binary columns: the published variances s ∝ √(p/v)."""
    domain = Domain.of({"a": 2, "b": 2})
    plan = plan_residuals(domain, Workload.of(domain, [("a", "b")]))
    p = np.array([1, 1 / 2, 1 / 2, 1 / 4])
    v = np.array([1 / 16, 1 / 8, 1 / 8, 1 / 4])
    expected = np.sqrt(p / v) * np.sqrt(p * v).sum()
    np.testing.assert_allclose(plan.variances, expected, rtol=3e-3)


@pytest.mark.parametrize("workload", WORKLOADS, ids=IDS)
def test_predicted_errors_against_simulated_ones(workload: Workload) -> None:
    plan = plan_residuals(DOMAIN, workload)
    random = np.random.default_rng(7)
    runs, amount = 400, 0.04
    scaled = plan.scaled(amount)
    seen = dict.fromkeys(workload.cliques, 0.0)
    for _ in range(runs):
        noise = {
            c: random.normal(0, sqrt(s), plan.residual(c).size) * plan.residual(c).unit for c, s in zip(plan.cliques, scaled, strict=True)
        }
        for clique in workload.cliques:
            seen[clique] += np.abs(from_residuals(DOMAIN, clique, noise)).sum() / runs
    predicted = plan.expected_errors(amount)
    assert sum(seen.values()) == pytest.approx(sum(predicted.values()), rel=0.02)
    for clique in workload.cliques:
        assert seen[clique] == pytest.approx(predicted[clique], rel=0.05 if DOMAIN.cells(clique) > 3 else 0.15), clique


def test_better_than_measuring_each_marginal() -> None:
    domain = Domain.of({f"c{i}": 2 for i in range(8)})
    workload = Workload.all_of(domain, 3)
    plain = sqrt(2 / pi) * 8 * sqrt(len(workload.cliques))  # Gaussian noise on each, equal shares of a budget of 1
    assert np.mean(list(plan_residuals(domain, workload).expected_errors(1.0).values())) < 0.5 * plain


def test_a_guess_leaves_out_what_is_below_the_noise() -> None:
    domain = Domain.of({f"c{i}": 3 for i in range(5)})
    plan = plan_residuals(domain, Workload.all_of(domain, 3), {0: 1e6, 1: 1e5, 2: 1e5, 3: 1e-6})
    by_order = {len(c): v for c, v in zip(plan.cliques, plan.variances, strict=True)}
    assert np.isinf(by_order[3])
    assert np.isfinite(by_order[2])


def test_subsets() -> None:
    assert subsets((1, 4)) == [(), (1,), (4,), (1, 4)]
