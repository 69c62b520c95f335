"""Power-of-two grids: a real answer f leaves as a multiple of a step that depends on the noise, never on the data.

f is released as round((f + Z)/step)·step, decided by refining with f known exactly. So the output is the rounding of the *ideal*
f + Z: rounding costs no sensitivity. (Rounding each of K answers before adding noise would add K·step.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers

_FINENESS = 16  # steps per scale, as a power of two: rounding adds less than 2⁻³⁵ to the variance's ratio


class Rounder(Protocol):
    """A law that can draw round(f + Z) for real f."""

    def around(self, offsets: Floats, offset: Callable[[int], Fraction], bits: Bits) -> Integers: ...


def step_exponent(scale: Fraction) -> int:
    """The e for which 2^e ≤ scale/2¹⁶ < 2^(e+1).

    >>> step_exponent(Fraction(1)), step_exponent(Fraction(3, 4)), step_exponent(Fraction(10**6))
    (-16, -17, 3)
    """
    e = scale.numerator.bit_length() - scale.denominator.bit_length()
    return (e if Fraction(2) ** e <= scale else e - 1) - _FINENESS


def step(scale: Fraction) -> Fraction:
    """The grid for noise of this scale."""
    return Fraction(2) ** step_exponent(scale)


def noisy(values: NDArray[Any], law: Callable[[Fraction], Rounder], scale: Fraction, bits: Bits) -> Floats:
    """Draw round(f + Z) on the grid of this scale, for noise Z of the family `law` and each number f: floats, int64 or fractions.

    Total: NaN counts as 0 and what lies beyond the edge as the edge; both map one value to one value, before the noise.
    """
    e = step_exponent(scale)
    rounder = law(scale / Fraction(2) ** e)
    edge = Fraction(2) ** min(1000, 900 + e)
    if values.dtype != np.float64:
        return _exactly([min(max(Fraction(v), -edge), edge) / Fraction(2) ** e for v in values.tolist()], rounder, e, bits)
    clamped = np.clip(np.nan_to_num(values, nan=0.0, posinf=float(edge), neginf=-float(edge)), -float(edge), float(edge))
    steps = np.ldexp(clamped, -e)
    whole = np.floor(steps)

    def offset(i: int) -> Fraction:
        return Fraction(float(clamped[i])) / Fraction(2) ** e - int(whole[i])

    noise = rounder.around(steps - whole, offset, bits)
    # the noise is a float exactly, so this is the exact sum, rounded once: a function of the sum alone
    return np.asarray(np.ldexp(whole + noise.astype(np.float64), e), np.float64)


def _exactly(steps: list[Fraction], rounder: Rounder, e: int, bits: Bits) -> Floats:
    """The same for numbers that are no floats, in whole numbers throughout."""
    whole = [math.floor(s) for s in steps]
    offsets = [s - w for s, w in zip(steps, whole, strict=True)]
    noise = rounder.around(np.array(offsets, np.float64), lambda i: offsets[i], bits)
    return np.array([float((w + n) * Fraction(2) ** e) for w, n in zip(whole, noise.tolist(), strict=True)])
