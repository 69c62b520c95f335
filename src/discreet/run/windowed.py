"""Columns computed over several released rows: their values, and intervals from the independent noises of all rows involved.

A window that sums, averages or shifts is a matrix W over rows: each of its values is a sum of weights times values of other rows. So the
slopes of an output in every noisy total of every row follow by the chain rule, and its error is the sum of slope × noise over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen

from discreet.plan.steps import NoisyTotal
from discreet.query.post import evaluate, smooth
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.query.windows import Window
from discreet.run.intervals import sum_half_width

Slopes: TypeAlias = dict[Total, Floats]  # for each noisy total a matrix: output row × row of the total
MOST_ROWS = 1_000  # for which slopes are computed: a matrix has its square
_STEP = 0.1  # of a column's error: slopes are taken over this distance


@final
@frozen(eq=False)
class Windowed:
    """The released rows of a plan, and what is needed for errors: `rows` have keys and unclipped statistics by name."""

    rows: Sequence[Mapping[str, Any]]
    kept: Sequence[int]
    windows: Mapping[str, Window]
    statistics: Mapping[str, Additive]
    selected: frozenset[str]  # statistics that a mechanism selects: how their errors add is not known
    noisy: Sequence[NoisyTotal]
    cells: Cells
    of: Totals

    def half_widths(self, expr: Expr, confidence: float) -> Floats | None:
        """Half-widths in every row; None where errors do not propagate: through ranks, extremes, or an order of noisy values."""
        followed = smooth(expr)
        if followed is None or len(self.rows) > MOST_ROWS:
            return None
        found = self._slopes(followed)
        if found is None:
            return None
        scales = [np.abs(found[one.total]) * one.scale for one in self.noisy if one.total in found]
        moving = [one for one in self.noisy if one.total in found]
        if not moving:
            return np.zeros(len(self.rows))
        together = np.concatenate(scales, axis=1)
        exact = [float(one.unit) * one.mechanism.error(confidence) / one.scale for one in moving for _ in self.rows]
        return np.array([sum_half_width(row, np.array(exact), moving[0].is_gaussian, confidence) for row in together])

    def _slopes(self, expr: Expr) -> Slopes | None:
        """The slopes of an expression over keys, statistics and windows."""
        inputs: dict[str, Slopes] = {}
        for name in columns_of(expr):
            made = self._of_window(self.windows[name]) if name in self.windows else self._of_statistic(name)
            if made is None:
                return None
            if made:
                inputs[name] = made
        if isinstance(expr, Column):
            return inputs.get(expr.name, {})
        found: Slopes = {}
        for name, slopes in inputs.items():
            by = self._by(expr, name, slopes)
            for total, matrix in slopes.items():
                found[total] = found.get(total, 0) + by[:, None] * matrix
        return found

    def _by(self, expr: Expr, name: str, slopes: Slopes) -> Floats:
        """The slope of an expression in one of its columns, in every row."""
        scale = {one.total: one.scale for one in self.noisy}
        error = np.sqrt(sum(((matrix * scale[total]) ** 2).sum(axis=1) for total, matrix in slopes.items()))
        found = np.zeros(len(self.rows))
        for at, row in enumerate(self.rows):
            value = row[name]
            if isinstance(value, int | float):
                step = max(_STEP * float(error[at]), abs(value) * 1e-5, 1e-300)
                ends = [evaluate(expr, {**row, name: value + sign * step}) for sign in (1, -1)]
                found[at] = (ends[0] - ends[1]) / (2 * step) if None not in ends else np.nan
        return found

    def _of_statistic(self, name: str) -> Slopes | None:
        if name not in self.statistics:
            return None if name in self.selected else {}  # a key has no error
        statistic = self.statistics[name]
        if statistic.curved:
            return None
        found: Slopes = {}
        needed = statistic.needs(self.of)
        with np.errstate(all="ignore"):
            for one in self.noisy:
                if one.total in needed:
                    cells = self.cells[one.total]
                    step = np.maximum(one.scale * _STEP, np.abs(cells) * 1e-5)
                    ahead, behind = (statistic.value(self.of, {**self.cells, one.total: cells + sign * step}, False) for sign in (1, -1))
                    slopes = np.asarray((ahead - behind) / (2 * step), float)
                    found[one.total] = np.diag(np.where(np.abs(slopes - 1) < 1e-6, 1.0, slopes))
        return found

    def _of_window(self, window: Window) -> Slopes | None:
        noisy_order = {name for expr, _ in window.order for name in columns_of(expr)} & (set(self.statistics) | self.selected)
        argument = None if window.argument is None else smooth(window.argument)
        if argument is None or noisy_order:
            return None
        below = self._slopes(argument)
        if below is None:
            return None
        inside = [evaluate(argument, row) for row in self.rows]
        weights = np.zeros((len(self.rows), len(self.rows)))
        for at, frame in window.frames(self.rows, self.kept).items():
            made = window.weights(frame, inside)
            if made is None:
                return None
            for other, weight in made.items():
                weights[at, other] = weight
        return {total: weights @ np.nan_to_num(matrix) for total, matrix in below.items()}
