"""Groups that are too small for a statistic: decided from noisy counts that are released with it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.plan.steps import EstimatedTotal, NoisyTotal, Steps
from discreet.query.totals import Cells, Floats
from discreet.run.tables import totals_behind

_CLEAR = 2.0  # standard deviations of its noise that a count must exceed


def too_few(plan: Steps, cells: Cells) -> Mapping[str, NDArray[np.bool_]]:
    """For each statistic that needs rows: the groups whose noisy count is less than one, or not clear of its noise.

    An empty group exceeds two standard deviations with a probability of 0.03.
    """
    of = totals_behind(plan)
    noisy = {one.total: one for one in plan.totals}
    sizes = {name: statistic.size(of) for name, statistic in plan.question.statistics}
    return {name: cells[size] < least_count(noisy[size]) for name, size in sizes.items() if size is not None and size in cells}


def least_count(count: NoisyTotal | EstimatedTotal) -> float | Floats:
    """The least noisy count at which a statistic is shown, or that of every group."""
    if isinstance(count, EstimatedTotal):
        return np.maximum(1.0, _CLEAR * count.deviation)
    return max(1.0, _CLEAR * count.scale * (1.0 if count.is_gaussian else math.sqrt(2)))
