"""The range in which a column's values lie, and its histogram there; from released noisy counts alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.session.profile.cells import Counts, Grid
from discreet.tables.cells_found import cells_found
from discreet.tables.histogram import Histogram

_NEAR_ZERO = 4  # a lower end that is positive and this much smaller than the upper end becomes 0
_TINY = 1000  # an end of the other sign that is this much smaller is noise beside zeros
_OUTSIDE = 0.1  # of the rows: if more may lie outside a narrow range, a wider one is better
_SIGNIFICANT = 3.0  # standard deviations: such a cell holds rows, within one width of a range; further out, only clear ones do
_UNSEEN = 0.7  # standard deviations of noise: how many rows a cell may hold in which none were seen
_NEAR = 0.5  # of a range's width: how far beyond it unseen rows are expected


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
    return (low, high) if low < high else (low, low + (1 if grid.whole else max(abs(low), Fraction(1)) / 2**20))  # apart as floats too


def body_found(grid: Grid, found: Counts) -> tuple[int, int]:
    """The cells of the middle grid in which values were found, and one more on each side."""
    cells = cells_found(np.array(found.counts[1 : grid.cells + 1]), found.clear, found.sd)
    return (0, grid.cells - 1) if cells is None else (max(cells[0] - 1, 0), min(cells[1] + 1, grid.cells - 1))


def histogram_of(
    grid: Grid, found: Counts, rows: Rows, middle: Grid | None = None, body: tuple[int, int] | None = None, noise: float = 0.0
) -> Histogram:
    """The histogram of the range in which values were found on the finest grid, wider where that is likely to err less.

    If many rows may lie outside of it (each cell is then too small to be seen), the body that the middle grid showed is taken instead. With
    no middle grid, for declared bounds, all of it. `noise` is the standard deviation of the noise on a sum of numbers of magnitude 1.
    """
    if middle is None or body is None:
        return _cut(grid, found, rows, 0, grid.cells - 1)
    first, last = _between(grid, middle.edges[0], middle.edges[-1])  # cells beyond the middle grid are far apart: only clear ones count
    whole = _cut(grid, found, rows, first, last)
    start, end = _between(grid, middle.edges[body[0]], middle.edges[body[1] + 1])
    wide = _cut(grid, found, rows, start, end)
    near = np.flatnonzero(~_far(grid, start, end)[first : last + 1]) + first
    cells = cells_found(np.array(found.counts)[near + 1], found.clear, found.sd)
    seen = None if cells is None else (int(near[cells[0]]), int(near[cells[1]]))
    narrow = wide if seen is None else _cut(grid, found, rows, *_widened(grid, found, seen, noise))
    for one in (narrow, wide):
        if one.learnt and one.beyond <= _OUTSIDE * max(rows.count, 1):
            return one
    return min(narrow, wide, whole, key=lambda one: one.beyond)


def _between(grid: Grid, low: Fraction, high: Fraction) -> tuple[int, int]:
    """The first and the last cell between two edges."""
    return grid.edges.index(low), grid.edges.index(high) - 1


def _far(grid: Grid, first: int, last: int) -> NDArray[np.bool_]:
    """Which cells have their middle further from a range of cells than its width: one that is noise alone would widen it many times."""
    ends = np.array([float(edge) for edge in grid.edges])
    middles, low, high = (ends[:-1] + ends[1:]) / 2, ends[first], ends[last + 1]
    return np.asarray((middles < 2 * low - high) | (middles > 2 * high - low))


def _widened(grid: Grid, found: Counts, cells: tuple[int, int], noise: float) -> tuple[int, int]:
    """Extend a range over outer cells where the expected squared error of a sum becomes less: its noise grows, what is clipped shrinks.

    A cell that exceeds its noise clearly holds the rows that were counted. Any other one may hold about as many rows as its noise hides,
    near the range that was found. A threshold alone would cut off thin tails, which move a mean by more than the noise of a wider range.
    """
    ends = np.array([float(edge) for edge in grid.edges])
    lows, highs = ends[:-1], ends[1:] - grid.whole
    counts, sd = np.array(found.counts[1 : grid.cells + 1]), found.sd
    hidden = np.minimum(sd**2, np.maximum(counts**2 - sd**2, 0) + (_UNSEEN * sd) ** 2)
    width = highs[cells[1]] - lows[cells[0]]
    near = _NEAR * width
    middles = (lows + highs) / 2
    is_far = (middles < lows[cells[0]] - width) | (middles > highs[cells[1]] + width)
    seen = counts > np.where(is_far, found.clear, _SIGNIFICANT * sd)  # one far cell that is noise alone would widen a range many times
    squares = np.where(seen, counts**2 - sd**2, hidden)
    middles = np.where(seen, middles, np.clip(middles, lows[cells[0]] - near, highs[cells[1]] + near))
    reached = seen | ((highs >= lows[cells[0]] - near) & (lows <= highs[cells[1]] + near))
    squares = np.where(reached, squares, 0.0)
    under = [float(squares[:i] @ np.maximum(lows[i] - middles[:i], 0) ** 2) for i in range(cells[0] + 1)]
    over = [float(squares[i + 1 :] @ np.maximum(middles[i + 1 :] - highs[i], 0) ** 2) for i in range(cells[1], grid.cells)]
    errors = np.add.outer(under, over) + (noise / 2 * np.subtract.outer(lows[: cells[0] + 1], highs[cells[1] :])) ** 2
    first, last = np.unravel_index(np.argmin(errors), errors.shape)
    return int(first), cells[1] + int(last)


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
