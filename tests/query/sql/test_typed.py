"""Expressions with their fields: rules for rows, and fewer for released values."""

from __future__ import annotations

import pytest

from discreet.errors import Refused
from discreet.query.relation.field import Field, native
from discreet.query.sql.typed import DEEPEST, Typed, column, literal, of_answers, of_rows
from discreet.tables.kind import Kind

COUNT = column("n", Field(Kind.INTEGER, native(Kind.INTEGER)))


def test_released_values_may_be_divided_by_each_other() -> None:
    with pytest.raises(Refused, match="may be 0"):
        of_rows("divide", [COUNT, COUNT])
    assert of_answers("divide", [COUNT, COUNT]).field.kind is Kind.REAL
    assert of_answers("add", [COUNT, literal(1)]).field.kind is Kind.INTEGER


def test_the_unit_is_no_argument() -> None:
    with pytest.raises(Refused, match="expressions cannot use the column that names the protected unit"):
        of_rows("abs", [column("id", Field(Kind.INTEGER, native(Kind.INTEGER), unit=True))])


@pytest.mark.parametrize("function", ["like", "substring", "width_bucket"])
def test_functions_of_rows_alone(function: str) -> None:
    with pytest.raises(Refused, match="apply it to rows"):
        of_answers(function, [COUNT])


def test_size_and_depth_are_limited() -> None:
    value: Typed = literal(1)
    for _ in range(DEEPEST - 1):
        value = of_answers("negate", [value])
    with pytest.raises(Refused, match="too large"):
        of_answers("negate", [value])
