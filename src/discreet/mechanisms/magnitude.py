"""The magnitude of records of unknown range, as a power of two."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers

_SURE = Fraction(999, 1000)
_FURTHEST, _FAR = 900, Fraction(2) ** 1000  # powers of two well within the range of floats


def _exponent(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _FURTHEST:
        raise Invalid(f"lowest and highest must be whole numbers between −{_FURTHEST} and {_FURTHEST}")
    return value


@final
@frozen(kw_only=True)
class Magnitude(Mechanism[float]):
    """Release a power of two that few records exceed: the least of 2^lowest … 2^highest with about `allowed` records beyond it.

    One record for each unit; its absolute value is used, and a missing record is 0.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; the monotone case by Lyu, Su & Li 2017).
        The sparse vector technique with one hit, asked for each power "do at most `allowed` records exceed it?". Adding, removing or
        replacing one record changes each count by at most 1, and all in the same direction. So it is ε-DP under both adjacencies.

    Proof of the direction. A record of size r exceeds exactly the powers below r: its contribution to the counts is 1 up to some power and
        0 from there on. The difference of two such step functions has one sign.

    Accuracy.
        With probability `confidence`, at most `error` records exceed the released power; and it is at most the first power that no more
        than `allowed` − (`error` − `allowed`) records exceed. `allowed` is such that, with probability 0.999, no record exceeds that one.

    >>> sizes = [3.7] * 5000 + [1e9] * 10
    >>> Magnitude(epsilon=1).release(sizes)
    4.0
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    lowest: int = field(default=-64, converter=_exponent)
    highest: int = field(default=64, converter=_exponent)

    def __attrs_post_init__(self) -> None:
        if self.lowest > self.highest:
            raise Invalid("lowest must not be above highest")

    @property
    def questions(self) -> int:
        """The number of powers that are tested; the last one needs no test."""
        return self.highest - self.lowest

    @property
    def allowed(self) -> int:
        """About how many records may exceed the released power."""
        return math.ceil(self._test(0).error(_SURE, max(self.questions, 1)))

    def _test(self, allowed: int) -> SparseVector:
        return SparseVector(epsilon=self.epsilon, threshold=-allowed, monotone=True)

    @property
    def loss(self) -> Loss:
        return self._test(0).loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        exact.whole(size, "size")
        return self.allowed + self._test(0).error(confidence, max(self.questions, 1))

    def check(self, answer: Any) -> None:
        answers.check_records(answer)

    @np.errstate(all="ignore")
    def sample(self, answer: Any, bits: Bits) -> float:
        outcomes = self._test(self.allowed).sample((-self.beyond(answer)).tolist(), bits) if self.questions else []
        hit = next((place for place, outcome in enumerate(outcomes) if outcome.above), self.questions)
        return math.ldexp(1.0, self.lowest + hit)

    def beyond(self, answer: Any) -> Integers:
        """The number of records that exceed each power but the last."""
        sizes = np.sort(np.abs(read_records(answer)))
        powers = np.ldexp(1.0, np.arange(self.lowest, self.highest))
        return np.asarray(len(sizes) - np.searchsorted(sizes, powers, side="right"), np.int64)


@np.errstate(all="ignore")
def read_records(answer: Any) -> Floats:
    """Read records as floats, each by itself, clamped to 2^1000; missing records, and those not above −2^1000, are 0."""
    below = answers.floats(answer, -_FAR, Fraction(0))
    return answers.floats(answer, Fraction(0), _FAR) + np.where(below == -float(_FAR), 0.0, below)
