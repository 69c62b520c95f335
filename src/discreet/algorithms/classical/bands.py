"""BLR for thresholds, exactly and in polynomial time: small databases are counted as lattice paths in a band, not enumerated.

A small database of m rows over an ordered domain is a nondecreasing path G₁ ≤ … ≤ G_N = m, where G_v is its number of rows at or below v.
Its level is at most ℓ if and only if |m·F_v − n·G_v| ≤ m·ℓ for all v, where F_v is the number of records at or below v: the path stays in a
band around the data's own.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.blr import SmallRelease
from discreet.algorithms.classical.linear import small_databases
from discreet.algorithms.classical.small import Integers
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.noise import refine
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniform

_MOST_CELLS = 4 * 10**6  # points of a path's grid: domain times rows
_MOST_ROWS = 2**20


def _whole_counts(counts: Any) -> Integers:
    return np.asarray(counts, np.int64)


@final
@frozen(eq=False)
class Bands:
    """Count and index the paths of m rows in the bands around a data set.

    >>> bands = Bands([2, 0, 2], 2)                  # the path itself, one row at each end, is at level 0
    >>> [bands.count(level) for level in range(5)]
    [1, 1, 6, 6, 6]
    >>> bands.first, bands.path(0, 0).tolist()
    (0, [1, 0, 1])
    """

    histogram: Integers = field(converter=_whole_counts)
    rows: int
    _counts: dict[int, int] = field(factory=dict, init=False, repr=False)

    @property
    def _below(self) -> Integers:
        """m·F_v."""
        return np.asarray(self.rows * np.cumsum(self.histogram), np.int64)

    @property
    def first(self) -> int:
        """The lowest level that occurs: m·F_v/n rounded to the nearest integer is a nondecreasing path, and no path is nearer."""
        records = int(self.histogram.sum())
        if not records:
            return 0
        over = self._below % records
        return -(-int(np.minimum(over, records - over).max()) // self.rows)

    def count(self, level: int) -> int:
        """The number of small databases of at most this level."""
        if level not in self._counts:
            self._counts[level] = (self._sums(level, keep=False) or [[0]])[-1][-1]
        return self._counts[level]

    def path(self, level: int, place: int) -> Integers:
        """The small database with this index, from 0, among those of at most this level, as a histogram."""
        low, _ = self._band(level)
        at, sums, path = self.rows, self._sums(level, keep=True), [self.rows]
        for v in range(len(low) - 2, -1, -1):
            sum_here = sums[v]  # paths up to v that end at low[v], or at most one higher, …
            at = min(at, low[v] + len(sum_here) - 1)
            step = bisect_right(sum_here, place, 0, at - low[v] + 1)
            place -= sum_here[step - 1] if step else 0
            at = low[v] + step
            path.append(at)
        return np.array([path[-1], *(b - a for a, b in pairwise(path[::-1]))], np.int64)

    def _band(self, level: int) -> tuple[list[int], list[int]]:
        """The lowest and the highest G_v of the band."""
        records, below = int(self.histogram.sum()), self._below
        low, high = np.zeros_like(below), np.full_like(below, self.rows)
        if records:
            wide = self.rows * min(level, records)
            low = np.maximum(-((wide - below) // records), low)
            high = np.minimum((below + wide) // records, high)
        low[-1] = high[-1] = self.rows
        return low.tolist(), high.tolist()

    def _sums(self, level: int, keep: bool) -> list[list[int]]:
        """For each v, or only the last: running sums of the number of paths ending at each point of the band; empty if there are none."""
        low, high = self._band(level)
        if any(a > b for a, b in zip(low, high, strict=True)):
            return []
        sums = [list(range(1, high[0] - low[0] + 2))]  # one path to each first point
        for v in range(1, len(low)):
            before = sums[-1]
            ends = before[low[v] - low[v - 1] : high[v] - low[v - 1] + 1]
            ends += [before[-1]] * (high[v] - low[v] + 1 - len(ends))
            if not keep:
                sums.clear()
            sums.append(list(accumulate(ends)))
        return sums


@final
@frozen(kw_only=True, eq=False)
class BLRThresholds(SmallRelease):
    """Release a database of m rows whose distribution function is near the data's: BLR for all thresholds of an ordered domain.

    The distribution is that of `BLR` with `Queries.thresholds`, over all C(N+m−1, m) multisets, without enumerating them. Intervals are
    differences of thresholds, so their errors are at most twice as large.

    Theorem (Blum, Ligett & Roth 2008).
        As for `BLR`: ε-DP with range at most ε for the choice, ε in all.

    Proof of the draw. Let r = ε/2 and C_ℓ the number of small databases of level at most ℓ.
        Drawing ℓ ≥ 0 with probability ∝ C_ℓ·e^(−rℓ) and then one of those C_ℓ gives y with probability ∝ Σ_{ℓ ≥ level(y)} e^(−rℓ), which is
        ∝ e^(−r·level(y)). To draw ℓ without all C_ℓ, let a be the lowest level that occurs, s = max(1, ⌊1/r⌋), J = ⌈ln C_∞/(rs)⌉, and W_j =
        C_{a+sj+s−1} for j < J, W_J = C_∞, so that W bounds C from above in steps. i ∝ (W_i − W_{i−1})·e^(−rsi) plus a geometric G in ℓ = a
        + si + G has ℓ ∝ W·e^(−rℓ); it is accepted with probability C_ℓ/W, and otherwise drawn again. All integers are exact, and the
        e^(−rsi) are balls refined until the draw is decided.

    Cost.
        J levels are counted first, a public number, at most 2·ln C_∞ + 1, and one in each draw; a level takes O(N·band) additions. A draw
        is accepted with probability at least 1/(e + 1): shifted by one step the bound lies below C, which loses a factor e^(rs) ≤ e (none
        if s = 1, for then W = C), and beyond step J there is at most C_∞·e^(−rsJ) ≤ 1 times the true sum, which is at least that of one
        database of level a. So the running time depends slightly on the data: through the bands' widths and the number of rejected draws.

    Accuracy.
        `error(confidence, size=n)`: with this confidence every count has an error of at most n/(2m) (the best: quantiles) + 1 (rounding) +
        (2/ε)·ln(#multisets/β) or less (the choice) + |n̂ − n|.

    >>> from discreet.algorithms.classical.linear import Queries
    >>> cdf = BLRThresholds(epsilon=5, domain=100, rows=20)
    >>> small = cdf.release([100] * 100)
    >>> bool(abs(small.answers(Queries.thresholds(100)) - 100 * np.arange(1, 101)).max() < cdf.error(0.999, 10**4))
    True
    """

    domain: int = field(converter=arguments.domain)

    def __attrs_post_init__(self) -> None:
        _ = self.rate
        if self.domain * self.rows > _MOST_CELLS or self.rows > _MOST_ROWS:
            raise Invalid("domain times rows must be at most 4·10^6: use fewer rows or a coarser domain")

    @property
    def size(self) -> int:
        """The number of small databases to choose from."""
        return small_databases(self.domain, self.rows)

    @property
    def stride(self) -> int:
        """s: the number of levels in one step of the bound."""
        return max(1, math.floor(1 / self.rate))

    @property
    def counted(self) -> int:
        """J: the number of levels counted before the first draw."""
        return math.ceil(exact.rational_up(lambda: exact.ball(self.size).log() / exact.ball(self.rate * self.stride)))

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return exact.whole(size, "size") / (2 * self.rows) + self._error(confidence, self.size)

    def bound(self, bands: Bands) -> list[int]:
        """W₀ … W_J."""
        steps = [bands.count(bands.first + self.stride * (j + 1) - 1) for j in range(self.counted)]
        return [*steps, self.size]

    def choose(self, counts: Integers, bits: Bits) -> Integers:
        bands = Bands(counts, self.rows)
        bound = self.bound(bands)
        rises = [bound[0], *(b - a for a, b in pairwise(bound))]
        while True:
            beyond = self.stride * heavy(rises, self.rate * self.stride, bits) + geometric(self.rate, bits)
            level = bands.first + beyond
            place = uniform(bound[min(beyond // self.stride, self.counted)], bits)
            if place < bands.count(level):  # accepted with probability C/W, and then uniform on 0 … C − 1
                return bands.path(level, place)


def heavy(weights: Sequence[int], rate: Fraction, bits: Bits) -> int:
    """Draw i with probability ∝ weights[i]·e^(−rate·i), exactly; weights are whole numbers of any size."""

    def decide(u: Ball) -> int | None:
        terms = [(i, w * (-exact.ball(rate) * i).exp()) for i, w in enumerate(map(exact.ball, weights)) if weights[i]]
        total = sum(term for _, term in terms)
        below: Any = 0
        for i, term in terms:
            after = below + term
            if u * total < after or i == terms[-1][0]:
                return i if u * total > below or i == terms[0][0] else None
            below = after
        return None

    return refine.resolve(decide, [(bits.word(), 64)], bits)


def geometric(rate: Fraction, bits: Bits) -> int:
    """Draw k ≥ 0 with probability ∝ e^(−rate·k): the integer part of an exponential variable."""
    return refine.resolve(lambda u: exact.floor(-u.log() / exact.ball(rate)), [(bits.word(), 64)], bits)
