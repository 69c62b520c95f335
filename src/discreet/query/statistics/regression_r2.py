"""REGR_R2: the share of the variance of y that a least-squares line on x explains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field
from discreet.query.statistics import pairs
from discreet.query.statistics.correlation import Correlation
from discreet.query.statistics.statistic import Additive, Spelled, real_field
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class RegressionR2(Additive):
    """The square of the correlation; undefined where the noisy variance of either number is not positive."""

    y: Expr
    x: Expr

    spellings = {"REGR_R2": {}}
    methods = {"regr_r2": "REGR_R2"}
    arguments = pairs.PAIR
    drawn = "point"
    curved = True

    @classmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> RegressionR2:
        return cls(*pairs.complete(arguments[0], arguments[1], schema))

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return self.y, self.x

    @property
    def word(self) -> str:
        return "regr_r2"

    def answer(self, schema: Schema) -> Field:
        return real_field()

    def describe(self, spelled: Spelled) -> str:
        return f"the share of the variance of {spelled(self.y)} that a least-squares line on {spelled(self.x)} explains"

    def with_numbers(self, clip: Callable[[Expr], Expr]) -> RegressionR2:
        return evolve(self, y=clip(self.y), x=clip(self.x))

    def needs(self, of: Totals) -> dict[Total, float]:
        return Correlation(self.y, self.x).needs(of)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        return np.asarray(Correlation(self.y, self.x).value(of, cells, clipped) ** 2)

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, 1.0
