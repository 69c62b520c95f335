"""Expressions for readers: names and operators, without the casts and clamps of the SQL that runs."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import assert_never

from discreet.query.relation.expr import Call, Column, Expr, Literal

_SIGNS = {
    "add": "+",
    "subtract": "−",
    "multiply": "·",
    "divide": "/",
    "divide_or_null": "/",
    "equal": "=",
    "not_equal": "≠",
    "less": "<",
    "less_equal": "≤",
    "greater": ">",
    "greater_equal": "≥",
    "and": "AND",
    "or": "OR",
}


def spelled(expr: Expr) -> str:
    """An expression in one line.

    >>> from discreet.query.relation.expr import call
    >>> x, y = Column("x"), Column("y")
    >>> spelled(call("case", call("greater", x, Literal(50)), Literal(1), Literal(None)))
    '1 where x > 50'
    >>> spelled(call("case", call("is_null", y), Literal(None), call("add", x, Literal(1))))
    'x + 1 where y is not NULL'
    """
    match expr:
        case Column(name):
            return name
        case Literal(value):
            return _value(value)
        case Call("case", (condition, value, Literal(None))):
            return f"{spelled(value)} where {spelled(condition)}"
        case Call("case", (Call("is_null", (other,)), Literal(None), value)):
            return f"{spelled(value)} where {spelled(other)} is not NULL"
        case Call("is_null", (inside,)):
            return f"{spelled(inside)} is NULL"
        case Call(function, arguments) if function in _SIGNS:
            return f" {_SIGNS[function]} ".join(_inside(argument) for argument in arguments)
        case Call(function, arguments):
            return f"{function.upper()}({', '.join(map(spelled, arguments))})"
        case _:
            assert_never(expr)


def _inside(expr: Expr) -> str:
    """An operand: with brackets if it is made of several parts itself."""
    text = spelled(expr)
    return f"({text})" if " " in text else text


def _value(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return f"'{value}'"
        case datetime.date():
            return f"'{value.isoformat()}'"
        case Fraction():
            return f"{float(value):g}"
    return str(value)


def number(value: Fraction | int) -> str:
    """A number in few digits.

    >>> number(Fraction(500)), number(Fraction(1, 3)), number(1234567)
    ('500', '0.3333', '1,234,567')
    """
    return f"{int(value):,}" if value == int(value) else f"{float(value):,.4g}"
