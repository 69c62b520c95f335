"""Exact numbers: rationals for parameters, balls (certified intervals) for everything transcendental.

A float parameter means its shortest decimal, so 0.1 is 1/10. Where a number must be rounded, the function's name gives the direction.
Balls are python-flint's Arb: a ball contains the true value at any working precision; the precision only decides its radius.
"""

from __future__ import annotations

import math
import operator
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeAlias, final

from flint import arb, ctx, fmpq, fmpz

from discreet.errors import Invalid

Ball: TypeAlias = Any  # flint.arb, which ships without types
Number: TypeAlias = "int | float | str | Fraction | Decimal"

_LONGEST = 5000  # decimal places of a parameter


def rational(value: Number, name: str = "value") -> Fraction:
    """Read a number exactly; a float is read as the decimal it prints as.

    >>> rational(0.1), rational("1e-9"), rational(3)
    (Fraction(1, 10), Fraction(1, 1000000000), Fraction(3, 1))
    """
    if type(value) is Fraction:
        return value
    if type(value) is int:
        return Fraction(value)
    if isinstance(value, bool) or value is None:
        raise Invalid(f"{name} must be a number")
    try:
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, Decimal | str):
            if "/" not in str(value) and abs(Decimal(value).adjusted()) > _LONGEST:
                raise Invalid(f"{name} is out of range: give a number between 1e-5000 and 1e5000")  # its expansion might not fit in memory
            return Fraction(value)
        return Fraction(repr(float(value)))
    except Invalid:
        raise
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        raise Invalid(f"{name} must be a finite number") from None


def positive(value: Number, name: str = "value") -> Fraction:
    """Read a number that must be above zero."""
    exact = rational(value, name)
    if exact.numerator <= 0:
        raise Invalid(f"{name} must be positive")
    return exact


def non_negative(value: Number, name: str = "value") -> Fraction:
    """Read a number that must not be below zero."""
    exact = rational(value, name)
    if exact.numerator < 0:
        raise Invalid(f"{name} must not be negative")
    return exact


def probability(value: Number, name: str = "value") -> Fraction:
    """Read a number in [0, 1)."""
    exact = rational(value, name)
    if not 0 <= exact < 1:
        raise Invalid(f"{name} must be at least 0 and below 1")
    return exact


def confidence_level(value: Number, name: str = "confidence") -> Fraction:
    """Read a number in (0, 1)."""
    exact = rational(value, name)
    if not 0 < exact < 1:
        raise Invalid(f"{name} must lie strictly between 0 and 1, for example 0.95")
    return exact


def miss(confidence: Fraction) -> float:
    """1 − confidence as a positive float."""
    return max(float(1 - confidence), 5e-324)


def whole(value: int, name: str = "value", least: int = 1) -> int:
    """Read an integer of at least `least`."""
    try:
        read = operator.index(value)
    except TypeError:
        read = least - 1
    if isinstance(value, bool) or read < least:
        raise Invalid(f"{name} must be a whole number, at least {least}")
    return read


def least_whole(holds: Callable[[int], bool], start: int = 1, above: int = -1) -> int:
    """The least integer greater than `above` from which on `holds` is true, by doubling and bisection.

    >>> least_whole(lambda n: n * n >= 50)
    8
    """
    low, high = above, start
    while not holds(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# ── directed rounding ────────────────────────────────────────────────────────────────────────────────────────────────


def float_up(value: Fraction | int) -> float:
    """The least float ≥ the value."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def float_down(value: Fraction | int) -> float:
    """The greatest float ≤ the value."""
    nearest = float(value)
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)


# ── the grid of charges ──────────────────────────────────────────────────────────────────────────────────────────────

GRID = 10**40  # stored charges are multiples of 1/GRID, so that their sums need no more digits


def grid_up(value: Fraction) -> Fraction:
    """The least multiple of 10⁻⁴⁰ that is ≥ the value.

    >>> grid_up(Fraction(1, 10)), grid_up(Fraction(1, 3)) > Fraction(1, 3)
    (Fraction(1, 10), True)
    """
    return Fraction(-(-value.numerator * GRID // value.denominator), GRID)


def grid_down(value: Fraction) -> Fraction:
    """The greatest multiple of 10⁻⁴⁰ that is ≤ the value."""
    return Fraction(value.numerator * GRID // value.denominator, GRID)


def short(value: Fraction) -> str:
    """Write a number exactly: as a decimal if it is a multiple of 10⁻⁴⁰, else as a fraction.

    >>> short(Fraction(1, 8)), short(Fraction(3)), short(Fraction(1, 3))
    ('0.125', '3', '1/3')
    """
    if GRID % value.denominator:
        return str(value)
    sign, scaled = "-" * (value < 0), abs(value.numerator) * (GRID // value.denominator)
    whole, part = divmod(scaled, GRID)
    return f"{sign}{whole}" + (f".{part:040d}".rstrip("0") if part else "")


@final
class DecimalFraction(Fraction):
    """A fraction that prints as a decimal where it is one.

    >>> DecimalFraction(201, 1000), f"{DecimalFraction(1, 3)}", DecimalFraction(1, 2) + 1
    (0.201, '1/3', Fraction(3, 2))
    """

    def __str__(self) -> str:
        return short(Fraction(self))

    __repr__ = __str__


# ── balls ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_lock = threading.RLock()  # the working precision is global to the process


def _fresh_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, where no process forks
    os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the working precision of balls, in bits, inside the block."""
    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> Ball:
    """The smallest ball around a rational at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def point(value: float) -> Ball:
    """A float as a ball, exactly."""
    return arb(value)


def cell(index: int, bits: int) -> Ball:
    """The ball [index, index + 1] / 2^bits, which contains a uniform whose first bits are `index`."""
    half = fmpz(2) ** (bits + 1)
    return arb(fmpq(2 * index + 1, half), fmpq(1, half))


def floor(value: Ball) -> int | None:
    """The floor shared by all numbers in a ball, or None if they have different floors."""
    unique = value.floor().unique_fmpz()
    return None if unique is None else int(unique)


def pi() -> Ball:
    """π at the working precision."""
    return arb.pi()


def _fraction(point: Ball) -> Fraction:
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def upper(value: Ball) -> Fraction:
    """A rational upper bound of the ball."""
    return _fraction(value.upper())


def lower(value: Ball) -> Fraction:
    """A rational lower bound of the ball."""
    return _fraction(value.lower())


def bounds(function: Callable[[], Ball], bits: int = 128) -> tuple[float, float]:
    """Evaluate in balls and return the enclosing floats."""
    with precision(bits):
        value = function()
        return float_down(lower(value)), float_up(upper(value))


def rational_up(function: Callable[[], Ball], bits: int = 64) -> Fraction:
    """Evaluate in balls and round up to a short rational."""
    with precision(bits):
        return upper(function())


def rational_down(function: Callable[[], Ball], bits: int = 64) -> Fraction:
    """Evaluate in balls and round down to a short rational."""
    with precision(bits):
        return lower(function())


def normal_cdf(x: Ball) -> Ball:
    """Φ(x), in the form without cancellation in either tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def working_precision() -> int:
    """The current working precision in bits."""
    return int(ctx.prec)


def between_zero_and(value: Ball) -> Ball:
    """A ball that contains every number from 0 to the value."""
    return value / 2 + arb(0, value.upper() / 2)
