"""How far floats may carry an expression beyond its range: the range computed again, with the rounding of every operation and without."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.query.relation.expr import Call, Expr, Schema, field_of
from discreet.query.relation.field import Interval
from discreet.tables.kind import Kind

_UNIT, _LEAST = Fraction(1, 2**51), Fraction(1, 10**307)  # some roundings of one operation, relative; and where floats end
_GRID = Fraction(1, 2**30)  # logarithms and exponentials are put on a grid
_FURTHEST = Fraction(10**308)
_WHOLE = Interval(-_FURTHEST, _FURTHEST)


def allowed(expr: Expr, schema: Schema) -> Interval:
    """What is believed, and as much more as rounding can do: nothing for whole numbers, which are computed exactly or clamped."""
    believed = field_of(expr, schema).range
    assert believed is not None
    exact, rounded = _reach(expr, schema, 0), _reach(expr, schema, 1)
    return Interval(believed.low - max(exact.low - rounded.low, 0), believed.high + max(rounded.high - exact.high, 0))


def _reach(expr: Expr, schema: Schema, rounding: int) -> Interval:
    field = field_of(expr, schema)
    assert field.range is not None
    if field.kind is not Kind.REAL:
        return field.range
    if not isinstance(expr, Call):
        return _wider(field.range, rounding)
    fields = [field_of(argument, schema) for argument in expr.arguments]
    numbers = [
        (argument, field) for argument, field in zip(expr.arguments, fields, strict=True) if field.kind is not None and field.kind.numeric
    ]
    return _wider(
        _through(expr.function, [_reach(a, schema, rounding) for a, _ in numbers], [field.range for _, field in numbers], rounding),
        rounding,
    )


def _through(function: str, given: list[Interval], believed: list[Interval | None], rounding: int) -> Interval:
    if not given:  # nothing below is a number
        return _WHOLE
    first, *rest = given
    match function, rest:
        case "add", [b]:
            return first + b
        case "subtract", [b]:
            return first + -b
        case "multiply", [b]:
            return first * b
        case "divide", _:
            assert believed[1] is not None
            return first * believed[1].reciprocal()  # the divisor is clamped to its range
        case "divide_or_null", _:
            return _WHOLE  # it is clamped to its range
        case "negate", _:
            return -first
        case "abs", _:
            return first.absolute()
        case "sqrt", _:
            return Interval(_root(first.low), _root(first.high))
        case "ln", _:
            assert believed[0] is not None
            low, high = (Fraction(math.log(max(end, believed[0].low))) for end in (first.low, first.high))
            return _spread(Interval(low, high), rounding * _GRID)
        case "exp", _:
            assert believed[0] is not None
            top = Fraction(math.exp(min(first.high, believed[0].high)))  # the argument is clamped to its range
            return Interval(Fraction(0), top + rounding * _GRID * (top + 1))
        case "least", _:
            for other in rest:
                first = first.least(other)
        case "round", _:
            return first
        case "greatest", _:
            for other in rest:
                first = first.greatest(other)
        case _:
            for other in rest:
                first = first.union(other)
    return first


def _root(end: Fraction) -> Fraction:
    return Fraction(math.sqrt(max(end, Fraction(0))))


def _spread(interval: Interval, by: Fraction) -> Interval:
    return Interval(interval.low - by, interval.high + by)


def _wider(interval: Interval, rounding: int) -> Interval:
    wide = _spread(interval, rounding * (interval.magnitude * _UNIT + _LEAST))
    return Interval(max(wide.low, -_FURTHEST), min(wide.high, _FURTHEST))
