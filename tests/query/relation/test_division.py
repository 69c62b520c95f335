"""Division with NULL where the divisor is 0: ranges, and values after the release."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import Refused
from discreet.query.post import evaluate, smooth
from discreet.query.relation.expr import Call, Column, Literal, call, field_of
from discreet.query.relation.field import Field, Interval
from discreet.tables.kind import Kind


def field(kind: Kind, low: int, high: int) -> Field:
    return Field(kind, Interval(Fraction(low), Fraction(high)))


SCHEMA = {
    "a": field(Kind.REAL, 0, 100),
    "n": field(Kind.INTEGER, 0, 9),
    "both": field(Kind.INTEGER, -4, 2),
    "r": field(Kind.REAL, 0, 9),
    "away": field(Kind.REAL, 2, 4),
}


def quotient(by: str, of: str = "a") -> Call:
    return call("divide_or_null", Column(of), Column(by))


def test_whole_divisors_are_at_least_one() -> None:
    found = field_of(quotient("n"), SCHEMA)
    assert found.nullable
    assert found.range == Interval(Fraction(0), Fraction(100))
    assert field_of(quotient("both"), SCHEMA).range == Interval(Fraction(-100), Fraction(100))


def test_real_divisors_leave_the_range_open_on_one_side() -> None:
    found = field_of(quotient("r"), SCHEMA).range
    assert found is not None
    assert (found.low, found.low_known, found.high_known) == (0, True, False)


def test_a_divisor_away_from_0_is_divided_by_as_ever() -> None:
    assert field_of(quotient("away"), SCHEMA).range == field_of(call("divide", Column("a"), Column("away")), SCHEMA).range
    with pytest.raises(Refused, match=r"NULLIF\(b, 0\)"):
        field_of(call("divide", Column("a"), Column("n")), SCHEMA)


def test_after_the_release_it_is_smooth_and_null_at_0() -> None:
    expr = quotient("n")
    assert evaluate(expr, {"a": 6, "n": 4}) == 1.5
    assert evaluate(expr, {"a": 6, "n": 0}) is None
    assert smooth(call("round", expr, Literal(2))) == expr
