"""Power-of-two grids: a real answer f leaves as a multiple of a step that depends on the noise, never on the data.

f is released as round((f + Z)/step)·step, decided by refining with f known exactly. So the output is the rounding of the *ideal*
f + Z: rounding costs no sensitivity. (Rounding each of K answers before adding noise would add K·step.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

import numpy as np

from discreet.errors import Invalid
from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers

_FINENESS = 16  # steps per scale, as a power of two: rounding adds less than 2⁻³⁵ to the variance's ratio
_REACH = 2.0**61  # answers further than this many steps from 0 are moved to this edge, which no 1-Lipschitz map can see


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


def noisy(values: Floats, law: Callable[[Fraction], Rounder], scale: Fraction, bits: Bits) -> Floats:
    """Draw round(f + Z) on the grid of this scale, for noise Z of the family `law` and each float f.

    Total: NaN counts as 0 and ±inf as the edge; both are maps of one value to one value, done before the noise.
    """
    e = step_exponent(scale)
    edge = math.ldexp(_REACH, e)
    # 2^(61 + e) is a float for every scale the laws accept with 64-bit samples
    clamped = np.clip(np.nan_to_num(values, nan=0.0, posinf=edge, neginf=-edge), -edge, edge)
    steps = np.ldexp(clamped, -e)
    whole = np.floor(steps)
    rounder = law(scale / Fraction(2) ** e)

    def offset(i: int) -> Fraction:
        return Fraction(float(clamped[i])) / Fraction(2) ** e - int(whole[i])

    noise = rounder.around(steps - whole, offset, bits)
    return np.ldexp((whole.astype(np.int64) + noise).astype(np.float64), e)


def check_reach(scale: Fraction) -> None:
    """Refuse scales whose grid does not fit the floats."""
    if not -900 <= step_exponent(scale) <= 900:
        raise Invalid("the noise scale is outside what floats can hold: choose another unit for the answers")
