"""Run discoveries: the statement of each, and the mechanism applied to its result."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any, assert_never

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from discreet.engines.dialect import Dialect
from discreet.engines.engine import Columns, Engine
from discreet.mechanisms.groups import Keys
from discreet.mechanisms.partition_selection import WeightedGaussianSelection
from discreet.plan.discovery import LIMITS, Discovered, Discovery, KeyDiscovery, LimitDiscovery
from discreet.plan.range_discovery import HIGHEST, LOWEST, PLACES, TOP, RangeDiscovery
from discreet.plan.resolve import bound
from discreet.plan.steps import Steps
from discreet.query.post import in_order
from discreet.query.relation.expr import field_of
from discreet.run.keys import received
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.write import write_capped, write_per_unit, write_weights
from discreet.tables.kind import Kind, Value


def discover(discovery: Discovery, plan: Steps, discovered: Discovered, engine: Engine) -> Discovered:
    """Run one discovery, and add its outcome to the known ones."""
    statement = discovery_statement(discovery, plan, discovered, engine.dialect)
    match discovery:
        case LimitDiscovery(what):
            outcomes = discovery.mechanism.release(engine.run(statement.text, statement.given).map(partial(_beyond, places=len(LIMITS))))
            return evolve(discovered, limits={**discovered.limits, what: discovery.read(outcomes)})
        case RangeDiscovery(expr, name):
            at = engine.run(statement.text, statement.given).map(partial(_counts_at, places=PLACES))
            counts, total = discovery.mechanism.release(at), discovery.counting.release(at.map(lambda found: int(found.sum())))
            found = discovery.read(np.asarray(counts), int(total))
            if found is None:
                return evolve(discovered, not_found=(*discovered.not_found, name))
            return evolve(discovered, bounds={**discovered.bounds, **{(expr, end): value for end, value in found.items()}})
        case KeyDiscovery():
            return _keys(_limited(discovery, plan, discovered), plan, discovered, statement, engine)
        case _:
            assert_never(discovery)


def _keys(discovery: KeyDiscovery, plan: Steps, discovered: Discovered, statement: Statement, engine: Engine) -> Discovered:
    source, mechanism = _source(discovery, plan, discovered, engine.dialect), discovery.mechanism
    kinds = [field_of(expr, plan.question.schema).kind for _, expr in source.keys]
    shown: list[tuple[Any, ...]] = []
    for batch in engine.stream(statement.text, statement.given):  # groups are decided one by one, so they need not be in memory at once
        shown += mechanism.release(batch.map(partial(_sized, names=source.key_names)))
    labels = [tuple(received(value, kind) for value, kind in zip(label, kinds, strict=True)) for label in shown]
    labels.sort(key=lambda label: tuple(map(in_order, label)))
    if plan.open_keys is not None and discovery.places:
        known = [label for label in labels if all(_is_of(value, kind) for value, kind in zip(label, kinds, strict=True))]
        kept = plan.open_keys.kept(discovery.places, known, discovered.found)
        return evolve(discovered, found={**discovered.found, discovery.places: kept})
    if discovery.statistic is None:
        return evolve(discovered, groups=tuple(labels))
    candidates = tuple(label[0] for label in labels if label[0] is not None)
    return evolve(discovered, candidates={**discovered.candidates, discovery.statistic: candidates})


def _is_of(value: Value | None, kind: Kind | None) -> bool:
    """Whether a key has a literal of its kind: not dates outside Python's calendar, which are among the others."""
    return not (kind in (Kind.DATE, Kind.TIMESTAMP) and isinstance(value, str))


def _sized(columns: Columns, names: list[str]) -> tuple[Keys, NDArray[np.int64]]:
    return Keys(tuple(columns[name] for name in names)), columns["s0"].astype(np.int64)


def _limited(discovery: KeyDiscovery, plan: Steps, discovered: Discovered) -> KeyDiscovery:
    """The discovery with the limit that an earlier discovery gave."""
    if discovery.limit is not None:
        return discovery
    bounding = bound(plan.question, plan.contributions, discovered, plan.budget.noise)
    return evolve(discovery, limit=bounding.groups if discovery.statistic is None else bounding.values)


