"""SKEWNESS: how far a distribution leans to one side."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.statistics import moments
from discreet.query.statistics.statistic import Additive, Argument, Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class Skewness(Additive):
    """The sample skewness (adjusted Fisher–Pearson, as DuckDB has it); undefined where the noisy variance is not positive."""

    expr: Expr

    spellings = {"SKEWNESS": {}, "SKEW": {}}
    methods = {"skewness": "SKEWNESS"}
    arguments = (Argument.NUMBER,)
    drawn = "point"
    curved = True

    def describe(self, spelled: Spelled) -> str:
        return f"the skewness of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return moments.powers(of, self.expr, 3)

    def size(self, of: Totals) -> Total:
        return of.count(self.expr)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        n, (second, third) = moments.central(of, cells, self.expr, 3, least=3.0)
        return np.asarray(np.sqrt(n * (n - 1)) / (n - 2) * third / moments.spread(second, of.step(self.expr, 3)) ** 1.5)

    def limits(self, of: Totals) -> tuple[float, float]:
        return -math.inf, math.inf
