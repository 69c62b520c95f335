"""REGR_SLOPE: the slope of the least-squares line of y on x."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field
from discreet.query.statistics import pairs
from discreet.query.statistics.statistic import Additive, Spelled, real_field
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class RegressionSlope(Additive):
    """The covariance over the variance of x; undefined where the noisy variance of x is not positive."""

    y: Expr
    x: Expr

    spellings = {"REGR_SLOPE": {}}
    methods = {"regr_slope": "REGR_SLOPE"}
    arguments = pairs.PAIR
    drawn = "point"
    curved = True

    @classmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> RegressionSlope:
        return cls(*pairs.complete(arguments[0], arguments[1], schema))

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return self.y, self.x

    @property
    def word(self) -> str:
        return "regr_slope"

    def answer(self, schema: Schema) -> Field:
        return real_field()

    def describe(self, spelled: Spelled) -> str:
        return f"the slope of the least-squares line of {spelled(self.y)} on {spelled(self.x)}"

    def with_numbers(self, clip: Callable[[Expr], Expr]) -> RegressionSlope:
        return evolve(self, y=clip(self.y), x=clip(self.x))

    def needs(self, of: Totals) -> dict[Total, float]:
        return pairs.totals(of, self.y, self.x, squares=(self.x,))

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        found = pairs.PairMoments.of(of, cells, self.y, self.x)
        return np.asarray(found.covariance / found.variance(of, cells, self.x, found.mean_x))

    def limits(self, of: Totals) -> tuple[float, float]:
        return -math.inf, math.inf
