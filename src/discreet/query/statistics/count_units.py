"""COUNT(DISTINCT unit): how many protected units there are."""

from __future__ import annotations

from typing import final

from attrs import frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.statistics.counting import Counting
from discreet.query.statistics.statistic import Spelled
from discreet.query.totals import Total, Totals


@final
@frozen
class CountUnits(Counting):
    """The number of units, or of units that have a row in which `when` is not NULL."""

    when: Expr | None = None

    spellings = {"COUNT_UNITS": {}}
    methods = {"count_units": "COUNT_UNITS"}
    arguments = ()  # `when` comes from FILTER
    one_total = True
    sampled = True

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return () if self.when is None else (self.when,)

    def describe(self, spelled: Spelled) -> str:
        return "the number of units" if self.when is None else f"the number of units with a row in which {spelled(self.when)} is not NULL"

    def counts_units(self, schema: Schema) -> bool:
        return True

    def counted(self, of: Totals) -> Total:
        return of.units(self.when)
