"""The matrix C of a factor in exact fractions, and the longest sum of its columns by enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction

from discreet.mechanisms.streams.toeplitz_factor import UNIT, ToeplitzFactor


def coefficients(factor: ToeplitzFactor) -> list[Fraction]:
    """c₀, c₁, … exactly."""
    pairs = [(Fraction(w, 2**UNIT), Fraction(r, 2**UNIT)) for w, r in zip(factor.weights, factor.rates, strict=True)]
    return [sum((w * r**k for w, r in pairs), Fraction(0)) for k in range(factor.size)]


def through(c: list[Fraction], x: list[int]) -> list[Fraction]:
    return [sum((c[t - s] * x[s] for s in range(t + 1)), Fraction(0)) for t in range(len(x))]


def square(numbers: list[Fraction]) -> Fraction:
    return sum((one**2 for one in numbers), Fraction(0))


def worst(c: list[Fraction], k: int) -> Fraction:
    """The largest squared length of C·v over all v of at most k entries, each −1, 0 or 1."""
    size, best = len(c), Fraction(0)
    for steps in itertools.combinations(range(size), min(k, size)):
        for signs in itertools.product((-1, 0, 1), repeat=len(steps)):
            moved = [0] * size
            for step, sign in zip(steps, signs, strict=True):
                moved[step] = sign
            best = max(best, square(through(c, moved)))
    return best
