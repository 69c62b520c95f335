"""Resolve a plan: once bounds, limits and groups are declared or discovered, each mechanism follows from its share of the budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet import exact
from discreet.algorithms.consistent.layout import Table
from discreet.errors import Refused
from discreet.loss import calibrate
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.plan.arrangement import Arrangement, as_fractions, is_linear, restricted, sets_needing, table_shares, weights_by_variance
from discreet.plan.bounding import Bounding, Groups, Rows, Single, Votes
from discreet.plan.budget import needed, split, totals_of
from discreet.plan.discovery import Discovered, KeyDiscovery, LimitDiscovery, resolved_range
from discreet.plan.key_values import KeyValues, values_of
from discreet.plan.profiled_range import known_range, wider_range
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.removed import removed_by
from discreet.plan.scaling import Scaled, bounding_for
from discreet.plan.steps import Budget, Choice, NoisyTotal, Steps
from discreet.query.question import Question
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.field import Interval
from discreet.query.statistics.statistic import Selected, UnitWeight
from discreet.query.totals import Total, Totals
from discreet.tables.kind import Value
from discreet.tables.table import Contributions

_LARGEST = 10**120  # of a unit's part in a total: its square, times the number of all rows, is a float
ONE_FOR_CHOICES = 2**10  # coarser weights where they are counted per value, so that scores fit 64 bits


def resolve(plan: Steps, discovered: Discovered) -> Steps:
    """The plan with every open bound, limit and group filled in; its price does not change."""
    bounding = bound(plan.question, plan.contributions, discovered, plan.budget.noise)
    if plan.open_keys is not None:
        known = plan.open_keys.arrangement(discovered.found)
        notes = (*plan.notes, *plan.open_keys.not_shown(discovered.found))
        return _several_tables(evolve(plan, arrangement=known, notes=notes), known, discovered, bounding, known.groups(known.finest))
    groups = plan.public_groups if plan.public_groups is not None else discovered.groups
    if groups is None:
        raise Refused("the groups are not known yet: run the plan's discoveries first")
    if plan.arrangement is not None:
        return _several_tables(plan, plan.arrangement, discovered, bounding, groups)
    cells = len(groups) + plan.question.other
    ranges = ranges_of(plan, discovered)
    of, totals = _totals(plan, ranges, bounding, cells)
    removed = removed_by(plan.question, of, bounding, totals) if plan.removed is None else plan.removed  # a refinement keeps its bounds
    if removed is not None and removed.clipped:
        ranges |= {expr: Interval(clipping.low, clipping.high) for expr, clipping in removed.clipped.items()}
        of, totals = _totals(plan, ranges, bounding, cells, frozenset(removed.clipped))
    closed = evolve(plan, discovered=discovered, bounding=bounding, groups=groups, available_totals=of, totals=totals, removed=removed)
    return evolve(closed, choices=tuple(_choice(name, epsilon, closed, bounding) for name, epsilon in plan.budget.choices))


def _several_tables(plan: Steps, arrangement: Arrangement, discovered: Discovered, bounding: Bounding, groups: KeyValues) -> Steps:
    """A plan with grouping sets: tables from which all are estimated, and for each set what does not add up.

    Theorem (the mechanism's own, and composition).
        Rows are weighted once, in the finest table, and each table that is measured is a sum over it: a unit whose weights add up to L
        changes it by at most L in ℓ₁, and so in ℓ₂. The noise of each table is calibrated to that, with a share of the budget; shares
        add up to 1. The estimates are computed from noisy tables alone.
    """
    of = totals_of(plan.question, ranges_of(plan, discovered), plan.budget.centred, bounding)
    gaussian = plan.budget.noise == "gaussian"
    weights = weights_by_variance(needed(plan.question, of), arrangement, plan.question, gaussian, bounding, of)
    shares = split(weights, 1 / 2 if gaussian else 1 / 3) if weights else {}
    axes = arrangement.axes if arrangement.other else None
    closed = evolve(plan, discovered=discovered, bounding=bounding, groups=groups, available_totals=of, axes=axes)
    totals: list[NoisyTotal] = []
    for total, share in shares.items():
        if is_linear(total):
            sets = sets_needing(plan.question, total, of)
            tables = as_fractions(table_shares(arrangement, plan.question, gaussian, bounding, sets))
            totals += [_noisy(total, share * part, plan.budget, bounding, plan, len(groups), table) for table, part in tables.items()]
    apart = {total: share / len(plan.question.sets) for total, share in shares.items() if not is_linear(total)}
    return evolve(closed, totals=tuple(totals), parts=tuple(_part(closed, at, apart) for at in range(len(plan.question.sets))))


def _part(plan: Steps, at: int, totals: Mapping[Total, Fraction]) -> Steps:
    """What is measured for one grouping set alone."""
    assert plan.arrangement is not None
    assert plan.groups is not None
    groups, times = plan.arrangement.groups(plan.question.sets[at]), len(plan.question.sets)
    measures = totals or plan.budget.choices  # else its relation is not read
    other = plan.arrangement.other
    question = restricted(plan.question, at, plan.groups if measures and not other else None)
    bounding = bound(question, plan.contributions, plan.discovered, plan.budget.noise)
    axes = plan.arrangement.within(plan.question.sets[at]).axes if other else None
    part = evolve(
        plan, question=question, arrangement=None, open_keys=None, axes=axes, public_groups=groups, groups=groups, bounding=bounding
    )
    part = evolve(part, totals=(), parts=())
    found = tuple(_noisy(total, share, plan.budget, bounding, part, len(groups)) for total, share in totals.items())
    part = evolve(part, totals=found)
    return evolve(part, choices=tuple(_choice(name, epsilon / times, part, bounding) for name, epsilon in plan.budget.choices))


def _totals(
    plan: Steps, ranges: Mapping[Expr, Interval], bounding: Bounding, cells: int, clipped: frozenset[Expr] = frozenset()
) -> tuple[Totals, tuple[NoisyTotal, ...]]:
    """The totals of a plan within these ranges, each with its share of the budget as noise."""
    of = totals_of(plan.question, ranges, plan.budget.centred, bounding, clipped)
    weights = needed(plan.question, of)
    shares = split(weights, 1 / 3 if plan.budget.noise == "laplace" else 1 / 2) if weights else {}
    return of, tuple(_noisy(total, share, plan.budget, bounding, plan, cells) for total, share in shares.items())


def hypothetical_discoveries(
    plan: Steps,
    limit: Callable[[LimitDiscovery], int],
    end: Callable[[RangeDiscovery, str], Fraction],
    values: Mapping[str, int] | None = None,
) -> Discovered:
    """Hypothetical discoveries, before anything is read: to refuse early, to forecast, and to show statements.

    `values` has how many values of a key of grouping sets are found.
    """
    placeholder = (tuple(None for _ in plan.question.keys),)
    found = {} if plan.open_keys is None else plan.open_keys.supposed(values)
    return Discovered(
        limits={one.what: limit(one) for one in plan.discoveries if isinstance(one, LimitDiscovery)},
        bounds={(one.expr, which): end(one, which) for one in plan.discoveries if isinstance(one, RangeDiscovery) for which in one.ends},
        groups=plan.public_groups if plan.public_groups is not None else placeholder,
        candidates={one.statistic: (0, 1) for one in plan.discoveries if isinstance(one, KeyDiscovery) and one.statistic is not None},
        found=found,
    )


def ranges_of(plan: Steps, discovered: Discovered) -> dict[Expr, Interval]:
    """The bounds of each number that is summed or ranked, as declared or discovered."""
    return {expr: resolved_range(interval, discovered.ends(expr)) for expr, interval in numeric_ranges(plan).items()}


def numeric_ranges(plan: Steps) -> dict[Expr, Interval]:
    """The range of each number that is summed or ranked, as declared or profiled."""
    ranges = {}
    for expr in plan.question.numbers:
        interval = known_range(plan.question.relation, expr)
        assert interval is not None
        ranges[expr] = interval
    return ranges


def bound(question: Question, limits: Contributions, discovered: Discovered, noise: str) -> Bounding:
    """How a unit's contribution is bounded, from what was declared and discovered; by ℓ₁ where tables are summed over each other."""
    if question.relation.one_row:
        return Single()
    if limits.groups is None and limits.per_group is None and "groups" not in discovered.limits:
        return Rows(limits.rows or discovered.limits.get("rows", 1))  # not discovered: only units are counted
    groups = (limits.groups or discovered.limits["groups"]) if question.keys else 1
    euclidean = noise == "gaussian" and not question.sets
    return Groups(groups, limits.per_group or discovered.limits.get("per_group", 1), euclidean)


def _noisy(
    total: Total, share: Fraction, budget: Budget, bounding: Bounding, plan: Steps, cells: int, table: Table | None = None
) -> NoisyTotal:
    used = bounding_for(total, bounding, bool(plan.question.keys))
    summed = table is not None and plan.arrangement is not None and table != plan.arrangement.layout.finest
    scaled = Scaled.of(total, used, plan.adjacency, cells, summed)
    unit = total.step * 2**scaled.bits / (1 if total.form == "distinct" else used.one) / (plan.question.sample or 1)
    if not Fraction(1, _LARGEST) < unit * scaled.l1 < _LARGEST:
        raise Refused("these numbers are too large or too small to be squared or summed: rescale them, as in SUM(x / 1000)")
    if budget.noise == "laplace":
        return NoisyTotal(total, scaled, Laplace(epsilon=budget.epsilon * share, sensitivity=scaled.l1, whole=True), unit, table=table)
    sigma = calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1))
    scale = exact.rational_up(lambda: exact.ball(scaled.l2**2 * sigma**2 / (share * budget.share)).sqrt())
    return NoisyTotal(total, scaled, Gaussian(scale=scale, sensitivity=scaled.l2, whole=True), unit, table=table)


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _choice(name: str, epsilon: Fraction, plan: Steps, bounding: Bounding) -> Choice:
    statistic = plan.question.selected[name]
    most = most_groups(len(plan.question.keys), plan.groups, plan.question.other)
    used = votes(bounding, most) if statistic.votes else _weights(bounding)
    field = field_of(statistic.expr, plan.question.schema)
    interval = wider_range(plan.question.relation, statistic.expr)  # what is discovered for sums would only clip it
    if field.range is not None and field.range.known and plan.available_totals is not None:
        interval = plan.available_totals.ranges.get(statistic.expr, interval)
    unit = UnitWeight(used.weight if isinstance(used, Votes) else used.sensitivity.l1, used.one, plan.confidence)
    mechanism = statistic.mechanism(epsilon, unit, field, interval, plan.adjacency)
    return Choice(name, statistic, mechanism, used, _candidates(name, statistic, plan), plan.confidence)


