"""Arithmetic progressions: the whole numbers that an expression can take, so that `FLOOR(x / 20) * 20` has its own groups and no others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import final

from attrs import frozen


@final
@frozen
class Progression:
    """The whole numbers start + k·step; a step of 0 is one number.

    >>> Progression(20, 5) + Progression(0, 3)
    Progression(step=20, start=8)
    """

    step: int = 1
    start: int = 0

    def __add__(self, other: Progression) -> Progression:
        return _of(math.gcd(self.step, other.step), self.start + other.start)

    def __neg__(self) -> Progression:
        return _of(self.step, -self.start)

    def __mul__(self, other: Progression) -> Progression:
        step = math.gcd(self.step * other.start, other.step * self.start, self.step * other.step)
        return _of(step, self.start * other.start)

    def union(self, other: Progression) -> Progression:
        """Numbers of either."""
        return _of(math.gcd(self.step, other.step, self.start - other.start), self.start)

    def absolute(self) -> Progression:
        """|x|: x, or −x."""
        return self.union(-self)

    def modulo(self, divisor: int) -> Progression:
        """The remainder, of either sign, differs from x by a multiple of the divisor."""
        return _of(math.gcd(self.step, divisor), self.start)

    def within(self, low: Fraction, high: Fraction) -> range:
        """Its numbers from low to high."""
        if not self.step:
            return range(self.start, self.start + (1 if low <= self.start <= high else 0))
        return range(math.ceil(low) + (self.start - math.ceil(low)) % self.step, math.floor(high) + 1, self.step)


EVERY = Progression()


def _of(step: int, start: int) -> Progression:
    return Progression(step, start % step if step else start)


def union(progressions: Iterable[Progression]) -> Progression:
    """Numbers of any of them.

    >>> union([Progression(0, 10), Progression(0, 30)])
    Progression(step=20, start=10)
    """
    first, *rest = progressions
    for other in rest:
        first = first.union(other)
    return first
