"""AVG: the mean of a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr
from discreet.query.relation.node import Within
from discreet.query.removed import Correction, Removed
from discreet.query.statistics.statistic import OFF_CENTRE, Additive, Argument, Spelled
from discreet.query.totals import Cells, Floats, Total, Totals


@final
@frozen
class Average(Additive):
    """The mean: the centred sum over the count, or over the number of rows where that is declared and public."""

    expr: Expr

    spellings = {"AVG": {}, "MEAN": {}}
    methods = {"mean": "AVG"}
    corrected = True
    arguments = (Argument.NUMBER,)
    drawn = "point"
    per_unit = {"AVG": "mean"}
    sampled = True

    def describe(self, spelled: Spelled) -> str:
        return f"the mean of {spelled(self.expr)}"

    @property
    def own_aggregate(self) -> Within:
        return Within("mean", self.expr)

    def of_own_aggregates(self, own: Expr) -> Average:
        return Average(own)

    def needs(self, of: Totals) -> dict[Total, float]:
        total = of.product((self.expr, 1))
        return {total: 1.0} if of.public_size(self.expr) is not None else {total: 1.0, of.count(self.expr): OFF_CENTRE}

    def size(self, of: Totals) -> Total | None:
        return of.count(self.expr) if of.public_size(self.expr) is None else None

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        size, half = of.public_size(self.expr), of.half(self.expr)
        mean = cells[of.product((self.expr, 1))] / (np.maximum(cells[of.count(self.expr)], 1.0) if size is None else float(size))
        return np.asarray(of.middle(self.expr) + (np.clip(mean, -half, half) if clipped else mean))

    def squares(self, of: Totals, cells: Cells, most: Cells, error: Floats) -> Floats:
        """Over a declared size n a row adds (x − mid)/n. Over a count, the sample's sum of x − μ is 0 but for the sampling error.

        Lemma (Bhatia & Davis 2000). Σ (x − μ)² ≤ n·(high − μ)(μ − low) for n numbers from low to high with the mean μ.
        """
        size, half, middle = of.public_size(self.expr), of.half(self.expr), of.middle(self.expr)
        if size is not None:
            return np.full(len(error), half**2 / size)
        off = np.maximum(np.abs(self.value(of, cells, clipped=True) - middle) - error, 0.0)  # from the middle, at least
        return np.asarray(most[of.count(self.expr)] * (half**2 - off**2) / np.maximum(cells[of.count(self.expr)], 1.0) ** 2)

    def limits(self, of: Totals) -> tuple[float, float]:
        middle, half = of.middle(self.expr), of.half(self.expr)
        return middle - half, middle + half

    @property
    def summed(self) -> Expr:
        return self.expr

    def correction(self, of: Totals, cells: Cells, removed: Removed) -> Correction | None:
        size, clipped = of.public_size(self.expr), removed.clipped.get(self.expr)
        if clipped is None:
            return None
        count = np.maximum(cells[of.count(self.expr)], 1.0) if size is None else np.full(len(next(iter(cells.values()))), float(size))
        lost = removed.most_rows * float(clipped.high - clipped.low)  # rows taken away may lie at the other end of the bounds
        return Correction(clipped.shift / count, clipped.sd / count, (clipped.allowance + lost) / count)

    def implies(self, value: float) -> Mapping[tuple[str, tuple[Expr, ...]], float]:
        return {("mean", (self.expr,)): value}

    def remarks(self, of: Totals) -> tuple[str, ...]:
        size = of.public_size(self.expr)
        if size is None:
            return ()
        return (
            f"is divided by the declared size, {size:,}, which is public where one unit is replaced by another: no count is paid for. "
            "If the true number of rows differs, the mean is as private, and off in proportion",
        )
