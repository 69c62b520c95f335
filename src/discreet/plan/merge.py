"""Questions of a batch that are measured together: those whose counts and sums are over the same rows become one with all their sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from attrs import evolve

from discreet.plan.arrangement import is_linear
from discreet.plan.bounding import Rows, Single
from discreet.plan.budget import totals_of
from discreet.plan.compile import public_groups, stated_contributions
from discreet.plan.hierarchy import PublicValues, hierarchy_of
from discreet.plan.key_values import OTHER, Combinations, values_of
from discreet.plan.profiled_range import known_range
from discreet.plan.removed import whole_table
from discreet.query.question import MOST_SETS, Question
from discreet.query.relation.expr import Column, Expr, field_of

MOST_CELLS = 10**5  # of the finest table of questions that are answered together


def merged_questions(questions: Mapping[str, Question], lookup: PublicValues) -> dict[tuple[str, ...], Question]:
    """Questions whose counts and sums are over the same rows, as one with the grouping sets of all; the others by themselves."""
    together: list[list[str]] = []
    able = {name: not _cannot_join(question, lookup) for name, question in questions.items()}
    for name, question in questions.items():
        for names in together:
            if able[name] and able[names[0]] and _fits([questions[other] for other in names], question, lookup):
                names.append(name)
                break
        else:
            together.append([name])
    return {tuple(names): questions[names[0]] if len(names) == 1 else _union([questions[name] for name in names]) for names in together}


def places_of(questions: Sequence[Question]) -> list[range]:
    """For each of the questions that are merged, the places of its grouping sets among those of all."""
    ends = accumulate((max(len(question.sets), 1) for question in questions), initial=0)
    return [range(first, last) for first, last in pairwise(ends)]


def why_alone(name: str, questions: Mapping[str, Question], lookup: PublicValues) -> str:
    """Why a question of a batch is measured by itself, in a few words."""
    question = questions[name]
    if reason := _cannot_join(question, lookup):
        return reason
    others = [one for other, one in questions.items() if other != name and _same_rows(one, question) and not _cannot_join(one, lookup)]
    return f"with the others it has more than {MOST_CELLS:,} cells or {MOST_SETS} sets" if others else "no other is about the same rows"


def _same_rows(one: Question, other: Question) -> bool:
    return (one.relation, one.contributions) == (other.relation, other.contributions)


def _fits(others: list[Question], question: Question, lookup: PublicValues) -> bool:
    sets = sum(map(len, places_of([*others, question])))
    if not _same_rows(others[0], question) or sets > MOST_SETS:
        return False
    union = evolve(_union([*others, question]), sets=(), statistics_by_set=(), other=False)
    alone = [public_groups(evolve(union, keys=(pair,)), lookup) for pair in union.keys]
    return math.prod(len(groups or ()) + 1 for groups in alone) <= MOST_CELLS


def _cannot_join(question: Question, lookup: PublicValues) -> str:
    """Why a question is never merged; empty if its statistics follow from counts and sums within public groups and known bounds."""
    if question.selected:
        return f"{next(iter(question.selected))} is chosen by a mechanism of its own"
    if question.windows:
        return "it has windows"
    if question.sets and not question.other:
        return "its totals leave out values that are not listed; with other=True it can be measured with others"
    if question.other and not question.sets and len(question.keys) > 1:
        return "its group (other) is no cell of the others' tables"
    limits = stated_contributions(question)
    if not question.relation.one_row and (limits.groups or limits.per_group):
        return "its contribution limits are about its own groups"
    return _not_linear(question) or _not_public(question, lookup)


def _not_linear(question: Question) -> str:
    """Why its statistics do not follow from totals that add up, within bounds that are known."""
    ranges = {expr: known_range(question.relation, expr) for expr in question.numbers}
    known = {expr: interval for expr, interval in ranges.items() if interval is not None and interval.known}
    if len(known) < len(ranges):
        return "it has bounds that are not known"
    declared = all((own := field_of(expr, question.schema).range) is not None and own.known for expr in known)
    if not declared and not question.keys and whole_table(question.relation) is not None:
        return "the profile corrects what clipping takes away"
    of = totals_of(question, known, True, Single() if question.relation.one_row else Rows(1))
    apart = [name for name, one in question.additive.items() if not all(map(is_linear, one.needs(of)))]
    return f"{apart[0]} does not add up" if apart else ""


def _not_public(question: Question, lookup: PublicValues) -> str:
    """Why its groups are not combinations of listed values, as those of merged questions are."""
    groups = public_groups(question, lookup)
    if not isinstance(groups, Combinations) or not len(groups):
        return "its groups are not public"
    if question.sets and hierarchy_of(question, lookup) is not None:
        return "its keys form a hierarchy"
    spelled = question.sets and any(OTHER in values_of(groups, place) for place in range(len(question.keys)))
    return f"one of its values is spelled {OTHER}" if spelled else ""


def _union(questions: list[Question]) -> Question:
    keys: dict[Expr, str] = {}
    statistics: dict[object, str] = {}
    sets: list[tuple[int, ...]] = []
    asked: list[tuple[str, ...]] = []
    for question in questions:
        for _, expr in question.keys:
            keys.setdefault(expr, f"k{len(keys)}")
        for _, statistic in question.statistics:
            statistics.setdefault(statistic, f"s{len(statistics)}")
        places = {expr: place for place, expr in enumerate(keys)}
        for own in question.sets or (tuple(range(len(question.keys))),):
            sets.append(tuple(sorted({places[question.keys[at][1]] for at in own})))
            asked.append(tuple(dict.fromkeys(statistics[one] for _, one in question.statistics)))
    return Question(
        questions[0].relation,
        tuple((name, expr) for expr, name in keys.items()),
        tuple((name, statistic) for statistic, name in statistics.items()),  # type: ignore[misc]
        tuple((name, Column(name)) for name in statistics.values()),
        contributions=questions[0].contributions,
        sets=tuple(sets),
        statistics_by_set=tuple(asked),
        other=True,  # rows that one question leaves out count in another
    )
