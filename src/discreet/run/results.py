"""The public results of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, final

from attrs import field, frozen
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Table
from discreet.plan.key_values import OTHER, KeyValues
from discreet.plan.steps import Steps
from discreet.query.totals import Total
from discreet.run.output_column import Values


@final
@frozen(eq=False, slots=False)
class PlanResults:
    """The public results: the resolved plan, and for each group (the "other" group last) totals and choices."""

    plan: Steps
    groups: KeyValues
    totals: Mapping[Total, NDArray[Any]]
    choices: Mapping[str, Sequence[Any]]
    ends: Mapping[str, Sequence[tuple[float, float] | None]] = field(factory=dict)  # of the intervals that mechanisms chose
    tables: Mapping[tuple[Total, Table], NDArray[Any]] = field(factory=dict)  # the noisy tables from which grouping sets are estimated
    sets: tuple[PlanResults, ...] = ()  # of each grouping set, where there are several
    tidy: Mapping[str, Mapping[int, Values]] | None = None  # values of statistics in the groups of every set, where they are known already
    finest: Mapping[Total, NDArray[Any]] = field(factory=dict)  # the estimates of all cells that they are summed from

    @cached_property
    def listed(self) -> Mapping[Total, list[Any]]:
        """The totals as plain Python numbers."""
        return {total: list(cells.tolist()) for total, cells in self.totals.items()}


def shown_groups(plan: Steps) -> KeyValues:
    """The groups of a resolved plan as they are shown: with the group of all others last, where it was asked for."""
    assert plan.groups is not None
    return (*plan.groups, tuple(OTHER for _ in plan.question.keys)) if plan.question.other else plan.groups
