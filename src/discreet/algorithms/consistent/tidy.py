"""Tables that add up and are nowhere negative: the non-negative cells that are nearest to the best estimate.

Noise makes small cells negative. Setting them to 0 adds to every total; here the totals hold, and the other cells give way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from discreet.algorithms.consistent.layout import Floats, Layout, Table
from discreet.algorithms.consistent.metric import Metric

_FIRM = 5.0  # how firmly sums hold against the cells' push
_STEPS, _FEWEST, _WORK = 200, 30, 2 * 10**7  # steps; and cells times steps
_ENOUGH = 1e-4  # what may stay negative, in standard deviations of a cell, on average
_SWEEPS = 3


def nonnegative(layout: Layout, cells: Floats, deviations: Mapping[Table, float]) -> Floats:
    """The non-negative cells that are nearest to an estimate, given the standard deviation of each table that is shown.

    The distance is Σ w_t ‖sums of table t‖², with w = 1/σ² for the cells and 5/(σ σ_t) for their sums: a cell at 0 pushes its neighbours
    with a force of about 1/σ, which moves a sum by force/w_t, a fraction of its own standard deviation σ_t. With w_t = 1/σ_t² instead, all
    small cells of a large table would together move its total by many σ_t.

    It is solved through its dual, min ½ μᵀW⁻¹μ + μᵀx̂ over μ ≥ 0, because W⁻¹ has a closed form, and because the dual's steps do not get
    smaller with more cells or firmer sums. At the end, what is still negative is set to 0 and the rest is raked (proportionally fitted).
    """
    weights = _weights(layout, deviations)
    metric, least = Metric(layout, weights), weights[layout.finest]
    cells = cells.reshape(layout.shape(layout.finest))
    steps = max(_FEWEST, min(_STEPS, _WORK // cells.size))
    force = ahead = np.zeros_like(cells)
    momentum, found = 1.0, cells
    for _ in range(steps):
        found = cells + metric.inverse(ahead)
        if -np.minimum(found, 0).mean() * math.sqrt(least) <= _ENOUGH:
            break
        moved = np.maximum(ahead - least * found, 0)
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        if float(((ahead - moved) * (moved - force)).sum()) > 0:  # it overshot: start again from here
            following, ahead = 1.0, moved
        else:
            ahead = moved + (momentum - 1) / following * (moved - force)
        force, momentum = moved, following
    return _raked(layout, found, list(weights))


def _weights(layout: Layout, deviations: Mapping[Table, float]) -> dict[Table, float]:
    """The weight of each table; where the finest is not among them, its cells are as good as the best table's sums."""
    size = layout.cells(layout.finest)
    cell = deviations.get(layout.finest) or min(one * math.sqrt(layout.cells(table) / size) for table, one in deviations.items())
    return {table: _FIRM / (cell * one) for table, one in deviations.items()} | {layout.finest: 1 / cell**2}


def _raked(layout: Layout, cells: Floats, tables: list[Table]) -> Floats:
    """The cells without what is negative, scaled until all sums are as before, the coarsest last."""
    found = np.maximum(cells, 0)
    coarser = sorted((table for table in tables if table != layout.finest), key=lambda table: -layout.cells(table))
    for _ in range(_SWEEPS):
        for table in coarser:
            wanted, present = np.maximum(layout.summed(cells, table), 0), layout.summed(found, table)
            found = found * layout.down(np.divide(wanted, present, out=np.ones_like(present), where=present > 0), table)
    return found
