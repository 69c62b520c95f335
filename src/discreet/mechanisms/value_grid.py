"""Public grids on which quantiles are chosen: equal steps between bounds, or steps in proportion to size without any bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.mechanisms import answer as answers
from discreet.mechanisms.sensitivity import interval
from discreet.noise.refine import Integers

FINEST = 10**6  # the largest denominator of a quantile's level; scores of 10¹² records fit 64 bits
_POINTS = 20  # the default grid has between 2²⁰ and 2²¹ points
_FURTHEST = 10**300


class Places(NamedTuple):
    """Occupied grid points in ascending order, and the number of records at each."""

    points: Integers
    counts: Integers

    def part(self, records: slice) -> Places:
        """The points in a range of positions."""
        return Places(self.points[records], self.counts[records])


class PointGrid(ABC):
    """A public grid. Each value belongs to one point, and larger values to no smaller point."""

    @property
    @abstractmethod
    def points(self) -> int:
        """The number of points."""

    @abstractmethod
    def value(self, point: int) -> Fraction:
        """The number that a point stands for."""

    @abstractmethod
    def cell(self, point: int) -> tuple[Fraction, Fraction]:
        """The least and the greatest value that belong to a point (or their limits); values beyond the grid belong to its ends."""

    @abstractmethod
    def place(self, values: Any) -> Places:
        """The number of values at each grid point; a missing value is at the first."""

    def tidy(self, places: Places) -> Places:
        """Normalise points that an engine returns in any order: clamp them to the ends, set negative weights to 0, merge equal points."""
        points = np.clip(np.asarray(places.points, np.int64), 0, self.points - 1)
        weights = np.clip(np.asarray(places.counts, np.int64), 0, answers.LIMIT // FINEST)
        found, which = np.unique(points, return_inverse=True)
        total = np.zeros(len(found), np.int64)
        np.add.at(total, which, weights)
        return Places(found, total)


@final
@frozen
class ValueGrid(PointGrid):
    """A public grid of equal steps from lower to upper; the default step is a power of two. With `whole` all values are whole numbers."""

    lower: Fraction = field(repr=str)
    upper: Fraction = field(repr=str)
    step: Fraction = field(repr=str)
    whole: bool = False

    @classmethod
    def of(cls, lower: Number, upper: Number, step: Number | None, whole: bool = False) -> ValueGrid:
        """Read the bounds and the step."""
        low, high = interval(lower, upper)
        if max(abs(low), abs(high)) > _FURTHEST or high - low < 1 / Fraction(_FURTHEST):
            raise Invalid("lower and upper must lie within ±10^300, and at least 10^-300 apart")
        if step is None:
            width = high - low
            size = Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length() - _POINTS)
            return cls(low, high, size, whole)
        grid = cls(low, high, parameter.step(step), whole)
        if grid.points > 2**40:
            raise Invalid("the grid has more than 2^40 points: choose a larger step")
        return grid

    @property
    def points(self) -> int:
        return (self.upper - self.lower) // self.step + 1

    def value(self, point: int) -> Fraction:
        return self.lower + self.step * point

    def cell(self, point: int) -> tuple[Fraction, Fraction]:
        low, last = self.value(point), point == self.points - 1
        high = self.upper if last else low + self.step - self.whole
        return low, max(low, high)

    def place(self, values: Any) -> Places:
        """The number of values at each grid point, rounded down and clamped to the bounds; a missing value is the lower bound."""
        clean = answers.floats(values, self.lower, self.upper)
        low = float(self.lower)
        # a float division: a fixed rule maps each value to one point, which is all that privacy needs
        points = np.clip(np.floor((clean - low) / float(self.step)), 0, self.points - 1).astype(np.int64)
        return tallied(points, self.points)


@final
@frozen
class RelativeGrid(PointGrid):
    """A public grid without bounds: `steps` points for each doubling, as floats have, so that every size is resolved equally well.

    Position 0 is the number 0 and what is nearer to it than `finest`; from there the first 2·steps positions of each sign are `finest`
    apart, and each further block of `steps` positions has twice the step of the block before. Values are rounded towards 0. Positions run
    from `first` to `last`; values beyond, infinities included, belong to the ends. With `whole` all values are whole numbers, of which the
    first 2·steps are points themselves.

    >>> grid = RelativeGrid(finest=Fraction(1), steps=4, first=-24, last=24, whole=True)
    >>> [int(grid.value(24 + k)) for k in (-9, 0, 1, 7, 8, 9, 11, 12, 13)]
    [-10, 0, 1, 7, 8, 10, 14, 16, 20]
    >>> [tuple(map(int, grid.cell(24 + k))) for k in (-9, 7, 8)]
    [(-11, -10), (7, 7), (8, 9)]
    """

    finest: Fraction = field(repr=str)
    steps: int  # a power of two
    first: int
    last: int
    whole: bool = False

    @property
    def points(self) -> int:
        return self.last - self.first + 1

    def size(self, position: int) -> Fraction:
        """The magnitude of a position, counted from 0 outwards."""
        block, inside = divmod(position, self.steps)
        return self.finest * (inside if block == 0 else (self.steps + inside) * 2 ** (block - 1))

    def position(self, value: Fraction) -> int:
        """The position of a number, counted from 0 and with its sign; it may lie beyond the ends."""
        count = abs(value) // self.finest
        block = max(count.bit_length() - self.steps.bit_length(), 0)
        position = block * self.steps + (count >> block)
        return position if value >= 0 else -position

    def value(self, point: int) -> Fraction:
        position = point + self.first
        return self.size(position) if position >= 0 else -self.size(-position)

    def cell(self, point: int) -> tuple[Fraction, Fraction]:
        position = point + self.first
        inner, outer = self.size(abs(position)), self.size(abs(position) + 1) - self.whole
        if position == 0:
            return -outer, outer
        return (inner, outer) if position > 0 else (-outer, -inner)

    def place(self, values: Any) -> Places:
        """The number of values at each grid point; a missing value is at the first."""
        ends = self.value(0), self.value(self.points - 1)
        clean = answers.floats(values, *ends)
        points = [self.position(Fraction(value)) - self.first for value in clean.tolist()]
        return tallied(np.clip(np.array(points, np.int64), 0, self.points - 1), self.points)


def tallied(points: Integers, size: int) -> Places:
    """How often each point occurs."""
    if size > 8 * len(points) + 2**16:
        return Places(*np.unique(points, return_counts=True))
    counts = np.bincount(points, minlength=1)
    occupied = np.flatnonzero(counts)
    return Places(occupied, counts[occupied])
