"""Tables that add up and are nowhere negative: the non-negative cells that are nearest to the best estimate.

Noise makes small cells negative. Setting them to 0 adds to every total; here the totals hold, and the other cells give way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from discreet.algorithms.consistent.estimate import estimate
from discreet.algorithms.consistent.layout import Floats, Layout, Table
from discreet.algorithms.consistent.metric import Metric

_FIRM = 5.0  # how firmly sums hold against the cells' push
_STEPS, _FEWEST, _WORK = 200, 30, 2 * 10**7  # steps; and cells times steps
_ENOUGH = 1e-4  # what may stay negative, in standard deviations of a cell, on average
_SWEEPS, _MOST_SWEEPS = 3, 30


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
    if layout.finest not in deviations:
        cells = _filled(layout, cells, list(deviations))
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
    return _raked(layout, np.maximum(found, 0), found, list(weights), _SWEEPS)


def _weights(layout: Layout, deviations: Mapping[Table, float]) -> dict[Table, float]:
    """The weight of each table; where the finest is not among them, its cells are as good as the best table's sums."""
    size = layout.cells(layout.finest)
    cell = deviations.get(layout.finest) or min(one * math.sqrt(layout.cells(table) / size) for table, one in deviations.items())
    return {table: _FIRM / (cell * one) for table, one in deviations.items()} | {layout.finest: 1 / cell**2}


def _filled(layout: Layout, cells: Floats, tables: list[Table]) -> Floats:
    """Cells with the same sums in the tables that are shown, for these do not determine them: not negative where the sums are not.

    An estimate spreads what no table determines evenly, which makes cells negative that nobody sees; to mend these would move sums that
    need no mending. Raking from equal cells finds non-negative ones instead, and least squares adds what the sums still lack.
    """
    raked = _raked(layout, np.ones_like(cells), cells, tables, _MOST_SWEEPS)
    lack = {table: layout.summed(cells - raked, table) for table in tables}
    return raked + estimate(layout, lack, dict.fromkeys(tables, 1.0))


def _raked(layout: Layout, found: Floats, cells: Floats, tables: list[Table], sweeps: int) -> Floats:
    """Non-negative cells, scaled until their sums in all tables are those of others, the coarsest last."""
    coarser = sorted((table for table in tables if table != layout.finest), key=lambda table: -layout.cells(table))
    wanted = {table: np.maximum(layout.summed(cells, table), 0) for table in coarser}
    for _ in range(sweeps):
        for table, sums in wanted.items():
            present = layout.summed(found, table)
            found = found * layout.down(np.divide(sums, present, out=np.ones_like(present), where=present > 0), table)
    return found
