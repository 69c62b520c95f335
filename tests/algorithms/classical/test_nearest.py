"""The nearest distributions against other solvers, their certificates, few rows, and rounding to rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from scripted import Seeded

from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.nearest import few_rows, nearest_l2, nearest_linf, sure_l2, sure_linf, to_rows
from discreet.algorithms.classical.projection import Projection


def best_linf(matrix: np.ndarray[Any, Any], targets: np.ndarray[Any, Any]) -> float:
    q, n = matrix.shape
    above = np.hstack([matrix, -np.ones((q, 1))])
    below = np.hstack([-matrix, -np.ones((q, 1))])
    found = linprog(
        [*np.zeros(n), 1], A_ub=np.vstack([above, below]), b_ub=[*targets, *-targets], A_eq=[[*np.ones(n), 0]], b_eq=[1], bounds=(0, None)
    )
    return float(found.fun)


@pytest.mark.parametrize("seed", range(6))
def test_the_linf_solver_meets_linear_programming(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, n = int(rng.integers(3, 60)), int(rng.integers(2, 60))
    matrix = rng.integers(0, 2, (queries, n)).astype(float)
    targets = matrix @ rng.dirichlet(np.full(n, 0.3)) + rng.normal(0, 0.05, queries)
    p, gap = nearest_linf(matrix, targets, 1e-3, 20_000)
    value = np.abs(matrix @ p - targets).max()
    assert gap <= 1e-3
    assert best_linf(matrix, targets) - 1e-9 <= value <= best_linf(matrix, targets) + gap + 1e-9
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_the_l2_solver_meets_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, n = int(rng.integers(3, 60)), int(rng.integers(2, 60))
    matrix = rng.integers(0, 2, (queries, n)).astype(float)
    targets = matrix @ rng.dirichlet(np.full(n, 0.3)) + rng.normal(0, 0.05, queries)
    p, gap = nearest_l2(matrix, targets, 1e-6, 50_000)
    heavy = 1e4
    q, _ = nnls(np.vstack([matrix, np.full(n, heavy)]), np.array([*targets, heavy]))
    least = ((matrix @ q - targets) ** 2).sum() / 2
    assert gap <= 1e-6
    assert ((matrix @ p - targets) ** 2).sum() / 2 <= least + gap + 1e-6


def test_a_solver_that_is_stopped_early_says_so() -> None:
    matrix, targets = np.eye(50), np.linspace(0, 1, 50)
    for solve in (nearest_linf, nearest_l2):
        assert solve(matrix, targets, 1e-9, 3).gap > 1e-6
    fit = Projection(queries=Queries.thresholds(50), epsilon=1000, steps=2, tolerance=0.01)
    assert fit.sample(np.arange(50), Seeded(1)).gap > 0.01


@pytest.mark.parametrize("seed", range(6))
def test_gaps_are_never_more_than_is_sure(seed: int) -> None:
    """Whatever the targets, in [0, 1] or drawn towards corners, after any number of steps."""
    rng = np.random.default_rng(seed)
    for steps in (1, 2, 7, 40):
        queries, n = int(rng.integers(2, 40)), int(rng.integers(2, 40))
        matrix = rng.integers(0, 2, (queries, n)).astype(float)
        targets = rng.beta(0.2, 0.2, queries)
        p, gap = nearest_linf(matrix, targets, 0.0, steps)
        assert gap <= sure_linf(queries, steps)
        assert np.abs(matrix @ p - targets).max() <= best_linf(matrix, targets) + gap + 1e-9
        assert nearest_l2(matrix, targets, 0.0, steps).gap <= sure_l2(queries, steps) + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_are_as_near_as_stated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 2, (40, 30)).astype(float)
    targets = np.clip(matrix @ rng.dirichlet(np.full(30, 0.3)) + rng.normal(0, 0.02, 40), 0, 1)
    least = best_linf(matrix, targets)
    for rows in (5, 50, 500):
        y = few_rows(matrix, targets, rows)
        assert y.sum() == rows
        assert np.abs(matrix @ y / rows - targets).max() <= least + math.sqrt(2 * math.log(80) / rows)


def test_rows_have_low_discrepancy() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, rows = int(rng.integers(1, 40)), int(rng.integers(1, 200))
        p = rng.dirichlet(np.full(n, 0.3))
        y = to_rows(p, rows)
        assert y.sum() == rows
        assert y.min() >= 0
        assert np.abs(np.cumsum(y) - rows * np.cumsum(p)).max() <= 0.5 + 1e-9
        q = rng.random(n)
        assert abs(q @ y - rows * (q @ p)) <= np.abs(np.diff(q)).sum() / 2 + 1e-9
