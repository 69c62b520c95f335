"""Sums of parts of a large array, and their transpose, as they are done directly."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.nesting import Nesting, axes_without, fitting, summed

DOMAIN = Domain.of({"a": 12, "b": 1, "c": 9, "d": 8, "e": 7})
WHOLE = (0, 1, 2, 3, 4)


@pytest.mark.parametrize("axes", [(), (0,), (4,), (2,), (0, 4), (1, 3), (0, 1, 2, 3, 4), (3, 4)])
@pytest.mark.parametrize("shape", [(2, 1, 3, 4, 5), (12, 3, 9, 8, 7)], ids=["small", "large"])
def test_sums_are_sums(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).random(shape)
    found = summed(array, axes)
    assert found.shape == array.sum(axis=axes).shape
    np.testing.assert_allclose(found, array.sum(axis=axes), rtol=1e-12)


@pytest.mark.parametrize(
    "parts", [[], [WHOLE], [()], [(0, 2), (0,), (2, 3), (3, 4), (0, 2)], [(0, 1), (1,), (0,), (4,), (2, 3, 4), WHOLE]], ids=str
)
def test_parts_of_parts(parts: list[tuple[int, ...]]) -> None:
    """Also where parts repeat, where one is the whole, and where a column has one code only."""
    random = np.random.default_rng(1)
    array, nested = random.random(DOMAIN.shape(WHOLE)), Nesting(DOMAIN, WHOLE, parts)
    for part, found in zip(parts, nested.sums(array), strict=True):
        np.testing.assert_allclose(found, array.sum(axis=axes_without(part, WHOLE)), rtol=1e-12)
    thetas = [random.random(DOMAIN.shape(part)) for part in parts]
    expected = np.zeros(DOMAIN.shape(WHOLE))
    for part, theta in zip(parts, thetas, strict=True):
        expected = expected + theta.reshape(fitting(DOMAIN, part, WHOLE))
    np.testing.assert_allclose(nested.spread(thetas), expected, rtol=1e-12)


def test_a_large_array_is_read_once_for_several_parts() -> None:
    nested = Nesting(DOMAIN, WHOLE, [(0, 2), (2, 3), (0, 3)])
    assert nested.nodes[0] == (0, 2, 3)
