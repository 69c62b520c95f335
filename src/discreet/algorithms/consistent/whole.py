"""Round the cells of tables that add up to whole numbers, so that sums, too, move by less than 1 where possible.

Rounding every cell by itself would move a sum of many small cells by much. No randomness is used, so the same cells are rounded in the
same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Floats, Layout, Table

Whole = NDArray[np.int64]
_LINES = 50_000  # that are rounded one by one


def rounded(layout: Layout, cells: Floats, tables: Sequence[Table]) -> Whole:
    """Non-negative cells as whole numbers: rounded in two ways, of which the one that moves sums less is returned. Empty cells stay empty.

    In the order of the tree and the keys, every contiguous sum moves by less than 1: all sums of a ROLLUP are contiguous, those of a CUBE
    are not. There, lines are rounded one after the other, each towards what it and the sums through it still lack.
    """
    order = np.lexsort([layout.ancestors(level) for level in range(len(layout.parents), -1, -1)])
    cells = cells.reshape(layout.shape(layout.finest))
    along = np.empty(cells.shape, np.int64)
    along[order] = _in_order(cells[order].ravel()).reshape(cells.shape)
    if cells.size // max(cells.shape) > _LINES:
        return along
    return min((along, _by_lines(layout, cells, tables)), key=lambda found: _moved(layout, cells, found, tables))


def _in_order(values: Floats) -> Whole:
    """Whole numbers whose contiguous sums are those of the values, rounded."""
    return np.diff(np.rint(np.cumsum(values)), prepend=0.0).astype(np.int64)


def _moved(layout: Layout, cells: Floats, found: Whole, tables: Sequence[Table]) -> float:
    """How far sums moved: the mean square of each table, summed."""
    return sum(float((layout.summed(cells - found, table) ** 2).mean()) for table in tables)


def _by_lines(layout: Layout, cells: Floats, tables: Sequence[Table]) -> Whole:
    axis = int(np.argmax(cells.shape))
    lines = np.moveaxis(cells, axis, -1).reshape(-1, cells.shape[axis])
    found = np.zeros(lines.shape, np.int64)
    # what the sums through a place of a line, and the sums of whole lines, lack so far; with the sum that each line is part of
    through: list[tuple[NDArray[np.int64], Floats]] = []
    across: list[tuple[NDArray[np.int64], Floats]] = []
    for table in tables:
        at = _sums(layout, table, axis)
        if table != layout.finest and (table.level == len(layout.parents) if axis == 0 else axis - 1 in table.flat):
            through.append((at, np.zeros((int(at.max()) + 1, lines.shape[1]))))
        elif axis != 0 or table.level == 0:
            across.append((at, np.zeros((int(at.max()) + 1, 1))))
    for place, line in enumerate(lines):
        found[place] = _line(line, _lack(through, place), _lack(across, place))
        for at, lack in through:
            lack[at[place]] += line - found[place]
        for at, lack in across:
            lack[at[place]] += (line - found[place]).sum()
    shape = (*(size for i, size in enumerate(cells.shape) if i != axis), cells.shape[axis])
    return np.moveaxis(found.reshape(shape), -1, axis)


def _sums(layout: Layout, table: Table, axis: int) -> NDArray[np.int64]:
    """The sum of a table that each line along an axis is part of."""
    found = np.zeros((1,) * (len(layout.sizes) + 1), np.int64)
    for i, size in enumerate(layout.shape(layout.finest)):
        if i == axis:
            continue
        places = layout.ancestors(table.level) if i == 0 else np.arange(size) * (i - 1 in table.flat)
        found = found * size + places.reshape([-1 if j == i else 1 for j in range(found.ndim)])
    return np.unique(found.ravel(), return_inverse=True)[1]


def _lack(sums: list[tuple[NDArray[np.int64], Floats]], place: int) -> Floats:
    return np.asarray(sum((lack[at[place]] for at, lack in sums), np.zeros(1)) / max(len(sums), 1))


def _line(values: Floats, lack: Floats, lack_of_sum: Floats) -> Whole:
    """A line as whole numbers: its cells rounded down, and so many ones in addition that its sum is rounded."""
    some, least = values > 0, np.floor(values)
    if not some.any():
        return np.zeros(len(values), np.int64)
    lack = np.broadcast_to(lack, values.shape)
    wish = np.where(some, np.clip(values - least + np.clip(lack - lack[some].mean(), -1, 1), 0, 1), 0)
    ones = np.rint(values.sum() + np.clip(lack_of_sum[0], -1, 1)) - least.sum()
    if ones <= 0 or not wish.sum():
        return least.astype(np.int64)
    return least.astype(np.int64) + _in_order(wish * (ones / wish.sum()))
