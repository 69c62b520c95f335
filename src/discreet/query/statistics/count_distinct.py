"""COUNT(DISTINCT x): how many distinct values there are."""

from __future__ import annotations

import math
from typing import final

from attrs import frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field
from discreet.query.statistics.statistic import Additive, Argument, Spelled, integer_field, not_negative
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class CountDistinct(Additive):
    """The number of distinct values."""

    expr: Expr

    spellings = {"APPROX_COUNT_DISTINCT": {}, "APPROX_DISTINCT": {}}  # and COUNT(DISTINCT x), which is syntax
    methods = {"count_distinct": "APPROX_COUNT_DISTINCT"}
    arguments = (Argument.REPEATING,)
    drawn = "bar"
    per_unit = {"APPROX_COUNT_DISTINCT": "count_distinct"}
    of_unit = "COUNT_UNITS"

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.expr,)

    @property
    def word(self) -> str:
        return "count_distinct"

    def answer(self, schema: Schema) -> Field:
        return integer_field()

    def describe(self, spelled: Spelled) -> str:
        return f"the number of distinct values of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return {self.counted(of): 1.0}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        return not_negative(cells[self.counted(of)], clipped)

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, math.inf

    def counted(self, of: Totals) -> Total:
        return of.distinct(self.expr)
