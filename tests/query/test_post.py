"""Post-processing of released values."""

from __future__ import annotations

import pytest

from discreet.errors import Refused
from discreet.query.post import check, evaluate, in_order, smooth
from discreet.query.relation.expr import Call, Column, Expr, Literal, call

A = Column("a")


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (call("divide", A, Literal(0)), None),
        (call("sqrt", Literal(-1)), None),
        (call("exp", Literal(10_000)), None),
        (call("round", call("divide", A, Literal(2))), 2),
        (call("case", call("greater", A, Literal(2)), Literal("big"), Literal("small")), "big"),
        (call("and", call("is_null", A), Literal(None)), False),
    ],
)
def test_evaluate(expr: Expr, value: object) -> None:
    assert evaluate(expr, {"a": 3}) == value


def test_rounding_is_left_out_where_errors_are_followed() -> None:
    assert smooth(call("round", call("add", A, Literal(1)))) == call("add", A, Literal(1))
    assert smooth(call("coalesce", A, Literal(0))) == A
    assert smooth(call("case", call("greater", A, Literal(1)), A, Literal(0))) is None


def test_what_cannot_be_computed_is_refused() -> None:
    check(call("add", A, Literal(1)), {"a"})
    with pytest.raises(Refused, match="add it to GROUP BY"):
        check(A, {"b"})
    with pytest.raises(Refused, match="apply it before aggregating"):
        check(Call("like", (A, Literal("x"))), {"a"})


def test_null_comes_last() -> None:
    assert sorted([None, 3, 1.5, None, 2], key=in_order) == [1.5, 2, 3, None, None]
