"""CORR: the correlation of two numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.statistics import pairs
from discreet.query.statistics.statistic import Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class Correlation(pairs.Pairwise):
    """Pearson's correlation coefficient; undefined where the noisy variance of either number is not positive."""

    spellings = {"CORR": {}}
    methods = {"corr": "CORR"}

    def describe(self, spelled: Spelled) -> str:
        return f"the correlation of {spelled(self.y)} and {spelled(self.x)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return pairs.totals(of, self.y, self.x, squares=(self.y, self.x))

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        found = pairs.PairMoments.of(of, cells, self.y, self.x)
        spreads = (found.variance(of, cells, self.y, found.mean_y), found.variance(of, cells, self.x, found.mean_x))
        value = found.covariance / np.sqrt(spreads[0]) / np.sqrt(spreads[1])  # one by one: a product may overflow
        return np.asarray(np.clip(value, -1.0, 1.0) if clipped else value)

    def limits(self, of: Totals) -> tuple[float, float]:
        return -1.0, 1.0

    def implies(self, value: float) -> Mapping[tuple[str, tuple[Expr, ...]], float]:
        return {("correlation", (self.y, self.x)): value}
