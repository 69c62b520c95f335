"""Notes of a release, from its plan and what it shows: how close a selected value is to the best one, what has no interval or is hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from discreet.plan.key_values import OTHER
from discreet.plan.steps import Steps
from discreet.query.relation.expr import Column, columns_of
from discreet.run.output_column import OutputColumn


def release_notes(plan: Steps, columns: Sequence[OutputColumn]) -> tuple[str, ...]:
    """The notes of the plan, and how close each selected value without an interval is to the best one."""
    return (*plan.notes, *_close_to_best(plan, columns), *_without_intervals(plan), *_hidden_groups(plan))


def _close_to_best(plan: Steps, columns: Sequence[OutputColumn]) -> Iterator[str]:
    """How close selected values are, if any is shown: of a value that is not shown there is nothing to say."""
    outputs = dict(plan.question.outputs)
    for choice in plan.choices:
        said = choice.statistic.closeness(choice.mechanism, choice.candidates, choice.unit)
        values = [value for column in columns if choice.name in columns_of(outputs[column.name]) for value in column.values]
        if said is not None and any(value is not None for value in values):
            yield f"{choice.name} {said}" if None not in values else f"where it is shown, {choice.name} {said}"


def _without_intervals(plan: Steps) -> Iterator[str]:
    """Numbers that are computed from selected values: their errors are not followed through an expression."""
    selected = set(plan.question.selected)
    names = [name for name, expr in plan.question.outputs if not isinstance(expr, Column) and columns_of(expr) & selected]
    if names:
        yield f"no interval for {', '.join(names)}: select the quantiles by themselves to see theirs"


def _hidden_groups(plan: Steps) -> Iterator[str]:
    """Groups that discovery may have missed, and what is then summed over the others only."""
    for one in plan.key_discoveries:
        if one.keys:
            *above, last = one.keys
            limited = one if one.limit is not None or plan.bounding is None else evolve(one, limit=plan.bounding.groups)
            where = f" within one {', '.join(above)}" if above else ""
            yield f"values of {last} with much fewer than {limited.mechanism.error(0.5):,.0f} units{where} are mostly in {OTHER}"
        elif one.limit is not None:
            over = "; totals, shares and differences over rows are of the groups shown" if plan.question.windows else ""
            yield f"groups of much fewer than {one.mechanism.error(0.5):,.0f} units are mostly not shown{over}"
