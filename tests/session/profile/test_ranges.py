"""Ranges from noisy counts: what is clear of noise is found, noise alone is not, and ends never cross."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.session.profile.cells import CELLS, Counts, Grid, coarse_grid, fine_grid, middle_grid
from discreet.session.profile.ranges import Rows, as_counts, body_found, cells_found, histogram_of, range_found
from discreet.session.profile.shape import shape_of
from discreet.tables.kind import Kind


def test_cells_that_are_clear_are_found_with_their_likely_neighbours() -> None:
    counts = np.array([0.0, 1, 3, 90, 80, 2.6, 0, -1])
    assert cells_found(counts, clear=5, sd=1) == (2, 5)
    assert cells_found(np.array([0.0, 4, 4, 0]), clear=5, sd=1) == (1, 2)  # two together
    assert cells_found(np.array([1.0, -1, 2]), clear=5, sd=1) is None


def test_noise_alone_is_nothing() -> None:
    grid = coarse_grid(Kind.REAL)
    assert range_found(grid, Counts((0.5,) * grid.codes, 1.0, 5.0)) is None


def test_ends_never_cross() -> None:
    """In any noise, whatever is found has a lower end below its upper end, and so has the histogram made of it."""
    noise = np.random.default_rng(3)
    for kind in (Kind.REAL, Kind.INTEGER, Kind.DATE):
        grid = coarse_grid(kind)
        for _ in range(300):
            found = range_found(grid, Counts(tuple(noise.laplace(0, 10, grid.codes)), 10.0, float(noise.uniform(5, 40))))
            if found is None:
                continue
            assert found[0] < found[1]
            middle = middle_grid(grid, *found, 16)
            counts = Counts(tuple(noise.laplace(0, 10, middle.codes)), 10.0, 30.0)
            first, last = body_found(middle, counts)
            made = histogram_of(middle, counts, Rows(100.0, 10.0), middle, (first, last), 5.0)
            assert made.low < made.high
            assert made.beyond > 0


def test_a_single_zero_has_a_range() -> None:
    grid = coarse_grid(Kind.INTEGER)
    counts = [0.0] * grid.codes
    counts[-1] = 500.0
    assert range_found(grid, Counts(tuple(counts), 1.0, 5.0)) == (0, 1)


def test_small_lower_ends_become_zero() -> None:
    grid = coarse_grid(Kind.REAL)
    counts = [0.0] * grid.codes
    for value in (20.0, 100.0):
        counts[next(i for i, edge in enumerate(grid.edges) if edge > value)] = 500.0
    low, high = range_found(grid, Counts(tuple(counts), 1.0, 5.0)) or (Fraction(1), Fraction(0))
    assert (low, high) == (0, 128)


def test_counts_are_in_rows() -> None:
    assert as_counts(np.array([4096, 0, -2048]), 4096) == (1.0, 0.0, -0.5)


def histogram_with(tail: dict[int, float], noise: float) -> tuple[int, int]:
    """Values on 10 … 19, some more in the cells named, of 40 cells of one whole number each; the range that is kept."""
    grid = middle_grid(coarse_grid(Kind.INTEGER), Fraction(0), Fraction(40), 40)
    counts = np.zeros(grid.codes)
    counts[11:21] = 1000.0
    for cell, count in tail.items():
        counts[cell + 1] = count
    made = histogram_of(grid, Counts(tuple(counts), 10.0, 45.0), Rows(10_000.0, 10.0), grid, (10, 19), noise)
    return int(made.low), int(made.high)


def test_a_range_is_widened_where_that_errs_less() -> None:
    """A cell of two standard deviations is no discovery, but leaving it out moves a sum further than the noise of two more cells does."""
    assert histogram_with({}, noise=50.0) == (10, 19)
    assert histogram_with({22: 20.0}, noise=1.0)[1] >= 22
    assert histogram_with({22: 20.0}, noise=50.0) == (10, 19)
    assert histogram_with({26: 35.0}, noise=5.0)[1] == 26
    assert histogram_with({30: 46.0}, noise=5.0)[1] == 30
    assert histogram_with({4: 35.0}, noise=5.0)[0] == 4


def test_a_range_is_not_widened_to_where_nothing_is_likely() -> None:
    """Noise far from all that was seen is not believed unless it is clear."""
    assert histogram_with({39: 25.0, 0: 25.0}, noise=20.0) == (10, 19)
    assert histogram_with({39: 44.0}, noise=5.0)[1] < 30


def test_a_wide_cell_beside_a_range_is_far_from_it() -> None:
    """Years: 1024 … 1919 is one cell; three standard deviations of noise in it, one run in 700, do not make the range that wide."""
    edges = tuple(map(Fraction, [1024, 1920, *range(1924, 2048, 4), 2048]))
    grid, middle = Grid(edges, Kind.INTEGER), Grid((edges[0], edges[1], edges[-1]), Kind.INTEGER)
    counts = np.zeros(grid.codes)
    counts[15:22], counts[1] = 3000.0, 44.0
    made = histogram_of(grid, Counts(tuple(counts), 10.0, 54.0), Rows(21_000.0, 10.0), middle, (1, 1), 5.0)
    assert made.low >= 1920


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_beyond_the_coarse_grid_have_ends_that_differ_as_floats(sign: int) -> None:
    """All values above the largest power of two: the range is short there, and can be drawn."""
    grid = coarse_grid(Kind.REAL)
    counts = [0.0] * grid.codes
    counts[grid.cells + 1 if sign > 0 else 0] = 500.0
    low, high = range_found(grid, Counts(tuple(counts), 1.0, 5.0)) or (Fraction(1), Fraction(0))
    assert float(low) < float(high)
    middle = middle_grid(grid, low, high, 16)
    made = histogram_of(middle, Counts((1.0,) * middle.codes, 10.0, 30.0), Rows(500.0, 10.0), middle, (0, middle.cells - 1), 5.0)
    assert shape_of(made, Kind.REAL).edges


def test_cells_beyond_the_middle_grid_are_believed_only_if_they_are_clear() -> None:
    """They reach a thousand widths: noise that would extend a range by a cell elsewhere would make it useless there."""
    coarse = coarse_grid(Kind.REAL)
    middle = middle_grid(coarse, Fraction(0), Fraction(64), 16)
    outside = Counts((0.0, *[500.0] * middle.cells, 40.0, 0.0), 10.0, 45.0)
    grid = fine_grid(middle, outside, (0, middle.cells - 1), CELLS)
    inside = sum(edge <= 64 for edge in grid.edges) - 1
    for count, high in ((35.0, 64), (60.0, float(grid.edges[-1]))):
        counts = Counts((0.0, *[500.0] * inside, *[0.0] * (grid.cells - inside - 1), count, 0.0, 0.0), 10.0, 45.0)
        made = histogram_of(grid, counts, Rows(500.0 * inside, 10.0), middle, (0, middle.cells - 1), 0.01)
        assert (made.high > 64 * 100) == (high > 64 * 100)
