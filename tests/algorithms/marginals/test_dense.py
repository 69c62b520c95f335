"""The transform of the whole domain: residuals of every clique, its transpose, squared errors, and a model's derivatives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.algorithms.marginals.dense import DenseResiduals, Transform
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.nesting import axes_without
from discreet.algorithms.marginals.residual import Residual
from discreet.algorithms.marginals.workload import Workload

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 4})
BITS = 10
CLIQUES = [clique for k in range(4) for clique in combinations(DOMAIN.columns, k)]


def cells(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 50, DOMAIN.sizes)


def test_each_block_is_the_residual_of_its_clique() -> None:
    table, transform = cells(0), Transform(DOMAIN, BITS)
    forward = transform.forward(table.astype(np.float64))
    for clique in CLIQUES:
        residual = Residual(DOMAIN, clique, BITS)
        marginal = table.sum(axis=axes_without(clique, (0, 1, 2))).ravel()
        np.testing.assert_allclose(forward[transform.block(clique)], residual.of(marginal) / residual.unit, atol=1e-9)
    assert sorted(np.concatenate([transform.block(clique) for clique in CLIQUES]).tolist()) == list(range(DOMAIN.size))


def test_backward_is_the_transpose() -> None:
    random, transform = np.random.default_rng(1), Transform(DOMAIN, BITS)
    x, y = random.normal(size=DOMAIN.sizes), random.normal(size=DOMAIN.size)
    assert transform.forward(x) @ y == pytest.approx(x.ravel() @ transform.backward(y))


def test_weights_make_squared_residuals_squared_errors() -> None:
    workload = Workload.of(DOMAIN, {("a", "b"): 3, ("c",): 1})
    off, transform = cells(2) - cells(3), Transform(DOMAIN, BITS)
    squares = sum(
        workload.weights[clique] * float((off.sum(axis=axes_without(clique, (0, 1, 2))) ** 2).sum()) for clique in workload.cliques
    )
    assert transform.weights(workload) @ transform.forward(off.astype(np.float64)) ** 2 == pytest.approx(squares, rel=5e-3)


def test_averages_are_the_derivatives_of_the_log_total() -> None:
    random = np.random.default_rng(4)
    features = DenseResiduals(DOMAIN, [(0,), (1, 2)], BITS, random.normal(size=DOMAIN.sizes))
    at = random.normal(size=features.size)
    assert features.size == 1 + 2 * 3
    _, averages = features.evaluate(at)
    for i, step in enumerate(np.eye(features.size) * 1e-6):
        rise = (features.evaluate(at + step)[0] - features.evaluate(at - step)[0]) / 2e-6
        assert averages[i] == pytest.approx(rise, abs=1e-7)
    assert features.of(at)[1].sum() == pytest.approx(1)
