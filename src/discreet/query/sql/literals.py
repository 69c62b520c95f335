"""Literal values of a question."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from discreet import exact
from discreet.errors import Invalid, Refused
from discreet.query.relation.expr import Literal
from discreet.query.sql.refuse import only, refused
from discreet.query.sql.typed import Typed, literal
from discreet.tables.kind import Kind

_FURTHEST = Fraction(10**100)
_LONGEST = 10_000


def number(node: exp.Literal) -> int | Fraction:
    """A number, exactly as it is written."""
    text = node.name
    try:
        value = exact.rational(text.replace("_", "") if text[:1].isdigit() else text, "the number")
    except Invalid:
        raise refused(node, "this is not a number", "write it like 12, 0.5 or 1e-6") from None
    if abs(value) > _FURTHEST:
        raise refused(node, "this number is too large", "use one below 10^100")
    if text.isdigit():
        if abs(value) >= 2**63:
            raise refused(node, "this whole number has more than 64 bits", "use a smaller one")
        return int(value)
    return value


def read_literal(node: exp.Literal) -> Typed:
    """A text or a number."""
    if not node.is_string:
        return literal(number(node))
    if len(node.name) > _LONGEST or "\x00" in node.name:
        raise refused(node, "this text is too long or has characters that are not text", f"use at most {_LONGEST:,} characters")
    return literal(node.name)


def read_boolean(node: exp.Boolean) -> Typed:
    """TRUE or FALSE."""
    only(node, "this")
    return literal(bool(node.this))


def time_literal(text: str, kind: Kind) -> datetime.date | datetime.datetime:
    """A date or a timestamp written as text."""
    try:
        value = kind.read(text, "a timestamp")
    except Invalid:
        raise Refused(f"a {kind.value} is written like '2026-11-15{' 08:30:00' if kind is Kind.TIMESTAMP else ''}'") from None
    if kind is Kind.TIMESTAMP and datetime.datetime.fromisoformat(text).tzinfo is not None:
        raise Refused("timestamps with a time zone are not supported: write the timestamp as the table has it")
    assert isinstance(value, datetime.date)
    return value


def agreed(arguments: Sequence[Typed]) -> list[Typed]:
    """Arguments that are compared: text beside a date or time is read as one, and a date beside a time as its midnight."""
    kinds = {argument.field.kind for argument in arguments}
    if Kind.TIMESTAMP in kinds:
        return [_as_time(argument) for argument in arguments]
    if Kind.DATE in kinds:
        return [argument if argument.text is None else literal(time_literal(argument.text, Kind.DATE)) for argument in arguments]
    return list(arguments)


def _as_time(argument: Typed) -> Typed:
    if argument.text is not None:
        return literal(time_literal(argument.text, Kind.TIMESTAMP))
    value = argument.expr.value if isinstance(argument.expr, Literal) else None
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return literal(datetime.datetime(value.year, value.month, value.day))
    return argument
