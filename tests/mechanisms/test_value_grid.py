"""Grids: every value has one point, larger values have no smaller point, and a point's cell contains its values."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.mechanisms.value_grid import RelativeGrid, ValueGrid


def test_the_default_grid() -> None:
    for lower, upper in ((0, 1), (-3, 7), (0, 1e-9), (0, 10**12)):
        grid = ValueGrid.of(lower, upper, None)
        assert 2**19 <= grid.points <= 2**21 + 1
        assert grid.step.numerator == 1 or grid.step.denominator == 1
        places = grid.place([lower, upper, -1e308, 1e308, math.nan, math.inf, -math.inf])
        assert places.counts.tolist() == [4, 3]
        assert places.points[0] == 0
        assert places.points[1] in (grid.points - 1, grid.points - 2)


def test_places_are_counted_alike_on_fine_and_coarse_grids() -> None:
    """Few records on a wide grid are sorted, many are tallied: the same places."""
    values = [0.5, 3.25, 3.25, 99.0, 0.5, 17.0]
    grid = ValueGrid.of(0, 128, "1/1024")  # 2¹⁷ points
    few, many = grid.place(values), grid.place(values * 20_000)
    assert few.points.tolist() == many.points.tolist()
    assert (few.counts * 20_000).tolist() == many.counts.tolist()


REAL = RelativeGrid(Fraction(1, 2**10), 8, -120, 120)
WHOLE = RelativeGrid(Fraction(1), 8, -50, 70, whole=True)


@pytest.mark.parametrize("grid", [REAL, WHOLE, ValueGrid.of(-3, 9, "1/4"), ValueGrid.of(-3, 9, 2, whole=True)], ids=str)
def test_cells_follow_one_another(grid: RelativeGrid | ValueGrid) -> None:
    """The cells cover everything between the ends without overlap, and each contains the number of its point."""
    cells = [grid.cell(point) for point in range(grid.points)]
    assert all(low <= grid.value(point) <= high for point, (low, high) in enumerate(cells))
    between = 1 if grid.whole else 0
    assert all(after[0] - before[1] == between for before, after in pairwise(cells))


@pytest.mark.parametrize("grid", [REAL, WHOLE], ids=str)
def test_positions_are_those_of_the_cells(grid: RelativeGrid) -> None:
    """Every number is in the cell of its position; numbers of points are at their own point."""
    for point in range(grid.points):
        position = point + grid.first
        low, high = grid.cell(point)
        assert grid.position(grid.value(point)) == position
        inside = [Fraction(math.ceil(low)), Fraction(math.floor(high))] if grid.whole else [(low + high) / 2, (low + 2 * high) / 3]
        assert all(grid.position(value) == position for value in inside)


def test_small_whole_numbers_are_points_and_large_ones_are_near_one() -> None:
    assert [int(WHOLE.value(WHOLE.position(Fraction(n)) - WHOLE.first)) for n in range(-16, 17)] == list(range(-16, 17))
    for n in range(17, 10**3):
        near = WHOLE.size(WHOLE.position(Fraction(n)))
        assert 0 <= n - near <= n / 8


def test_what_lies_beyond_belongs_to_the_ends() -> None:
    places = REAL.place([math.inf, 1e308, -math.inf, -1e308, math.nan, 0.0, -0.0, 1e-300, 10**400])
    assert places.points.tolist() == [0, 120, 240]
    assert places.counts.tolist() == [3, 3, 3]
