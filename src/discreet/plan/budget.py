"""Splitting a question's budget between its totals so that the squared errors of what is shown are least in sum."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from attrs import evolve

from discreet.plan.total import ALONE, SQUARES, WEIGHTED, Form, Stat, grid
from discreet.query.question import Measure, Question
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.node import Scan, Select

Name = TypeVar("Name")
TYPICAL = 0.5  # a mean is taken to lie this far from the middle of its bounds, of the way to an end
ROBUST = 0.65  # and when the budget is split a little further out, for values are often skewed
SPREAD = 1 / 3  # and squares to be on average this share of the largest: the values spread evenly
ADDITIVE = ("count", "count_of", "count_units", "count_distinct", "sum", "mean", "variance", "stddev")


def public_size(question: Question, field: Field) -> int | None:
    """How many rows a mean is taken over, where that is public: without groups, over a whole table whose size was declared.

    Only tables with one row for each unit have a declared size, and only where neighbours replace one unit by another. The field must be
    one without NULL, so that every row has a value.

    Theorem (Dwork & Roth 2014, prop. 1, sec. 3.3: post-processing).
        mid + (Σ (x − mid) + noise)/size is as private as the noisy total is, for the divisor is a declared constant. Under replace-one
        the total moves by high − low at most, so the mean by (high − low)/size: the sensitivity of `averaging`, and no count is paid for.

    If the declared size is wrong, nothing is lost but accuracy. The divisor is the declared number, never the true one; how many rows
    there are does not enter, and the total is priced as in any other question. The mean is then off: its distance from the middle of the
    bounds is true/declared times what it should be.
    """
    relation = question.relation
    while isinstance(relation, Select):  # computes columns, and keeps every row
        relation = relation.input
    if question.keys or field.nullable or not isinstance(relation, Scan) or not relation.one_row:
        return None
    return relation.table.size


def divided(question: Question) -> list[str]:
    """Say which means are divided by a declared number."""
    sizes = {
        name: size
        for name, measure in question.measures
        if measure.function == "mean" and measure.expr is not None
        if (size := public_size(question, field_of(measure.expr, question.relation.schema))) is not None
    }
    return [
        f"{name} is divided by the declared size, {size:,}, which is public where one unit is replaced by another: no count is paid for. "
        "If there are more or fewer rows than that, it is as private, and off in proportion"
        for name, size in sizes.items()
    ]


def needs(measure: Measure, field: Field | None, centred: bool, one_row: bool, size: int | None = None) -> dict[Form, float]:
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
        case "mean" if size is not None:
            return {"total": 1.0}
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
        size = None if field is None else public_size(question, field)
        for form, moves in needs(measure, field, centred, question.relation.one_row, size).items():
            stat = make(form, measure.expr, field, weighted, size)
            found[stat] = found.get(stat, 0.0) + moves**2
    return found


def make(form: Form, expr: Expr | None, field: Field | None, weighted: bool, size: int | None = None) -> Stat:
    """A total of this form, on the grid that suits the expression's range; a sum of centred values knows the public size."""
    if form in ("rows", "units"):
        return Stat(form)
    if form in ("present", "distinct"):
        return Stat(form, expr)
    assert field is not None
    assert field.range is not None
    fine = SQUARES if form == "squares" else WEIGHTED if weighted else ALONE
    return Stat(form, expr, grid(field, field.range, fine, centred=form != "plain"), size if form == "total" else None)


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
