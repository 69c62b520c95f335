"""Every back end does the same: sums, repetitions, additions and exponentials, against numpy on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from algorithms.marginals.backends import NAMES, backend

from discreet.algorithms.marginals.arrays import SINGLE, NumpyArrays

SHAPES = [(1, 1, 1), (1, 6, 1), (3, 4, 5), (1, 3, 2**15 + 7), (700, 3, 150), (40_000, 9, 1), (2, 150_001, 1)]


@pytest.fixture(params=NAMES)
def arrays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    return backend(request.param, monkeypatch)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_operations(arrays: Any, shape: tuple[int, int, int]) -> None:
    """The larger shapes are worked off in pieces, in several threads."""
    random = np.random.default_rng(0)
    large, small = random.uniform(-1, 1, shape), random.uniform(-1, 1, (shape[0], shape[2]))
    close = {"rtol": 1e-5, "atol": 1e-4 * shape[1] ** 0.5} if arrays.itemsize == 4 else {"rtol": 1e-12, "atol": 1e-9}
    summed = arrays.take(arrays.sum(arrays.put(large), *shape))
    np.testing.assert_allclose(summed, large.sum(axis=1).ravel(), **close)
    repeated = arrays.take(arrays.repeat(arrays.put(small), *shape))
    np.testing.assert_allclose(repeated, np.broadcast_to(small[:, None], shape).ravel(), **close)
    to = arrays.put(large)
    arrays.add(to, arrays.put(small), *shape)
    np.testing.assert_allclose(arrays.take(to), (large + small[:, None]).ravel(), **close)


@pytest.mark.parametrize("size", [1, 1000, 300_001])
def test_exponentials(arrays: Any, size: int) -> None:
    logs = np.random.default_rng(1).uniform(-2000, 2000, size)
    held = arrays.put(logs)
    top, total = arrays.exponentiate(held)
    assert top == pytest.approx(logs.max(), rel=1e-6)
    rounded = np.float32(logs) if arrays.itemsize == 4 else logs
    weights = np.exp(rounded.astype(np.float64) - float(rounded.max()))
    np.testing.assert_allclose(arrays.take(held), weights, rtol=1e-4, atol=1e-9)
    assert total == pytest.approx(weights.sum(), rel=1e-5)
    np.testing.assert_allclose(arrays.take(held, 0.5), weights / 2, rtol=1e-4, atol=1e-9)


def test_precision_follows_from_the_number_of_cells() -> None:
    assert [NumpyArrays(cells, threads=1).itemsize for cells in (1, SINGLE, SINGLE + 1)] == [8, 8, 4]


def test_threads_change_nothing() -> None:
    values = np.random.default_rng(2).normal(size=2**20 * 3)
    for before, among, after in ((1, 3, 2**20), (2**10, 3, 2**10), (3 * 2**10, 2**10, 1)):
        one, two = (NumpyArrays(SINGLE + 1, threads=threads) for threads in (1, 2))
        a, b = one.put(values), two.put(values)
        assert (one.sum(a, before, among, after) == two.sum(b, before, among, after)).all()
        assert one.exponentiate(a) == two.exponentiate(b)
        assert (a == b).all()
