"""Output columns: released values with their errors, after HAVING, ORDER BY and LIMIT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from discreet.plan.steps import NoisyTotal, Steps
from discreet.query.post import evaluate, in_order, smooth
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.query.statistics.statistic import Additive, Drawn
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.run.execute import PlanResults
from discreet.run.intervals import half_widths

Values = list[Any]


@final
@frozen(eq=False, slots=False)
class OutputColumn:
    """One output column: values, raw noisy values where they differ, half-widths (one where all are equal), limits, how it is drawn.

    Intervals are computed on demand.
    """

    name: str
    values: Values
    raw: Values | None = None
    widths: float | Values | None = None
    least: float | None = None
    most: float | None = None
    drawn: Drawn = "bar"

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

    def taken(self, rows: Sequence[int]) -> OutputColumn:
        """Some of the rows, in this order."""
        raw = None if self.raw is None else [self.raw[i] for i in rows]
        widths = [self.widths[i] for i in rows] if isinstance(self.widths, list) else self.widths
        return evolve(self, values=[self.values[i] for i in rows], raw=raw, widths=widths)


def _finite(values: Floats) -> Values:
    """Plain floats, and None for what is not finite."""
    listed = list(values.tolist())
    return listed if np.isfinite(values).all() else [value if math.isfinite(value) else None for value in listed]


def _bounded(name: str, values: Values, raw: Values, widths: Floats, least: float = -math.inf, most: float = math.inf) -> OutputColumn:
    """A column with intervals, in its most compact form."""
    if math.isfinite(most - least):
        widths = np.where(np.isinf(widths), most - least, widths)  # it may be anywhere between its limits
    listed: float | Values = _finite(widths)
    if len(widths) and np.isfinite(widths[0]) and (widths == widths[0]).all():
        listed = float(widths[0])
    low, high = (None if math.isinf(end) else end for end in (least, most))
    return OutputColumn(name, values, None if raw == values else raw, listed, low, high)


def outcome(answers: PlanResults, confidence: float) -> list[OutputColumn]:
    """All output columns, with rows filtered, ordered and limited as the question asks."""
    plan = answers.plan
    cells: Cells = {one.total: answers.totals[one.total] * float(one.unit) for one in plan.totals if one.total in answers.totals}
    count = len(answers.groups)
    if not cells and plan.totals:
        cells = {one.total: np.zeros(0) for one in plan.totals}
    table = _released(answers, cells, clipped=True)
    shown = [_column(name, expr, answers, cells, table, confidence) for name, expr in plan.question.outputs]
    rows = _kept(plan, table, [column.values for column in shown], count)
    return shown if rows is None else [column.taken(rows) for column in shown]


def _released(answers: PlanResults, cells: Cells, clipped: bool) -> dict[str, Values]:
    """Keys and statistics by name."""
    table: dict[str, Values] = {}
    for place, (name, _) in enumerate(answers.plan.question.keys):
        table[name] = [group[place] for group in answers.groups]
    for name, statistic in answers.plan.question.additive.items():
        of = resolved_totals(answers.plan)
        table[name] = as_asked(statistic, _value(statistic, of, cells, clipped), answers.plan)
    for name in answers.plan.question.selected:
        table[name] = list(answers.choices[name])
    return table


def resolved_totals(plan: Steps) -> Totals:
    """The totals that the statistics of a resolved plan are computed from."""
    assert plan.of is not None
    return plan.of


def _value(statistic: Additive, of: Totals, cells: Cells, clipped: bool) -> Floats:
    with np.errstate(all="ignore"):  # an undefined value is NaN, and shown as NULL
        return statistic.value(of, cells, clipped)


def as_asked(statistic: Additive, values: Floats, plan: Steps) -> Values:
    """Values as plain Python numbers; unweighted counts are integers."""
    counted = statistic.counted(resolved_totals(plan))
    if counted is None:
        return _finite(values)
    whole = all(one.unit == 1 for one in plan.totals if one.total == counted)
    return list((values.astype(np.int64) if whole else values).tolist())


def _column(name: str, expr: Expr, answers: PlanResults, cells: Cells, table: dict[str, Values], confidence: float) -> OutputColumn:
    plan, of = answers.plan, resolved_totals(answers.plan)
    used = columns_of(expr)
    if isinstance(expr, Column):
        values = table[expr.name]
    else:
        values = [evaluate(expr, dict(zip(table, row, strict=True))) for row in zip(*table.values(), strict=True)]
    if isinstance(expr, Column) and expr.name in plan.question.selected:
        return OutputColumn(name, values, drawn=plan.question.selected[expr.name].drawn)
    if not used & set(plan.question.additive) or used & set(plan.question.selected):
        return OutputColumn(name, values)
    if isinstance(expr, Column):
        statistic = plan.question.additive[expr.name]
        totals = behind([statistic], plan)
        widths = half_widths(lambda at: statistic.value(of, at, clipped=False), cells, totals, confidence, statistic.curved)
        raw = _value(statistic, of, cells, clipped=False)
        return evolve(_bounded(name, values, as_asked(statistic, raw, plan), widths, *statistic.limits(of)), drawn=statistic.drawn)
    return _computed(name, expr, values, answers, cells, table, confidence)


def behind(statistics: Sequence[Additive], plan: Steps) -> list[NoisyTotal]:
    """The noisy totals that statistics are computed from."""
    of = resolved_totals(plan)
    needed: set[Total] = {total for statistic in statistics for total in statistic.needs(of)}
    return [one for one in plan.totals if one.total in needed]


def _computed(
    name: str, expr: Expr, values: Values, answers: PlanResults, cells: Cells, table: dict[str, Values], confidence: float
) -> OutputColumn:
    """A computed column: its error is propagated through the expression where that is smooth."""
    expr_without_steps = smooth(expr)
    if expr_without_steps is None:
        return OutputColumn(name, values)
    expr, plan, of = expr_without_steps, answers.plan, resolved_totals(answers.plan)
    statistics = {name: one for name, one in plan.question.additive.items() if name in columns_of(expr)}
    others = {key: column for key, column in table.items() if key not in statistics}

    def output(at: Cells) -> Floats:
        found = {name: one.value(of, at, clipped=False).tolist() for name, one in statistics.items()}
        rows = zip(*({**others, **found}).values(), strict=True)
        names = [*others, *found]
        return np.array([_number(evaluate(expr, dict(zip(names, row, strict=True)))) for row in rows])

    with np.errstate(all="ignore"):
        raw = output(cells)
    if np.isnan(raw).all():
        return OutputColumn(name, values)
    curved = any(one.curved for one in statistics.values())
    widths = half_widths(output, cells, behind(list(statistics.values()), plan), confidence, curved)
    return _bounded(name, values, _finite(raw), widths)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _kept(plan: Steps, table: dict[str, Values], shown: Sequence[Values], count: int) -> list[int] | None:
    """The rows to keep, in their order; None if all stay as they are."""
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
