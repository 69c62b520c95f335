"""The histogram of a column as it is drawn: bins of equal width with round edges, and what lies beyond them apart."""

from __future__ import annotations

import datetime
import math
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind

BINS = 24  # that are drawn, at most
_TAIL = 0.005  # the share of the rows at each end that is drawn apart
_LEAST = 2.0**-300  # of the width of a bin
_HALF_WIDTH = 1.96  # standard deviations of an interval with confidence 0.95


@final
@frozen
class Shape:
    """Bins with their noisy counts and the half-widths of these; the outermost edges may be infinite."""

    edges: tuple[Any, ...]
    counts: tuple[float, ...]
    halves: tuple[float, ...]


def shape_of(histogram: Histogram, kind: Kind, most: int = BINS) -> Shape:
    """Count anew in bins of equal width: rows of a cell are taken to be spread evenly over it, and the noise is carried along."""
    edges = np.array([float(edge) for edge in histogram.edges])
    low, high = (float(end) for end in histogram.quantiles(np.array([_TAIL, 1 - _TAIL])))
    step = _step((high - low) / most if high > low else edges[-1] - edges[0], kind)
    first = float(math.floor(low)) if kind is Kind.DATE else math.floor(low / step) * step  # round numbers are round; days are not
    ends = np.asarray(first + step * np.arange(max(math.ceil((high - first) / step), 1) + 1), np.float64)
    share = _overlap(edges, ends)
    counts, variances = share @ np.array(histogram.counts), (share**2).sum(axis=1)
    outside = _overlap(edges, np.array([min(edges[0], ends[0]), ends[0]])), _overlap(edges, np.array([ends[-1], max(edges[-1], ends[-1])]))
    below, above = (float((part @ np.array(histogram.counts))[0]) for part in outside)
    far = [float((part**2).sum()) * histogram.sd**2 + histogram.outside_sd**2 / 2 for part in outside]
    return Shape(
        (-math.inf, *(_edge(end, kind) for end in ends), math.inf),
        (below + histogram.below, *map(float, counts), above + histogram.above),
        (
            _HALF_WIDTH * math.sqrt(far[0]),
            *(float(_HALF_WIDTH * histogram.sd * math.sqrt(one)) for one in variances),
            _HALF_WIDTH * math.sqrt(far[1]),
        ),
    )


def _step(width: float, kind: Kind) -> float:
    """A round width that is at least this; of whole numbers and days at least 1."""
    least = max(width, _LEAST) if kind is Kind.REAL else max(width, 1.0)
    if kind is Kind.DATE:
        return float(next((days for days in (1, 7, 30, 91, 365, 3650) if days >= least), 36500))
    power = 10.0 ** math.floor(math.log10(least))
    steps = (factor * power for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= least * (1 - 1e-9))


def _overlap(edges: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Which share of each cell lies in each bin."""
    low, high = np.maximum(edges[:-1], ends[:-1, None]), np.minimum(edges[1:], ends[1:, None])
    return np.asarray(np.maximum(high - low, 0) / (edges[1:] - edges[:-1]))


def _edge(end: float, kind: Kind) -> Any:
    return datetime.date.fromordinal(min(max(int(end), 1), datetime.date.max.toordinal())) if kind is Kind.DATE else end
