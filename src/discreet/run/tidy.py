"""Tidy values of grouping sets: nowhere negative, counts whole, and every total exactly the sum of its parts.

They are computed from released numbers alone, and are biased, so they claim no interval. Unbiased values are kept beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from discreet.algorithms.consistent.estimate import variances
from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.tidy import nonnegative
from discreet.algorithms.consistent.whole import rounded
from discreet.plan.steps import Steps
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Cells, Floats
from discreet.run.output_column import Values
from discreet.run.results import PlanResults
from discreet.run.tables import arrangement_of, measured, precision_of, totals_behind
from discreet.tables.kind import Kind

_LARGEST = 2.0**52  # whole numbers up to this are exact
_FINE = 2**8  # sums of real numbers are multiples of this part of their standard deviation


def tidy_values(answers: PlanResults) -> Mapping[str, Mapping[int, Values]]:
    """For each statistic that adds up and is never negative, its tidy values in the groups of every grouping set that asks for it."""
    if answers.tidy is not None:
        return answers.tidy
    plan, found = answers.plan, dict[str, dict[int, Values]]()
    of, layout, by_set = totals_behind(plan), arrangement_of(plan).layout, plan.question.statistics_by_set
    for name, statistic in plan.question.additive.items():
        if not statistic.adds_up or statistic.limits(of)[0] < 0 or not set(statistic.needs(of)) <= set(answers.finest):
            continue
        tables = {at: arrangement_of(plan).table(keys) for at, keys in enumerate(plan.question.sets) if not by_set or name in by_set[at]}
        cells: Cells = {total: answers.finest[total] * float(one[0].unit) for total, one in measured(plan).items()}
        spread = _deviations(plan, statistic, layout, tuple(dict.fromkeys(tables.values())))
        whole = statistic.answer(plan.question.schema).kind is Kind.INTEGER
        values = _tidy(layout, statistic.value(of, cells, clipped=False), spread, whole)
        found[name] = {at: _plain(layout.summed(values, table).ravel(), whole) for at, table in tables.items()}
    return found


def _tidy(layout: Layout, cells: Floats, spread: Mapping[Table, float], whole: bool) -> Floats:
    """The cells as non-negative multiples of 1, or of a power of two far below their error, so that sums of floats are exact."""
    exact = nonnegative(layout, cells, spread)
    step = 1.0 if whole else 2.0 ** math.floor(math.log2(min(spread.values()) / _FINE))
    step = max(step, 2.0 ** math.ceil(math.log2(max(float(exact.sum()), 1.0) / _LARGEST)))
    return np.asarray(rounded(layout, exact / step, list(spread)) * step, np.float64)


def _deviations(plan: Steps, statistic: Additive, layout: Layout, asked: tuple[Table, ...]) -> dict[Table, float]:
    """The standard deviation of a typical cell of each table; those of all totals are in the same proportions."""
    noises = measured(plan)[next(iter(statistic.needs(totals_behind(plan))))]
    spread = variances(layout, precision_of(noises), asked)
    return {table: math.sqrt(float(found.mean())) * float(noises[0].unit) for table, found in spread.items()}


def _plain(values: Floats, whole: bool) -> Values:
    return list((np.rint(values).astype(np.int64) if whole and values.max(initial=0.0) < _LARGEST else values).tolist())
