"""Choose bounds from a profile's histogram for the question at hand, and say what they take away."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.plan.bounding import Bounding, Rows, Single
from discreet.plan.steps import NoisyTotal
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.node import Relation, Scan, Select, Where
from discreet.query.removed import Removed
from discreet.query.totals import Floats, Totals
from discreet.tables.histogram import Clipping, Histogram
from discreet.tables.profile import ColumnProfile
from discreet.tables.table import Table


def profiled_column(relation: Relation, expr: Expr) -> ColumnProfile | None:
    """What a profile knows about the column that an expression repeats unchanged, for rows of a single table, perhaps filtered."""
    if not isinstance(expr, Column):
        return None
    match relation:
        case Scan(table):
            return _usable(table, expr.name)
        case Where(below, _):
            return profiled_column(below, expr)
        case Select(below, columns):
            return profiled_column(below, dict(columns)[expr.name])
    return None


def _usable(table: Table, name: str) -> ColumnProfile | None:
    found = None if table.profile is None else table.profile.column(name)
    declared = table.column(name)
    if found is None or declared is None or not found.learnt or found.histogram is None:
        return None
    return found if found.declared is None and declared.bounds is None else None  # of values that are clipped otherwise it says nothing


def whole_table(relation: Relation) -> Table | None:
    """The one table all of whose rows a relation has, each once."""
    match relation:
        case Scan(table):
            return table
        case Select(below, _):
            return whole_table(below)
    return None


def removed_by(question: Question, of: Totals, bounding: Bounding, totals: Sequence[NoisyTotal]) -> Removed | None:
    """What bounding takes away, with the best bounds for this question; None if nothing is known about all of its rows.

    `of` and `totals` are those of the widest bounds. Bounds are narrowed only for statistics that can be corrected for it.
    """
    table = whole_table(question.relation)
    if table is None or table.profile is None or question.keys:
        return None
    same_weights = isinstance(bounding, Single) or (isinstance(bounding, Rows) and bounding.rows == table.profile.limit)
    if not same_weights or (isinstance(bounding, Rows) and not table.profile.knows_lost_rows):
        return None
    clipped: dict[Expr, Clipping] = {}
    for expr in question.numbers:
        column = profiled_column(question.relation, expr)
        users = [statistic for statistic in question.additive.values() if expr in statistic.numbers]
        chosen = any(expr in statistic.numbers for statistic in question.selected.values())
        if column is not None and column.histogram is not None and users and not chosen and all(one.summed == expr for one in users):
            clipped[expr] = _best(column.histogram, expr, of, totals)
    rows, sd = table.profile.lost_rows(bounding.rows if isinstance(bounding, Rows) else None)
    return Removed(clipped, rows, sd) if isinstance(bounding, Rows) else Removed(clipped)


def _best(histogram: Histogram, expr: Expr, of: Totals, totals: Sequence[NoisyTotal]) -> Clipping:
    centred, plain = of.product((expr, 1)), of.plain(expr)
    deviations = {one.total: one.scale * (1 if one.is_gaussian else math.sqrt(2)) for one in totals}
    # the noise of a sum grows with half the width of its bounds if it is centred, with their magnitude if not
    by_half = deviations.get(centred, 0.0) / of.half(expr)
    by_size = deviations.get(plain, 0.0) / float(of.range(expr).magnitude or 1)

    def noise(low: Floats, high: Floats) -> Floats:
        return np.hypot(by_half * (high - low) / 2, by_size * np.maximum(np.abs(low), np.abs(high)))

    return histogram.best_clipping(noise, corrected=True)


def profiled_sizes(question: Question) -> tuple[int, ...]:
    """About how many rows the groups have, where a profile tells: all rows, or the smallest, median and largest group of one key."""
    table = whole_table(question.relation)
    if table is None or table.profile is None:
        return ()
    if not question.keys:
        return (max(round(table.profile.rows), 1),)
    column = table.profile.column(key.name) if len(question.keys) == 1 and isinstance(key := question.keys[0][1], Column) else None
    counts = sorted(max(round(one.count), 1) for one in (() if column is None or column.values is None else column.values))
    return tuple(dict.fromkeys((counts[0], counts[len(counts) // 2], counts[-1]))) if counts else ()
