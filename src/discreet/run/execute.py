"""Run a plan on an engine: find what is open, settle, then release every total and every choice.

Private columns are only ever arranged (`Private.map`) and handed to mechanisms; what comes back is public. The number, order and text of
the engine's statements depend on the plan and on what was found, not on the data.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, assert_never, final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.engines.engine import Columns, Engine
from discreet.mechanisms.groups import Keys
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Places, Quantile
from discreet.plan.bounding import Groups, Votes
from discreet.plan.discovery import Find, FindBound, FindKeys, FindLimit
from discreet.plan.resolve import bound, bounding_for, settle
from discreet.plan.steps import Choice, Found, Steps, Total
from discreet.plan.total import Grid as StatGrid
from discreet.plan.total import Stat, on_grid
from discreet.private import Private
from discreet.query.post import in_order
from discreet.query.relation.expr import field_of
from discreet.run.source import KeyValues, Source
from discreet.run.statement import Statement
from discreet.run.write import write_capped, write_totals, write_units, write_votes, write_weights
from discreet.tables.kind import Kind, Value

Progress = Callable[[str], None]


@final
@frozen(eq=False)
class Answers:
    """What came out, public: the settled plan, and for each group (and last the others, if asked for) totals and choices."""

    plan: Steps
    groups: KeyValues
    totals: Mapping[Stat, NDArray[Any]]
    choices: Mapping[str, Sequence[Any]]


def execute(plan: Steps, engine: Engine, progress: Progress = lambda _: None) -> Answers:
    """Release everything the plan says."""
    plan = _found(plan, engine, progress)
    assert plan.groups is not None
    positions = Positions.of(plan.source.cells or ())
    totals: dict[Stat, NDArray[Any]] = {}
    if positions.size:
        for stats, statement in statements(plan):
            progress("counting")
            cells = np.zeros((len(stats), positions.size), np.int64)
            for batch in engine.stream(statement.text, statement.given):
                batch.map(partial(positions.add, cells))
            for place, total in enumerate(stats):
                totals[total.stat] = np.asarray(total.mechanism.release(Private(cells[place])))
    choices = {choice.measure: _chosen(choice, plan, engine, positions) for choice in plan.choices}
    groups = (*plan.groups, tuple(OTHER for _ in plan.question.keys)) if plan.question.other else plan.groups
    return Answers(plan, groups, totals, choices)


OTHER = "(other)"


def statements(plan: Steps) -> list[tuple[list[Total], Statement]]:
    """The totals, grouped by the statement that counts them."""
    assert plan.bounding is not None
    salt = plan.policy
    plain = [total for total in plan.totals if total.stat.form not in ("units", "distinct")]
    found: list[tuple[list[Total], Statement]] = []
    if plain:
        found.append((plain, write_totals(plan.source, [(total.stat, total.scaled) for total in plain], plan.bounding)))
    for total in plan.totals:
        if total.stat.form == "units":
            groups = bounding_for(total.stat, plan.bounding, bool(plan.question.keys))
            assert isinstance(groups, Groups)
            found.append(([total], write_units(plan.source, groups, total.scaled.bits)))
        elif total.stat.form == "distinct":
            most = plan.bounding.reach.l1 // plan.bounding.one
            found.append(([total], write_capped(plan.source, total.stat.expr, most, salt)))
    return found


# ── what is found first ──────────────────────────────────────────────────────────────────────────────────────────────


def _found(plan: Steps, engine: Engine, progress: Progress) -> Steps:
    if plan.settled:
        return plan
    found = Found()
    for find in plan.finds:
        progress(str(find))
        found = _add(find, plan, found, engine)
    return settle(plan, found)


def _add(find: Find, plan: Steps, found: Found, engine: Engine) -> Found:
    question = plan.question
    groups = plan.public_groups if plan.public_groups is not None else found.groups
    source = Source(question.relation, question.keys, None if question.other else groups, plan.dialect)  # finds look at all rows
    match find:
        case FindLimit(what):
            outcomes = find.mechanism.release(_run(find.write(source), engine).map(find.beyond))
            return evolve(found, limits={**found.limits, what: find.read(outcomes)})
        case FindBound(expr, _, end):
            outcomes = find.mechanism.release(_run(find.write(source), engine).map(find.beyond))
            return evolve(found, bounds={**found.bounds, (expr, end): find.read(outcomes)})
        case FindKeys():
            return _add_keys(find, plan, found, source, engine)
        case _:
            assert_never(find)


def _add_keys(find: FindKeys, plan: Steps, found: Found, source: Source, engine: Engine) -> Found:
    if find.limit is None:
        known = bound(plan.question.relation.one_row, plan.contributions, found, plan.budget.noise, keyed=bool(plan.question.keys))
        find = evolve(find, limit=known.groups if find.measure is None else known.values)
    if find.measure is not None:
        expr = dict(plan.question.measures)[find.measure].expr
        assert expr is not None
        source = Source(source.relation, ((find.measure, expr),), None, source.dialect)
    schema = source.relation.schema
    kinds = [field_of(expr, schema).kind for _, expr in source.keys]
    statement, mechanism = find.write(source), find.mechanism
    shown: list[tuple[Any, ...]] = []
    for batch in engine.stream(statement.text, statement.given):  # groups are decided one by one, so all need not be there at once
        shown += mechanism.release(batch.map(partial(_sized, names=source.key_names)))
    labels = [tuple(received(value, kind) for value, kind in zip(label, kinds, strict=True)) for label in shown]
    labels.sort(key=lambda label: tuple(map(in_order, label)))
    if find.measure is None:
        return evolve(found, groups=tuple(labels))
    candidates = tuple(label[0] for label in labels if label[0] is not None)
    return evolve(found, candidates={**found.candidates, find.measure: candidates})


def _sized(columns: Columns, names: Sequence[str]) -> tuple[Keys, NDArray[np.int64]]:
    return Keys(tuple(columns[name] for name in names)), columns["s0"].astype(np.int64)


def _run(statement: Statement, engine: Engine) -> Private[Columns]:
    return engine.run(statement.text, statement.given)


def received(value: Any, kind: Kind | None) -> Value | None:
    """A key as it left the engine, as a value of its kind; a date beyond our calendar stays text."""
    if value is None:
        return None
    try:
        if kind is Kind.DATE:
            return datetime.date.fromisoformat(value)
        if kind is Kind.TIMESTAMP:
            return datetime.datetime.fromisoformat(value)
    except ValueError:
        return str(value)
    return value  # type: ignore[no-any-return]


def sent(value: Value | None) -> Any:
    """A public key in the form in which the engine gives keys: parts of seconds without trailing zeros."""
    if isinstance(value, datetime.datetime):
        text = value.isoformat(sep=" ")
        return text.rstrip("0") if value.microsecond else text
    return value.isoformat() if isinstance(value, datetime.date) else value


# ── arranging ────────────────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen(eq=False)
class Positions:
    """The place of each public group in what is released; rows of other groups are left out."""

    place: Mapping[tuple[Any, ...], int]
    keys: int
    whole: tuple[NDArray[np.int64], NDArray[np.int64]] | None  # one whole key: its values in order, and their places

    @classmethod
    def of(cls, groups: KeyValues) -> Positions:
        keys = len(groups[0]) if groups else 1
        if keys == 1 and {type(value) for (value,) in groups} == {int}:
            values = np.fromiter((value for (value,) in groups), np.int64, len(groups))
            order = np.argsort(values)
            return cls({}, 1, (values[order], order))
        return cls({tuple(sent(value) for value in group): i for i, group in enumerate(groups)}, keys, None)

    @property
    def size(self) -> int:
        return len(self.place) if self.whole is None else len(self.whole[0])

    def places(self, columns: Columns) -> NDArray[np.int64]:
        """Each row's group, or −1."""
        length = len(next(iter(columns.values())))
        if not self.keys:
            return np.zeros(length, np.int64)
        if self.whole is not None and columns["k0"].dtype.kind in "iu":
            values, order = self.whole
            at = np.minimum(np.searchsorted(values, columns["k0"]), len(values) - 1)
            return np.where(values[at] == columns["k0"], order[at], -1)
        place = self.place if self.whole is None else {(int(v),): int(i) for v, i in zip(*self.whole, strict=True)}
        labels = zip(*(columns[f"k{i}"].tolist() for i in range(self.keys)), strict=True)
        return np.fromiter((place.get(label, -1) for label in labels), np.int64, length)

    def add(self, cells: NDArray[np.int64], columns: Columns) -> None:
        """Add columns s0, s1, … to rows of cells, which have one whole number for each public group."""
        at = self.places(columns)
        inside = at >= 0
        for place, row in enumerate(cells):
            np.add.at(row, at[inside], columns[f"s{place}"][inside].astype(np.int64))


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _chosen(choice: Choice, plan: Steps, engine: Engine, positions: Positions) -> list[Any]:
    match choice.mechanism:
        case Quantile() as mechanism:
            placed = _run(choice_statement(choice, plan), engine).map(lambda found: _split(found, positions))
            chosen = [mechanism.release(placed.map(itemgetter(i))) for i in range(positions.size)]
            kind = field_of(choice.expr, plan.question.relation.schema).kind
            return [int(value) if kind is Kind.INTEGER else value for value in chosen]
        case NoisyMax() as mechanism:
            if not choice.candidates:
                return [None] * positions.size
            scores = _run(choice_statement(choice, plan), engine).map(lambda found: _scores(found, positions, choice.candidates))
            return [choice.candidates[mechanism.release(scores.map(itemgetter(i)))] for i in range(positions.size)]
        case _:
            assert_never(choice.mechanism)


