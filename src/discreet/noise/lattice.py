"""Power-of-two grids: a real answer f is released as a multiple of a step that depends on the noise, never on the data.

f is released as round((f + Z)/step)·step, decided by refining with f known exactly. So the output is the rounding of the *ideal*
f + Z, and rounding adds nothing to the sensitivity. (Rounding each of K answers before adding noise would add K·step.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits
from discreet.noise.refine import BLOCK, Floats, Integers

_BLOCK = 2 * BLOCK  # the number of samples that the Gaussian draws in one pass
_FINENESS = 16  # steps per scale, as a power of two: rounding adds less than 2⁻³⁵ to the variance's ratio


class Rounder(Protocol):
    """A law that can draw round(f + Z) for real f."""

    def around(self, offsets: Floats, offset: Callable[[int], Fraction], bits: Bits) -> Integers: ...
    def draw(self, offset: float, exactly: Callable[[], Fraction], bits: Bits) -> int: ...


def step_exponent(scale: Fraction) -> int:
    """The e for which 2^e ≤ scale/2¹⁶ < 2^(e+1).

    >>> step_exponent(Fraction(1)), step_exponent(Fraction(3, 4)), step_exponent(Fraction(10**6))
    (-16, -17, 3)
    """
    e = scale.numerator.bit_length() - scale.denominator.bit_length()
    return (e if Fraction(2) ** e <= scale else e - 1) - _FINENESS


def step(scale: Fraction) -> Fraction:
    """The grid step for noise of this scale."""
    return Fraction(2) ** step_exponent(scale)


def noisy(values: NDArray[Any], law: Callable[[Fraction], Rounder], scale: Fraction, bits: Bits) -> Floats:
    """Draw round(f + Z) on the grid of this scale, for noise Z of the family `law` and each number f: floats, int64 or fractions.

    Total: NaN is replaced by 0, and values are clamped to ±`_edge`. Both are functions of one value alone, before the noise.
    """
    e = step_exponent(scale)
    rounder, edge = law(scale / Fraction(2) ** e), _edge(e)
    if values.dtype != np.float64:
        return _exactly([min(max(Fraction(v), -edge), edge) / Fraction(2) ** e for v in values.tolist()], rounder, e, bits)
    out = np.empty(len(values))
    for start in range(0, len(values), _BLOCK):
        part = values[start : start + _BLOCK]
        if not np.abs(part).max() <= float(edge):  # too far, or NaN
            part = np.clip(np.nan_to_num(part, nan=0.0), -float(edge), float(edge))
        _block(part, rounder, e, bits, out[start : start + _BLOCK])
    return out


def _block(values: Floats, rounder: Rounder, e: int, bits: Bits, out: Floats) -> None:
    steps = values * 2.0**-e
    whole = np.floor(steps)

    def offset(i: int) -> Fraction:
        return Fraction(float(values[i])) / Fraction(2) ** e - int(whole[i])

    np.subtract(steps, whole, out=steps)
    noise = rounder.around(steps, offset, bits)
    # the noise is a float exactly, so this is the exact sum, rounded once: a function of the sum alone
    np.add(whole, noise, out=whole)
    np.multiply(whole, 2.0**e, out=out)


def noisy_one(value: float, law: Callable[[Fraction], Rounder], scale: Fraction, bits: Bits) -> float:
    """The same for one float, without the overhead of arrays."""
    e, rounder, edge = _grid(law, scale)
    clamped = 0.0 if value != value else min(max(value, -edge), edge)
    steps = math.ldexp(clamped, -e)
    whole = math.floor(steps)
    noise = rounder.draw(steps - whole, lambda: Fraction(clamped) / Fraction(2) ** e - whole, bits)
    return math.ldexp(float(whole + noise), e)


@lru_cache(maxsize=4096)
def _grid(law: Callable[[Fraction], Rounder], scale: Fraction) -> tuple[int, Rounder, float]:
    e = step_exponent(scale)
    return e, law(scale / Fraction(2) ** e), float(_edge(e))


def _edge(e: int) -> Fraction:
    """Answers are clamped to ± this: beyond all practical values, and within the range of floats."""
    return Fraction(2) ** min(1000, 900 + e)


def _exactly(steps: list[Fraction], rounder: Rounder, e: int, bits: Bits) -> Floats:
    """The same for numbers that are not floats, in integers throughout."""
    whole = [math.floor(s) for s in steps]
    offsets = [s - w for s, w in zip(steps, whole, strict=True)]
    noise = rounder.around(np.array(offsets, np.float64), lambda i: offsets[i], bits)
    return np.array([float((w + n) * Fraction(2) ** e) for w, n in zip(whole, noise.tolist(), strict=True)])
