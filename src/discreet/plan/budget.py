"""Split a question's budget between its totals to minimise the sum of squared errors of the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar, assert_never

from discreet.plan.bounding import Bounding, Groups, Rows, Single
from discreet.query.grid import SUMMED, UNWEIGHTED, WEIGHTED
from discreet.query.question import Question
from discreet.query.relation.expr import Expr
from discreet.query.relation.field import Interval
from discreet.query.relation.node import Scan, Select
from discreet.query.totals import Total, Totals

Name = TypeVar("Name")
_LEAST_OF_COUNTS = 1e-2  # the least weight of a count on a sample
_PARTS, _LEAST = 10**6, 1e-3  # shares are multiples of one in so many, and at least this


def declared_size(question: Question) -> int | None:
    """The number of rows, where it is public: without groups, over a whole table whose size was declared.

    Only tables with one row for each unit have a declared size, and only where neighbours replace one unit by another.

    Theorem (Dwork & Roth 2014, prop. 1, sec. 3.3: post-processing).
        mid + (Σ (x − mid) + noise)/size is as private as the noisy total is, for the divisor is a declared constant. Under replace-one
        the total changes by high − low at most, so the mean by (high − low)/size: the sensitivity of `averaging`, and no count is paid for.

    If the declared size is wrong, only accuracy is lost. The divisor is the declared number, never the true one; the true number of rows
    does not enter, and the total is priced as in any other question. The mean is then off: its distance from the middle of the bounds is
    true/declared times what it should be.
    """
    relation = question.relation
    while isinstance(relation, Select):  # computes columns, and keeps every row
        relation = relation.input
    if question.keys or not isinstance(relation, Scan) or not relation.one_row:
        return None
    return relation.table.size


def totals_of(
    question: Question, ranges: Mapping[Expr, Interval], centred: bool, bounding: Bounding, clipped: frozenset[Expr] = frozenset()
) -> Totals:
    """The totals that the question's statistics may use; `clipped` numbers are clipped to exactly their ranges."""
    match bounding:
        case Single():
            precision = UNWEIGHTED
        case Rows():
            precision = WEIGHTED
        case Groups():
            precision = SUMMED
        case _:
            assert_never(bounding)
    return Totals(question.schema, ranges, precision, centred, question.relation.one_row, declared_size(question), clipped)


def needed(question: Question, of: Totals) -> dict[Total, float]:
    """All totals that a question needs, each once, with the weight k = Σ (the effect of its error on each statistic)².

    A selected value is shown only where enough rows are there, so a count of them is bought with it.
    """
    found: dict[Total, float] = {}
    for statistic in question.additive.values():
        for total, moves in statistic.needs(of).items():
            found[total] = found.get(total, 0.0) + moves**2
    if question.sample is not None:  # the sampling error of sums and means is bounded by counts
        found = {total: weight if total.factors else max(weight, _LEAST_OF_COUNTS) for total, weight in found.items()}
    for chosen in question.selected.values():
        found.setdefault(chosen.size(of), chosen.size_weight)
    return found


def split(weights: Mapping[Name, float], power: float) -> dict[Name, Fraction]:
    """Shares proportional to weight^power that add up to 1 exactly; none is too small to be useful.

    Minimising Σ k/aᵖ over Σ a = 1 gives a ∝ k^(1/(p+1)): p = 2 for Laplace noise with shares of ε, p = 1 for Gaussian with shares of μ².
    """
    sizes = {name: max(weight, 1e-6) ** power for name, weight in weights.items()}
    total, least = sum(sizes.values()), min(_LEAST, 1 / (4 * len(sizes)))
    rest = 1 - least * len(sizes)
    # rounded down, so that what is left for the largest is never less than its own share
    shares = {name: Fraction(int((least + rest * size / total) * _PARTS), _PARTS) for name, size in sizes.items()}
    largest = max(shares, key=lambda name: shares[name])
    shares[largest] += 1 - sum(shares.values(), Fraction(0))
    return shares
