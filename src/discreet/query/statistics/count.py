"""COUNT: how many rows there are, or in how many an expression is not NULL."""

from __future__ import annotations

import math
from typing import final

from attrs import frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field
from discreet.query.relation.node import Within
from discreet.query.statistics.statistic import Additive, Argument, Spelled, Statistic, integer_field, not_negative
from discreet.query.statistics.sum import Sum
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class Count(Additive):
    """The number of rows, or of rows in which an expression is not NULL."""

    value_of: Expr | None = None

    spellings = {"COUNT": {}}
    methods = {"count": "COUNT"}
    arguments = (Argument.ANY,)
    optional = 1
    drawn = "bar"
    one_total = True
    per_unit = {"COUNT": "count"}
    of_unit = "COUNT"  # the unit is never NULL

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return () if self.value_of is None else (self.value_of,)

    @property
    def word(self) -> str:
        return "count"

    def answer(self, schema: Schema) -> Field:
        return integer_field()

    def describe(self, spelled: Spelled) -> str:
        return "the number of rows" if self.value_of is None else f"the number of rows in which {spelled(self.value_of)} is not NULL"

    @property
    def own_aggregate(self) -> Within:
        return Within("count") if self.value_of is None else Within("count_of", self.value_of)

    def of_own_aggregates(self, own: Expr) -> Statistic:
        return Sum(own)

    def needs(self, of: Totals) -> dict[Total, float]:
        return {self.counted(of): 1.0}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        return not_negative(cells[self.counted(of)], clipped)

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, math.inf

    def counted(self, of: Totals) -> Total:
        return of.rows() if self.value_of is None else of.count(self.value_of)
