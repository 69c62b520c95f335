"""Parameters of a question, $1, $2, …: each is replaced by a literal of its type in the parsed tree, never in the text."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.errors import Invalid, Refused
from discreet.query.sql.tokens import parse
from discreet.tables.kind import Kind, is_storable
from discreet.tables.table import Table

_MOST = 1000
_TYPES = (
    (exp.DataType.INTEGER_TYPES, Kind.INTEGER),
    (exp.DataType.FLOAT_TYPES | {exp.DataType.Type.DECIMAL}, Kind.REAL),
    (exp.DataType.TEXT_TYPES, Kind.TEXT),
    ({exp.DataType.Type.DATE}, Kind.DATE),
    ({exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ}, Kind.TIMESTAMP),
    ({exp.DataType.Type.BOOLEAN}, Kind.BOOLEAN),
)
_COMPARING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Any)


def bind_parameters(tree: exp.Expr, values: Sequence[Any]) -> None:
    """Put the values where $1, $2, … are; Refused if there are too few."""
    for node in list(tree.find_all(exp.Parameter)):
        place = place_of(node)
        if place is None or not 1 <= place <= len(values):
            raise Refused(f"the question has a parameter {_shown(node)} without a value: give as many values as it has parameters")
        node.replace(literal_of(values[place - 1]))


def _shown(node: exp.Parameter) -> str:
    return f"${node.name[:20]}" if node.name.isprintable() else "$…"


def place_of(node: exp.Parameter) -> int | None:
    """The number of a parameter: 1 for $1."""
    name = node.name
    return int(name) if name.isascii() and name.isdigit() and len(name) <= 4 and 0 < int(name) <= _MOST else None


def literal_of(value: Any) -> exp.Expr:
    """A value as a node of the parser."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int():
            return _number(str(abs(value)), value < 0)
        case float() | Decimal():
            number = Decimal(repr(value)) if isinstance(value, float) else value
            if not number.is_finite() or abs(number.adjusted()) > 1000:
                raise Invalid("a parameter is no finite number: give one that can be compared")
            return _number(format(abs(number), "f"), number < 0)
        case Fraction():
            return literal_of(_decimal(value))
        case str():
            if not is_storable(value):
                raise Invalid("a parameter holds a character that no database stores (NUL, or half of a surrogate pair): leave it out")
            return exp.Literal.string(value)
        case datetime.datetime():
            return exp.Cast(this=exp.Literal.string(value.isoformat(sep=" ")), to=exp.DataType.build("timestamp"))
        case datetime.date():
            return exp.Cast(this=exp.Literal.string(value.isoformat()), to=exp.DataType.build("date"))
    raise Invalid("a parameter is a number, a text, a date, a timestamp, or true or false")


def _number(text: str, negative: bool) -> exp.Expr:
    found = exp.Literal.number(text)
    return exp.Paren(this=exp.Neg(this=found)) if negative else found


def _decimal(value: Fraction) -> Decimal:
    left, places = value.denominator, 0
    while left > 1 and places <= 1000:
        left //= 10 if left % 10 == 0 else 5 if left % 5 == 0 else 2 if left % 2 == 0 else left
        places += 1
    scaled = value * 10**places
    if scaled.denominator != 1:
        raise Invalid("a parameter is a fraction without an end: round it")
    return Decimal(f"{int(scaled)}E-{places}")


def parameter_kinds(text: str, tables: Iterable[Table], dialect: str) -> list[Kind | None]:
    """The kind of each parameter, from what it is compared with or cast to; None where that does not tell."""
    known: dict[str, Kind] = {}
    for table in tables:
        for column in table.columns:
            known.setdefault(column.name.casefold(), column.kind)
    found: dict[int, Kind | None] = {}
    for node in parse(text, dialect).tree.find_all(exp.Parameter):
        place = place_of(node)
        if place is None:
            raise Refused("parameters are written $1, $2, and so on: number them")
        found[place] = found.get(place) or _kind(node, known)
    return [found.get(place) for place in range(1, max(found, default=0) + 1)]


def _kind(node: exp.Parameter, known: dict[str, Kind]) -> Kind | None:
    above = node.parent
    while isinstance(above, exp.Paren | exp.Neg | exp.Array | exp.Tuple):
        above = above.parent
    if isinstance(above, exp.Cast):
        return next((kind for types, kind in _TYPES if above.to.this in types), None)
    if isinstance(above, exp.Limit | exp.Offset | exp.Fetch):
        return Kind.INTEGER
    if isinstance(above, exp.Like | exp.ILike):
        return Kind.TEXT
    if isinstance(above, _COMPARING):
        column = next((one for one in above.find_all(exp.Column)), None)
        if column is not None and above.find(exp.AggFunc) is None:
            return known.get(column.name.casefold())
        return Kind.REAL if above.find(exp.AggFunc) is not None else None
    return None
