"""Expressions with their fields, built one call at a time so that a refusal names the smallest part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, final

from attrs import frozen

from discreet.errors import Refused
from discreet.query.relation.expr import Call, Column, Expr, Literal, literal_field
from discreet.query.relation.field import Field
from discreet.query.relation.functions import FUNCTIONS
from discreet.tables.kind import Kind, Value

DEEPEST = 100  # nested calls
LARGEST = 10_000  # calls when written out in SQL
# functions whose SQL repeats their arguments, so that nesting multiplies its size
_REPEATS = {
    "least": 2,
    "greatest": 2,
    "truncate": 3,
    "width_bucket": 8,
    "date_text": 6,
    "calendar_number": 3,
    "add_days": 3,
    "add_months": 3,
    "add_microseconds": 3,
}
_REPEATS |= {"month_number": 2, "quarter_number": 2, "microsecond_number": 4, "second_number": 4, "minute_number": 4, "hour_number": 4}
_ARITHMETIC = {
    *("add", "subtract", "multiply", "divide", "divide_or_null", "modulo", "negate", "abs", "floor", "ceil", "truncate"),
    *("round", "to_real", "sqrt", "ln", "exp", "least", "greatest"),
}
_WHOLE = {"modulo", "floor", "ceil", "truncate"}
_REAL = {"divide", "divide_or_null", "to_real", "sqrt", "ln", "exp"}


@final
@frozen
class Typed:
    """An expression, its field, its size when written out, and its depth."""

    expr: Expr
    field: Field
    size: int = 1
    depth: int = 1

    @property
    def text(self) -> str | None:
        """The text, if this is a text literal."""
        return self.expr.value if isinstance(self.expr, Literal) and isinstance(self.expr.value, str) else None


Apply: TypeAlias = Callable[[str, Sequence[Typed]], Typed]


def literal(value: Value | None) -> Typed:
    """A literal."""
    return Typed(Literal(value), literal_field(value))


def column(name: str, field: Field) -> Typed:
    """A column."""
    return Typed(Column(name), field)


def of_rows(function: str, arguments: Sequence[Typed]) -> Typed:
    """Apply a function to rows: its type rule decides, and the unit is not an argument."""
    if any(argument.field.unit for argument in arguments):
        raise Refused(
            "expressions cannot use the column that names the protected unit: count its distinct values, join on it, or group by it in a "
            "subquery that is aggregated again"
        )
    return _built(function, arguments, FUNCTIONS[function].field([argument.field for argument in arguments]))


def of_answers(function: str, arguments: Sequence[Typed]) -> Typed:
    """Apply a function to released values: any number may be divided by any other, because this is post-processing."""
    known = FUNCTIONS[function]
    if known.value is None:
        raise Refused(f"{function.upper()} cannot be applied to released values: apply it to rows, in WHERE or GROUP BY")
    kinds = [argument.field.kind for argument in arguments]
    if function not in _ARITHMETIC:
        return _built(function, arguments, known.field([argument.field for argument in arguments]))
    if any(kind is not None and not kind.numeric for kind in kinds):
        raise Refused(f"{function.upper()} needs numbers: apply it to COUNT, SUM or AVG")
    if function == "round" and len(arguments) > 1 and not _is_digits(arguments[1].expr):
        raise Refused("ROUND takes a literal number of digits from 0 to 15: write ROUND(x, 2)")
    whole = function in _WHOLE or (function not in _REAL and all(kind is Kind.INTEGER for kind in kinds))
    whole = whole and not (function == "round" and len(arguments) > 1)
    return _built(
        function, arguments, Field(Kind.INTEGER if whole or (function == "round" and len(arguments) == 1) else Kind.REAL, nullable=True)
    )


def _is_digits(expr: Expr) -> bool:
    return isinstance(expr, Literal) and type(expr.value) is int and 0 <= expr.value <= 15


def _built(function: str, arguments: Sequence[Typed], field: Field) -> Typed:
    size = 1 + _REPEATS.get(function, 1) * sum(argument.size for argument in arguments)
    depth = 1 + max(argument.depth for argument in arguments)
    if size > LARGEST or depth > DEEPEST:
        raise Refused("this expression is too large: compute its parts in a subquery")
    return Typed(Call(function, tuple(argument.expr for argument in arguments)), field, size, depth)
