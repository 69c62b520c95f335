"""CORR: the correlation of two numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
class Correlation(Additive):
    """Pearson's correlation coefficient; undefined where the noisy variance of either number is not positive."""

    y: Expr
    x: Expr

    spellings = {"CORR": {}}
    methods = {"corr": "CORR"}
    arguments = pairs.PAIR
    drawn = "point"
    curved = True

    @classmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> Correlation:
        return cls(*pairs.complete(arguments[0], arguments[1], schema))

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return self.y, self.x

    @property
    def word(self) -> str:
        return "corr"

    def answer(self, schema: Schema) -> Field:
        return real_field()

    def describe(self, spelled: Spelled) -> str:
        return f"the correlation of {spelled(self.y)} and {spelled(self.x)}"

    def with_numbers(self, clip: Callable[[Expr], Expr]) -> Correlation:
        return evolve(self, y=clip(self.y), x=clip(self.x))

    def needs(self, of: Totals) -> dict[Total, float]:
        return pairs.totals(of, self.y, self.x, squares=(self.y, self.x))

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        found = pairs.PairMoments.of(of, cells, self.y, self.x)
        spread = found.variance(of, cells, self.y, found.mean_y) * found.variance(of, cells, self.x, found.mean_x)
        value = found.covariance / np.sqrt(spread)
        return np.asarray(np.clip(value, -1.0, 1.0) if clipped else value)

    def limits(self, of: Totals) -> tuple[float, float]:
        return -1.0, 1.0

    def implies(self, value: float) -> Mapping[tuple[str, tuple[Expr, ...]], float]:
        return {("correlation", (self.y, self.x)): value}
