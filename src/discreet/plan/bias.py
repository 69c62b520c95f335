"""Measure how many units bounding and clipping affect, as a question of its own that costs budget like any other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from attrs import evolve

from discreet.errors import Refused
from discreet.plan.profiled_range import known_range
from discreet.query.question import Question
from discreet.query.relation.expr import Call, Column, Expr, Literal, call, field_of
from discreet.query.relation.field import Interval
from discreet.query.relation.node import PerUnit, Relation, Select, Within
from discreet.query.relation.other_tables import with_tables
from discreet.query.statistics.count import Count
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions, Table

Ends = Mapping[str, Mapping[str, Fraction]]  # for a column's name: its "low" and "high", as they were discovered


def bias_question(question: Question, limits: Contributions, found: Ends | None = None) -> Question:
    """Count all units, those with more rows than the limit, and those with a value outside its bounds, declared or `found` before.

    Each unit adds at most 1 to each count, so every count has sensitivity 1.
    """
    loose = with_tables(question.relation, _loosened)
    clipped = {f"{expr.name}_clipped": _outside(expr, within, question) for expr, within in _bounded(question, found or {}).items()}
    over = {} if limits.rows is None or not loose.has_id else {"over_limit": call("greater", Column("n"), Literal(limits.rows))}
    if not clipped and not over:
        raise Refused(
            "no bounds or contributions are declared here, so there is no bias to measure: declare bounds or contributions, "
            "or give the release that found them, as in bias(epsilon=0.1, of=release)"
        )
    if loose.has_id:
        inside = tuple((name, Within("max", condition)) for name, condition in clipped.items())
        relation: Relation = PerUnit(loose, (), (), (("n", Within("count")), *inside))
        conditions = {**over, **{name: call("equal", Column(name), Literal(1)) for name in clipped}}
    else:
        relation = Select(loose, tuple(clipped.items()))
        conditions = {name: call("equal", Column(name), Literal(1)) for name in clipped}
    statistics = [("units", Count()), *((name, Count(_when(condition))) for name, condition in conditions.items())]
    return Question(relation, (), tuple(statistics), tuple((name, Column(name)) for name, _ in statistics))


def _when(condition: Expr) -> Call:
    return call("case", condition, Literal(1), Literal(None))


def _bounded(question: Question, found: Ends) -> dict[Column, Interval]:
    """The columns with declared, profiled or discovered bounds that are summed or ranked."""
    bounded = {}
    for expr in question.numbers:
        within = known_range(question.relation, expr)
        if isinstance(expr, Column) and within is not None:
            ends = {end: value for end, value in found.get(expr.name, {}).items() if not getattr(within, f"{end}_known")}
            low, high = ends.get("low", within.low), ends.get("high", within.high)
            if within.low_known + within.high_known + len(ends) == 2:
                bounded[expr] = Interval(low, high)
    return bounded


def _outside(expr: Column, within: Interval, question: Question) -> Call:
    """1 where a value lies outside its bounds, else 0."""
    whole = field_of(expr, question.relation.schema).kind is Kind.INTEGER
    low, high = Literal(math.ceil(within.low) if whole else within.low), Literal(math.floor(within.high) if whole else within.high)
    beyond = call("or", call("less", expr, low), call("greater", expr, high))
    return call("case", beyond, Literal(1), Literal(0))


def _loosened(table: Table) -> Table:
    """The table without declared bounds."""
    return evolve(table, columns=tuple(evolve(column, bounds=None) for column in table.columns))
