"""Certified scalars: balls refined until they are small, then rounded in the safe direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet import exact
from discreet.errors import Error
from discreet.exact import Ball, ball

_STEPS = (96, 160, 320, 640, 1280, 2560, 5120)
_TINY = Fraction(1, 2**1100)  # below the least float
_EXTREME = "a privacy bound could not be evaluated because its parameters are out of range: choose larger or smaller ones"
_WANTED = 62  # bits; a float keeps 53, a rational parameter 64


def _enclosure(function: Callable[[], Ball]) -> tuple[Fraction, Fraction | None]:
    """Evaluate at rising precision until the ball is small relative to its value; its ends, None for one beyond all floats.

    Ends that are too small or too large for floats are replaced first, because their expansions might not fit in memory.
    """
    best: tuple[Fraction, Fraction | None] = -1 / _TINY, None
    for bits in _STEPS:
        with exact.precision(bits):
            value = function()
            if value > 1 / ball(_TINY):
                return 1 / _TINY, None
            if value.is_finite() and abs(value) < 1 / ball(_TINY):
                low, high = value.lower(), value.upper()
                best = (
                    -_TINY if abs(low) < ball(_TINY) else exact.lower(low),
                    _TINY if abs(high) < ball(_TINY) else exact.upper(high),
                )
                if value.rel_accuracy_bits() >= _WANTED or abs(value) < ball(_TINY):
                    break
    return best


def float_above(function: Callable[[], Ball]) -> float:
    """A float ≥ the value, and the nearest such float where the balls allow."""
    high = _enclosure(function)[1]
    return math.inf if high is None else float_up_or_infinite(max(high, Fraction(0)))


def float_up_or_infinite(value: Fraction) -> float:
    """The least float ≥ a rational; ∞ if there is none."""
    try:
        return exact.float_up(value)
    except OverflowError:
        return math.inf


def roughly(value: Fraction) -> float:
    """A positive float near a rational, for heuristic choices."""
    return max(1e-290, min(1e290, float_up_or_infinite(value)))


def rational_above(function: Callable[[], Ball]) -> Fraction:
    """A rational of 64 bits that is ≥ the value."""
    high = _enclosure(function)[1]
    if high is None:
        raise Error(_EXTREME)
    return short_above(high)


def short_above(value: Fraction, bits: int = 64) -> Fraction:
    """Round up to a dyadic rational of about this many bits.

    >>> short_above(Fraction(1, 3), 4), short_above(Fraction(-1, 3), 4), short_above(Fraction(3), 4)
    (Fraction(11, 32), Fraction(-5, 16), Fraction(3, 1))
    """
    if value == 0:
        return Fraction(0)
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length() - bits
    step = Fraction(2) ** exponent
    return math.ceil(value / step) * step


def greatest(holds: Callable[[Fraction], bool], top: Fraction, bits: int = 56) -> Fraction:
    """Find a point close below the largest one up to `top` where a monotone condition holds; 0 if none is found.

    The search bisects in the logarithm first, because the result may be many orders of magnitude below `top`.

    >>> 0 < 2 - greatest(lambda x: x * x <= 2, Fraction(100)) ** 2 < 1e-14
    True
    """
    if holds(top):
        return top
    low, high = Fraction(0), short_above(top)
    for octave in range(11):  # 2⁻¹, 2⁻³, 2⁻⁷ … below the top
        probe = high / 2 ** (2**octave)
        if holds(probe):
            low = probe
            break
        high = probe
    if low == 0:
        return low
    while high > 2 * low:
        middle = low * 2 ** max(1, (_ratio_bits(high, low)) // 2)
        low, high = (middle, high) if holds(middle) else (low, middle)
    for _ in range(bits):
        middle = short_above((low + high) / 2)
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _ratio_bits(high: Fraction, low: Fraction) -> int:
    ratio = high / low
    return ratio.numerator.bit_length() - ratio.denominator.bit_length()


def least_float(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Find a float close above the least one where a monotone condition holds; ∞ if no float satisfies it."""
    if holds(low):
        return low
    while not holds(high):
        low, high = high, 2 * high
        if math.isinf(high):
            return high
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high or high - low <= 4e-16 * high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def golden(cost: Callable[[float], float], low: float, high: float) -> float:
    """The minimiser of a unimodal function, in plain floats: for choices of which each is sound."""
    ratio = (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = cost(a), cost(b)
    for _ in range(60):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = cost(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = cost(b)
    return (low + high) / 2


def log_inverse(delta: Fraction) -> float:
    """ln(1/δ) rounded up, also where δ underflows as a float."""
    return float_above(lambda: -ball(delta).log())


def upper_quantile(tail: Ball) -> Ball:
    """The z with P[N(0, 1) > z] = tail."""
    return ball(2).sqrt() * (2 * tail).erfcinv()