def choice_statement(choice: Choice, plan: Steps) -> Statement:
    """The statement that counts, for each group and value (or place on a quantile's grid), its weight."""
    schema, dialect = plan.question.relation.schema, plan.dialect
    text, kind = "__e0", field_of(choice.expr, schema).kind
    if isinstance(choice.mechanism, Quantile):
        of = choice.mechanism.grid
        text = on_grid(text, StatGrid(of.lower, of.step, of.points), kind, dialect, nudge="")
    elif kind in (Kind.DATE, Kind.TIMESTAMP):
        text = dialect.shown(text)
    if isinstance(choice.bounding, Votes):
        return write_votes(plan.source, choice.expr, text, choice.bounding)
    return write_weights(plan.source, choice.expr, text, choice.bounding)


def _split(columns: Columns, positions: Positions) -> list[Places]:
    at = positions.places(columns)
    points, weights = columns["v"].astype(np.int64), columns["w"].astype(np.int64)
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], np.arange(positions.size + 1))
    return [Places(points[order[a:b]], weights[order[a:b]]) for a, b in pairwise(starts)]


def _scores(columns: Columns, positions: Positions, candidates: Sequence[Value]) -> NDArray[np.int64]:
    where = {sent(value): i for i, value in enumerate(candidates)}
    out = np.zeros((positions.size, len(candidates)), np.int64)
    for place, value, weight in zip(positions.places(columns).tolist(), columns["v"].tolist(), columns["w"].tolist(), strict=True):
        if place >= 0 and value in where:
            out[place, where[value]] += weight
    return out
