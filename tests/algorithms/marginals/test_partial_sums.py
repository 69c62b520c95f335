"""Partial sums: marginals as numpy computes them, their transpose, few passes, and groups that contain every clique."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.backends import NAMES, backend

from discreet.algorithms.marginals.partial_sums import PartialSums, group_columns

SIZES = (2, 3, 1, 4, 2)
CASES = [
    [(0,), (1,), (2,), (3,), (4,)],
    list(combinations(range(5), 2)),
    list(combinations(range(5), 3)),
    [(0, 1, 2, 3, 4)],
    [(4,)],
    [(1, 3), (0, 2, 4), (3, 4)],
    [(2,), (0, 4)],
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cliques", CASES, ids=str)
def test_marginals_and_their_transpose(name: str, cliques: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    arrays, random = backend(name, monkeypatch), np.random.default_rng(0)
    cells, sums = random.normal(size=SIZES), PartialSums(SIZES, cliques)
    tables = [random.normal(size=[SIZES[i] for i in clique]) for clique in cliques]
    for clique, found in zip(cliques, sums.marginals(arrays, arrays.put(cells)), strict=True):
        direct = cells.sum(axis=tuple(i for i in range(5) if i not in clique)).ravel()
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, direct, atol=1e-5)
    direct = sum(table.reshape([SIZES[i] if i in clique else 1 for i in range(5)]) for clique, table in zip(cliques, tables, strict=True))
    found = arrays.take(sums.spread(arrays, [table.ravel() for table in tables]))
    np.testing.assert_allclose(found, np.broadcast_to(direct, SIZES).ravel(), atol=1e-5)


@pytest.mark.parametrize("sizes", [(2,) * 24, (4,) * 12, (100, 16, 7, 6, 5, 4, 2, 2, 2), (2,) * 30, (200, 200, 200)], ids=str)
def test_few_passes_for_any_number_of_marginals(sizes: tuple[int, ...]) -> None:
    grouping = group_columns(sizes, list(combinations(range(len(sizes)), 3)))
    sums = PartialSums([prod(sizes[i] for i in group) for group in grouping.groups], grouping.sets)
    assert sums.cost <= 6 * prod(sizes)
    assert grouping.table_cells <= max(2**20, prod(sizes))


@pytest.mark.parametrize("sizes", [(2,) * 12, (3, 1, 5, 2, 2, 7), (1,), (1, 1), (50, 2, 40)], ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_groups_hold_every_column_once_and_every_clique(sizes: tuple[int, ...], k: int) -> None:
    cliques = list(combinations(range(len(sizes)), min(k, len(sizes))))
    grouping = group_columns(sizes, cliques)
    assert sorted(grouping.order) == list(range(len(sizes)))
    columns = [set(grouping.columns(place)) for place in range(len(grouping.sets))]
    assert all(any(set(clique) <= held for held in columns) for clique in cliques)
    assert not any(a < b for a in columns for b in columns)


class Counted:
    """A back end that remembers how many cells it held at once, beside the array that it was given."""

    itemsize = 8

    def __init__(self) -> None:
        self.now = self.most = 0

    def held(self, cells: int) -> Any:
        self.now += cells
        self.most = max(self.most, self.now)
        return Held(self, cells)

    def put(self, table: Any) -> Any:
        return self.held(table.size)

    def take(self, array: Any, scale: float = 1.0) -> Any:
        return np.zeros(array.cells)

    def repeat(self, array: Any, before: int, among: int, after: int) -> Any:
        return self.held(before * among * after)

    def add(self, to: Any, array: Any, before: int, among: int, after: int) -> None:
        assert (to.cells, array.cells) == (before * among * after, before * after)

    def sum(self, array: Any, before: int, among: int, after: int) -> Any:
        return self.held(before * after)


class Held:
    """An array of so many cells, until nobody holds it."""

    def __init__(self, owner: Counted, cells: int) -> None:
        self.owner, self.cells = owner, cells

    def __del__(self) -> None:
        self.owner.now -= self.cells


@pytest.mark.parametrize("sizes", [(2,) * 24, (8,) * 8, (100, 16, 7, 6, 5, 4, 2, 2, 2)], ids=str)
def test_memory_is_bounded(sizes: tuple[int, ...]) -> None:
    """Beside the array itself, no more than a third of it at any time, in both directions."""
    grouping, cells = group_columns(sizes, list(combinations(range(len(sizes)), 3))), prod(sizes)
    each = [prod(sizes[i] for i in group) for group in grouping.groups]
    sums, arrays = PartialSums(each, grouping.sets), Counted()
    tables = [np.zeros(prod(each[i] for i in one)) for one in grouping.sets]
    made = sums.spread(arrays, tables)  # type: ignore[arg-type]
    assert cells <= arrays.most <= 4 * cells / 3
    arrays.most = 0
    assert sums.marginals(arrays, made)[0].size == tables[0].size  # type: ignore[arg-type]
    assert arrays.most <= 4 * cells / 3
