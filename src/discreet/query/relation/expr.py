"""Row-local expressions: columns, literals and calls of functions from a closed list."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias, assert_never, final

from attrs import field, frozen

from discreet.errors import Refused
from discreet.query.relation.field import Field, exactly
from discreet.query.relation.functions import FUNCTIONS
from discreet.query.relation.progression import Progression
from discreet.tables.kind import Kind, Value

Schema: TypeAlias = Mapping[str, Field]


@final
@frozen
class Column:
    """A column of the relation below, by its name there."""

    name: str


@final
@frozen
class Literal:
    """A value that was written in the question; None is NULL. TRUE, 1 and 1.0 are different literals, though they are equal in Python."""

    value: Value | None = field(eq=lambda value: (type(value).__name__, value))


@final
@frozen
class Call:
    """A function from the closed list, applied to expressions."""

    function: str
    arguments: tuple[Expr, ...]


Expr: TypeAlias = Column | Literal | Call


def call(function: str, *arguments: Expr) -> Call:
    """Apply a function.

    >>> call("add", Column("a"), Literal(1))
    Call(function='add', arguments=(Column(name='a'), Literal(value=1)))
    """
    return Call(function, arguments)


def literal_field(value: Value | None) -> Field:
    """The field of a literal: its exact value, or the float that represents it."""
    match value:
        case None:
            return Field(None, nullable=True)
        case bool():
            return Field(Kind.BOOLEAN, keys=(value,))
        case int():
            return Field(Kind.INTEGER, exactly(value), keys=(value,), progression=Progression(0, value))
        case Fraction():
            return Field(Kind.REAL, exactly(value).floats())
        case str():
            return Field(Kind.TEXT, keys=(value,))
        case datetime.datetime():
            return Field(Kind.TIMESTAMP, keys=(value,))
        case datetime.date():
            return Field(Kind.DATE, exactly(value.toordinal()), keys=(value,))
    assert_never(value)


def field_of(expr: Expr, schema: Schema) -> Field:
    """Infer the field of an expression over these columns, or raise Refused where it may fail on a row.

    >>> from discreet.query.relation.field import Interval
    >>> price, quantity = Field(Kind.REAL, Interval(Fraction(0), Fraction(9))), Field(Kind.INTEGER, Interval(Fraction(1), Fraction(3)))
    >>> field_of(call("multiply", Column("p"), Column("q")), {"p": price, "q": quantity}).range
    Interval(low=Fraction(0, 1), high=Fraction(27, 1), low_known=True, high_known=True)
    """
    match expr:
        case Column(name):
            if name not in schema:
                raise Refused(f"there is no column {name} here; there are {', '.join(sorted(schema))}")
            return schema[name]
        case Literal(value):
            return literal_field(value)
        case Call(function, arguments):
            return call_field(function, tuple(field_of(argument, schema) for argument in arguments))
        case _:
            assert_never(expr)


def call_field(function: str, fields: tuple[Field, ...]) -> Field:
    """Infer the field of a function's value from those of its arguments, or raise Refused."""
    if any(field.unit for field in fields):
        raise Refused(
            "expressions cannot use the column that names the protected unit: count its distinct values, join on it, or group "
            "by it in a subquery that is aggregated again"
        )
    if function not in FUNCTIONS:
        raise Refused(f"there is no function {function}")
    return FUNCTIONS[function].field(fields)


def inner_value(expr: Expr) -> Expr:
    """The value inside a CASE that is NULL otherwise, as FILTER and pairs of numbers write it.

    >>> inner_value(call("case", call("is_null", Column("y")), Literal(None), Column("x")))
    Column(name='x')
    """
    match expr:
        case Call("case", (_, Literal(None), inside)) | Call("case", (_, inside, Literal(None))):
            return inner_value(inside)
        case _:
            return expr


def columns_of(expr: Expr) -> set[str]:
    """The columns that an expression reads."""
    match expr:
        case Column(name):
            return {name}
        case Literal():
            return set()
        case Call(_, arguments):
            return set().union(*map(columns_of, arguments))
        case _:
            assert_never(expr)
