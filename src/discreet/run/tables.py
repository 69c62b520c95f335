"""Grouping sets: estimate all tables from the noisy ones, so that every total is the sum of its parts.

Everything here is computed from released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from discreet.algorithms.consistent.estimate import estimate, noise_number, variances
from discreet.algorithms.consistent.layout import Layout, Table
from discreet.plan.arrangement import Arrangement
from discreet.plan.steps import EstimatedTotal, NoisyTotal, Steps
from discreet.query.totals import Floats, Total
from discreet.run.intervals import laplace_excess

_FINE = 2**16  # cells are rounded to this part of their standard deviation, so that sums of floats are exact


def estimated(plan: Steps, noisy: Mapping[tuple[Total, Table], NDArray[np.int64]]) -> dict[Total, Floats]:
    """Every cell of each total, in the units of its mechanism.

    Cells are rounded to a power of two far below their error; sums of such floats have no rounding error, so tables agree exactly.
    """
    layout, found = arrangement_of(plan).layout, {}
    for total, noises in measured(plan).items():
        precision = precision_of(noises)
        cells = estimate(layout, {table: noisy[total, table].astype(float) for table in precision}, precision)
        least = min(float(found.min()) for found in variances(layout, precision, list(precision)).values())
        step = 2.0 ** (math.floor(math.log2(math.sqrt(least))) - round(math.log2(_FINE)))
        found[total] = np.rint(cells / step) * step
    return found


def set_plans(plan: Steps, confidence: float, each_node: bool = True) -> tuple[Steps, ...]:
    """For each grouping set, the plan that its statistics and intervals are computed from.

    Its totals have the standard deviation of every group's estimate, or of the least accurate group's.
    """
    arrangement = arrangement_of(plan)
    layout, asked = arrangement.layout, [arrangement.table(places) for places in plan.question.sets]
    totals: list[list[EstimatedTotal]] = [[] for _ in asked]
    for total, noises in measured(plan).items():
        precision = precision_of(noises)
        spread = variances(layout, precision, asked)
        for place, table in enumerate(asked):
            scale = np.sqrt(spread[table]) * float(noises[0].unit)
            if not noises[0].is_gaussian:
                scale = scale * laplace_excess(noise_number(layout, precision, table), confidence)
            scale = np.repeat(scale, layout.cells(Table(0, table.flat))) if each_node else scale.max(keepdims=True)
            totals[place].append(EstimatedTotal(total, noises[0].unit, scale))
    return tuple(evolve(part, totals=(*found, *part.totals)) for part, found in zip(plan.parts, totals, strict=True))  # type: ignore[arg-type]


def arrangement_of(plan: Steps) -> Arrangement:
    """The arrangement of a plan with grouping sets."""
    assert plan.arrangement is not None
    return plan.arrangement


def set_cells(layout: Layout, table: Table, cells: Floats) -> Floats:
    """A table, summed from all cells."""
    return np.asarray(layout.summed(cells, table), np.float64).ravel()


def measured(plan: Steps) -> dict[Total, list[NoisyTotal]]:
    """Each total, with its noise in every table that is measured."""
    found: dict[Total, list[NoisyTotal]] = {}
    for one in plan.totals:
        found.setdefault(one.total, []).append(one)
    return found


def precision_of(noises: Sequence[NoisyTotal]) -> dict[Table, float]:
    """The precision of each table in which a total is measured."""
    return {one.table: _precision(one) for one in noises if one.table is not None}


def _precision(noisy: NoisyTotal) -> float:
    """One over the variance of its noise, in the units of its mechanism."""
    scale = float(noisy.mechanism.scale)
    return 1 / (scale**2 * (1 if noisy.is_gaussian else 2))
