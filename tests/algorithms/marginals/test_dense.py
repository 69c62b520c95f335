"""The transform of the whole domain: residuals of every clique, its transpose, squared errors, and a model's derivatives."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.backends import NAMES, backend

from discreet.algorithms.marginals.arrays import NumpyArrays
from discreet.algorithms.marginals.dense import DenseResiduals, DenseTransform, Transform, squared_error_weights
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import fit_dense
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
    residuals = transform.forward(off.astype(np.float64)) ** 2
    found = sum(weight * residuals[transform.block(clique)].sum() for clique, weight in squared_error_weights(workload).items())
    assert found == pytest.approx(squares, rel=5e-3)


@pytest.fixture(params=NAMES)
def arrays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    return backend(request.param, monkeypatch)


WIDE = Domain.of({"a": 2, "b": 3, "c": 4, "d": 1, "e": 5, "f": 2, "g": 3})
FEW = [(0,), (4,), (1, 2), (2, 6), (0, 4, 5), (1, 4, 6), (3, 5)]


def directly(domain: Domain, cliques: list[tuple[int, ...]], logs: list[np.ndarray], potentials: np.ndarray) -> tuple[float, Any, Any]:
    """The log of the total weight, the distribution and the mean of each residual, with one matrix over all cells."""
    transform = Transform(domain, BITS)
    index = np.concatenate([transform.block(clique) for clique in cliques])
    spread = np.zeros(domain.size)
    spread[index] = potentials
    weights = transform.backward(spread).reshape(domain.sizes)
    for i, column in enumerate(logs):
        weights = weights + column.reshape([-1 if i == j else 1 for j in domain.columns])
    log_total = float(np.log(np.exp(weights).sum()))
    p = np.exp(weights - log_total)
    return log_total, p, transform.forward(p)[index]


def test_features_are_those_of_a_direct_computation(arrays: Any) -> None:
    random = np.random.default_rng(5)
    logs = [random.normal(size=size) for size in WIDE.sizes]
    features = DenseResiduals(WIDE, FEW, BITS, logs, arrays)
    at = random.normal(0, 0.5, features.size)
    log_total, p, averages = directly(WIDE, FEW, logs, at)
    close = 1e-5 if arrays.itemsize == 4 else 1e-11
    found = features.evaluate(at)
    assert found[0] == pytest.approx(log_total, abs=close)
    np.testing.assert_allclose(found[1], averages, atol=close)
    made = features.of(at)
    assert made.distribution.shape == WIDE.sizes
    np.testing.assert_allclose(made.distribution, p, rtol=1e-4, atol=close)
    for clique, table in made.marginals.items():
        np.testing.assert_allclose(table, p.sum(axis=axes_without(clique, tuple(WIDE.columns))), atol=close)


def test_averages_are_the_derivatives_of_the_log_total() -> None:
    random = np.random.default_rng(4)
    features = DenseResiduals(DOMAIN, [(0,), (1, 2)], BITS, [random.normal(size=size) for size in DOMAIN.sizes], NumpyArrays(DOMAIN.size))
    at = random.normal(size=features.size)
    assert features.size == 1 + 2 * 3
    _, averages = features.evaluate(at)
    for i, step in enumerate(np.eye(features.size) * 1e-6):
        rise = (features.evaluate(at + step)[0] - features.evaluate(at - step)[0]) / 2e-6
        assert averages[i] == pytest.approx(rise, abs=1e-7)
    assert features.of(at).distribution.sum() == pytest.approx(1)


def test_a_clique_may_name_its_columns_in_any_group(arrays: Any) -> None:
    """Residuals have the order of their clique's columns, wherever the columns lie in the array."""
    table = np.random.default_rng(6).integers(0, 9, WIDE.sizes)
    transform = DenseTransform(WIDE, FEW, BITS, arrays)
    found = transform.forward(transform.marginals(arrays.put(table.transpose(transform.order).astype(np.float64))))
    start = 0
    for clique in FEW:
        residual = Residual(WIDE, clique, BITS)
        direct = residual.of(table.sum(axis=axes_without(clique, tuple(WIDE.columns))).ravel()) / residual.unit
        np.testing.assert_allclose(found[start : start + residual.size], direct, atol=1e-3, rtol=1e-5)
        start += residual.size
    assert start == transform.size


def test_the_same_model_on_every_back_end(arrays: Any) -> None:
    random = np.random.default_rng(7)
    measured = [NoisyMeasurement(c, random.normal(0, 40, Residual(WIDE, c, BITS).size), 5.0) for c in FEW if Residual(WIDE, c, BITS).size]
    alone = [np.full(size, 1 / size) for size in WIDE.sizes]
    first = fit_dense(WIDE, measured, BITS, alone, 1000.0, 0.1, NumpyArrays(WIDE.size))
    second = fit_dense(WIDE, measured, BITS, alone, 1000.0, 0.1, arrays)
    for k in (1, 2, 3):
        for clique in combinations(WIDE.columns, k):
            np.testing.assert_allclose(second.marginal(clique), first.marginal(clique), atol=0.3)  # of noise 5, in 1,000 records
    assert second.distribution.sum(dtype=np.float64) == pytest.approx(1, abs=1e-5)
