"""COUNT: how many rows there are, or in how many an expression is not NULL."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.relation.node import Within
from discreet.query.removed import Correction, Removed
from discreet.query.statistics.counting import Counting
from discreet.query.statistics.statistic import Argument, Spelled, Statistic
from discreet.query.statistics.sum import Sum
from discreet.query.totals import Cells, Total, Totals


@final
@frozen
class Count(Counting):
    """The number of rows, or of rows in which an expression is not NULL."""

    value_of: Expr | None = None

    spellings = {"COUNT": {}}
    methods = {"count": "COUNT"}
    corrected = True
    arguments = (Argument.ANY,)
    optional = 1
    adds_up = True
    one_total = True
    sampled = True
    per_unit = {"COUNT": "count"}
    of_unit = "COUNT"  # the unit is never NULL

    def describe(self, spelled: Spelled) -> str:
        return "the number of rows" if self.value_of is None else f"the number of rows in which {spelled(self.value_of)} is not NULL"

    @property
    def own_aggregate(self) -> Within:
        return Within("count") if self.value_of is None else Within("count_of", self.value_of)

    def of_own_aggregates(self, own: Expr) -> Statistic:
        return Sum(own)

    def correction(self, of: Totals, cells: Cells, removed: Removed) -> Correction | None:
        if not removed.most_rows:
            return None
        ones = np.ones(len(next(iter(cells.values()))))
        if self.value_of is None:
            return Correction(removed.rows * ones, removed.rows_sd * ones, 0 * ones)
        return Correction(0 * ones, 0 * ones, removed.most_rows * ones)  # it is not known in how many of them it is NULL

    def counted(self, of: Totals) -> Total:
        return of.rows() if self.value_of is None else of.count(self.value_of)
