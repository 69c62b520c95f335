"""Bins of keys: every way to write them, from the SQL to the edges, and expressions that make none."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from session.clinic import clinic

from discreet.plots.bins import Bins, bins_of

X = {"is": "Column", "name": "x"}


def literal(value: Any) -> dict[str, Any]:
    return {"is": "Literal", "value": value}


def call(function: str, *arguments: Any) -> dict[str, Any]:
    return {"is": "Call", "function": function, "arguments": list(arguments)}


FLOOR = call("floor", call("divide", X, literal(20)))


@pytest.mark.parametrize(
    ("expr", "group", "edges"),
    [
        (FLOOR, 3, (60, 80)),
        (call("multiply", FLOOR, literal(20)), 60, (60, 80)),
        (call("multiply", literal(20), FLOOR), -20, (-20, 0)),
        (call("add", call("multiply", FLOOR, literal(20)), literal(10)), 70, (60, 80)),
        (call("subtract", FLOOR, literal(1)), 2, (60, 80)),
        (call("floor", call("divide", call("subtract", X, literal(5)), literal(10))), 2, (25, 35)),
        (call("floor", call("divide", call("add", call("to_real", X), literal(5)), literal(10))), 2, (15, 25)),
        (call("floor", X), 7, (7, 8)),
        (call("round", X), 7, (6.5, 7.5)),
        (call("multiply", call("round", call("divide", X, literal(10))), literal(10)), 30, (25, 35)),
        (call("round", X, call("negate", literal(1))), 30, (25, 35)),
        (call("round", X, literal(1)), 0.3, (0.25, 0.35)),
        (call("subtract", X, call("modulo", X, literal(50))), 100, (100, 150)),
        (call("multiply", call("floor", call("divide", X, literal({"is": "number", "value": "1/2"}))), literal(0.5)), 1.5, (1.5, 2)),
        (call("width_bucket", X, literal(0), literal(100), literal(10)), 1, (0, 10)),
        (call("width_bucket", X, literal(0), literal(100), literal(10)), 0, (-math.inf, 0)),
        (call("width_bucket", X, literal(0), literal(100), literal(10)), 11, (100, math.inf)),
    ],
)
def test_groups_have_edges(expr: dict[str, Any], group: float, edges: tuple[float, float]) -> None:
    bins = bins_of(expr)
    assert bins is not None
    assert bins.of == "x"
    place = bins.place(group)
    assert place is not None
    assert bins.edges(place) == pytest.approx(edges)


@pytest.mark.parametrize(
    "expr",
    [
        X,
        None,
        {},
        call("abs", X),
        call("truncate", call("divide", X, literal(20))),
        call("floor", call("divide", X, literal(0))),
        call("floor", call("divide", X, literal("a"))),
        call("floor", call("divide", X, literal("1e999999999"))),
        call("floor", call("divide", X, literal(True))),
        call("floor", call("divide", X, literal(10**400))),
        call("floor", call("divide", X, X)),
        call("multiply", FLOOR, literal(-1)),
        call("multiply", FLOOR, X),
        call("subtract", literal(1), FLOOR),
        call("round", X, literal(0.5)),
        call("subtract", X, call("modulo", {"is": "Column", "name": "y"}, literal(50))),
        call("width_bucket", X, literal(100), literal(0), literal(10)),
        call("width_bucket", X, literal(0), literal(1), X),
        call("add", call("width_bucket", X, literal(0), literal(1), literal(2)), literal(1)),
    ],
)
def test_other_expressions_make_no_bins(expr: Any) -> None:
    assert bins_of(expr) is None


@pytest.mark.parametrize("value", [5, 61.5, None, "(other)", True, math.nan, math.inf])
def test_values_between_bins_have_no_place(value: Any) -> None:
    assert Bins("x", Fraction(20), scale=Fraction(20)).place(value) is None


@pytest.mark.parametrize(
    ("sql", "width"),
    [
        ("FLOOR(cost / 20) * 20", 20),
        ("FLOOR(cost / 20)", 20),
        ("ROUND(cost / 10) * 10", 10),
        ("ROUND(cost)", 1),
        ("WIDTH_BUCKET(cost, 0, 100, 5)", 20),
    ],
)
def test_bins_of_questions(sql: str, width: int) -> None:
    with clinic() as db:
        release = db.sql(f"SELECT {sql} AS b, COUNT(*) AS n FROM visits GROUP BY b").dry_run()
    bins = release.series[0].bins
    assert bins is not None
    assert (bins.of, bins.width) == ("cost", width)
