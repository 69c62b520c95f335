"""Totals: the whole number that each row adds, and its grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.query.grid import Grid, Precision, grid
from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.relation.field import Interval

Form: TypeAlias = Literal["rows", "present", "units", "distinct", "product"]
Floats: TypeAlias = NDArray[np.float64]


@final
@frozen
class Factor:
    """A value on its grid, raised to a power."""

    expr: Expr
    grid: Grid
    power: int = 1


@final
@frozen
class Total:
    """One total per group: Σ weight·v over its rows, where v depends on the form.

    rows: 1. present: 1 where the expression is not NULL. units: 1 for each unit with such a row (any row, without an expression).
    distinct: 1 for each distinct value of the expression. product: the product of the factors, 0 where one of them is NULL.
    """

    form: Form
    expr: Expr | None = None
    factors: tuple[Factor, ...] = ()

    @property
    def most(self) -> int:
        """The largest |v|."""
        return math.prod(factor.grid.most**factor.power for factor in self.factors)

    @property
    def step(self) -> Fraction:
        """The value that 1 stands for."""
        return math.prod((factor.grid.step**factor.power for factor in self.factors), start=Fraction(1))

    @property
    def signed(self) -> bool:
        """Whether a row may add a negative number."""
        return any(factor.power % 2 for factor in self.factors)

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The expressions it is computed from."""
        return (*(() if self.expr is None else (self.expr,)), *(factor.expr for factor in self.factors))


Cells: TypeAlias = Mapping[Total, Floats]  # each total of every group, in its own units


@final
@frozen
class Totals:
    """The totals that statistics may ask for, each on the grid of the question: the same request always gives the same total."""

    schema: Schema
    ranges: Mapping[Expr, Interval]  # of numbers that are summed or ranked, as declared or discovered
    precision: Precision  # of what rows add
    centred: bool  # whether sums are centred at the middle of their bounds
    one_row: bool  # whether each unit has one row at most
    declared_size: int | None = None  # the number of rows, where it is public
    clipped: frozenset[Expr] = frozenset()  # numbers that are clipped to exactly their ranges, for what that takes away is corrected
    _made: dict[Any, Total] = field(factory=dict, init=False, eq=False, repr=False)  # grids are made once

    def rows(self) -> Total:
        """The number of rows."""
        return Total("rows")

    def count(self, expr: Expr) -> Total:
        """The number of rows in which an expression is not NULL."""
        return Total("present", expr) if field_of(expr, self.schema).nullable else self.rows()

    def units(self, when: Expr | None = None) -> Total:
        """The number of units that have a row in which `when` is not NULL; of all units, without it."""
        if self.one_row:
            return self.rows() if when is None else self.count(when)
        return Total("units", when)

    def distinct(self, expr: Expr) -> Total:
        """The number of distinct values of an expression."""
        return Total("distinct", expr)

    def product(self, *factors: tuple[Expr, int], order: int | None = None) -> Total:
        """The sum of a product of centred values, each raised to a power: product((x, 1), (y, 2)) is Σ (x − mid)·(y − mid)².

        Totals that are combined into one moment have the `order` of the highest of them, so that all are of the same rounded values.
        """
        key = (factors, order)
        if key not in self._made:
            powers: dict[Expr, int] = {}
            for expr, power in factors:
                powers[expr] = powers.get(expr, 0) + power
            bits = self.precision.bits(order or sum(powers.values()))
            made = (Factor(expr, self._grid(expr, bits, True), power) for expr, power in powers.items())
            self._made[key] = Total("product", factors=tuple(sorted(made, key=repr)))
        return self._made[key]

    def step(self, expr: Expr, order: int) -> float:
        """The step of the grid that values are rounded to in a moment of this order."""
        return float(self.product((expr, 1), order=order).factors[0].grid.step)

    def plain(self, expr: Expr) -> Total:
        """The sum of values, not centred."""
        return Total("product", factors=(Factor(expr, self._grid(expr, self.precision.alone, False)),))

    def public_size(self, expr: Expr) -> int | None:
        """The number of rows an expression is not NULL in, where it is public."""
        return None if field_of(expr, self.schema).nullable else self.declared_size

    def range(self, expr: Expr) -> Interval:
        """The bounds of a number."""
        known = self.ranges.get(expr, field_of(expr, self.schema).range)
        assert known is not None  # checked when the question was made
        return known

    def middle(self, expr: Expr) -> float:
        """The point from which products are taken."""
        return float(self.product((expr, 1)).factors[0].grid.mid)

    def half(self, expr: Expr) -> float:
        """The largest distance of a value from the middle."""
        return float(self.product((expr, 1)).factors[0].grid.half)

    def _grid(self, expr: Expr, bits: int, centred: bool) -> Grid:
        interval = self.range(expr)
        made = grid(evolve(field_of(expr, self.schema), range=interval), interval, bits, centred)
        return evolve(made, inner=(interval.low, interval.high)) if expr in self.clipped else made
