"""A statistic from outside the package, in one file: the root of the mean square."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.statistics.statistic import Additive, Argument, Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class RootMeanSquare(Additive):
    """The root of the mean of squares."""

    expr: Expr

    spellings = {"RMS": {}}  # noqa: RUF012
    methods = {"rms": "RMS"}  # noqa: RUF012
    arguments = (Argument.NUMBER,)
    drawn = "point"
    curved = True

    def describe(self, spelled: Spelled) -> str:
        return f"the root mean square of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return {of.product((self.expr, 2)): 1.0, of.product((self.expr, 1)): 1.0, of.count(self.expr): 0.5}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        n, middle = np.maximum(cells[of.count(self.expr)], 1.0), of.middle(self.expr)
        square = (cells[of.product((self.expr, 2))] + 2 * middle * cells[of.product((self.expr, 1))]) / n + middle**2
        return np.sqrt(np.where(square >= 0, square, np.nan))

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, math.sqrt(2) * (abs(of.middle(self.expr)) + of.half(self.expr))
