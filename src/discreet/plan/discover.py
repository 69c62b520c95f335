"""Plan what must be discovered first: contribution limits, groups, bounds; each with its share of the price."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from attrs import evolve

from discreet.errors import Refused
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.discovery import Discovery, KeyDiscovery, LimitDiscovery
from discreet.plan.profiled_range import known_range
from discreet.plan.range_discovery import RangeDiscovery
from discreet.query.canonical import question_digest
from discreet.query.question import Question
from discreet.query.relation.expr import Column, field_of, inner_value
from discreet.tables.table import MOST_CONTRIBUTED, Contributions

_KEYS, _BOUND, _LIMIT = Fraction(1, 4), Fraction(1, 5), Fraction(1, 10)  # the share of ε of each discovery
_MOST = Fraction(1, 2)  # the most that all discoveries take of ε


def plan_discoveries(
    question: Question,
    adjacency: Adjacency,
    limits: Contributions,
    searches: Sequence[tuple[int, ...]],
    epsilon: Fraction,
    delta: Fraction,
) -> tuple[Discovery, ...]:
    """The discoveries in their order: limits, groups, bounds; together they take at most half of ε.

    Each search for groups is of the keys at some places, or of all together if none are given.
    """
    found: list[Discovery] = [LimitDiscovery(what, epsilon * _LIMIT, adjacency) for what in open_limits(question, limits)]
    hidden = _hidden(question)
    if hidden and delta == 0:
        raise Refused("MODE over values that are not declared needs a delta above 0: declare the column's keys, or give the budget a delta")
    share = (delta / 2 if question.additive else delta) / max(len(searches) + len(hidden), 1)
    salt = question_digest(question)
    for places in searches:
        limit, names = _limit_of_groups(question, limits), tuple(question.keys[place][0] for place in places)
        found.append(KeyDiscovery(epsilon * _KEYS, share, limit, salt, None, adjacency, places, names))
    limit = _limit_of_values(question, limits)
    found += [KeyDiscovery(epsilon * _KEYS, share, limit, salt, name, adjacency) for name in hidden]
    for expr, name in question.numbers.items():
        interval, summed = known_range(question.relation, expr), any(expr in one.numbers for one in question.additive.values())
        if interval is not None and not interval.known and summed:  # quantiles are chosen without bounds
            value = inner_value(expr)
            called = value.name if isinstance(value, Column) else f"the argument of {name}"
            ends = tuple(end for end, known in (("low", interval.low_known), ("high", interval.high_known)) if not known)
            found.append(RangeDiscovery(expr, called, ends, question.relation.one_row, epsilon * _BOUND, adjacency))
    taken = sum((one.epsilon for one in found), Fraction(0))
    factor = min(Fraction(1), _MOST * epsilon / taken) if taken else Fraction(1)
    scaled = tuple(evolve(one, epsilon=one.epsilon * factor) for one in found)
    for one in scaled:
        if isinstance(one, KeyDiscovery):
            evolve(one, limit=one.limit or 1).mechanism.chance(1)  # an ε that is too small is refused now, not after paying
    return scaled


def open_limits(question: Question, limits: Contributions) -> list[str]:
    """Which contribution limits are needed and not declared."""
    if question.relation.one_row or limits.rows is not None:
        return []
    if counts_units_only(question):
        return ["groups"] if question.keys and limits.groups is None else []
    if limits.groups is None and limits.per_group is None:
        return ["rows"]
    return [what for what, known in (("groups", limits.groups or not question.keys), ("per_group", limits.per_group)) if not known]


def counts_units_only(question: Question) -> bool:
    """Whether each unit contributes once to a group, or votes once for each value, whatever its rows: only its groups need a limit.

    Where the candidates of a mode must be discovered, the number of a unit's values needs a limit too, so rows are limited then.
    """
    return all(statistic.counts_units(question.schema) for _, statistic in question.statistics)


def _limit_of_groups(question: Question, limits: Contributions) -> int | None:
    """The most groups a unit may contribute to, if known."""
    if question.relation.one_row:
        return 1
    return limits.rows if limits.groups is None and limits.per_group is None else limits.groups


def _limit_of_values(question: Question, limits: Contributions) -> int | None:
    """The most values a unit may contribute where candidates are discovered, if known: the number of its rows in all."""
    if question.relation.one_row:
        return 1
    if limits.groups is None and limits.per_group is None:
        return limits.rows
    groups = limits.groups if question.keys else 1
    return None if groups is None or limits.per_group is None else min(groups * limits.per_group, MOST_CONTRIBUTED)


def _hidden(question: Question) -> list[str]:
    """The statistics whose candidates must be discovered, because their values are not public."""
    return [
        name
        for name, statistic in question.statistics
        if statistic.candidates is not None and field_of(statistic.candidates, question.schema).public_keys is None
    ]
