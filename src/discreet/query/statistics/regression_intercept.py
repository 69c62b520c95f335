"""REGR_INTERCEPT: where the least-squares line of y on x crosses x = 0."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.statistics import pairs
from discreet.query.statistics.statistic import Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class RegressionIntercept(pairs.Pairwise):
    """The mean of y less the slope times the mean of x; undefined where the noisy variance of x is not positive."""

    spellings = {"REGR_INTERCEPT": {}}
    methods = {"regr_intercept": "REGR_INTERCEPT"}

    def describe(self, spelled: Spelled) -> str:
        return f"the intercept of the least-squares line of {spelled(self.y)} on {spelled(self.x)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return pairs.totals(of, self.y, self.x, squares=(self.x,))

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        found = pairs.PairMoments.of(of, cells, self.y, self.x)
        slope = found.covariance / found.variance(of, cells, self.x, found.mean_x)
        return np.asarray(of.middle(self.y) + found.mean_y - slope * (of.middle(self.x) + found.mean_x))

    def limits(self, of: Totals) -> tuple[float, float]:
        return -math.inf, math.inf
