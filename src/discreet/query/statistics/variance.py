"""VAR_SAMP and VAR_POP: the variance of a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.statistics import moments
from discreet.query.statistics.statistic import Additive, Argument, Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class Variance(Additive):
    """The variance of the sample (divided by n − 1), or of the population (divided by n)."""

    expr: Expr
    population: bool = False

    spellings = {
        **{name: {} for name in ("VARIANCE", "VAR_SAMP", "VARIANCE_SAMP", "VAR")},
        **{name: {"population": True} for name in ("VARIANCE_POP", "VAR_POP", "VARP")},
    }
    methods = {"var": "VAR_SAMP"}
    arguments = (Argument.NUMBER,)
    drawn = "point"

    def describe(self, spelled: Spelled) -> str:
        return f"the {'population' if self.population else 'sample'} variance of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return moments.powers(of, self.expr, 2)

    def size(self, of: Totals) -> Total:
        return of.count(self.expr)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        n, (second,) = moments.central(of, cells, self.expr, 2, least=2.0)
        correction = 1.0 if self.population else n / (n - 1)
        value = second * correction
        return np.clip(value, 0.0, of.half(self.expr) ** 2 * correction) if clipped else np.asarray(value)

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, 2 * of.half(self.expr) ** 2

    def implies(self, value: float) -> Mapping[tuple[str, tuple[Expr, ...]], float]:
        return {("variance", (self.expr,)): value}
