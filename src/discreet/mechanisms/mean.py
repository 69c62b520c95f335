"""The mean of numbers of unknown range."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms import answer as answers
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.magnitude import Magnitude, read_records
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.value_grid import Places
from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers

_DIGITS = 20  # significant bits of the quartiles
_LEVELS = 2**30  # records are fixed-point numbers with this denominator, in units of half the interval
_COUNT, _QUARTILE, _WIDTH = Fraction(1, 10), Fraction(3, 20), Fraction(3, 20)  # shares of ε; the sum gets the rest


class MeanEstimate(NamedTuple):
    """A noisy mean, the interval to which records were clamped, the standard error of the noise alone, and a noisy record count."""

    value: float
    lower: float
    upper: float
    standard_error: float
    records: int


def _powers(value: int) -> int:
    read = exact.whole(value, "powers")
    if read > 200:
        raise Invalid("powers must be at most 200, for numbers from 2^−200 to 2^200")
    return read


@final
@frozen(kw_only=True)
class Mean(Mechanism[MeanEstimate]):
    """Release the mean of numbers of unknown range, one for each unit: find an interval, clamp, add, divide.

    Absolute values from 2^−powers to 2^powers are distinguished; doubling `powers` adds very little error. First private quartiles are
    computed on a floating-point grid (2²⁰ points for each power of two); then the distance from their midpoint that few records exceed,
    as a power of two; it is widened as far as the noise stays small compared with the sampling error; then a noisy sum is divided by a
    noisy count. A missing record is 0. Under replace-one adjacency the number of records is public and exact.

    Theorem (Karwa & Vadhan 2018 for the plan; parts: Smith 2011, Dwork et al. 2009, Dwork, McSherry, Nissim & Smith 2006).
        Count, two quartiles, width and sum are ε-DP in shares 0.1, 0.15 each, 0.15 and 0.45 of ε (without the count, 0.55), each for any
        outcome of those before; so the whole is ε-DP by composition. A clamped record changes the sum by at most half the interval, and
        by the whole interval where it is replaced.

    Accuracy.
        `error(confidence, size=n)` bounds the distance of the value from the mean of n records clamped to the released interval, as a
        fraction of half its width: (a + b)/(n − b), where the sum's noise is at most a half-widths and the count's at most b. And at most
        `clipped(confidence)` records lie outside the interval, whatever the data. The quartiles' ranks are off by at most 240/ε with
        probability 0.99 each (`quartile(q).error`), so for n well above 1000/ε the interval is about as wide as the data; below, it may be
        far too wide, and its released ends show it. A tail of fewer than about `clipped` records may be clipped, for the range is unknown.

    >>> salaries = [30_000 + 7 * i % 40_000 for i in range(20_000)]
    >>> found = Mean(epsilon=1).release(salaries)
    >>> abs(found.value - sum(salaries) / 20_000) < 500
    True
    >>> found.upper - found.lower < 10_000_000
    True
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    adjacency: Adjacency = "add/remove"
    powers: int = field(default=64, converter=_powers)

    def __attrs_post_init__(self) -> None:
        is_replacement(self.adjacency)

    # ── the parts ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def count(self) -> Laplace | None:
        """The mechanism of the record count; None where the count is public."""
        return None if is_replacement(self.adjacency) else Laplace(epsilon=self.epsilon * _COUNT, whole=True)

    def quartile(self, q: Fraction) -> Quantile:
        """The mechanism of a quartile, as a position on the floating-point grid."""
        last = 2 * (2 * self.powers + 1) * 2**_DIGITS
        return Quantile(epsilon=self.epsilon * _QUARTILE, q=q, lower=0, upper=last, step=1, adjacency=self.adjacency)

    def width(self, lowest: int) -> Magnitude:
        """The mechanism of the distance of records from the midpoint."""
        return Magnitude(epsilon=self.epsilon * _WIDTH, lowest=lowest, highest=self.powers + 2)

    @property
    def total(self) -> Laplace:
        """The mechanism of the sum, in levels."""
        share = 1 - 2 * _QUARTILE - _WIDTH - (0 if is_replacement(self.adjacency) else _COUNT)
        change = _LEVELS * (2 if is_replacement(self.adjacency) else 1)
        return Laplace(epsilon=self.epsilon * share, sensitivity=change, whole=True)

    @property
    def loss(self) -> Loss:
        parts = [self.quartile(Fraction(1, 4)).loss, self.quartile(Fraction(3, 4)).loss, self.width(0).loss, self.total.loss]
        return compose([*parts, *([self.count.loss] if self.count else [])])

    # ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, n = exact.confidence_level(confidence), exact.whole(size, "size")
        each = 1 - (1 - level) / 2
        sum_off = self.total.error(each if self.count else level) / _LEVELS
        count_off = self.count.error(each) if self.count else 0.0
        return 2.0 if n <= count_off else min(2.0, (sum_off + count_off) / (n - count_off) + 1 / _LEVELS)

    def clipped(self, confidence: Number = 0.95) -> float:
        """A bound on the number of records outside the interval."""
        return self.width(-self.powers - _DIGITS - 2).error(confidence)

    # ── releasing ────────────────────────────────────────────────────────────────────────────────────────────────────

    def check(self, answer: Any) -> None:
        answers.check_records(answer)

    @np.errstate(all="ignore")  # no record causes a NumPy error, also if the process turns warnings into errors
    def sample(self, answer: Any, bits: Bits) -> MeanEstimate:
        edge = 2.0**self.powers
        values = np.clip(read_records(answer), -edge, edge)
        noisy = self.count.sample(len(values), bits) if self.count else len(values)
        assert isinstance(noisy, int)
        size = max(noisy, 1)
        places = Places(*np.unique(self.place(values), return_counts=True))
        low, high = sorted(self.value(int(self.quartile(q).sample(places, bits))) for q in (Fraction(1, 4), Fraction(3, 4)))
        middle = float(low + (high - low) / 2)
        # no width is narrower than the quartiles, nor than the resolution of floats near the midpoint
        spread = max(high - low, Fraction(abs(middle)) / 2**_DIGITS, Fraction(1, 2**self.powers))
        lowest = min(_log2_up(spread) - 1, self.powers + 2)
        half = self.width(lowest).sample(values - middle, bits) * 2.0 ** self._widening(size)
        half = min(half, 2.0 ** (self.powers + 2))
        share = self.total.sample(int(self.levels(values, middle, half).sum()), bits) / (size * _LEVELS)
        assert isinstance(share, float)
        share = min(max(share, -1.0), 1.0)
        return MeanEstimate(middle + share * half, middle - half, middle + half, half * self._spread(share, size), size)

    def _widening(self, size: int) -> int:
        """The power of two by which the interval may grow while the noise stays small compared with the sampling error."""
        room = math.sqrt(size) * float(self.total.epsilon) / 8
        return min(max(math.floor(math.log2(room)), 0), 5) if room > 1 else 0

    def _spread(self, share: float, size: int) -> float:
        """The standard error of the noise, in units of half the interval."""
        scale, count = float(self.total.scale) / _LEVELS, float(self.count.scale) if self.count else 0.0
        return math.sqrt(2 * (scale**2 + (share * count) ** 2)) / size

    def place(self, values: Floats) -> Integers:
        """Numbers as positions on the floating-point grid, in order: sign, power of two, and the first 20 bits."""
        fraction, exponent = np.frexp(np.abs(values))
        power = np.clip(exponent + self.powers, 0, 2 * self.powers + 1).astype(np.int64)
        inside = np.floor((2 * fraction - 1) * 2**_DIGITS).astype(np.int64)
        size = np.where(exponent + self.powers < 0, 0, np.where(values == 0, 0, power * 2**_DIGITS + np.maximum(inside, 0)))
        return np.asarray(self._zero + np.sign(values).astype(np.int64) * np.minimum(size, self._zero))

    def value(self, place: int) -> Fraction:
        """The number at a position."""
        size = abs(place - self._zero)
        power, inside = divmod(size, 2**_DIGITS)
        found = (1 + Fraction(inside, 2**_DIGITS)) * Fraction(2) ** (power - self.powers - 1) if size else Fraction(0)
        return found if place > self._zero else -found

    @property
    def _zero(self) -> int:
        return int((2 * self.powers + 1) * 2**_DIGITS)

    def levels(self, values: Floats, middle: float, half: float) -> Integers:
        """Each record's signed distance from the midpoint, clamped to half the interval, in integer levels."""
        return np.asarray(np.rint(np.clip(values - middle, -half, half) / half * _LEVELS), np.int64)


def _log2_up(value: Fraction) -> int:
    """The least e with value ≤ 2^e, or one more."""
    return value.numerator.bit_length() - value.denominator.bit_length() + 1
