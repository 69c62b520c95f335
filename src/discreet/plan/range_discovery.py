"""Discover the bounds of a number from one noisy histogram for both ends, so that they cannot cross."""

from __future__ import annotations

from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.loss.loss import Loss, compose
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bounding import Rows, Single, between_neighbours
from discreet.query.relation.expr import Expr
from discreet.tables.cells_found import cells_found

LOWEST, HIGHEST = -20, 40  # powers of two: smaller values are treated as 0, larger ones are clamped
TOP = HIGHEST - LOWEST
PLACES = 2 * TOP + 1  # one for each power of two of each sign, and one for 0
_ONE = 2**20  # weights of a unit's rows are fixed-point with this denominator
_SURE = Fraction(9995, 10000)  # the probability that noise alone shows no cell
_FOR_TOTAL = Fraction(1, 6)  # of ε, for the number of all units
_MOST_ROWS = 0.5  # the share of units that must lie in the range, with all doubts
_TINY = 1000  # a bound of the other sign that is this much smaller is noise beside zeros
_NEAR_ZERO = 4  # a bound that is this much smaller than the other, with the same sign, becomes 0


@final
@frozen
class RangeDiscovery:
    """Discover the open ends of a number's range: the powers of two between which counts are clear of noise.

    Each unit spreads a weight of 1 over its rows, so one noisy histogram over all powers of two has sensitivity 1. The number of all units
    is counted too: a range that may hold less than half of them is not believed.
    """

    expr: Expr
    name: str
    ends: tuple[str, ...]  # the open ones of "low" and "high"
    one_row: bool  # whether no unit has more than one row
    epsilon: Fraction
    adjacency: Adjacency
    delta: Fraction = Fraction(0)

    @property
    def bounding(self) -> Single | Rows:
        """How a unit's rows are weighted."""
        return Single() if self.one_row else Rows(1, one=_ONE)

    @property
    def mechanism(self) -> Laplace:
        return self._laplace(self.epsilon * (1 - _FOR_TOTAL))

    @property
    def counting(self) -> Laplace:
        """The noise on the number of all units, which tells whether the cells that were seen hold most of them."""
        return self._laplace(self.epsilon * _FOR_TOTAL)

    def _laplace(self, epsilon: Fraction) -> Laplace:
        both = between_neighbours(self.bounding.sensitivity, self.adjacency, signed=False)
        return Laplace(epsilon=epsilon, sensitivity=both.l1, whole=True)

    @property
    def loss(self) -> Loss:
        return compose([self.mechanism.loss, self.counting.loss])

    @property
    def clear(self) -> float:
        """The number of units in one cell from which on it is clear of noise."""
        return self.mechanism.error(_SURE, PLACES) / self.bounding.one

    def read(self, counts: NDArray[np.int64], total: int) -> dict[str, Fraction] | None:
        """The open ends, from noisy counts of cells and of all; None if nothing is clear of noise, or too little of all."""
        one, sd = self.bounding.one, 2**0.5 * float(self.mechanism.scale) / self.bounding.one
        cells = cells_found(counts / one, self.clear, sd, far=1)
        if cells is None:
            return None
        inside = float(counts[cells[0] : cells[1] + 1].sum()) / one
        if inside - 2 * sd * (cells[1] - cells[0] + 1) ** 0.5 < _MOST_ROWS * (total / one + 2 * 2**0.5 * float(self.counting.scale) / one):
            return None  # too many units may lie elsewhere
        low, high = _value(cells[0] - TOP, -1), _value(cells[1] - TOP, 1)
        if 0 < low <= high / _NEAR_ZERO or -high / _TINY < low < 0:
            low = Fraction(0)
        if low / _NEAR_ZERO <= high < 0 or 0 < high < -low / _TINY:
            high = Fraction(0)
        if low == high:
            high = low + 1
        return {end: value for end, value in (("low", low), ("high", high)) if end in self.ends}

    def __str__(self) -> str:
        which = " and ".join("a lower" if end == "low" else "an upper" for end in self.ends)
        return f"discover {which} bound of {self.name}: powers of two, from a histogram of units (seen from about {self.clear:,.0f} on)"


def _value(step: int, outward: int) -> Fraction:
    """The outer end of a cell: cell s > 0 holds values from 2^(s − 1 + LOWEST) to 2^(s + LOWEST), and cell 0 those nearer to 0."""
    if step == 0:
        return Fraction(0)
    sign = 1 if step > 0 else -1
    return sign * Fraction(2) ** (abs(step) + LOWEST - (0 if sign == outward else 1))
