"""Grids for numbers: values become whole numbers on a grid that is fixed before anything is read."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.errors import Refused
from discreet.query.relation.field import Field, Interval
from discreet.tables.kind import Kind

MIDDLE_BITS = 14  # the middle of a grid lies on this coarse grid, so that grids of all precisions share it
_FAR = Fraction(2) ** 500  # between 1/this and this, floats are neither subnormal nor near overflow


@final
@frozen
class Grid:
    """Values on a grid fixed in advance: x is read as mid + v·step, with whole |v| ≤ most."""

    mid: Fraction
    step: Fraction
    most: int
    inner: tuple[Fraction, Fraction] | None = None  # values are clamped to these first, where they are narrower than the grid

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The ends to which values are clamped."""
        return (self.mid - self.half, self.mid + self.half) if self.inner is None else self.inner

    @property
    def half(self) -> Fraction:
        """Half the width of the grid."""
        return self.most * self.step

    def is_whole(self, kind: Kind | None) -> bool:
        """Whether values of this kind lie on the grid unrounded."""
        return kind is Kind.INTEGER and self.step == 1 and self.mid.denominator == 1

    @property
    def in_floats(self) -> bool:
        """Whether floats represent its middle and ends exactly.

        Lemma. Then a float x between the ends has |x − mid| ≤ half, however the difference is rounded, for rounding is monotone and ±half
        are floats. The step is a power of two, so the position is a product without error, and |⌊(x − mid)/step + ½⌋| ≤ most.
        """
        ends = (self.mid - self.half, self.mid, self.mid + self.half, *self.ends)
        return all(-_FAR < end < _FAR and Fraction(float(end)) == end for end in ends) and 1 / _FAR < self.step < _FAR


@final
@frozen
class Precision:
    """How many bits of a value a total keeps: alone, and for a whole product of several values.

    What a row adds must fit 64 bits, times its weight of 20 bits where rows carry weights, and summed over a unit's rows in a group before
    that where contributions are bounded by groups.
    """

    alone: int
    product: int

    def bits(self, factors: int) -> int:
        """The bits of each value in a product of so many."""
        return self.alone if factors == 1 else self.product // factors


UNWEIGHTED, WEIGHTED, SUMMED = Precision(30, 60), Precision(21, 42), Precision(20, 28)


def grid(field: Field, interval: Interval, bits: int, centred: bool) -> Grid:
    """The grid of a number within bounds, with |v| up to about 2^bits: whole numbers exactly where they fit, else steps of a power of two.

    The middle does not depend on the number of bits, so totals, squares and products of a column share it.
    """
    half = (interval.high - interval.low) / 2 if centred else interval.magnitude
    middle = (interval.high + interval.low) / 2 if centred else Fraction(0)
    if field.kind is not Kind.INTEGER and half * 2**60 < interval.magnitude:
        raise Refused("these bounds are too close together for floats of this size: declare wider bounds, or subtract their middle first")
    coarse, step = (_power(half, each, field.kind is Kind.INTEGER) for each in (MIDDLE_BITS, bits))
    mid = math.floor(middle / coarse) * coarse
    return Grid(mid, step, max(math.ceil((interval.high - mid) / step), math.ceil((mid - interval.low) / step), 1))


def _power(half: Fraction, bits: int, whole: bool) -> Fraction:
    """The step of a grid: a power of two, for whole numbers at least 1."""
    step = Fraction(2) ** (_exponent(half / 2**bits) + 1)
    return max(step, Fraction(1)) if whole else step


def _exponent(value: Fraction) -> int:
    """⌊log₂ value⌋ or one more."""
    return value.numerator.bit_length() - value.denominator.bit_length()