def _source(discovery: Discovery, plan: Steps, discovered: Discovered, dialect: Dialect) -> Source:
    """The rows that a discovery reads: all of them where one group collects the rest."""
    question = plan.question
    if isinstance(discovery, KeyDiscovery) and discovery.statistic is not None:
        expr = dict(question.statistics)[discovery.statistic].candidates
        assert expr is not None
        return Source(question.relation, ((discovery.statistic, expr),), None, dialect)
    if isinstance(discovery, KeyDiscovery) and plan.open_keys is not None:
        keys = tuple(question.keys[place] for place in discovery.places)
        above = plan.open_keys.parents(discovery.places, discovered.found)
        return Source(question.relation, keys, None if above == ((),) else above, dialect)
    groups = plan.public_groups if plan.public_groups is not None else discovered.groups
    return Source(question.relation, question.keys, None if question.other else groups, dialect)


def _counts_at(columns: Columns, places: int) -> NDArray[np.int64]:
    """The number (or weight) at each place."""
    at = np.zeros(places, np.int64)
    np.add.at(at, np.clip(columns["v"].astype(np.int64), 0, places - 1), np.maximum(columns["w"].astype(np.int64), 0))
    return at


def _beyond(columns: Columns, places: int) -> list[int]:
    """Minus the number of units beyond each limit."""
    upto = np.cumsum(_counts_at(columns, places))
    return [int(count) for count in upto - upto[-1]]


# ── SQL ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def discovery_statement(discovery: Discovery, plan: Steps, discovered: Discovered, dialect: Dialect) -> Statement:
    """The statement that a discovery runs."""
    source = _source(discovery, plan, discovered, dialect)
    match discovery:
        case LimitDiscovery(what):
            return limit_statement(what, source)
        case RangeDiscovery(expr):
            rows = Source(plan.question.relation, (), None, dialect)
            return write_weights(rows, expr, f"{log_place('__e0', dialect)} + {TOP}", discovery.bounding)
        case KeyDiscovery():
            limited = _limited(discovery, plan, discovered)
            mechanism = limited.mechanism
            root = mechanism.unit if isinstance(mechanism, WeightedGaussianSelection) else None
            return write_capped(source, None, limited.limit or 1, discovery.salt, root)
        case _:
            assert_never(discovery)


def limit_statement(what: str, source: Source) -> Statement:
    """The number of units by the least limit that holds each; every unit is counted once."""
    match what:
        case "rows":
            value = "COUNT(*)"
        case "groups":
            value = f"COUNT(DISTINCT ({', '.join(source.key_names)}))"
        case _:
            value = "MAX(c)"
    cases = " ".join(f"WHEN {value} <= {limit} THEN {place}" for place, limit in enumerate(LIMITS[:-1]))
    return write_per_unit(source, f"CASE {cases} ELSE {len(LIMITS) - 1} END", pairs=what == "per_group")


def log_place(text: str, dialect: Dialect) -> str:
    """The position of a number on the log grid: 0 for numbers near 0, then a step for each doubling, with its sign."""
    real, near = f"CAST({text} AS {dialect.type_name(Kind.REAL)})", dialect.real(Fraction(2) ** LOWEST)
    far = dialect.real(Fraction(2) ** (HIGHEST + 1))
    # for every number and in every branch that the engine evaluates, the logarithm is defined and the step fits an integer
    size = f"LEAST(CASE WHEN ABS({real}) > {near} THEN ABS({real}) ELSE {near} END, {far})"
    steps = f"{dialect.floor(f'LN({size}) * {1 / math.log(2)!r} + 1e-9')} + {1 - LOWEST}"
    whole = f"CAST({steps} AS {dialect.type_name(Kind.INTEGER)})"
    sized = f"CASE WHEN {whole} > {TOP} THEN {TOP} ELSE {whole} END"
    return f"CASE WHEN ABS({real}) < {near} THEN 0 WHEN {real} > 0 THEN {sized} WHEN {real} < 0 THEN -({sized}) END"
