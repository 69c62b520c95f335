"""Robust statistics and their local sensitivity.

A statistic here is a weighted sum of order statistics: the median, the interquartile range, the trimmed mean. For most data it changes
little when few records change; propose–test–release, smooth sensitivity and inverse sensitivity are three ways to use that. All three need
one thing from the data: the interval to which k changed records can bring the statistic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.mechanisms import answer as answers
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.value_grid import Places, ValueGrid
from discreet.noise.refine import Integers

_POINTS = 64  # order statistics behind a trimmed mean
_FINEST = 10**6
_MOST = answers.LIMIT // _FINEST // 2  # records: ranks of more would not fit 64 bits


class LocalSensitivity(NamedTuple):
    """The statistic, the interval to which k changes can bring it, and its local sensitivity at distance k, in integer units.

    `at_distance[k]` is at least the local sensitivity of every data set k changes away. It does not fall with k, and between neighbours
    `at_distance[k]` of the one is at most `at_distance[k + 1]` of the other; likewise the interval from `low[k]` to `high[k]` of the one
    lies within that of the other at k + 1.
    """

    value: int
    low: Integers
    high: Integers
    at_distance: Integers


@final
@frozen(kw_only=True)
class Robust:
    """A weighted sum of quantiles of records that are clamped to a grid; all integers are in units of `unit`.

    The q-quantile of n records is the ⌈qn⌉-th smallest, the lower end of the grid if there is none.

    Theorem (interval of k changes).
        Adding or removing k records brings the ⌈qn⌉-th smallest of n at most to the ⌈qn + k·max(q, 1 − q)⌉-th, and at least to the
        ⌈qn − k·max(q, 1 − q)⌉-th, where ranks below 1 and beyond n stand for the ends of the grid; replacing k records brings it to the
        (⌈qn⌉ ± k)-th, and no further if some were added or removed instead (as where a replaced unit has no value, or is filtered out).
        Between neighbours ranks change by one, so the interval of k changes here lies within that of k + 1 there. The local sensitivity of
        any data k changes away is at most the length of the interval of k + 1; for the median under add/remove it equals it.

    Proof. Adding at the top raises the rank by q, removing at the bottom by 1 − q, and ⌈·⌉ of the sum is the rank. x(i) ≤ x′(i + 1) and
        x(i) ≤ x′(i) for x′ with one record more or less: q + max(q, 1 − q) ≥ 1, and max(q, 1 − q) ≥ q.

    >>> typical = Robust.median(lower=0, upper=8, step=1)
    >>> found = typical.local([1, 2, 4, 7, 8], 2)
    >>> found.value, found.low.tolist(), found.high.tolist(), found.at_distance.tolist()
    (4, [4, 2, 2, 1], [4, 4, 7, 7], [2, 5, 6])
    """

    grid: ValueGrid
    levels: tuple[tuple[Fraction, int], ...] = field(repr=False)  # which quantile, and its weight
    parts: int  # units in one step of the grid
    least: int = field(repr=False)
    most: int = field(repr=False)
    name: str
    adjacency: Adjacency

    # ── statistics ───────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def quantile(
        cls, q: Number, *, lower: Number, upper: Number, step: Number | None = None, adjacency: Adjacency = "add/remove"
    ) -> Robust:
        """The value below which a fraction q of the records lies."""
        share = exact.confidence_level(q, "q")
        if share.denominator > _FINEST:
            raise Invalid("q must have at most six decimals: round it")
        return cls._of(f"{float(share):.4g}-quantile", [(share, 1)], 1, lower, upper, step, adjacency)

    @classmethod
    def median(cls, *, lower: Number, upper: Number, step: Number | None = None, adjacency: Adjacency = "add/remove") -> Robust:
        """The lower median."""
        return cls._of("median", [(Fraction(1, 2), 1)], 1, lower, upper, step, adjacency)

    @classmethod
    def interquartile_range(
        cls, *, lower: Number, upper: Number, step: Number | None = None, adjacency: Adjacency = "add/remove"
    ) -> Robust:
        """The width of the middle half of the records."""
        return cls._of("interquartile range", [(Fraction(1, 4), -1), (Fraction(3, 4), 1)], 1, lower, upper, step, adjacency)

    @classmethod
    def trimmed_mean(
        cls,
        trim: Number = Fraction(1, 10),
        *,
        lower: Number,
        upper: Number,
        step: Number | None = None,
        adjacency: Adjacency = "add/remove",
    ) -> Robust:
        """The mean without a fraction `trim` at each end, as the mean of 64 evenly spaced quantiles."""
        share = exact.rational(trim, "trim")
        if not 0 < share < Fraction(1, 2) or share.denominator > 1000:
            raise Invalid("trim must lie between 0 and 1/2, with at most three decimals, for example 0.1")
        levels = [(share + (1 - 2 * share) * Fraction(2 * j + 1, 2 * _POINTS), 1) for j in range(_POINTS)]
        return cls._of(f"mean without {float(share):.3g} at each end", levels, _POINTS, lower, upper, step, adjacency)

    @classmethod
    def _of(
        cls, name: str, levels: list[tuple[Fraction, int]], parts: int, lower: Number, upper: Number, step: Any, adjacency: Adjacency
    ) -> Robust:
        is_replacement(adjacency)
        grid = ValueGrid.of(lower, upper, step)
        ends = sum(weight for _, weight in levels if weight > 0) * (grid.points - 1)
        return cls(grid=grid, levels=tuple(levels), parts=parts, least=0, most=ends, name=name, adjacency=adjacency)

    # ── units ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def unit(self) -> Fraction:
        """The value of one unit."""
        return self.grid.step / self.parts

    @property
    def origin(self) -> Fraction:
        """The value of 0 units: the lower end of the grid, or 0 where the weights cancel."""
        return self.grid.lower * Fraction(sum(weight for _, weight in self.levels), self.parts)

    def to_value(self, units: int) -> float:
        """A number of units as a value, clamped to the possible range."""
        return float(self.origin + self.unit * min(max(units, self.least), self.most))

    # ── records ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def local(self, records: Any, changes: int) -> LocalSensitivity:
        """The statistic of records (or of `Places`), and its interval for up to this many changes and one more."""
        placed = self.grid.tidy(records) if isinstance(records, Places) else self.grid.place(records)
        ordered = _Ordered(placed.points, np.clip(np.cumsum(placed.counts), 0, _MOST), self.grid.points - 1)
        steps = np.arange(changes + 2)
        low, high = np.zeros(changes + 2, np.int64), np.zeros(changes + 2, np.int64)
        for q, weight in self.levels:
            down, up = self._ranks(q, ordered.size, steps)
            low += weight * ordered.at(down if weight > 0 else up)
            high += weight * ordered.at(up if weight > 0 else down)
        low, high = np.clip(low, self.least, self.most), np.clip(high, self.least, self.most)
        return LocalSensitivity(int(low[0]), low, high, self._at_distance(ordered, low, high))

    def _ranks(self, q: Fraction, size: int, steps: Integers) -> tuple[Integers, Integers]:
        a, b = q.numerator, q.denominator
        if is_replacement(self.adjacency):
            middle = -(-a * size // b)
            return middle - steps, middle + steps
        far = max(a, b - a)
        return -((far * steps - a * size) // b), -((-far * steps - a * size) // b)

    def _at_distance(self, ordered: _Ordered, low: Integers, high: Integers) -> Integers:
        if len(self.levels) > 1 or not is_replacement(self.adjacency):
            return high[1:] - low[1:]
        # one quantile of replaced records: the largest gap over k + 2 neighbouring ranks around the middle (Nissim et al. 2007)
        q = self.levels[0][0]
        middle, most = -(-q.numerator * ordered.size // q.denominator), len(low) - 1
        around = ordered.at(np.arange(middle - most, middle + most + 1))
        gaps = [int((around[most : most + k + 2] - around[most - k - 1 : most + 1]).max()) for k in range(most)]
        return np.array(gaps, np.int64)

    def check(self, records: Any) -> None:
        """Raise Invalid for plain records that are not valid."""
        if not isinstance(records, Places):
            answers.check_records(records)


@final
@frozen(eq=False)
class _Ordered:
    """Records by rank from 1; ranks beyond the ends stand for the ends of the grid."""

    points: Integers
    upto: Integers  # the number of records at each point or before
    last: int

    @property
    def size(self) -> int:
        return int(self.upto[-1]) if len(self.upto) else 0

    def at(self, ranks: NDArray[np.int64]) -> Integers:
        if not self.size:
            return np.where(ranks > 0, self.last, 0).astype(np.int64)
        found = self.points[np.searchsorted(self.upto, np.clip(ranks, 1, self.size))]
        return np.where(ranks < 1, 0, np.where(ranks > self.size, self.last, found)).astype(np.int64)
