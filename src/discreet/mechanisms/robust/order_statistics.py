"""Robust statistics, and how far each may be brought by changing so many records.

A statistic here is a weighted sum of order statistics: the median, the interquartile range, the trimmed mean. Such a statistic moves
little when few records change, unless the data lie badly; propose–test–release, smooth sensitivity and inverse sensitivity are three ways
to use that. All three ask one thing of the data: `reach`, the interval within which k changed records can bring the statistic.
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
from discreet.mechanisms.quantile import Places, ValueGrid
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.noise.refine import Integers

_POINTS = 64  # order statistics behind a trimmed mean
_FINEST = 10**6
_MOST = answers.LIMIT // _FINEST // 2  # records: ranks of more would not fit 64 bits


class LocalSensitivity(NamedTuple):
    """What a data-dependent mechanism needs of the data, in whole units: the statistic, where k changes can bring it, how far it jumps.

    `jumps[k]` is at least the local sensitivity of every data set k changes away. It does not fall with k, and between neighbours
    `jumps[k]` of the one is at most `jumps[k + 1]` of the other; the same holds for how far `low` and `high` reach.
    """

    value: int
    low: Integers
    high: Integers
    at_distance: Integers


@final
@frozen(kw_only=True)
class Robust:
    """A weighted sum of quantiles of records that are clamped to a grid; the unit of all whole numbers is `unit`.

    The q-quantile of n records is the ⌈qn⌉-th smallest, the lower end of the grid if there is none.

    Theorem (reach).
        k records more or less bring the ⌈qn⌉-th smallest of n at most to the ⌈qn + k·max(q, 1 − q)⌉-th, and at least to the
        ⌈qn − k·max(q, 1 − q)⌉-th, ranks below 1 and beyond n standing for the ends of the grid; k replaced records to the (⌈qn⌉ ± k)-th,
        and no further if some were added or removed instead (as where a replaced unit has no value, or is filtered out).
        Between neighbours ranks move by one, so what k changes reach here, k + 1 reach there. The local sensitivity of whatever is k
        changes away is at most what k + 1 reach; for the median under add/remove it is just that.

    Proof. Adding at the top moves the rank up by q, removing at the bottom by 1 − q, and ⌈·⌉ of the sum is the rank. x(i) ≤ x′(i + 1) and
        x(i) ≤ x′(i) for x′ with one record more or less: q + max(q, 1 − q) ≥ 1, and max(q, 1 − q) ≥ q.

    >>> typical = Robust.median(lower=0, upper=8, step=1)
    >>> found = typical.local([1, 2, 4, 7, 8], 2)
    >>> found.value, found.low.tolist(), found.high.tolist(), found.at_distance.tolist()
    (4, [4, 2, 2, 1], [4, 4, 7, 7], [2, 5, 6])
    """

    grid: ValueGrid
    levels: tuple[tuple[Fraction, int], ...] = field(repr=False)  # which quantile, and its weight
    parts: int  # so many units are one step of the grid
    least: int = field(repr=False)
    most: int = field(repr=False)
    name: str
    adjacency: Adjacency

    # ── ready-made ───────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def quantile(
        cls, q: Number, *, lower: Number, upper: Number, step: Number | None = None, adjacency: Adjacency = "add/remove"
    ) -> Robust:
        """The value below which a share q lies."""
        share = exact.confidence_level(q, "q")
        if share.denominator > _FINEST:
            raise Invalid("q must have at most six decimals")
        return cls._of(f"{float(share):.4g}-quantile", [(share, 1)], 1, lower, upper, step, adjacency)

    @classmethod
    def median(cls, *, lower: Number, upper: Number, step: Number | None = None, adjacency: Adjacency = "add/remove") -> Robust:
        """The lower median."""
        return cls._of("median", [(Fraction(1, 2), 1)], 1, lower, upper, step, adjacency)

    @classmethod
    def interquartile_range(
        cls, *, lower: Number, upper: Number, step: Number | None = None, adjacency: Adjacency = "add/remove"
    ) -> Robust:
        """How far the middle half of the records is spread."""
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
        """The mean without a share `trim` at each end, as the mean of 64 quantiles evenly spaced between."""
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
        """What 1 stands for."""
        return self.grid.step / self.parts

    @property
    def origin(self) -> Fraction:
        """What 0 stands for: the lower end of the grid, or nothing where weights cancel."""
        return self.grid.lower * Fraction(sum(weight for _, weight in self.levels), self.parts)

    def to_value(self, units: int) -> float:
        """A number of units as people read it, kept within what is possible."""
        return float(self.origin + self.unit * min(max(units, self.least), self.most))

    # ── looking at records ───────────────────────────────────────────────────────────────────────────────────────────

    def local(self, records: Any, changes: int) -> LocalSensitivity:
        """The statistic of records (or of `Places`), and its reach by up to so many changes and one more."""
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
        # one quantile of replaced records: the widest gap over k + 2 neighbouring ranks around the middle (Nissim et al. 2007)
        q = self.levels[0][0]
        middle, most = -(-q.numerator * ordered.size // q.denominator), len(low) - 1
        around = ordered.at(np.arange(middle - most, middle + most + 1))
        gaps = [int((around[most : most + k + 2] - around[most - k - 1 : most + 1]).max()) for k in range(most)]
        return np.array(gaps, np.int64)

    def check(self, records: Any) -> None:
        """Report a slip in plain records."""
        if not isinstance(records, Places):
            answers.check_records(records)


@final
@frozen(eq=False)
class _Ordered:
    """Records in order, by rank from 1; ranks beyond the ends stand for the ends of the grid."""

    points: Integers
    upto: Integers  # how many records lie at each point or before
    last: int

    @property
    def size(self) -> int:
        return int(self.upto[-1]) if len(self.upto) else 0

    def at(self, ranks: NDArray[np.int64]) -> Integers:
        if not self.size:
            return np.where(ranks > 0, self.last, 0).astype(np.int64)
        found = self.points[np.searchsorted(self.upto, np.clip(ranks, 1, self.size))]
        return np.where(ranks < 1, 0, np.where(ranks > self.size, self.last, found)).astype(np.int64)
