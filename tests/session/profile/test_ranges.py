"""Ranges from noisy counts: what is clear of noise is found, noise alone is not, and ends never cross."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.session.profile.cells import coarse_grid, middle_grid
from discreet.session.profile.ranges import Counts, Rows, as_counts, body_found, cells_found, histogram_of, range_found
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
            made = histogram_of(middle, counts, Rows(100.0, 10.0), (middle.edges[first], middle.edges[last + 1]))
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
