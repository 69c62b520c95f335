"""A released histogram of a numeric column: what clipping to bounds would take away, and which bounds are best.

Everything here is computed from released noisy counts, so it is public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet import exact

Floats = NDArray[np.float64]
_ONE_SIDED = 1.645  # standard deviations: a one-sided bound that holds with probability 0.95
_WITHIN_CELL = 0.5  # of a cell's width: how far the mean of its values may lie from its middle
_LEARNT = 0.2  # the largest share of rows that may lie outside the edges if the column counts as learnt
_OUTSIDE = 0.003  # the largest share of rows that may clearly lie outside
_CLEAR = 4.0  # standard deviations from which on rows are clearly outside


@final
@frozen
class Clipping:
    """What clipping to [low, high] takes from the sum of all values: an estimate, and how uncertain it is.

    `shift` is added to the clipped sum. Its error is Gaussian noise with standard deviation `sd` from the noisy counts, and at most about
    `spread` from not knowing where in their cells values lie. `beyond` bounds, with confidence 0.95, how many rows lie outside the
    histogram, where nothing is known about them; they are assumed to lie at most `furthest` beyond it, `reach` from the bounds.
    """

    low: Fraction
    high: Fraction
    shift: float
    sd: float
    spread: float
    beyond: float
    reach: float
    furthest: float

    @property
    def allowance(self) -> float:
        """By how much the sum may be off in addition to the Gaussian error."""
        return self.spread + self.beyond * self.reach

    @property
    def most(self) -> float:
        """A bound on what clipping takes from the sum of any part of the rows, with confidence 0.95 and up to what lies beyond."""
        return abs(self.shift) + _ONE_SIDED * self.sd + self.allowance


@final
@frozen(slots=False)
class Histogram:
    """Noisy counts of a column's rows in cells between increasing public edges, and of the rows below, above and without a value.

    With `whole` all values are whole numbers, and a cell ends one below the next edge. `sd` is the standard deviation of the noise on each
    count.

    >>> found = Histogram((Fraction(0), Fraction(10), Fraction(20)), (900.0, 101.5), -2.0, 3.0, 40.0, 5.0, 7.1)
    >>> found.total, found.beyond < 20, found.learnt, (int(found.low), int(found.high))
    (1002.5, True, True, (0, 20))
    """

    edges: tuple[Fraction, ...]
    counts: tuple[float, ...]
    below: float
    above: float
    missing: float
    sd: float
    outside_sd: float  # of `below` and `above` together
    whole: bool = False

    @property
    def low(self) -> Fraction:
        """The lower bound that was found."""
        return self.edges[0]

    @property
    def high(self) -> Fraction:
        """The upper bound that was found; above the lower one."""
        return max(self.edges[-1] - self.whole, self.edges[0] + 1) if self.whole else self.edges[-1]

    @property
    def total(self) -> float:
        """About how many rows have a value."""
        return sum(self.counts) + self.below + self.above

    @property
    def beyond(self) -> float:
        """A bound on the number of rows outside the edges, with confidence 0.95."""
        return max(self.below + self.above, 0.0) + _ONE_SIDED * self.outside_sd

    @property
    def learnt(self) -> bool:
        """Whether at most a fifth of the rows lie outside the edges, with confidence 0.95, and no more than 0.3 % clearly do."""
        clearly = self.below + self.above > max(_CLEAR * self.outside_sd, _OUTSIDE * self.total)
        return self.total > 0 and self.beyond <= _LEARNT * self.total and not clearly

    @property
    def single_numbers(self) -> bool:
        """Whether each cell holds one whole number."""
        return self.whole and all(b - a == 1 for a, b in pairwise(self.edges))

    # ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def lows(self) -> Floats:
        """The least value of each cell: a possible lower bound."""
        return np.array([float(edge) for edge in self.edges[:-1]])

    @cached_property
    def highs(self) -> Floats:
        """The greatest value of each cell: a possible upper bound."""
        return np.array([float(edge - self.whole) for edge in self.edges[1:]])

    @cached_property
    def _taken(self) -> tuple[Floats, Floats]:
        """For each cell's low as a lower and high as an upper bound: the excess, its variance over sd², and the within-cell spread."""
        counts, middles, widths = np.array(self.counts), (self.lows + self.highs) / 2, self.highs - self.lows
        seen = np.maximum(counts, 0.0)
        under, over = np.zeros((3, len(counts))), np.zeros((3, len(counts)))
        for i in range(len(counts)):
            far = self.lows[i] - middles[:i]
            under[:, i] = counts[:i] @ far, (far**2).sum(), seen[:i] @ widths[:i]
            far = middles[i + 1 :] - self.highs[i]
            over[:, i] = counts[i + 1 :] @ far, (far**2).sum(), seen[i + 1 :] @ widths[i + 1 :]
        return under, over

    def _clipping(self, first: int, last: int) -> Clipping:
        """What clipping to the cells from the first to the last takes away."""
        under, over = self._taken[0][:, first], self._taken[1][:, last]
        width = self.highs[-1] - self.lows[0]
        # rows outside the histogram are assumed to lie within its width from its ends, so this far from the bounds
        down, up = self.lows[first] - self.lows[0] + width, self.highs[-1] - self.highs[last] + width
        low, high = self.edges[first], self.edges[last + 1] - self.whole
        if (first, last) == (0, len(self.counts) - 1):
            high = self.high
        return Clipping(
            low,
            high,
            float(over[0] - under[0]),
            float(self.sd * math.sqrt(over[1] + under[1])),
            float(_WITHIN_CELL * (over[2] + under[2])),
            self.beyond,
            float(max(down, up)),
            float(width),
        )

    @property
    def unclipped(self) -> Clipping:
        """What clipping to the outermost edges takes away: nothing that was seen."""
        return self._clipping(0, len(self.counts) - 1)

    def best_clipping(self, noise: Callable[[Floats, Floats], Floats], corrected: bool) -> Clipping:
        """The bounds with the least expected squared error of the sum: noise and clipping together.

        `noise` gives the standard deviation of the sum's noise for arrays of lower and upper bounds. If the estimate of what clipping takes
        away is added back (`corrected`), only its own error counts; else all of it.
        """
        first, last = np.triu_indices(len(self.counts))
        wide = self.lows[first] < self.highs[last]
        first, last = first[wide], last[wide]
        if not len(first):
            return self.unclipped
        under, over = self._taken[0][:, first], self._taken[1][:, last]
        lost = _WITHIN_CELL * (under[2] + over[2])
        if not corrected:
            lost = lost + np.maximum(under[0], 0) + np.maximum(over[0], 0)
        score = noise(self.lows[first], self.highs[last]) ** 2 + lost**2 + self.sd**2 * (under[1] + over[1])
        best = int(np.argmin(score))
        return self._clipping(int(first[best]), int(last[best]))

    # ── other uses ───────────────────────────────────────────────────────────────────────────────────────────────────

    def quantiles(self, shares: Floats) -> Floats:
        """About where the values lie below which these shares of the rows are."""
        counts = np.maximum(np.array(self.counts), 0.0)
        upto = np.concatenate([[0.0], np.cumsum(counts)])
        if upto[-1] <= 0:
            return np.full(len(shares), (float(self.edges[0] + self.edges[-1])) / 2)
        return np.asarray(np.interp(np.asarray(shares) * upto[-1], upto, [float(edge) for edge in self.edges]))

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "edges": [str(edge) for edge in self.edges],
            "counts": list(self.counts),
            "below": self.below,
            "above": self.above,
            "missing": self.missing,
            "sd": self.sd,
            "outside_sd": self.outside_sd,
            "whole": self.whole,
        }

    @classmethod
    def from_json(cls, said: Any) -> Histogram:
        """Read back what `to_json` gave."""
        edges, counts = tuple(exact.rational(edge) for edge in said["edges"]), tuple(float(count) for count in said["counts"])
        if len(edges) != len(counts) + 1 or not counts or any(a >= b for a, b in pairwise(edges)):
            raise ValueError
        below, above, missing, sd, outside = (float(said[name]) for name in ("below", "above", "missing", "sd", "outside_sd"))
        if not all(map(math.isfinite, [*counts, below, above, missing, sd, outside])):
            raise ValueError
        return cls(edges, counts, below, above, missing, sd, outside, bool(said["whole"]))
