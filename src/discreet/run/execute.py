"""Run a plan on an engine: discover what is open, resolve, then release every total and every choice.

Private columns are only arranged (`Private.map`) and passed to mechanisms, whose outputs are public. The number, order and text of
the engine's statements depend on the plan and on what was discovered, not on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.engines.dialect import Dialect
from discreet.engines.engine import Columns, Engine
from discreet.mechanisms.value_grid import RelativeGrid
from discreet.plan.arrangement import Arrangement
from discreet.plan.bounding import Groups, Votes
from discreet.plan.discovery import Discovered
from discreet.plan.resolve import resolve
from discreet.plan.scaling import bounding_for
from discreet.plan.steps import Choice, NoisyTotal, Steps
from discreet.private import Private
from discreet.query.relation.expr import field_of
from discreet.query.statistics.statistic import ValueCounts
from discreet.query.totals import Total
from discreet.run.discovery import discover
from discreet.run.keys import Positions, sent
from discreet.run.results import PlanResults, shown_groups
from discreet.run.sampling import draw_key
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.tables import with_estimates
from discreet.run.values import on_grid, on_relative_grid
from discreet.run.write import write_capped, write_totals, write_units, write_votes, write_weights
from discreet.tables.kind import Kind

Progress = Callable[[str], None]


def execute(plan: Steps, engine: Engine, progress: Progress = lambda _: None) -> PlanResults:
    """Run every step of the plan."""
    plan = _resolved(plan, engine, progress)
    assert plan.groups is not None
    if plan.axes is not None:
        positions = Positions.numbered([axis.size for axis in plan.axes])
    else:
        positions = Positions.of(plan.groups if plan.arrangement is not None else Source.of(plan, engine.dialect).cells or ())
    if plan.arrangement is not None:
        return _execute_tables(plan, plan.arrangement, engine, positions, progress)
    totals: dict[Total, NDArray[Any]] = {}
    for one, cells in _counted(plan, engine, positions, progress):
        totals[one.total] = np.asarray(one.mechanism.release(cells))
    released = {choice.name: _chosen(choice, plan, engine, positions) for choice in plan.choices}
    choices = {name: [value for value, _ in found] for name, found in released.items()}
    ends = {name: [interval for _, interval in found] for name, found in released.items()}
    return PlanResults(plan, shown_groups(plan), totals, choices, ends)


def _execute_tables(plan: Steps, arrangement: Arrangement, engine: Engine, positions: Positions, progress: Progress) -> PlanResults:
    """Count the finest table, release each table that is measured, and estimate all from them; then what each set measures alone."""
    noisy: dict[tuple[Total, Table], NDArray[Any]] = {}
    for first, cells in _counted(plan, engine, positions, progress):
        for one in plan.totals:
            if one.total == first.total and one.table is not None:
                summed = cells.map(partial(_summed, arrangement.layout, one.table))
                noisy[one.total, one.table] = np.asarray(one.mechanism.release(summed))
    return with_estimates(plan, noisy, [execute(part, engine, progress) for part in plan.parts])


def _counted(
    plan: Steps, engine: Engine, positions: Positions, progress: Progress
) -> Iterator[tuple[NoisyTotal, Private[NDArray[np.int64]]]]:
    """Every total with its exact cells, statement by statement."""
    if not positions.size:
        return
    sample = () if plan.question.sample is None else (draw_key(),)  # one for all statements, and for nothing else
    for totals, statement in total_statements(plan, engine.dialect):
        progress("counting")
        cells = np.zeros((len(totals), positions.size), np.int64)
        for batch in engine.stream(statement.text, (*statement.given, *sample)):
            batch.map(partial(positions.add, cells))
        for place, one in enumerate(totals):
            yield one, Private(cells[place])


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
