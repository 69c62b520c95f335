"""Guide tables: exact inversion of any discrete law, mostly with two random bytes a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Ball
from discreet.noise.bernoulli import threshold
from discreet.noise.bits import Bits, Words
from discreet.noise.law import Law
from discreet.noise.refine import Integers

_CELL = 48  # the guide is indexed by the upper 16 of 64 bits
_LAST = np.uint64(2**64 - 1)
_ASK = np.int32(-(2**31))  # guide entry of a cell that a threshold cuts


@final
@frozen(eq=False)
class GuideTable:
    """Inversion of a distribution function F on the integers: the least k with U < F(k).

    The thresholds ⌊2⁶⁴F(k)⌋ are certified. A 16-bit word picks a cell of width 2⁻¹⁶; if no threshold cuts the cell the answer is
    known, otherwise 48 more bits are compared with the thresholds, and only a tie, the first or the last of all words (each of
    probability 2⁻⁶⁴) is resolved with balls: the table ends where ⌊2⁶⁴F⌋ is 0 and 2⁶⁴ − 1, so no other word lies beyond it.
    """

    low: int
    thresholds: Words = field(repr=False)
    guide: NDArray[np.int32] = field(repr=False)
    cdf: Callable[[int], Ball] = field(repr=False)

    @classmethod
    def of(cls, cdf: Callable[[int], Ball], centre: int) -> GuideTable:
        """Tabulate F around a centre, outwards until the thresholds reach 0 and 2⁶⁴ − 1."""
        up, k = [], centre
        while (t := threshold(partial(cdf, k))) < 2**64 - 1:
            up.append(t)
            k += 1
        down, k = [], centre - 1
        while (t := threshold(partial(cdf, k))) > 0:
            down.append(t)
            k -= 1
        thresholds: Words = np.array(down[::-1] + up, np.uint64)
        if len(thresholds) >= 2**22:
            raise Invalid("the law is too wide for a guide table")
        starts: Words = np.arange(2**16, dtype=np.uint64) << np.uint64(_CELL)
        first = np.searchsorted(thresholds, starts, side="left")
        last = np.searchsorted(thresholds, starts | np.uint64(2**_CELL - 1), side="right")
        guide = (first + (centre - len(down))).astype(np.int32)
        guide[first != last] = _ASK
        guide[[0, -1]] = _ASK  # the words of all zeros and all ones may lie beyond the table
        return cls(centre - len(down), thresholds, guide, cdf)

    def sample(self, size: int, bits: Bits) -> Integers:
        """Draw independent samples."""
        short = np.empty(size, np.uint16)
        bits.fill(short)
        out = self.guide[short].astype(np.int64)
        asked = np.flatnonzero(out == _ASK)
        if len(asked):
            words = bits.words(len(asked)) >> np.uint64(16) | short[asked].astype(np.uint64) << np.uint64(_CELL)
            found = np.searchsorted(self.thresholds, words, side="right")
            ties = found != np.searchsorted(self.thresholds, words, side="left")
            out[asked] = found + self.low
            for i in np.flatnonzero(ties | (words == 0) | (words == _LAST)).tolist():
                out[asked[i]] = self._resolve(int(words[i]), bits)
        return out

    def _resolve(self, word: int, bits: Bits) -> int:
        """The least k with U < F(k), by bisection with balls; more bits are drawn while a ball overlaps the cell."""
        count = 64
        while True:
            with exact.precision(count + 64):
                found = self._search(exact.cell(word, count))
            if found is not None:
                return found
            word, count = word << 64 | bits.word(), count + 64

    def _search(self, u: Ball) -> int | None:
        low, high, step = self.low - 1, self.low + len(self.thresholds), 1
        for above in (True, False):  # widen the bracket until F(low) ≤ U < F(high)
            while True:
                side = self.cdf(high if above else low)
                if not (side > u or side < u):
                    return None
                if bool(side > u) == above:
                    break
                high, low = (high + step, low) if above else (high, low - step)
                step *= 2
        while high - low > 1:
            middle = (low + high) // 2
            side = self.cdf(middle)
            if side > u:
                high = middle
            elif side < u:
                low = middle
            else:
                return None
        return high


def _weights(weights: Iterable[exact.Number]) -> tuple[Fraction, ...]:
    read = tuple(exact.non_negative(weight, "a weight") for weight in weights)
    if not any(read):
        raise Invalid("a law needs at least one positive weight")
    return read


@final
@frozen
class Finite(Law):
    """A law with finitely many rational weights: P[X = low + i] = weights[i] / Σ weights.

    Theorem (inversion).
        The least k with U < F(k) has the distribution function F.
    """

    low: int
    weights: tuple[Fraction, ...] = field(converter=_weights)
    table: GuideTable = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        total = sum(self.weights)
        sums = [Fraction(0)]
        for weight in self.weights:
            sums.append(sums[-1] + weight / total)
        last = len(self.weights)

        def cdf(k: int) -> Ball:
            return exact.ball(sums[min(max(k - self.low + 1, 0), last)])

        object.__setattr__(self, "table", GuideTable.of(cdf, self.low))

    def mass(self, k: int) -> Ball:
        inside = 0 <= k - self.low < len(self.weights)
        return exact.ball(self.weights[k - self.low] / sum(self.weights) if inside else Fraction(0))

    def beyond(self, k: int) -> Ball:
        heavy = sum((w for i, w in enumerate(self.weights) if abs(self.low + i) >= k), Fraction(0))
        return exact.ball(heavy / sum(self.weights))

    def sample(self, size: int, bits: Bits) -> Integers:
        return self.table.sample(size, bits)
