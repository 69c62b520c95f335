"""COVAR_SAMP and COVAR_POP: the covariance of two numbers."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from discreet.query.statistics import pairs
from discreet.query.statistics.statistic import Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class Covar(pairs.Pairwise):
    """The covariance of the sample (divided by n − 1), or of the population (divided by n)."""

    population: bool = False

    spellings = {"COVAR_SAMP": {}, "COVAR_POP": {"population": True}}
    methods = {"covar_samp": "COVAR_SAMP", "covar_pop": "COVAR_POP"}

    def describe(self, spelled: Spelled) -> str:
        return f"the {'population' if self.population else 'sample'} covariance of {spelled(self.y)} and {spelled(self.x)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return pairs.totals(of, self.y, self.x)

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        found = pairs.PairMoments.of(of, cells, self.y, self.x)
        correction = 1.0 if self.population else found.n / (found.n - 1)
        most = of.half(self.y) * of.half(self.x)
        value = np.clip(found.covariance, -most, most) if clipped else found.covariance
        return np.asarray(value * correction)

    def limits(self, of: Totals) -> tuple[float, float]:
        most = 2 * of.half(self.y) * of.half(self.x)
        return -most, most
