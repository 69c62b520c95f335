"""SKEWNESS: how far a distribution leans to one side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np
from attrs import evolve, frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field
from discreet.query.statistics import moments
from discreet.query.statistics.statistic import Additive, Argument, Spelled, real_field
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

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.expr,)

    @property
    def word(self) -> str:
        return "skewness"

    def answer(self, schema: Schema) -> Field:
        return real_field()

    def describe(self, spelled: Spelled) -> str:
        return f"the skewness of {spelled(self.expr)}"

    def with_numbers(self, clip: Callable[[Expr], Expr]) -> Skewness:
        return evolve(self, expr=clip(self.expr))

    def needs(self, of: Totals) -> dict[Total, float]:
        return moments.powers(of, self.expr, 3)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        n, (second, third) = moments.central(of, cells, self.expr, 3, least=3.0)
        return np.asarray(np.sqrt(n * (n - 1)) / (n - 2) * third / moments.positive(second) ** 1.5)

    def limits(self, of: Totals) -> tuple[float, float]:
        return -math.inf, math.inf
