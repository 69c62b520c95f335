"""Groups that are too small for a statistic: decided from noisy counts that are released with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.value_grid import RelativeGrid
from discreet.plan.steps import EstimatedTotal, NoisyTotal, Steps
from discreet.query.totals import Cells, Floats
from discreet.run.tables import totals_behind

_CLEAR = 2.0  # standard deviations of its noise that a count must exceed


def too_few(plan: Steps, cells: Cells) -> Mapping[str, NDArray[np.bool_]]:
    """For each statistic that needs rows: the groups whose noisy count is less than one, or not clear of its noise.

    An empty group exceeds two standard deviations with a probability of 0.03; where a column may be NULL, its count and that of rows both
    must, if both are released.
    """
    of = totals_behind(plan)
    noisy = {one.total: one for one in plan.totals if one.total in cells}
    sizes = {name: statistic.size(of) for name, statistic in plan.question.statistics}
    rows = [total for total in noisy if total.form == "rows" and not total.factors]
    counts = {name: {size, *rows} for name, size in sizes.items() if size is not None and size in noisy}
    return {name: np.logical_or.reduce([cells[count] < least_count(noisy[count]) for count in found]) for name, found in counts.items()}


def without_ends(plan: Steps, ends: Mapping[str, Sequence[tuple[float, float] | None]]) -> Mapping[str, NDArray[np.bool_]]:
    """For each quantile without bounds: the groups in which its interval is the whole grid, so that it tells nothing."""
    found = {}
    for choice in plan.choices:
        grid = getattr(choice.mechanism, "grid", None)
        if isinstance(grid, RelativeGrid) and choice.name in ends:
            whole = float(grid.cell(0)[0]), float(grid.cell(grid.points - 1)[1])
            found[choice.name] = np.array([pair is not None and tuple(map(float, pair)) == whole for pair in ends[choice.name]], bool)
    return found


def least_count(count: NoisyTotal | EstimatedTotal) -> float | Floats:
    """The least noisy count at which a statistic is shown, or that of every group."""
    if isinstance(count, EstimatedTotal):
        return np.maximum(1.0, _CLEAR * count.deviation)
    return max(1.0, _CLEAR * count.scale * (1.0 if count.is_gaussian else math.sqrt(2)))
