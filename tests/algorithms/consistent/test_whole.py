"""Whole numbers whose sums are rounded too."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.consistent.families import CITIES, FAMILIES, cube, measured

from discreet.algorithms.consistent.layout import Floats, Layout, Table
from discreet.algorithms.consistent.tidy import nonnegative
from discreet.algorithms.consistent.whole import rounded


def moved(layout: Layout, asked: tuple[Table, ...], cells: Floats) -> float:
    found = rounded(layout, cells, asked)
    assert found.dtype == np.int64
    assert found.min() >= 0
    assert not found[cells == 0].any(), "an empty cell was filled"
    return max(float(np.abs(layout.summed(cells - found, table)).max()) for table in asked)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("filled", [0.02, 0.3])
def test_sums_move_little(name: str, filled: float) -> None:
    layout, asked = FAMILIES[name]
    _, cells, spread = measured(layout, asked, filled)
    assert moved(layout, asked, nonnegative(layout, cells, spread)) < (1 if name == "rollup" else 3)


def test_levels_of_a_tree_move_by_less_than_one() -> None:
    """Cities are summed by region, in whichever order they come."""
    layout = Layout(CITIES.parents, ())
    asked = (Table(2, ()), Table(1, ()), Table(0, ()))
    assert moved(layout, asked, np.random.default_rng(1).random(400)) < 1


def test_equal_cells_of_a_cube() -> None:
    """In the order of the cells alone, all the ones would come to the same columns."""
    layout, asked = Layout((), (40, 30, 10)), cube(3)
    assert moved(layout, asked, np.full(layout.shape(layout.finest), 0.25)) < 3


def test_many_lines_are_rounded_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.algorithms.consistent.whole._LINES", 10)
    layout, asked = FAMILIES["rollup"]
    assert moved(layout, asked, np.random.default_rng(1).random(layout.shape(layout.finest))) < 1
