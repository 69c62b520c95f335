"""COUNT(DISTINCT x): how many distinct values there are."""

from __future__ import annotations

from typing import final

from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.statistics.counting import Counting
from discreet.query.statistics.statistic import Argument, Spelled
from discreet.query.totals import Total, Totals


@final
@frozen
class CountDistinct(Counting):
    """The number of distinct values."""

    expr: Expr

    spellings = {"APPROX_COUNT_DISTINCT": {}, "APPROX_DISTINCT": {}}  # and COUNT(DISTINCT x), which is syntax
    methods = {"count_distinct": "APPROX_COUNT_DISTINCT"}
    arguments = (Argument.REPEATING,)
    per_unit = {"APPROX_COUNT_DISTINCT": "count_distinct"}
    of_unit = "COUNT_UNITS"

    def called(self, spelling: str) -> str:
        return "count_distinct"

    def describe(self, spelled: Spelled) -> str:
        return f"the number of distinct values of {spelled(self.expr)}"

    def counted(self, of: Totals) -> Total:
        return of.distinct(self.expr)
