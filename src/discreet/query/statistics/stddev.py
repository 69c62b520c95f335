"""STDDEV_SAMP and STDDEV_POP: the standard deviation of a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.statistics.statistic import Additive, Argument, Spelled
from discreet.query.statistics.variance import Variance
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class StandardDeviation(Additive):
    """The root of the variance, of the sample or of the population."""

    expr: Expr
    population: bool = False

    spellings = {
        **{name: {} for name in ("STDDEV", "STDDEV_SAMP", "STDEV")},
        **{name: {"population": True} for name in ("STDDEV_POP", "STDEVP")},
    }
    methods = {"std": "STDDEV_SAMP"}
    arguments = (Argument.NUMBER,)
    drawn = "point"
    curved = True  # the root bends where the variance is small against its noise, as near an end of the bounds

    @property
    def variance(self) -> Variance:
        """Its square."""
        return Variance(self.expr, self.population)

    def describe(self, spelled: Spelled) -> str:
        return f"the {'population' if self.population else 'sample'} standard deviation of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return self.variance.needs(of)

    def size(self, of: Totals) -> Total:
        return of.count(self.expr)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        square = self.variance.value(of, cells, clipped)
        return np.asarray(np.sign(square) * np.sqrt(np.abs(square)))

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, of.half(self.expr) * math.sqrt(2)

    def implies(self, value: float) -> Mapping[tuple[str, tuple[Expr, ...]], float]:
        return {("variance", (self.expr,)): value**2}
