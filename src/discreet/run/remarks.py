"""Notes of a release that follow from its plan: how close a selected value is to the best one, and what has no interval or is not shown."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.plan.discovery import KeyDiscovery
from discreet.plan.steps import Steps
from discreet.query.relation.expr import Column, columns_of


def release_notes(plan: Steps) -> tuple[str, ...]:
    """The notes of the plan, and how close each selected value without an interval is to the best one."""
    told = [(choice.name, choice.statistic.closeness(choice.mechanism, choice.candidates, choice.unit)) for choice in plan.choices]
    close = [f"{name} {said}" for name, said in told if said is not None]
    return (*plan.notes, *close, *_without_intervals(plan), *_hidden_groups(plan))


def _without_intervals(plan: Steps) -> Iterator[str]:
    """Numbers that are computed from selected values: their errors are not followed through an expression."""
    selected = set(plan.question.selected)
    names = [name for name, expr in plan.question.outputs if not isinstance(expr, Column) and columns_of(expr) & selected]
    if names:
        yield f"no interval for {', '.join(names)}: select the quantiles by themselves to see theirs"


def _hidden_groups(plan: Steps) -> Iterator[str]:
    """Groups that discovery may have missed, and what is then summed over the others only."""
    for one in plan.discoveries:
        if isinstance(one, KeyDiscovery) and one.statistic is None and one.limit is not None:
            over = "; totals, shares and differences over rows are of the groups shown" if plan.question.windows else ""
            yield f"groups of much fewer than {one.mechanism.error(0.5):,.0f} units are mostly not shown{over}"
