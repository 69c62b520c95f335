"""What the intervals of an answer include, and what they do not: one line below the table."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attrs import evolve

from discreet.explain.spell import spelled
from discreet.plan.bounding import Groups, Rows
from discreet.plan.removed import profiled_column, whole_table
from discreet.plan.steps import Steps
from discreet.query.relation.expr import Column, Expr, columns_of, field_of, inner_value
from discreet.query.relation.field import Interval
from discreet.tables.histogram import Clipping

_LONGEST = 60  # characters of an expression


def interval_note(plan: Steps) -> str:
    """What a resolved plan's intervals are for, as the end of a sentence that begins with "± is a 95 % interval"."""
    included = {} if plan.removed is None else plan.removed.clipped
    excluded = list(_excluded(plan))
    drawn = "the noise" if plan.question.sample is None else "the noise and the sampling error"
    said = f" for {drawn} and for the correction of clipping" if included else f" for {drawn}" if excluded or plan.question.sample else ""
    if excluded:
        said += f"; it excludes bias from {' and from '.join(excluded)}"
    assumed = [_assumption(expr, clip, plan) for expr, clip in included.items()]
    if included and isinstance(plan.bounding, Rows) and (seen := _most_rows_seen(plan)) is not None:
        assumed.append(f"that no unit has more than {seen:,} rows")
    return said + (f"; it assumes {', '.join(assumed)}" if assumed else "")


def _most_rows_seen(plan: Steps) -> int | None:
    table = whole_table(plan.question.relation)
    return None if table is None or table.profile is None else table.profile.most_rows_seen()


def _assumption(expr: Expr, clip: Clipping, plan: Steps) -> str:
    rows = f"that fewer than {clip.beyond:,.0f} rows have {_name(expr)} outside {_ends(expr, plan)}"
    return f"{rows}, and none by more than {clip.furthest:,.7g}"


def _excluded(plan: Steps) -> Iterator[str]:
    """Bounds and limits whose effect is not known."""
    included = {} if plan.removed is None else plan.removed.clipped
    users = [expr for statistic in plan.question.additive.values() for expr in statistic.numbers]
    clipped = [expr for expr in dict.fromkeys(users) if expr not in included and _is_clipped(inner_value(expr), plan)]
    if clipped and plan.available_totals is not None:
        yield f"clipping {', '.join(f'{_name(expr)} to {_range(plan.available_totals.range(expr))}' for expr in clipped)}"
    if plan.removed is not None and all(one.corrected for one in plan.question.additive.values()):
        return  # what down-weighting takes away is in the intervals
    match plan.bounding:
        case Rows(rows):
            yield f"limiting each unit's weight to that of {rows} {'row' if rows == 1 else 'rows'}"
        case Groups(groups, per_group):
            yield f"counting at most {per_group} {'row' if per_group == 1 else 'rows'} per unit in each of {groups} groups"


def _is_clipped(value: Expr, plan: Steps) -> bool:
    """Whether values, or the columns they are computed from, are clipped: not if they have a range of their own, as 0 and 1 have."""
    if isinstance(value, Column):
        return True
    schema = plan.question.relation.schema
    without_ranges = {name: evolve(field, range=None if field.range is None else _unknown(field.range)) for name, field in schema.items()}
    own = field_of(value, without_ranges).range
    return bool(columns_of(value)) and (own is None or not own.known)


def _unknown(interval: Interval) -> Interval:
    return evolve(interval, low_known=False, high_known=False)


def _name(expr: Expr) -> str:
    text = spelled(inner_value(expr))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _ends(expr: Expr, plan: Steps) -> str:
    column = profiled_column(plan.question.relation, expr)
    assert column is not None  # or it would not have been corrected
    assert column.histogram is not None
    return _range(Interval(column.histogram.low, column.histogram.high))


def _range(interval: Interval) -> str:
    return f"{_number(interval.low)} … {_number(interval.high)}"


def _number(value: Fraction) -> str:
    return f"{float(value):,.7g}"
