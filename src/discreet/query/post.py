"""Post-processing: evaluate expressions over one row of released values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, assert_never

from discreet.errors import Refused
from discreet.query.relation.expr import Call, Column, Expr, Literal
from discreet.query.relation.functions import FUNCTIONS


def evaluate(expr: Expr, row: Mapping[str, Any]) -> Any:
    """The value of an expression on one row of released values; NULL where it is undefined, as in a division by zero.

    >>> from discreet.query.relation.expr import call
    >>> evaluate(call("divide", Column("a"), Literal(2)), {"a": 3})
    1.5
    """
    match expr:
        case Column(name):
            return row[name]
        case Literal(value):
            return float(value) if isinstance(value, Fraction) else value
        case Call(function, arguments):
            value_of = FUNCTIONS[function].value
            assert value_of is not None  # checked when the plan was made
            try:
                return tame(value_of(*(evaluate(argument, row) for argument in arguments)))
            except (ArithmeticError, TypeError, ValueError):
                return None
        case _:
            assert_never(expr)


def tame(value: Any) -> Any:
    """NULL for infinities, NaN, and integers beyond the range of floats."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if isinstance(value, int) and abs(value) > 10**300 else value


_SMOOTH = {"add", "subtract", "multiply", "divide", "divide_or_null", "negate", "abs", "sqrt", "ln", "exp", "to_real"}
_STEPS = {"round", "floor", "ceil", "truncate"}


def smooth(expr: Expr) -> Expr | None:
    """The expression without rounding, where errors propagate through it; None where it is discontinuous, as CASE and comparisons are."""
    match expr:
        case Column() | Literal():
            return expr
        case Call(function, arguments) if function in _STEPS:
            return smooth(arguments[0])
        case Call("coalesce", (first, *rest)) if all(isinstance(other, Literal) for other in rest):
            return smooth(first)
        case Call(function, arguments) if function in _SMOOTH:
            inside = [smooth(argument) for argument in arguments]
            return None if None in inside else Call(function, tuple(part for part in inside if part is not None))
        case _:
            return None


def check(expr: Expr, known: set[str]) -> None:
    """Refuse an expression that cannot be computed from released values."""
    match expr:
        case Column(name):
            if name not in known:
                raise Refused(f"{name} is neither a group nor a statistic of this question: add it to GROUP BY, or aggregate it")
        case Literal():
            return
        case Call(function, arguments):
            if function not in FUNCTIONS or FUNCTIONS[function].value is None:
                raise Refused(f"{function.upper()} cannot be applied to released values: apply it before aggregating")
            for argument in arguments:
                check(argument, known)
        case _:
            assert_never(expr)


def in_row_order(kept: Sequence[int], rows: Sequence[Mapping[str, Any]], order: Sequence[tuple[Expr, bool]]) -> list[int]:
    """Rows by their numbers, in the order of expressions (descending where True), NULL last."""
    found = list(kept)
    for expr, descending in reversed(order):
        values = {i: evaluate(expr, rows[i]) for i in found}
        some = [i for i in found if values[i] is not None]
        some.sort(key=lambda i: in_order(values[i]), reverse=descending)
        found = some + [i for i in found if values[i] is None]
    return found


def in_order(value: Any) -> tuple[int, Any]:
    """A sort key for values of one column: numbers, dates and texts each among themselves, NULL last."""
    match value:
        case None:
            return 3, 0
        case bool() | int() | float():
            return 0, value
        case datetime.date():
            return 1, value
    return 2, value
