"""Measure how many units bounding and clipping affect, as a question of its own that costs budget like any other."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from discreet.errors import Refused
from discreet.query.question import Question
from discreet.query.relation.expr import Call, Column, Expr, Literal, call, field_of
from discreet.query.relation.node import Join, PerUnit, Relation, Scan, Select, Stack, Where, Within
from discreet.query.statistics.count import Count
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions


def bias_question(question: Question, limits: Contributions) -> Question:
    """Count all units, those with more rows than the limit, and those with a value outside its bounds.

    Each unit adds at most 1 to each count, so every count has sensitivity 1.
    """
    loose = _loosened(question.relation)
    clipped = {f"{expr.name}_clipped": _outside(expr, question) for expr in _bounded(question)}
    over = {} if limits.rows is None or not loose.has_id else {"over_limit": call("greater", Column("n"), Literal(limits.rows))}
    if not clipped and not over:
        raise Refused("no bounds or contributions are declared here, so there is no bias to measure: declare bounds or contributions")
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


def _bounded(question: Question) -> list[Column]:
    """The columns with declared bounds that are summed or ranked."""
    schema = question.relation.schema
    return [
        expr
        for expr in question.numbers
        if isinstance(expr, Column) and (within := field_of(expr, schema).range) is not None and within.known
    ]


def _outside(expr: Column, question: Question) -> Call:
    """1 where a value lies outside its bounds, else 0."""
    field = field_of(expr, question.relation.schema)
    assert field.range is not None
    low, high = (Literal(int(end) if field.kind is Kind.INTEGER else end) for end in (field.range.low, field.range.high))
    beyond = call("or", call("less", expr, low), call("greater", expr, high))
    return call("case", beyond, Literal(1), Literal(0))


def _loosened(relation: Relation) -> Relation:
    """The same rows without declared bounds."""
    match relation:
        case Scan(table):
            return evolve(relation, table=evolve(table, columns=tuple(evolve(column, bounds=None) for column in table.columns)))
        case Where() | Select() | PerUnit():
            return evolve(relation, input=_loosened(relation.input))
        case Join():
            return evolve(relation, left=_loosened(relation.left), right=_loosened(relation.right))
        case Stack(inputs):
            return Stack(tuple(map(_loosened, inputs)))
        case _:
            assert_never(relation)
