"""REGR_R2: the share of the variance of y that a least-squares line on x explains."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from discreet.query.statistics import pairs
from discreet.query.statistics.correlation import Correlation
from discreet.query.statistics.statistic import Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class RegressionR2(pairs.Pairwise):
    """The square of the correlation; undefined where the noisy variance of either number is not positive."""

    spellings = {"REGR_R2": {}}
    methods = {"regr_r2": "REGR_R2"}

    def describe(self, spelled: Spelled) -> str:
        return f"the share of the variance of {spelled(self.y)} that a least-squares line on {spelled(self.x)} explains"

    def needs(self, of: Totals) -> dict[Total, float]:
        return Correlation(self.y, self.x).needs(of)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        return np.asarray(Correlation(self.y, self.x).value(of, cells, clipped) ** 2)

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, 1.0
