"""What is shown: columns of released values with their errors, after HAVING, ORDER BY and LIMIT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from discreet.plan.budget import ADDITIVE
from discreet.plan.steps import Steps
from discreet.plan.total import Form, Stat
from discreet.query.post import evaluate, in_order, smooth
from discreet.query.question import Measure
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.run.execute import Answers
from discreet.run.intervals import Cells, Floats, half_widths, plausible, statistic

Values = list[Any]


@final
@frozen(eq=False, slots=False)
class Shown:
    """One column: its values; the raw noisy ones where they differ; the half-widths of its intervals, one for all where they are equal; and
    where it must lie. Intervals are made when they are asked for.
    """

    name: str
    values: Values
    raw: Values | None = None
    widths: float | Values | None = None
    least: float | None = None
    most: float | None = None

    @property
    def low(self) -> Values | None:
        """The lower ends of the intervals."""
        return self._ends(-1)

    @property
    def high(self) -> Values | None:
        """The upper ends."""
        return self._ends(1)

    def _ends(self, sign: int) -> Values | None:
        if self.widths is None:
            return None
        centres = self.values  # clipped: an interval around a raw count below 0 could be empty
        widths = self.widths if isinstance(self.widths, list) else [self.widths] * len(centres)
        least, most = -math.inf if self.least is None else self.least, math.inf if self.most is None else self.most
        return [None if c is None or w is None else min(max(c + sign * w, least), most) for c, w in zip(centres, widths, strict=True)]

    def taken(self, rows: Sequence[int]) -> Shown:
        """Some of the rows, in this order."""
        raw = None if self.raw is None else [self.raw[i] for i in rows]
        widths = [self.widths[i] for i in rows] if isinstance(self.widths, list) else self.widths
        return evolve(self, values=[self.values[i] for i in rows], raw=raw, widths=widths)


def _finite(values: Floats) -> Values:
    """Plain floats, and None for what is none."""
    listed = list(values.tolist())
    return listed if np.isfinite(values).all() else [value if math.isfinite(value) else None for value in listed]


def _bounded(name: str, values: Values, raw: Values, widths: Floats, least: float = -math.inf, most: float = math.inf) -> Shown:
    """A column with intervals, written as briefly as it can be."""
    listed: float | Values = _finite(widths)
    if len(widths) and np.isfinite(widths[0]) and (widths == widths[0]).all():
        listed = float(widths[0])
    finite = [None if math.isinf(end) else end for end in (least, most)]
    return Shown(name, values, None if raw == values else raw, listed, *finite)


def outcome(answers: Answers, confidence: float) -> list[Shown]:
    """All output columns, in the order and number of rows that were asked for."""
    plan = answers.plan
    cells: Cells = {total.stat: answers.totals[total.stat] * float(total.unit) for total in plan.totals if total.stat in answers.totals}
    count = len(answers.groups)
    if not cells and plan.totals:
        cells = {total.stat: np.zeros(0) for total in plan.totals}
    table = _released(answers, cells, clipped=True)
    shown = [_column(name, expr, answers, cells, table, confidence) for name, expr in plan.question.outputs]
    rows = _kept(plan, table, [column.values for column in shown], count)
    return shown if rows is None else [column.taken(rows) for column in shown]


def _released(answers: Answers, cells: Cells, clipped: bool) -> dict[str, Values]:
    """Keys and statistics by name."""
    table: dict[str, Values] = {}
    for place, (name, _) in enumerate(answers.plan.question.keys):
        table[name] = [group[place] for group in answers.groups]
    for name, measure in answers.plan.question.measures:
        if measure.function in ADDITIVE:
            table[name] = as_asked(measure, statistic(measure, cells, clipped), answers.plan)
        else:
            table[name] = list(answers.choices[name])
    return table


def as_asked(measure: Measure, values: Floats, plan: Steps) -> Values:
    """Counts that were not weighted are whole."""
    if not measure.function.startswith("count"):
        return _finite(values)
    behind = [total for total in plan.totals if total.stat in counted_by(measure, plan)]
    whole = all(total.unit == 1 for total in behind)
    return list((values.astype(np.int64) if whole else values).tolist())


def counted_by(measure: Measure, plan: Steps) -> set[Stat]:
    """The total behind a count."""
    found = {(total.stat.form, total.stat.expr): total.stat for total in plan.totals if total.stat.grid is None}
    wanted: dict[str, tuple[tuple[Form, Expr | None], ...]] = {
        "count": (("rows", None),),
        "count_of": (("present", measure.expr), ("rows", None)),
        "count_units": (("units", None), ("rows", None)),
        "count_distinct": (("distinct", measure.expr),),
    }
    return {next(found[key] for key in wanted[measure.function] if key in found)}


def _column(name: str, expr: Expr, answers: Answers, cells: Cells, table: dict[str, Values], confidence: float) -> Shown:
    measures = dict(answers.plan.question.measures)
    used = columns_of(expr)
    if isinstance(expr, Column):
        values = table[expr.name]
    else:
        values = [evaluate(expr, dict(zip(table, row, strict=True))) for row in zip(*table.values(), strict=True)]
    if not used & set(measures) or any(measures[m].function not in ADDITIVE for m in used & set(measures)):
        return Shown(name, values)
    if isinstance(expr, Column):
        measure = measures[expr.name]
        widths = half_widths(lambda at: statistic(measure, at, clipped=False), cells, answers.plan.totals, confidence)
        raw = statistic(measure, cells, clipped=False)
        return _bounded(name, values, as_asked(measure, raw, answers.plan), widths, *plausible(measure, cells))
    return _computed(name, expr, values, answers, cells, table, confidence)


def _computed(name: str, expr: Expr, values: Values, answers: Answers, cells: Cells, table: dict[str, Values], confidence: float) -> Shown:
    """A computed column: its slope in each total is taken through the expression, where it has one."""
    expr_without_steps = smooth(expr)
    if expr_without_steps is None:
        return Shown(name, values)
    expr = expr_without_steps
    measures = {m: measure for m, measure in answers.plan.question.measures if m in columns_of(expr)}
    others = {key: column for key, column in table.items() if key not in measures}

    def output(at: Cells) -> Floats:
        found = {m: statistic(measure, at, clipped=False).tolist() for m, measure in measures.items()}
        rows = zip(*({**others, **found}).values(), strict=True)
        names = [*others, *found]
        return np.array([_number(evaluate(expr, dict(zip(names, row, strict=True)))) for row in rows])

    raw = output(cells)
    if np.isnan(raw).all():
        return Shown(name, values)
    with np.errstate(invalid="ignore"):
        widths = half_widths(output, cells, answers.plan.totals, confidence)
    return _bounded(name, values, _finite(raw), widths)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _kept(plan: Steps, table: dict[str, Values], shown: Sequence[Values], count: int) -> list[int] | None:
    """Which rows remain, in which order; None if all do as they are."""
    question = plan.question
    if question.having is None and not question.order and question.limit is None:
        return None
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)] if table else [{} for _ in range(count)]
    kept = [i for i, row in enumerate(rows) if question.having is None or evaluate(question.having, row) is True]
    for expr, descending in reversed(question.order):
        some = [i for i in kept if evaluate(expr, rows[i]) is not None]
        some.sort(key=lambda i: in_order(evaluate(expr, rows[i])), reverse=descending)
        kept = some + [i for i in kept if evaluate(expr, rows[i]) is None]
    return kept if question.limit is None else kept[: question.limit]
