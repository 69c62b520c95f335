"""SUM: the total of a number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.relation.field import Field
from discreet.query.relation.node import Within
from discreet.query.removed import Correction, Removed
from discreet.query.statistics.statistic import Additive, Argument, Spelled
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.tables.kind import Kind


@final
@frozen
class Sum(Additive):
    """The sum of a number; centred at 0, or at the middle of its bounds with a noisy count, whichever gives less error."""

    expr: Expr

    spellings = {"SUM": {}}
    methods = {"sum": "SUM"}
    corrected = True
    arguments = (Argument.NUMBER,)
    drawn = "bar"
    adds_up = True
    one_total = True
    sampled = True
    per_unit = {"SUM": "sum"}

    def answer(self, schema: Schema) -> Field:
        whole = field_of(self.expr, schema).kind is Kind.INTEGER
        return Field(Kind.INTEGER if whole else Kind.REAL, nullable=True)

    def describe(self, spelled: Spelled) -> str:
        return f"the sum of {spelled(self.expr)}"

    @property
    def own_aggregate(self) -> Within:
        return Within("sum", self.expr)

    def of_own_aggregates(self, own: Expr) -> Sum:
        return Sum(own)

    @property
    def centring(self) -> Expr:
        return self.expr

    def needs(self, of: Totals) -> dict[Total, float]:
        if not of.centred:
            return {of.plain(self.expr): 1.0}
        bounds = of.range(self.expr)
        most = bounds.magnitude or Fraction(1)
        middle, half = abs(bounds.low + bounds.high) / 2, (bounds.high - bounds.low) / 2
        return {of.product((self.expr, 1)): float(half / most), of.count(self.expr): float(middle / most)}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        if not of.centred:
            value = cells[of.plain(self.expr)]
        else:
            value = cells[of.product((self.expr, 1))] + of.middle(self.expr) * cells[of.count(self.expr)]
        return np.clip(value, *self.limits(of)) if clipped else value

    @property
    def summed(self) -> Expr:
        return self.expr

    def correction(self, of: Totals, cells: Cells, removed: Removed) -> Correction | None:
        clipped = removed.clipped.get(self.expr)
        if clipped is None:
            return None
        ones = np.ones(len(next(iter(cells.values()))))
        lost = removed.most_rows * float(max(abs(clipped.low), abs(clipped.high)))
        return Correction(clipped.shift * ones, clipped.sd * ones, (clipped.allowance + lost) * ones)

    def squares(self, of: Totals, cells: Cells, most: Cells, error: Floats) -> Floats:
        """x² ≤ R·|x|, and numbers of one sign add up to |Σ x|; those of both signs are at most R."""
        bounds, furthest = of.range(self.expr), float(of.range(self.expr).magnitude)
        if bounds.low < 0 < bounds.high:
            return np.asarray(furthest**2 * np.minimum(most[of.count(self.expr)], most.get(of.rows(), np.inf)))
        return np.asarray(furthest * (np.abs(self.value(of, cells, clipped=True)) + error))

    def limits(self, of: Totals) -> tuple[float, float]:
        """A sum of numbers that are never negative is not negative, and likewise for numbers that are never positive."""
        bounds = of.range(self.expr)
        return 0.0 if bounds.low >= 0 else -math.inf, 0.0 if bounds.high <= 0 else math.inf
