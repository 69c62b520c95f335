"""Run a plan on an engine: discover what is open, resolve, then release every total and every choice.

Private columns are only arranged (`Private.map`) and passed to mechanisms, whose outputs are public. The number, order and text of
the engine's statements depend on the plan and on what was discovered, not on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.engines.dialect import Dialect
from discreet.engines.engine import Columns, Engine
from discreet.mechanisms.value_grid import RelativeGrid
from discreet.plan.arrangement import Arrangement
from discreet.plan.bounding import Groups, Votes
from discreet.plan.discovery import Discovered
from discreet.plan.key_values import KeyValues
from discreet.plan.resolve import resolve
from discreet.plan.scaling import bounding_for
from discreet.plan.steps import Choice, NoisyTotal, Steps
from discreet.private import Private
from discreet.query.relation.expr import field_of
from discreet.query.statistics.statistic import ValueCounts
from discreet.query.totals import Total
from discreet.run.discovery import discover
from discreet.run.keys import Positions, sent
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.tables import estimated, set_cells
from discreet.run.values import on_grid, on_relative_grid
from discreet.run.write import write_capped, write_totals, write_units, write_votes, write_weights
from discreet.tables.kind import Kind

Progress = Callable[[str], None]
OTHER = "(other)"


@final
@frozen(eq=False, slots=False)
class PlanResults:
    """The public results: the resolved plan, and for each group (the "other" group last) totals and choices."""

    plan: Steps
    groups: KeyValues
    totals: Mapping[Total, NDArray[Any]]
    choices: Mapping[str, Sequence[Any]]
    ends: Mapping[str, Sequence[tuple[float, float] | None]] = field(factory=dict)  # of the intervals that mechanisms chose
    sets: tuple[PlanResults, ...] = ()  # one for each grouping set, where there are several
    finest: Mapping[Total, NDArray[Any]] = field(factory=dict)  # the estimates of all cells that they are summed from

    @cached_property
    def listed(self) -> Mapping[Total, list[Any]]:
        """The totals as plain Python numbers."""
        return {total: list(cells.tolist()) for total, cells in self.totals.items()}


def execute(plan: Steps, engine: Engine, progress: Progress = lambda _: None) -> PlanResults:
    """Run every step of the plan."""
    plan = _resolved(plan, engine, progress)
    assert plan.groups is not None
    positions = Positions.of(Source.of(plan, engine.dialect).cells or ())
    if plan.arrangement is not None:
        return _execute_tables(plan, plan.arrangement, engine, positions, progress)
    totals: dict[Total, NDArray[Any]] = {}
    if positions.size:
        for noisy, statement in total_statements(plan, engine.dialect):
            progress("counting")
            cells = np.zeros((len(noisy), positions.size), np.int64)
            for batch in engine.stream(statement.text, statement.given):
                batch.map(partial(positions.add, cells))
            for place, one in enumerate(noisy):
                totals[one.total] = np.asarray(one.mechanism.release(Private(cells[place])))
    released = {choice.name: _chosen(choice, plan, engine, positions) for choice in plan.choices}
    choices = {name: [value for value, _ in found] for name, found in released.items()}
    ends = {name: [interval for _, interval in found] for name, found in released.items()}
    groups = (*plan.groups, tuple(OTHER for _ in plan.question.keys)) if plan.question.other else plan.groups
    return PlanResults(plan, groups, totals, choices, ends)


def _execute_tables(plan: Steps, arrangement: Arrangement, engine: Engine, positions: Positions, progress: Progress) -> PlanResults:
    """Count the finest table, release each table that is measured, and estimate all from them; then what each set measures alone."""
    noisy: dict[tuple[Total, Table], NDArray[Any]] = {}
    for counted, statement in total_statements(plan, engine.dialect):
        progress("counting")
        cells = np.zeros((len(counted), positions.size), np.int64)
        for batch in engine.stream(statement.text, statement.given):
            batch.map(partial(positions.add, cells))
        for place, first in enumerate(counted):
            for one in plan.totals:
                if one.total == first.total and one.table is not None:
                    summed = Private(cells[place]).map(partial(_summed, arrangement.layout, one.table))
                    noisy[one.total, one.table] = np.asarray(one.mechanism.release(summed))
    found = estimated(plan, noisy)
    sets = []
    for places, part in zip(plan.question.sets, plan.parts, strict=True):
        alone, table = execute(part, engine, progress), arrangement.table(places)
        totals = {total: set_cells(arrangement.layout, table, cells) for total, cells in found.items()}
        sets.append(evolve(alone, totals={**totals, **alone.totals}))
    return PlanResults(plan, plan.groups or (), {}, {}, sets=tuple(sets), finest=found)


def _summed(layout: Layout, table: Table, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(layout.summed(cells, table), np.int64).ravel()


def _resolved(plan: Steps, engine: Engine, progress: Progress) -> Steps:
    if plan.resolved:
        return plan
    return resolve(plan, run_discoveries(plan, engine, progress))


def run_discoveries(plan: Steps, engine: Engine, progress: Progress = lambda _: None) -> Discovered:
    """Discover what is open, one after the other."""
    discovered = Discovered()
    for discovery in plan.discoveries:
        progress(str(discovery))
        discovered = discover(discovery, plan, discovered, engine)
        if discovered.not_found:
            break
    return discovered


def total_statements(plan: Steps, dialect: Dialect) -> list[tuple[list[NoisyTotal], Statement]]:
    """The totals, grouped by the statement that counts them."""
    assert plan.bounding is not None
    source = Source.of(plan, dialect)
    plain = list({one.total: one for one in plan.totals if one.total.form not in ("units", "distinct")}.values())
    found: list[tuple[list[NoisyTotal], Statement]] = []
    if plain:
        found.append((plain, write_totals(source, [(one.total, one.scaled) for one in plain], plan.bounding)))
    for one in plan.totals:
        if one.total.form == "units":
            groups = bounding_for(one.total, plan.bounding, bool(plan.question.keys))
            assert isinstance(groups, Groups)
            found.append(([one], write_units(source, one.total.expr, groups, one.scaled.bits)))
        elif one.total.form == "distinct":
            most = plan.bounding.sensitivity.l1 // plan.bounding.one
            found.append(([one], write_capped(source, one.total.expr, most, plan.policy)))
    return found


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _chosen(choice: Choice, plan: Steps, engine: Engine, positions: Positions) -> list[tuple[Any, tuple[float, float] | None]]:
    statistic, mechanism, of = choice.statistic, choice.mechanism, field_of(choice.expr, plan.question.schema)
    if statistic.candidates is not None and not choice.candidates:
        return [(None, None)] * positions.size
    arrange = statistic.arranged(mechanism, [sent(value) for value in choice.candidates])
    statement = choice_statement(choice, plan, engine.dialect)
    counted = engine.run(statement.text, statement.given).map(lambda found: [arrange(group) for group in _by_group(found, positions)])
    released = [mechanism.release(counted.map(itemgetter(i))) for i in range(positions.size)]
    return [(statistic.selected(one, of, choice.candidates), statistic.ends(one, of)) for one in released]


def choice_statement(choice: Choice, plan: Steps, dialect: Dialect) -> Statement:
    """The statement that counts, for each group and value (or position on the statistic's grid), its weight."""
    source = Source.of(plan, dialect)
    text, kind = "__e0", field_of(choice.expr, plan.question.schema).kind
    grid = choice.statistic.grid(choice.mechanism)
    if isinstance(grid, RelativeGrid):
        text = on_relative_grid(text, grid, kind, dialect)
    elif grid is not None:
        text = on_grid(text, grid, kind, dialect, nudge="")
    elif kind in (Kind.DATE, Kind.TIMESTAMP):
        text = dialect.shown(text)
    if isinstance(choice.bounding, Votes):
        return write_votes(source, choice.expr, text, choice.bounding)
    return write_weights(source, choice.expr, text, choice.bounding)


def _by_group(columns: Columns, positions: Positions) -> list[ValueCounts]:
    """The values and weights of each group."""
    at = positions.places(columns)
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], np.arange(positions.size + 1))
    return [ValueCounts(columns["v"][order[a:b]], columns["w"][order[a:b]]) for a, b in pairwise(starts)]
