"""The noisy totals of a release: public, and enough to compute its statistics and intervals again, or combined with further draws."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.plan.discovery import Discovered
from discreet.plan.key_values import KeyValues
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import resolve
from discreet.plan.steps import NoisyTotal, Steps
from discreet.query.relation.expr import Expr
from discreet.run.results import PlanResults, shown_groups
from discreet.run.tables import with_estimates


@final
@frozen(eq=False)
class ReleasedTotals:
    """What was discovered, and each total of every group as the noise left it, in the order of the resolved plan."""

    limits: Mapping[str, int]
    bounds: tuple[Fraction, ...]  # in the order of the plan's discoveries
    groups: KeyValues | None  # None where they were public before
    cells: tuple[list[float], ...]  # whole numbers of one draw, or means of several
    combined: tuple[tuple[float, ...], ...]  # as in NoisyTotal
    found: tuple[KeyValues, ...] = ()  # of each search for keys of grouping sets, in their order

    @classmethod
    def of(cls, answers: PlanResults, asked: Steps) -> ReleasedTotals:
        """The totals behind answers, where `asked` is the plan before anything was discovered."""
        plan, found = answers.plan, answers.plan.discovered
        cells = [
            answers.listed.get(one.total, []) if one.table is None else list(answers.tables[one.total, one.table].tolist())
            for one in plan.totals
        ]
        cells += [part.listed[one.total] for part in answers.sets for one in part.plan.totals]
        return cls(
            dict(found.limits),
            tuple(found.bounds[at] for at in _open_ends(asked)),
            None if asked.public_groups is not None or asked.open_keys is not None else plan.groups,
            tuple(cells),
            tuple(one.combined for each in (plan, *plan.parts) for one in each.totals),
            () if asked.open_keys is None else tuple(found.found[search] for search in asked.open_keys.searches),
        )

    def results(self, asked: Steps) -> PlanResults:
        """The answers that they stand for."""
        searches = () if asked.open_keys is None else asked.open_keys.searches
        keys = dict(zip(searches, self.found, strict=True))
        found = Discovered(self.limits, dict(zip(_open_ends(asked), self.bounds, strict=True)), self.groups, found=keys)
        plan = resolve(asked, found)
        if len(self.cells) != sum(len(one.totals) for one in (plan, *plan.parts)):
            raise ValueError("the totals are not those of the plan")
        said = iter(zip(self.cells, self.combined, strict=True))
        plan, totals = _with_cells(plan, said)
        if plan.arrangement is None:
            return _results(plan, totals)
        tables = {(one.total, one.table): cells for one, cells in zip(plan.totals, totals, strict=True) if one.table is not None}
        if any(cells.size != plan.arrangement.layout.cells(table) for (_, table), cells in tables.items()):
            raise ValueError("the tables are not those of the groups")
        alone = [_results(*_with_cells(part, said)) for part in plan.parts]
        return with_estimates(evolve(plan, parts=tuple(part.plan for part in alone)), tables, alone)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "limits": dict(self.limits),
            "bounds": [str(bound) for bound in self.bounds],
            "groups": None if self.groups is None else groups_to_plain(self.groups),
            "cells": list(self.cells),
            "combined": [list(scales) for scales in self.combined],
            **({"found": [groups_to_plain(groups) for groups in self.found]} if self.found else {}),
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> ReleasedTotals:
        """Read back what to_json gave."""
        groups = said["groups"]
        return cls(
            dict(said["limits"]),
            tuple(exact.rational(bound) for bound in said["bounds"]),
            None if groups is None else groups_from_plain(groups),
            tuple(said["cells"]),
            tuple(tuple(scales) for scales in said["combined"]),
            tuple(groups_from_plain(one) for one in said.get("found", ())),
        )


def _with_cells(plan: Steps, said: Iterator[tuple[list[float], tuple[float, ...]]]) -> tuple[Steps, list[NDArray[Any]]]:
    """The plan with the scales of its noise, and the cells of each total."""
    listed = [next(said) for _ in plan.totals]
    totals = tuple(evolve(one, combined=scales) for one, (_, scales) in zip(plan.totals, listed, strict=True))
    return evolve(plan, totals=totals), [np.array(cells) for cells, _ in listed]


def _results(plan: Steps, cells: Sequence[NDArray[Any]]) -> PlanResults:
    groups = shown_groups(plan)
    if any(len(one) != len(groups) for one in cells):
        raise ValueError("the totals are not those of the groups")
    return PlanResults(plan, groups, {one.total: each for one, each in zip(plan.totals, cells, strict=True)}, {})


def _open_ends(asked: Steps) -> list[tuple[Expr, str]]:
    return [(one.expr, end) for one in asked.discoveries if isinstance(one, RangeDiscovery) for end in one.ends]


def combine(first: PlanResults, second: PlanResults) -> PlanResults:
    """Two draws of the same totals as their means, each weighted by its inverse variance.

    Theorem (Gauss–Markov; Dwork & Roth 2014, prop. 2.1: post-processing).
        Of two unbiased measurements x₁ and x₂ of one number with independent noise of variances v₁ and v₂, (v₂x₁ + v₁x₂)/(v₁ + v₂) has
        the least variance among the unbiased weighted means, v₁v₂/(v₁ + v₂). It is computed from released numbers alone.
    """
    if second.plan.arrangement is not None:
        return _combined_tables(first, second)
    pairs = zip(first.plan.totals, second.plan.totals, strict=True)
    mixed = [_mixed(a, b, first.totals.get(a.total), second.totals.get(b.total)) for a, b in pairs]
    plan = evolve(second.plan, totals=tuple(noisy for noisy, _ in mixed), discovered=first.plan.discovered)
    return PlanResults(plan, second.groups, {noisy.total: cells for noisy, cells in mixed}, {})


def _combined_tables(first: PlanResults, second: PlanResults) -> PlanResults:
    """The same for the tables that grouping sets are estimated from; then all are estimated again."""
    tables, noisy = {}, []
    for a, b in zip(first.plan.totals, second.plan.totals, strict=True):
        assert a.table is not None
        assert b.table is not None
        one, tables[b.total, b.table] = _mixed(a, b, first.tables[a.total, a.table], second.tables[b.total, b.table])
        noisy.append(one)
    alone = [combine(x, y) for x, y in zip(first.sets, second.sets, strict=True)]
    plan = evolve(second.plan, totals=tuple(noisy), discovered=first.plan.discovered, parts=tuple(part.plan for part in alone))
    return with_estimates(plan, tables, alone)


def _mixed(a: NoisyTotal, b: NoisyTotal, x: NDArray[Any] | None, y: NDArray[Any] | None) -> tuple[NoisyTotal, NDArray[Any]]:
    assert (a.total, a.unit, a.is_gaussian) == (b.total, b.unit, b.is_gaussian), "both are draws of one total"
    # both kinds of noise have a variance in proportion to the sum of their squared scales
    weight = b.scale**2 / (a.scale**2 + b.scale**2)
    scales = (*(weight * scale for scale in a.scales), *((1 - weight) * scale for scale in b.scales))
    cells = np.zeros(0) if x is None or y is None else weight * x + (1 - weight) * y
    return evolve(b, combined=scales), cells


def groups_to_plain(groups: KeyValues) -> list[list[Any]]:
    """Groups as JSON has them."""
    return [[key_to_plain(value) for value in group] for group in groups]


def groups_from_plain(plain: Any) -> KeyValues:
    """Read back what `groups_to_plain` gave."""
    return tuple(tuple(key_from_plain(value) for value in group) for group in plain)


def key_to_plain(value: Any) -> Any:
    """A key as JSON has it; dates and timestamps are tagged."""
    return {type(value).__name__: value.isoformat()} if isinstance(value, datetime.date) else value


def key_from_plain(plain: Any) -> Any:
    """Read back what `key_to_plain` gave."""
    match plain:
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case {"datetime": str(text)}:
            return datetime.datetime.fromisoformat(text)
    return plain
