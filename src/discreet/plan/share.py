"""Splitting a question's budget between its totals so that the squared errors of what is shown are least in sum."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from attrs import evolve

from discreet.plan.question import Measure, Question
from discreet.plan.stat import ALONE, SQUARES, WEIGHTED, Form, Stat, grid
from discreet.relation.expr import Expr, field_of
from discreet.relation.field import Field, Interval

Name = TypeVar("Name")
TYPICAL = 0.5  # a mean is taken to lie this far from the middle of its bounds, of the way to an end
ROBUST = 0.65  # and when the budget is split a little further out, for values are often skewed
SPREAD = 1 / 3  # and squares to be on average this share of the largest: the values spread evenly
ADDITIVE = ("count", "count_of", "count_units", "count_distinct", "sum", "mean", "variance", "stddev")


def needs(measure: Measure, field: Field | None, centred: bool, one_row: bool) -> dict[Form, float]:
    """The totals a statistic is made of, and how much each one's error moves it, in units of its sensitivity."""
    assert field is not None or measure.expr is None
    there: Form = "present" if field is not None and field.nullable else "rows"
    match measure.function:
        case "count":
            return {"rows": 1.0}
        case "count_of":
            return {there: 1.0}
        case "count_units":
            return {"rows" if one_row else "units": 1.0}
        case "count_distinct":
            return {"distinct": 1.0}
        case "sum" if not centred:
            return {"plain": 1.0}
        case "sum":
            assert field is not None
            assert field.range is not None
            most = field.range.magnitude or Fraction(1)
            middle, half = abs(field.range.low + field.range.high) / 2, (field.range.high - field.range.low) / 2
            return {"total": float(half / most), there: float(middle / most)}
        case "mean":
            return {"total": 1.0, there: ROBUST}
        case "variance" | "stddev":
            return {"squares": 1.0, "total": 2 * ROBUST, there: ROBUST}
        case _:
            return {}


def totals(question: Question, ranges: Mapping[Expr, Interval], centred: bool, weighted: bool) -> dict[Stat, float]:
    """All totals that a question needs, each once, with the weight k = Σ (how much it moves each statistic)²."""
    schema = question.relation.schema
    found: dict[Stat, float] = {}
    for _, measure in question.measures:
        field = None if measure.expr is None else field_of(measure.expr, schema)
        if field is not None and measure.expr is not None and measure.expr in ranges:
            field = evolve(field, range=ranges[measure.expr])
        for form, moves in needs(measure, field, centred, question.relation.one_row).items():
            stat = make(form, measure.expr, field, weighted)
            found[stat] = found.get(stat, 0.0) + moves**2
    return found


def make(form: Form, expr: Expr | None, field: Field | None, weighted: bool) -> Stat:
    """A total of this form, on the grid that suits the expression's range."""
    if form in ("rows", "units"):
        return Stat(form)
    if form in ("present", "distinct"):
        return Stat(form, expr)
    assert field is not None
    assert field.range is not None
    fine = SQUARES if form == "squares" else WEIGHTED if weighted else ALONE
    return Stat(form, expr, grid(field, field.range, fine, centred=form != "plain"))


def split(weights: Mapping[Name, float], power: float) -> dict[Name, Fraction]:
    """Shares proportional to weight^power that add up to 1 exactly; none is too small to be useful.

    Minimising Σ k/aᵖ over Σ a = 1 gives a ∝ k^(1/(p+1)): p = 2 for Laplace noise with shares of ε, p = 1 for Gaussian with shares of μ².
    """
    sizes = {name: max(weight, 1e-6) ** power for name, weight in weights.items()}
    total = sum(sizes.values())
    shares = {name: Fraction(round(size / total * 1000), 1000) or Fraction(1, 1000) for name, size in sizes.items()}
    largest = max(shares, key=lambda name: shares[name])
    shares[largest] += 1 - sum(shares.values(), Fraction(0))
    return shares
