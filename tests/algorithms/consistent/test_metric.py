"""W is inverted as the matrix that it is, with and without a tree and flat keys."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.metric import Metric

TREE = ((0, 0), (0, 1, 1, 0))
CASES = [
    (Layout((), (3,)), [Table(0, ())]),
    (Layout((), (3, 4, 2)), [Table(0, (0, 1)), Table(0, (2,)), Table(0, ())]),
    (Layout(TREE, ()), [Table(1, ()), Table(0, ())]),
    (Layout(TREE, (3, 2)), [Table(2, (0,)), Table(1, (0, 1)), Table(1, ()), Table(0, (1,))]),
]


@pytest.mark.parametrize(("layout", "tables"), CASES)
def test_inverse(layout: Layout, tables: list[Table]) -> None:
    weights = {table: 0.3 + place for place, table in enumerate([layout.finest, *tables])}
    size, shape = layout.cells(layout.finest), layout.shape(layout.finest)
    summing = {table: np.array([layout.summed(cell, table).ravel() for cell in np.eye(size)]).T for table in weights}
    matrix = sum(weight * summing[table].T @ summing[table] for table, weight in weights.items())
    force = np.random.default_rng(1).normal(size=size)
    assert np.allclose(Metric(layout, weights).inverse(force.reshape(shape)).ravel(), np.linalg.solve(matrix, force))
