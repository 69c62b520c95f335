"""Literal values, exactly as they are written."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.relation.expr import Literal
from discreet.query.sql.literals import agreed, number, read_literal, time_literal
from discreet.query.sql.typed import literal
from discreet.tables.kind import Kind


@pytest.mark.parametrize(("text", "value"), [("12", 12), ("0.1", Fraction(1, 10)), ("1e-6", Fraction(1, 10**6)), ("1_000", 1000)])
def test_numbers(text: str, value: Fraction | int) -> None:
    assert number(exp.Literal.number(text)) == value


@pytest.mark.parametrize("text", ["1e101", "9223372036854775808", "1e999999999"])
def test_numbers_that_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        number(exp.Literal.number(text))


def test_times() -> None:
    assert time_literal("2026-01-31", Kind.DATE) == datetime.date(2026, 1, 31)
    with pytest.raises(Refused, match="time zone"):
        time_literal("2026-01-31 08:00:00+02:00", Kind.TIMESTAMP)
    with pytest.raises(Refused, match="written like '2026-11-15'"):
        time_literal("31/1/2026", Kind.DATE)


def test_text_beside_a_time_is_a_time() -> None:
    moment = datetime.datetime(2026, 1, 31)
    found = agreed([literal(moment), literal("2026-01-31 00:00:00"), literal(datetime.date(2026, 1, 31))])
    assert [one.expr for one in found] == [Literal(moment)] * 3
    assert agreed([read_literal(exp.Literal.string("a"))])[0].text == "a"
