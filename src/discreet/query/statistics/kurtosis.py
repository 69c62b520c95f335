"""KURTOSIS and KURTOSIS_POP: how heavy the tails of a distribution are."""

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
class Kurtosis(Additive):
    """The excess kurtosis, 0 for a normal distribution, of the sample (with bias correction, as DuckDB has it) or of the population;
    undefined where the noisy variance is not positive.
    """

    expr: Expr
    population: bool = False

    spellings = {"KURTOSIS": {}, "KURTOSIS_POP": {"population": True}}
    methods = {"kurtosis": "KURTOSIS"}
    arguments = (Argument.NUMBER,)
    drawn = "point"
    curved = True

    def describe(self, spelled: Spelled) -> str:
        return f"the {'population' if self.population else 'sample'} kurtosis of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return moments.powers(of, self.expr, 4)

    def size(self, of: Totals) -> Total:
        return of.count(self.expr)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        n, (second, _, fourth) = moments.central(of, cells, self.expr, 4, least=4.0)
        excess = fourth / moments.spread(second, of.step(self.expr, 4)) ** 2 - 3
        if clipped:
            excess = np.maximum(excess, -2.0)
        return np.asarray(excess if self.population else ((n + 1) * excess + 6) * (n - 1) / ((n - 2) * (n - 3)))

    def limits(self, of: Totals) -> tuple[float, float]:
        return -math.inf, math.inf
