"""COUNT(DISTINCT unit): how many protected units there are."""

from __future__ import annotations

import math
from typing import final

from attrs import frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field
from discreet.query.statistics.statistic import Additive, Spelled, integer_field, not_negative
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class CountUnits(Additive):
    """The number of units, or of units that have a row in which `when` is not NULL."""

    when: Expr | None = None

    spellings = {"COUNT_UNITS": {}}
    methods = {"count_units": "COUNT_UNITS"}
    arguments = ()  # `when` comes from FILTER
    drawn = "bar"
    one_total = True

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return () if self.when is None else (self.when,)

    @property
    def word(self) -> str:
        return "count_units"

    def answer(self, schema: Schema) -> Field:
        return integer_field()

    def describe(self, spelled: Spelled) -> str:
        return "the number of units" if self.when is None else f"the number of units with a row in which {spelled(self.when)} is not NULL"

    def counts_units(self, schema: Schema) -> bool:
        return True

    def needs(self, of: Totals) -> dict[Total, float]:
        return {self.counted(of): 1.0}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        return not_negative(cells[self.counted(of)], clipped)

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, math.inf

    def counted(self, of: Totals) -> Total:
        return of.units(self.when)