def _candidates(name: str, statistic: Selected[Any], plan: Steps) -> tuple[Value, ...]:
    if statistic.candidates is None:
        return ()
    found = plan.discovered.candidates.get(name, field_of(statistic.candidates, plan.question.schema).public_keys)
    assert found is not None
    return tuple(value for value in found if value is not None)


def _weights(bounding: Bounding) -> Bounding:
    """Coarser weights for rows; choices are pure DP, so only ℓ₁ matters."""
    if isinstance(bounding, Single):
        return bounding
    used = evolve(bounding, one=ONE_FOR_CHOICES)
    return evolve(used, euclidean=False) if isinstance(used, Groups) else used


def votes(bounding: Bounding, most: int | None) -> Single | Votes:
    """How units vote: in as many groups as their contribution allows, and in no more than exist."""
    if isinstance(bounding, Single):
        return bounding
    if most == 0:
        return Votes(1, 1)
    return Votes(bounding.groups if most is None else min(bounding.groups, most), ONE_FOR_CHOICES)


def most_groups(keys: int, groups: KeyValues | None, other: bool) -> int | None:
    """The most groups that a unit's rows can be in: 0 without keys, None where the groups are unknown."""
    if not keys:
        return 0
    if other:
        return len(groups or ()) + 1
    return None if groups is None else max(math.prod(len(set(values_of(groups, place))) for place in range(keys)), 1)
