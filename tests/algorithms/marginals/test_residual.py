"""Residuals: contrasts, how far one record moves them by brute force, and marginals put together from them."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from discreet.algorithms.marginals.arrays import NumpyArrays
from discreet.algorithms.marginals.dense import DenseResiduals, Transform, squared_error_weights
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.residual import BITS, Residual, contrasts
from discreet.algorithms.marginals.workload import Workload


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 32, 91])
def test_contrasts_are_orthonormal_up_to_their_rounding(size: int) -> None:
    """Rounding moves each entry by half a step at most: products of rows by about a step, sums of rows by half a step for each entry."""
    found = contrasts(size, BITS)
    assert found.dtype == np.int64
    assert found.shape == (size - 1, size)
    real = found / 2**BITS
    assert np.abs(real @ real.T - np.eye(size - 1)).max(initial=0) <= 2 * 2.0**-BITS
    assert np.abs(real.sum(axis=1)).max(initial=0) <= size / 2 * 2.0**-BITS


@pytest.mark.parametrize("size", [2, 3, 5, 10])
def test_unrounded_contrasts_are_orthonormal_to_float_precision(size: int) -> None:
    real = contrasts(size, 48) / 2**48
    assert np.abs(real @ real.T - np.eye(size - 1)).max() <= 1e-13
    assert np.abs(real.sum(axis=1)).max() <= 1e-13


DOMAIN = Domain.of({"a": 2, "b": 3, "c": 5, "one": 1})
CLIQUES: list[Clique] = [c for k in range(5) for c in combinations(range(4), k)]


@pytest.mark.parametrize("clique", CLIQUES, ids=str)
def test_the_length_is_the_exact_maximum_over_records(clique: Clique) -> None:
    residual = Residual(DOMAIN, clique, BITS)
    longest = 0
    for codes in product(*map(range, DOMAIN.shape(clique))):
        counts = np.zeros(DOMAIN.shape(clique), np.int64)
        counts[codes] = 1
        longest = max(longest, sum(int(x) ** 2 for x in residual.of(counts.ravel())))
    assert residual.length_squared == longest
    assert residual.size == prod(n - 1 for n in DOMAIN.shape(clique))
    assert residual.share == pytest.approx(prod(1 - 1 / n for n in DOMAIN.shape(clique)), rel=5e-3)


def from_residuals(domain: Domain, clique: Clique, residuals: dict[Clique, np.ndarray]) -> np.ndarray:
    """The marginal as the sum of what each subset's residual says."""
    found = np.zeros(domain.shape(clique))
    for part, values in residuals.items():
        if set(part) <= set(clique):
            array = values.reshape(Residual(domain, part, BITS).shape) / Residual(domain, part, BITS).unit
            for axis, i in enumerate(clique):
                if i in part:
                    array = np.moveaxis(np.tensordot(contrasts(domain.sizes[i], BITS).T / 2**BITS, array, (1, axis)), 0, axis)
                else:
                    array = np.repeat(np.expand_dims(array, axis), domain.sizes[i], axis) / domain.sizes[i]
            found += array
    return found


def test_a_marginal_is_the_sum_of_its_residuals() -> None:
    random = np.random.default_rng(0)
    table = random.integers(0, 100, DOMAIN.sizes)
    residuals = {}
    for part in CLIQUES:
        counts = table.sum(axis=tuple(i for i in DOMAIN.columns if i not in part))
        residuals[part] = Residual(DOMAIN, part, BITS).of(np.asarray(counts).ravel()).astype(float)
    for clique in CLIQUES:
        marginal = table.sum(axis=tuple(i for i in DOMAIN.columns if i not in clique))
        off = np.abs(from_residuals(DOMAIN, clique, residuals) - marginal).max()
        assert off <= 4 * 2.0**-BITS * table.sum()  # the rounding of contrasts


def test_counts_beyond_64_bits_are_exact() -> None:
    domain = Domain.of(dict.fromkeys("abc", 3))
    residual = Residual(domain, (0, 1, 2), BITS)
    counts = np.zeros(27, np.int64)
    counts[5], counts[26] = 2**61, 12345
    small, one = np.zeros(27, np.int64), np.zeros(27, np.int64)
    small[26], one[5] = 12345, 1
    exact = [2**61 * int(x) + int(y) for x, y in zip(residual.of(one), residual.of(small), strict=True)]
    assert [int(x) for x in residual.of(counts)] == exact


def test_the_dense_transform_agrees() -> None:
    random = np.random.default_rng(1)
    table = random.integers(0, 50, DOMAIN.sizes)
    transform = Transform(DOMAIN, BITS)
    found = transform.forward(table.astype(float).ravel())
    for clique in CLIQUES:
        counts = np.asarray(table.sum(axis=tuple(i for i in DOMAIN.columns if i not in clique))).ravel()
        residual = Residual(DOMAIN, clique, BITS)
        np.testing.assert_allclose(found[transform.block(clique)], residual.of(counts).astype(float) / residual.unit, atol=1e-9)
    u, v = random.normal(size=DOMAIN.size), random.normal(size=DOMAIN.size)
    assert transform.forward(u) @ v == pytest.approx(u @ transform.backward(v))
    blocks = np.concatenate([transform.block(c) for c in CLIQUES])
    assert sorted(blocks.tolist()) == list(range(DOMAIN.size))  # residuals are all there is, once


def test_weights_make_squared_errors_of_marginals() -> None:
    random = np.random.default_rng(2)
    off = random.normal(size=DOMAIN.sizes)
    for workload in (Workload.all_of(DOMAIN, 2), Workload.of(DOMAIN, {("a", "b", "c"): 3, ("b",): 2})):
        squares = sum(w * (off.sum(axis=tuple(i for i in DOMAIN.columns if i not in c)) ** 2).sum() for c, w in workload.weights.items())
        transform = Transform(DOMAIN, 40)
        residuals = transform.forward(off.ravel()) ** 2
        weights = squared_error_weights(workload)
        assert sum(weight * residuals[transform.block(c)].sum() for c, weight in weights.items()) == pytest.approx(squares)


def test_dense_features_against_differences() -> None:
    """The averages are the gradient of the logarithm of the sum of all weights."""
    random = np.random.default_rng(3)
    logs = [random.normal(size=size) for size in DOMAIN.sizes]
    features = DenseResiduals(DOMAIN, [(0,), (1, 2), (0, 1, 2)], BITS, logs, NumpyArrays(DOMAIN.size))
    at = random.normal(size=features.size)
    _, averages = features.evaluate(at)
    for i in range(features.size):
        step = np.eye(features.size)[i] * 1e-5
        slope = (features.evaluate(at + step)[0] - features.evaluate(at - step)[0]) / 2e-5
        assert slope == pytest.approx(averages[i], abs=1e-7)
    assert np.isfinite(features.evaluate(at * 1e6)[0])
