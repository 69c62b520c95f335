"""Grouping sets: estimate all tables from the noisy ones, so that every total is the sum of its parts.

Everything here is computed from released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from discreet.algorithms.consistent.estimate import effective_noises, estimate, variances
from discreet.algorithms.consistent.layout import Table
from discreet.plan.arrangement import Arrangement, sets_needing
from discreet.plan.steps import EstimatedTotal, NoisyTotal, Steps
from discreet.query.grid import MIDDLE_BITS
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Floats, Total, Totals
from discreet.run.intervals import laplace_excess, whole_excess
from discreet.run.results import PlanResults

_EXACT = 2.0**52  # whole numbers up to this are exact
_NODES = 8  # nodes of one table for which the shape of the error is computed
_FINE = 2**16  # cells are rounded to this part of their standard deviation, so that sums of floats are exact


def with_estimates(plan: Steps, noisy: Mapping[tuple[Total, Table], NDArray[Any]], alone: Sequence[PlanResults]) -> PlanResults:
    """The results of all grouping sets, from the noisy tables and what was measured for each set alone."""
    arrangement, found, sets = arrangement_of(plan), estimated(plan, noisy), []
    for places, part in zip(plan.question.sets, alone, strict=True):
        table = arrangement.table(places)
        totals = {total: arrangement.layout.summed(cells, table).ravel() for total, cells in found.items()}
        sets.append(evolve(part, totals={**totals, **part.totals}))
    return PlanResults(plan, plan.groups or (), {}, {}, tables=noisy, sets=tuple(sets), finest=found)


def estimated(plan: Steps, noisy: Mapping[tuple[Total, Table], NDArray[Any]]) -> dict[Total, Floats]:
    """Every cell of each total, in the units of its mechanism.

    Cells are rounded to a power of two far below their error; sums of such floats have no rounding error, so tables agree exactly.
    """
    layout, steps, cells = arrangement_of(plan).layout, dict[Total, float](), dict[Total, Floats]()
    for total, noises in measured(plan).items():
        precision = precision_of(noises)
        cells[total] = estimate(layout, {table: noisy[total, table].astype(float) for table in precision}, precision)
        least = min(float(found.min()) for found in variances(layout, precision, list(precision)).values())
        steps[total] = _power_of_two(math.sqrt(least) / _FINE)
    units = {total: float(noises[0].unit) for total, noises in measured(plan).items()}
    rows = max((float(np.abs(found).sum()) * units[total] for total, found in cells.items() if not total.factors), default=0.0)
    for total, least in least_steps(list(cells), rows).items():
        steps[total] = max(steps[total], _power_of_two(2 * least / units[total]))
    return {total: np.rint(found / steps[total]) * steps[total] for total, found in cells.items()}


def least_steps(totals: Sequence[Total], rows: float) -> dict[Total, float]:
    """How far cells must be rounded so that a sum from the middle of its bounds, plus the middle times the count, is exact in floats.

    A middle is a multiple of half its grid's width, times 2^−MIDDLE_BITS.
    """
    grids = [factor.grid for total in totals for factor in total.factors]
    furthest = max((float(1 + abs(grid.mid) / grid.half) for grid in grids if grid.half), default=1.0)
    found = {}
    for total in totals:
        reach = math.prod(float(abs(factor.grid.mid) + factor.grid.half) ** factor.power for factor in total.factors)
        found[total] = rows * (reach / _EXACT if total.factors else furthest * 2**MIDDLE_BITS / _EXACT)
    return found


def _power_of_two(value: float) -> float:
    return 2.0 ** math.floor(math.log2(value)) if value > 0 else 0.0


def set_plans(plan: Steps, confidence: float, each_node: bool = True) -> tuple[Steps, ...]:
    """For each grouping set, the plan that its statistics and intervals are computed from.

    Its totals have the standard deviation of every group's estimate, or of the least accurate group's.
    """
    arrangement = arrangement_of(plan)
    layout, asked = arrangement.layout, [arrangement.table(places) for places in plan.question.sets]
    totals: list[list[EstimatedTotal]] = [[] for _ in asked]
    for total, noises in measured(plan).items():
        precision = precision_of(noises)
        wanted = sets_needing(plan.question, total, totals_behind(plan))
        spread = variances(layout, precision, [asked[place] for place in wanted])
        for place in wanted:
            table = asked[place]
            deviation = np.sqrt(spread[table]) * float(noises[0].unit)
            scale = deviation * (1.0 if noises[0].is_gaussian else _excess(plan, noises, table, spread[table], confidence))
            if each_node:
                deviation, scale = (np.repeat(one, layout.cells(Table(0, table.flat))) for one in (deviation, scale))
            else:
                deviation, scale = deviation.max(keepdims=True), scale.max(keepdims=True)
            totals[place].append(EstimatedTotal(total, noises[0].unit, scale, deviation))
    return tuple(evolve(part, totals=(*found, *part.totals)) for part, found in zip(plan.parts, totals, strict=True))  # type: ignore[arg-type]


def results_of_sets(answers: PlanResults, confidence: float) -> tuple[PlanResults, ...]:
    """The results of each grouping set, with the plan that its intervals are computed from; those of a batch have it already."""
    if answers.plan.arrangement is None:
        return answers.sets
    return tuple(evolve(part, plan=plan) for part, plan in zip(answers.sets, set_plans(answers.plan, confidence), strict=True))


def _excess(plan: Steps, noises: Sequence[NoisyTotal], table: Table, spread: Floats, confidence: float) -> Floats:
    """For every node, how much wider its interval is than that of normal noise with the same variance.

    It is computed for some nodes with different variances. Each node has that of the next smaller variance: with fewer noises in its
    estimate, whose sum is further from normal.
    """
    layout, precision = arrangement_of(plan).layout, precision_of(noises)
    alone = len(noises) == 1 and not noises[0].combined
    ordered = np.argsort(spread, kind="stable")
    starts = np.flatnonzero(np.diff(spread[ordered], prepend=0.0) > 1e-9 * spread[ordered])
    chosen = np.unique(starts[np.linspace(0, len(starts) - 1, _NODES).astype(int)])
    found = []
    for start in chosen:
        count = effective_noises(layout, precision, table, int(ordered[start]))
        scale = noises[0].scale / float(noises[0].unit)
        found.append(whole_excess(scale, round(count), confidence) if alone else laplace_excess(count, confidence))
    each = np.empty(len(spread))
    each[ordered] = np.array(found)[np.searchsorted(chosen, np.arange(len(spread)), side="right") - 1]
    return each


def totals_behind(plan: Steps) -> Totals:
    """The totals that the statistics of a resolved plan are computed from."""
    assert plan.available_totals is not None
    return plan.available_totals


def arrangement_of(plan: Steps) -> Arrangement:
    """The arrangement of a plan with grouping sets."""
    assert plan.arrangement is not None
    return plan.arrangement


def measured(plan: Steps) -> dict[Total, list[NoisyTotal]]:
    """Each total, with its noise in every table that is measured."""
    found: dict[Total, list[NoisyTotal]] = {}
    for one in plan.totals:
        found.setdefault(one.total, []).append(one)
    return found


def precision_of(noises: Sequence[NoisyTotal]) -> dict[Table, float]:
    """One over the variance of each table in which a total is measured, in the units of its mechanism."""
    return {one.table: float(one.unit) ** 2 / one.variance for one in noises if one.table is not None}


def noisy_totals_of(statistics: Sequence[Additive], plan: Steps) -> list[NoisyTotal]:
    """The noisy totals that statistics are computed from."""
    of = totals_behind(plan)
    needed: set[Total] = {total for statistic in statistics for total in statistic.needs(of)}
    return [one for one in plan.totals if one.total in needed]
