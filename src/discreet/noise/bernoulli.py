"""Bernoulli samples: the bits of a uniform compared with the bits of a probability, in integers only."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Ball
from discreet.noise.bits import Bits, Words


def threshold(chance: Callable[[], Ball], bits: int = 64) -> int:
    """⌊2^bits · p⌋, certified by raising the precision until all numbers in the ball have one floor."""
    working = bits + 64
    while True:
        with exact.precision(working):
            found = exact.floor(chance() * 2**bits)
        if found is not None:
            return found
        working *= 2


def resolve_below(chance: Callable[[], Ball], word: int, count: int, bits: Bits) -> bool:
    """Whether U < p for the uniform whose first `count` bits are `word`; draw more bits while the ball of p overlaps the cell."""
    while True:
        with exact.precision(count + 64):
            gap = chance() * 2**count - word  # U < p just when (the rest of U, in [0, 1)) < gap
            if gap >= 1:
                return True
            if gap <= 0:
                return False
        word, count = word << 64 | bits.word(), count + 64


def below(words: Words, thresholds: Words, chance: Callable[[int], Ball], bits: Bits) -> NDArray[np.bool_]:
    """Whether U < p for each word, given ⌊2⁶⁴p⌋; ties, of probability 2⁻⁶⁴, are resolved with the ball of p at that position."""
    result = words < thresholds
    for i in np.flatnonzero(words == thresholds).tolist():
        result[i] = resolve_below(lambda i=i: chance(i), int(words[i]), 64, bits)  # type: ignore[misc]
    return result


@final
@frozen
class Bernoulli:
    """The Bernoulli law: 1 with probability p, or with probability e^(−x).

    Theorem (bit comparison).
        U < p holds with probability p, and the first bits of U decide it unless they equal those of p.

    >>> Bernoulli(Fraction(1, 3)).chance_bounds()
    (0.3333333333333333, 0.33333333333333337)
    >>> Bernoulli.exp(2).chance_bounds()
    (0.13533528323661267, 0.1353352832366127)
    """

    p: Fraction | None
    exponent: Fraction | None = None

    def __attrs_post_init__(self) -> None:
        if self.p is not None and not 0 <= self.p <= 1:
            raise Invalid("p must lie between 0 and 1")
        if self.exponent is not None and self.exponent < 0:
            raise Invalid("the exponent x of e^(-x) must not be negative")

    @classmethod
    def exp(cls, x: exact.Number) -> Bernoulli:
        """The Bernoulli law with p = e^(−x)."""
        return cls(None, exact.non_negative(x, "x"))

    def chance(self) -> Ball:
        """p as a ball."""
        return exact.ball(self.p) if self.p is not None else (-exact.ball(self.exponent or Fraction(0))).exp()

    def chance_bounds(self) -> tuple[float, float]:
        """Floats that enclose p."""
        return exact.bounds(self.chance)

    def sample(self, size: int, bits: Bits) -> NDArray[np.bool_]:
        """Draw independent samples."""
        if self.p == 1 or self.exponent == 0:
            return np.ones(size, np.bool_)
        floor = np.uint64(self.p.numerator * 2**64 // self.p.denominator if self.p is not None else threshold(self.chance))
        return below(bits.words(size), np.full(size, floor), lambda _: self.chance(), bits)
