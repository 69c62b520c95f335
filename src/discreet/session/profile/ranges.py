"""The range in which a column's values lie, and its histogram there; from released noisy counts alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.session.profile.cells import Grid
from discreet.tables.cells_found import cells_found
from discreet.tables.histogram import Histogram

_NEAR_ZERO = 4  # a lower end that is positive and this much smaller than the upper end becomes 0
_TINY = 1000  # an end of the other sign that is this much smaller is noise beside zeros
_OUTSIDE = 0.1  # of the rows: if more may lie outside a narrow range, a wider one is better


@final
@frozen
class Counts:
    """Noisy counts of a grid's codes, the standard deviation of the noise, and the count from which on a cell is clear of it."""

    counts: tuple[float, ...]
    sd: float
    clear: float

    @property
    def total(self) -> float:
        """About how many rows have a value, with much noise."""
        return sum(self.counts)


@final
@frozen
class Rows:
    """The noisy number of all rows, and its standard deviation."""

    count: float
    sd: float


def range_found(grid: Grid, found: Counts) -> tuple[Fraction, Fraction] | None:
    """The ends between which values were found on a coarse grid."""
    counts, clear = found.counts, found.clear
    zero = grid.zero and counts[-1] > clear
    cells = cells_found(np.array(counts[: grid.cells + 2]), clear, found.sd, far=1 if grid.zero else None)  # octaves are far apart
    ends: list[Fraction] = [Fraction(0), Fraction(int(grid.whole))] if zero else []
    if cells is not None:
        ends += [grid.edges[max(cells[0] - 1, 0)], grid.edges[min(cells[1], grid.cells)]]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    if grid.zero and (0 < low <= high / _NEAR_ZERO or -high / _TINY < low < 0):
        low = Fraction(0)
    if grid.zero and (low / _NEAR_ZERO <= high < 0 or 0 < high < -low / _TINY):
        high = Fraction(0)
    return (low, high) if low < high else (low, low + (1 if grid.whole else Fraction(1, 2**20)))


def body_found(grid: Grid, found: Counts) -> tuple[int, int]:
    """The cells of the middle grid in which values were found, and one more on each side."""
    cells = cells_found(np.array(found.counts[1 : grid.cells + 1]), found.clear, found.sd)
    return (0, grid.cells - 1) if cells is None else (max(cells[0] - 1, 0), min(cells[1] + 1, grid.cells - 1))


def histogram_of(grid: Grid, found: Counts, rows: Rows, body: tuple[Fraction, Fraction] | None) -> Histogram:
    """The histogram of the range in which values were found on the finest grid.

    If many rows may lie outside of it (each cell is then too small to be seen), the body that the middle grid showed is taken instead. With
    no body, for declared bounds, all of it.
    """
    counts = np.array(found.counts[1 : grid.cells + 1])
    whole = _cut(grid, found, rows, 0, grid.cells - 1)
    if body is None:
        return whole
    wide = _cut(grid, found, rows, grid.edges.index(body[0]), grid.edges.index(body[1]) - 1)
    cells = cells_found(counts, found.clear, found.sd)
    narrow = wide if cells is None else _cut(grid, found, rows, *cells)
    for one in (narrow, wide):
        if one.learnt and one.beyond <= _OUTSIDE * max(rows.count, 1):
            return one
    return min(narrow, wide, whole, key=lambda one: one.beyond)


def _cut(grid: Grid, found: Counts, rows: Rows, first: int, last: int) -> Histogram:
    """The histogram of some cells. The rows outside are counted by their own cells, or as all rows but those inside: the less noisy."""
    counts, sd = found.counts, found.sd
    inside, missing = counts[first + 1 : last + 2], counts[grid.missing]
    below, above = sum(counts[: first + 1]), sum(counts[last + 2 : grid.cells + 2])
    direct = sd * math.sqrt(2 + first + grid.cells - 1 - last)
    rest = math.sqrt(rows.sd**2 + sd**2 * (1 + len(inside)))
    if rest < direct:
        outside = rows.count - missing - sum(inside)
        share = (outside - below - above) / 2
        below, above = below + share, above + share
    return Histogram(grid.edges[first : last + 2], tuple(inside), below, above, missing, sd, min(direct, rest), grid.whole)


def as_counts(noisy: NDArray[np.int64], one: int) -> tuple[float, ...]:
    """Released whole numbers as counts of rows."""
    return tuple(count / one for count in noisy.tolist())
