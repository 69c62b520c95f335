"""The nearest non-negative cells: they are optimal, totals hold, and sparse tables are far more accurate."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.consistent.families import CITIES, FAMILIES, cube, measured, squared_error
from scipy.optimize import nnls

from discreet.algorithms.consistent.estimate import estimate
from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.tidy import _weights, nonnegative


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("filled", [0.02, 0.3])
def test_less_error_on_sparse_tables_and_none_negative(name: str, filled: float) -> None:
    layout, asked = FAMILIES[name]
    before = after = 0.0
    for seed in range(1, 6):
        true, cells, spread = measured(layout, asked, filled, seed)
        found = nonnegative(layout, cells, spread)
        assert found.min() >= 0
        before, after = before + squared_error(layout, asked, cells, true), after + squared_error(layout, asked, found, true)
    assert after < 0.95 * before


@pytest.mark.parametrize("name", FAMILIES)
def test_totals_hold(name: str) -> None:
    """What is negative is not made up for by totals: no sum moves by more than its own noise, though thousands of cells are moved up."""
    layout, asked = FAMILIES[name]
    _, cells, spread = measured(layout, asked, 0.02)
    found = nonnegative(layout, cells, spread)
    coarsest = asked[-1]
    assert np.abs(layout.summed(found - cells, coarsest)).max() < 3 * spread[coarsest]
    assert np.abs(layout.summed(np.maximum(cells, 0) - cells, coarsest)).max() > 5 * spread[coarsest]


def test_it_is_the_nearest() -> None:
    layout, asked = Layout((), (4, 3, 2)), cube(3)
    _, cells, spread = measured(layout, asked, 0.2)
    weights = _weights(layout, spread)
    rows = [np.array([layout.summed(cell, table).ravel() for cell in np.eye(24)]).T * weight**0.5 for table, weight in weights.items()]
    best, _ = nnls(np.vstack(rows), np.vstack(rows) @ cells.ravel())
    assert np.abs(nonnegative(layout, cells, spread).ravel() - best).max() < 0.02 * spread[layout.finest]


def test_what_is_positive_stays() -> None:
    _, cells, spread = measured(CITIES, FAMILIES["cities"][1], 1.0)
    assert np.allclose(nonnegative(CITIES, np.abs(cells) + 1, spread), np.abs(cells) + 1)


def test_sums_that_are_not_negative_stay_where_the_finest_table_is_not_shown() -> None:
    """By area and status, by union, and in all: no sum is negative, so none is moved for the sake of cells that nobody sees."""
    layout, asked = Layout((), (4, 2, 2)), (Table(0, (0, 1)), Table(0, (2,)), Table(0, ()))
    areas = np.array([[461.0, 263.0], [549.0, 420.0], [737.0, 603.0], [50.0, 29.0]])
    noisy = {asked[0]: areas, asked[1]: np.array([2336.0, 776.0]), asked[2]: np.array([3112.0])}
    cells = estimate(layout, noisy, dict.fromkeys(asked, 1.0))
    assert cells.min() < 0, "what no table determines is spread evenly, so the test could not fail"
    found = nonnegative(layout, cells, {asked[0]: 20.0, asked[1]: 25.0, asked[2]: 30.0})
    assert found.min() >= 0
    for table in asked:
        assert np.allclose(layout.summed(found, table), noisy[table])
