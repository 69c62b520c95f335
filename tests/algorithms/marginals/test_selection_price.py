"""What choices cost, exactly: all small tables, all neighbours, the true divergences of what is chosen against what is paid."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import Row, every_row, table, tables, taped
from attrs import evolve
from scipy.special import logsumexp, ndtri

from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload
from discreet.mechanisms.exponential import Exponential, selection_rate

ORDERS = np.concatenate([1 + np.logspace(-3, 0, 13), np.logspace(0.5, 3, 12)])
DOMAIN = Domain.of({"a": 2, "b": 2, "c": 2})
MOST = 2  # rows of the smaller table


def chances(mechanism: Exponential, scores: Any) -> np.ndarray:
    """Logarithms of the chances; the exponents are exact before they become floats."""
    rate = selection_rate(mechanism.epsilon, mechanism.sensitivity, mechanism.monotone)
    top = max(map(int, scores))
    exponents = np.array([float(rate * (int(s) - top)) for s in scores])
    return exponents - logsumexp(exponents)


def renyi_ratio(p: np.ndarray, q: np.ndarray, rho: float) -> float:
    """The largest of D_α(P ‖ Q)/(α·ρ)."""
    s = ORDERS[:, None] - 1
    divergence = logsumexp(ORDERS[:, None] * p - s * q, axis=1) / s[:, 0]
    return float((divergence / (ORDERS * rho)).max())


def gdp_ratio(p: np.ndarray, q: np.ndarray, mu_squared: float) -> float:
    """The square of the least μ whose trade-off curve is below that of P and Q, over what is paid: knots decide."""
    order = np.argsort(p - q)
    alpha, beta = np.cumsum(np.exp(p[order])), 1 - np.cumsum(np.exp(q[order]))  # reject P where it is least likely, beside Q
    inner = slice(0, -1)
    need = ndtri(1 - alpha[inner]) - ndtri(np.clip(beta[inner], 0, 1))
    return float(max(need.max(initial=0), 0) ** 2 / mu_squared)


@cache
def choices(method: str, notion: str, amount: str) -> tuple[list[Exponential], dict[tuple[Row, ...], list[Any]]]:
    """The exponential mechanisms of a run, and their scores on all small tables, by replaying the run's releases."""
    budget = MeasurementBudget.zcdp(amount) if notion == "zcdp" else MeasurementBudget.gdp(amount)
    workload = Workload.all_of(DOMAIN, 2)
    runner: Any = MST(budget=budget, workload=workload, bearable=1e9)
    if method == "aim":
        runner = AIM(budget=budget, workload=workload, rounds=6, bearable=1e9)
    with taped(5) as first:
        runner.run(table(DOMAIN, [(0, 0, 0), (1, 1, 1)]))
    outputs = [step.output for step in first]
    found = {}
    for rows in tables(DOMAIN, MOST + 1):
        with taped(5, outputs) as steps:
            runner.run(table(DOMAIN, rows))
        found[rows] = [step.answer for step in steps if isinstance(step.mechanism, Exponential)]
    return [step.mechanism for step in first if isinstance(step.mechanism, Exponential)], found


def pairs(scores: dict[tuple[Row, ...], Any]) -> Iterator[tuple[Any, Any]]:
    """All neighbours, in both directions."""
    for rows in tables(DOMAIN, MOST):
        for row in every_row(DOMAIN):
            other = tuple(sorted((*rows, row)))
            yield scores[rows], scores[other]
            yield scores[other], scores[rows]


CASES = [(m, n, a) for m in ("mst", "aim") for n in ("zcdp", "gdp") for a in ("0.01", "3", "100")]


@pytest.mark.parametrize(("method", "notion", "amount"), CASES)
def test_choices_cost_no_more_than_is_paid(method: str, notion: str, amount: str) -> None:
    mechanisms, scores = choices(method, notion, amount)
    assert mechanisms
    for place, mechanism in enumerate(mechanisms):
        assert mechanism.monotone is False
        rho, mu_squared = float(mechanism.loss.rho), float(mechanism.loss.mu_squared)
        for a, b in pairs(scores):
            assert max(abs(int(x) - int(y)) for x, y in zip(a[place], b[place], strict=True)) <= mechanism.sensitivity
            p, q = chances(mechanism, a[place]), chances(mechanism, b[place])
            assert renyi_ratio(p, q, rho) <= 1 + 1e-6
            assert gdp_ratio(p, q, mu_squared) <= 1 + 1e-6


def worst(mechanism: Exponential, paid: Exponential) -> tuple[float, float]:
    """Scores as AIM has them, weight·‖counts − model‖₁: a record can bring one marginal nearer and another farther away."""
    rho, mu_squared = float(paid.loss.rho), float(paid.loss.mu_squared)
    rates = [(0.0, 0.0)]
    for x in range(-6, 7):
        for up in (-2, -1, 0, 1, 2):
            for down in (-2, -1, 0, 1, 2):
                p, q = chances(mechanism, [x, 0]), chances(mechanism, [x + up, down])
                rates.append((renyi_ratio(p, q, rho), gdp_ratio(p, q, mu_squared)))
    return max(r for r, _ in rates), max(g for _, g in rates)


@pytest.mark.parametrize("notion", ["zcdp", "gdp"])
@pytest.mark.parametrize("amount", ["0.0001", "0.01", "0.3"])
def test_the_published_mistake_costs_four_times_what_is_paid(notion: str, amount: str) -> None:
    """Half the range, as if scores were monotone: divergences reach four times the price, while ours is paid and tight."""
    budget = MeasurementBudget.zcdp(amount) if notion == "zcdp" else MeasurementBudget.gdp(amount)
    right = Spending(budget).selection(budget.amount, 2)
    rho, mu_squared = worst(right, right)
    assert rho <= 1 + 1e-6
    assert mu_squared <= 1 + 1e-6
    wrong = evolve(right, monotone=True)
    rho_wrong, mu_wrong = worst(wrong, right)
    if amount == "0.0001":
        assert min(rho, mu_squared) > 0.99
        assert rho_wrong == pytest.approx(4, rel=0.01)
        assert mu_wrong == pytest.approx(4, rel=0.01)
    assert min(rho_wrong, mu_wrong) > 2.5


def test_the_mistake_shows_on_real_tables() -> None:
    """The same for the scores of real runs on small tables."""
    for method in ("mst", "aim"):
        mechanisms, scores = choices(method, "zcdp", "0.01")
        ratios = [
            renyi_ratio(chances(evolve(m, monotone=True), a[i]), chances(evolve(m, monotone=True), b[i]), float(m.loss.rho))
            for i, m in enumerate(mechanisms)
            for a, b in pairs(scores)
        ]
        assert max(ratios) > 1.5
