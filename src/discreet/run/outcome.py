"""Output columns: released values with their errors, after HAVING, ORDER BY and LIMIT."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from discreet.plan.key_values import key_column
from discreet.plan.steps import EstimatedTotal, Steps
from discreet.query.post import evaluate, in_row_order, smooth
from discreet.query.question import grouping_column
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.query.removed import Correction
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Cells, Floats, Totals
from discreet.run.few import too_few, without_ends
from discreet.run.intervals import SLOW, corrected_widths, half_widths
from discreet.run.output_column import OutputColumn, Values, bounded, finite, joined
from discreet.run.results import PlanResults
from discreet.run.sampling_error import sampling_error_through, with_sampling_error
from discreet.run.tables import noisy_totals_of, results_of_sets, totals_behind
from discreet.run.tidy import tidy_values
from discreet.run.windowed import Windowed


def outcome(answers: PlanResults, confidence: float) -> list[OutputColumn]:
    """All output columns, with rows filtered, ordered and limited as the question asks."""
    if answers.sets:
        return _of_sets(answers, confidence)
    plan, cells, count = answers.plan, _cells(answers), len(answers.groups)
    table, few = _table(answers, cells, {})
    kept = _having(plan, table, count)
    windowed = _windowed(answers, cells, table, kept)
    shown = _columns(answers, cells, table, few, confidence, windowed)
    rows = _ordered(plan, table, kept, count)
    return shown if rows is None else [column.taken(rows) for column in shown]


def _of_sets(answers: PlanResults, confidence: float) -> list[OutputColumn]:
    """The columns of all grouping sets, one below the other; keys that a set does not have are NULL."""
    question, tables, found, tidy = answers.plan.question, [], [], tidy_values(answers)
    for number, (places, one) in enumerate(zip(question.sets, results_of_sets(answers, confidence), strict=True)):
        count = len(one.groups)
        absent: dict[str, Values] = {}
        for place, (name, _) in enumerate(question.keys):
            absent[grouping_column(name)] = [int(place not in places)] * count
            if place not in places:
                absent[name] = [None] * count
        cells = _cells(one)
        table, few = _table(one, cells, absent)
        columns = _columns(one, cells, table, few, confidence, None)
        beside = {name: values[number] for name, values in tidy.items()}
        summed = {name: [place not in places] * count for place, (name, _) in enumerate(question.keys)}
        found.append([_beside(column, expr, beside, summed) for column, (_, expr) in zip(columns, question.outputs, strict=True)])
        tables.append(table)
    whole = {name: [value for table in tables for value in table[name]] for name in tables[0]}
    count = sum(len(part.groups) for part in answers.sets)
    shown = [joined(columns) for columns in zip(*found, strict=True)]
    rows = _ordered(answers.plan, whole, _having(answers.plan, whole, count), count)
    return shown if rows is None else [column.taken(rows) for column in shown]


def _beside(column: OutputColumn, expr: Expr, tidy: Mapping[str, Values], summed: Mapping[str, list[bool]]) -> OutputColumn:
    """A column with what is known beside its values."""
    name = expr.name if isinstance(expr, Column) else ""
    return evolve(column, tidy=tidy.get(name), summed=summed.get(name))


def _cells(answers: PlanResults) -> Cells:
    """The totals in their own units."""
    totals = answers.plan.totals
    found: Cells = {one.total: answers.totals[one.total] * float(one.unit) for one in totals if one.total in answers.totals}
    return found or {one.total: np.zeros(0) for one in totals}


def _table(answers: PlanResults, cells: Cells, beside: dict[str, Values]) -> tuple[dict[str, Values], Mapping[str, NDArray[np.bool_]]]:
    """Keys and statistics by name, and where they are hidden because a group has too few rows."""
    table = _released(answers, cells, clipped=True) | beside
    few = dict(without_ends(answers.plan, answers.ends))
    for name, hidden in too_few(answers.plan, cells).items():
        few[name] = hidden | few[name] if name in few else hidden
    for name, hidden in few.items():
        table[name] = [None if none else value for value, none in zip(table[name], hidden, strict=True)]
    return table, few


def _columns(
    answers: PlanResults,
    cells: Cells,
    table: dict[str, Values],
    few: Mapping[str, NDArray[np.bool_]],
    confidence: float,
    windowed: Windowed | None,
) -> list[OutputColumn]:
    outputs = answers.plan.question.outputs
    shown = [_column(name, expr, answers, cells, table, confidence, windowed) for name, expr in outputs]
    return [_shown(column, columns_of(expr), few) for column, (_, expr) in zip(shown, outputs, strict=True)]


def _shown(column: OutputColumn, used: Iterable[str], few: Mapping[str, NDArray[np.bool_]]) -> OutputColumn:
    hidden = [few[name] for name in used if name in few]
    gone = np.logical_or.reduce(hidden) if hidden else np.zeros(0, bool)
    return column.without(gone.tolist()) if gone.any() else column


def _windowed(answers: PlanResults, cells: Cells, table: dict[str, Values], kept: Sequence[int]) -> Windowed | None:
    """Add the columns over several rows to the table; and what their errors are computed from."""
    plan = answers.plan
    if not plan.question.windows:
        return None
    rows, raw = _rows(table, len(answers.groups)), _rows(_released(answers, cells, clipped=False), len(answers.groups))
    windows = dict(plan.question.windows)
    for name, window in windows.items():
        table[name] = window.values(rows, kept)
        for row, value in zip(raw, window.values(raw, kept), strict=True):
            row[name] = value
    additive = plan.question.additive
    return Windowed(
        raw,
        kept,
        windows,
        additive,
        frozenset(plan.question.selected),
        noisy_totals_of(list(additive.values()), plan),
        cells,
        totals_behind(plan),
    )


def _rows(table: dict[str, Values], count: int) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)] if table else [{} for _ in range(count)]


def _released(answers: PlanResults, cells: Cells, clipped: bool) -> dict[str, Values]:
    """Keys and statistics by name."""
    table: dict[str, Values] = {}
    for place, (name, _) in enumerate(answers.plan.question.keys):
        table[name] = list(key_column(answers.groups, place))
    for name, statistic in answers.plan.question.additive.items():
        of, found = totals_behind(answers.plan), _correction(statistic, answers, cells)
        together = any(isinstance(one, EstimatedTotal) for one in answers.plan.totals) and statistic.adds_up
        value = _value(statistic, of, cells, clipped and not together)  # what is clipped would not add up
        table[name] = plain_values(statistic, value if found is None else value + found.shift, answers)
    for name in answers.plan.question.selected:
        table[name] = list(answers.choices[name])
    return table


def _value(statistic: Additive, of: Totals, cells: Cells, clipped: bool) -> Floats:
    with np.errstate(all="ignore"):  # an undefined value is NaN, and shown as NULL
        return statistic.value(of, cells, clipped)


def plain_values(statistic: Additive, values: Floats, answers: PlanResults) -> Values:
    """Values as plain Python numbers; unweighted counts are integers, and the list of their total where they are equal to it."""
    counted = statistic.counted(totals_behind(answers.plan))
    if counted is None:
        return finite(values)
    if any(one.total == counted and isinstance(one, EstimatedTotal) for one in answers.plan.totals):
        return list((values.astype(np.int64) if (values == np.rint(values)).all() else values).tolist())  # fractions that add up
    if not all(one.unit == 1 for one in answers.plan.totals if one.total == counted):
        return list(values.tolist())
    whole, drawn = np.rint(values).astype(np.int64), answers.totals.get(counted)  # a mean of several draws is rounded
    if drawn is not None and drawn.dtype == whole.dtype and np.array_equal(drawn, whole):
        return answers.listed[counted]
    return list(whole.tolist())


def _column(
    name: str,
    expr: Expr,
    answers: PlanResults,
    cells: Cells,
    table: dict[str, Values],
    confidence: float,
    windowed: Windowed | None,
) -> OutputColumn:
    plan, of = answers.plan, totals_behind(answers.plan)
    used = columns_of(expr)
    if isinstance(expr, Column):
        values = table[expr.name]
    else:
        values = [evaluate(expr, dict(zip(table, row, strict=True))) for row in zip(*table.values(), strict=True)]
    if isinstance(expr, Column) and expr.name in plan.question.selected:
        pairs = list(answers.ends.get(expr.name, ()))
        ends = pairs if any(pair is not None for pair in pairs) else None
        return OutputColumn(name, values, drawn=plan.question.selected[expr.name].drawn, ends=ends)
    if windowed is not None and used & set(windowed.windows):
        return _over_rows(name, expr, values, windowed, table, confidence)
    if not used & set(plan.question.additive) or used & set(plan.question.selected):
        return OutputColumn(name, values)
    if isinstance(expr, Column):
        statistic = plan.question.additive[expr.name]
        totals = noisy_totals_of([statistic], plan)
        widths = half_widths(lambda at: statistic.value(of, at, clipped=False), cells, totals, confidence, statistic.curved)
        widths = with_sampling_error(plan, statistic, of, cells, widths, confidence)
        raw = _value(statistic, of, cells, clipped=False)
        limits = statistic.limits(of)
        if (found := _correction(statistic, answers, cells)) is not None:
            raw, limits = raw + found.shift, (-math.inf, math.inf)  # limits are those of clipped values
            widths = corrected_widths(widths, found, confidence)
        return evolve(bounded(name, values, plain_values(statistic, raw, answers), widths, *limits), drawn=statistic.drawn)
    return _computed(name, expr, values, answers, cells, table, confidence)


def _correction(statistic: Additive, answers: PlanResults, cells: Cells) -> Correction | None:
    removed = answers.plan.removed
    return None if removed is None else statistic.correction(totals_behind(answers.plan), cells, removed)


def _over_rows(name: str, expr: Expr, values: Values, windowed: Windowed, table: dict[str, Values], confidence: float) -> OutputColumn:
    """A column over several rows, with the noises of all of them in its error."""
    with np.errstate(all="ignore"):
        widths = windowed.half_widths(expr, confidence)
    if widths is None or not np.any(widths > 0):
        return OutputColumn(name, values)
    followed = smooth(expr) or expr
    raw = np.array([_number(evaluate(followed, row)) for row in windowed.rows])
    widths = np.where(widths > 0, widths, np.nan)  # a difference of a row with itself has no error
    return bounded(name, values, finite(raw), widths + _rounded_away(expr, followed, values, table))


def _computed(
    name: str, expr: Expr, values: Values, answers: PlanResults, cells: Cells, table: dict[str, Values], confidence: float
) -> OutputColumn:
    """A computed column: its error is propagated through the expression where that is smooth."""
    asked, expr_without_steps = expr, smooth(expr)
    if expr_without_steps is None:
        return OutputColumn(name, values)
    expr, plan, of = expr_without_steps, answers.plan, totals_behind(answers.plan)
    statistics = {name: one for name, one in plan.question.additive.items() if name in columns_of(expr)}
    others = {key: column for key, column in table.items() if key not in statistics}

    corrections = {name: found for name, one in statistics.items() if (found := _correction(one, answers, cells)) is not None}

    def output(at: Cells, moved: str | None = None, sign: int = 0) -> Floats:
        found = {name: one.value(of, at, clipped=False) for name, one in statistics.items()}
        found |= {name: found[name] + one.shift for name, one in corrections.items()}
        if moved is not None:
            found[moved] = found[moved] + sign * corrected_widths(np.zeros(1), corrections[moved], confidence)
        return evaluated(_listed(found))

    def evaluated(found: dict[str, Values]) -> Floats:
        times = len(next(iter(found.values()))) // max(len(values), 1)  # curved statistics are evaluated at many points at once
        rows = zip(*({**{key: column * times for key, column in others.items()}, **found}).values(), strict=True)
        names = [*others, *found]
        return np.array([_number(evaluate(expr, dict(zip(names, row, strict=True)))) for row in rows])

    with np.errstate(all="ignore"):
        raw = output(cells)
    if np.isnan(raw).all():
        return OutputColumn(name, values)
    curved = any(one.curved for one in statistics.values())
    widths = half_widths(output, cells, noisy_totals_of(list(statistics.values()), plan), confidence, curved, SLOW)
    with np.errstate(all="ignore"):
        widths = sampling_error_through(plan, statistics, of, cells, widths, confidence, lambda at: evaluated(_listed(at)))
        for moved in corrections:  # their errors come on top
            widths = widths + np.abs(output(cells, moved, 1) - output(cells, moved, -1)) / 2
    return bounded(name, values, finite(raw), widths + _rounded_away(asked, expr, values, table))


def _listed(values: Mapping[str, Floats]) -> dict[str, Values]:
    return {name: value.tolist() for name, value in values.items()}


def _rounded_away(asked: Expr, followed: Expr, values: Values, table: dict[str, Values]) -> Floats:
    """How far ROUND and the like moved each value: the interval is drawn around the rounded one, and must hold the other too."""
    if asked == followed:
        return np.zeros(len(values))
    before = [_number(evaluate(followed, row)) for row in _rows(table, len(values))]
    return np.asarray(np.nan_to_num(np.abs(np.array([_number(value) for value in values]) - np.array(before))))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _having(plan: Steps, table: dict[str, Values], count: int) -> list[int]:
    """The rows that HAVING keeps."""
    having = plan.question.having
    if having is None:
        return list(range(count))
    return [i for i, row in enumerate(_rows(table, count)) if evaluate(having, row) is True]


def _ordered(plan: Steps, table: dict[str, Values], kept: list[int], count: int) -> list[int] | None:
    """The rows to show, in their order; None if all stay as they are."""
    question = plan.question
    if question.having is None and not question.order and question.limit is None:
        return None
    found = in_row_order(kept, _rows(table, count), question.order) if question.order else kept
    return found if question.limit is None else found[: question.limit]
