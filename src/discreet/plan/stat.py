"""The totals behind the statistics: which whole number each row adds, and on which grid."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias, final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bound import Bounding, Reach, Single, moved
from discreet.relation.expr import Expr, Schema, field_of
from discreet.relation.field import Field, Interval
from discreet.relation.write import write_expr
from discreet.tables.kind import Kind

Form: TypeAlias = Literal["rows", "present", "units", "distinct", "total", "plain", "squares"]
_FINE = 30  # bits of a value where rows are not weighted; with weights there are fewer, so that products fit 64 bits
_FINE_WEIGHTED = 20
_KEPT = 31  # bits of a sensitivity that are kept when totals are shifted down


@final
@frozen
class Grid:
    """Values on a grid fixed in advance: x is read as mid + v·step, with whole |v| ≤ most."""

    mid: Fraction
    step: Fraction
    most: int

    @property
    def half(self) -> Fraction:
        """Half the width of the bounds, as the grid has it."""
        return self.most * self.step


def grid(field: Field, interval: Interval, weighted: bool, centred: bool) -> Grid:
    """The grid of a number within bounds: whole numbers exactly where they fit, else the finest power of two that does."""
    fine = 2 ** (_FINE_WEIGHTED if weighted else _FINE)
    half = (interval.high - interval.low) / 2 if centred else interval.magnitude
    middle = (interval.high + interval.low) / 2 if centred else Fraction(0)
    if field.kind is Kind.INTEGER and half + 1 <= fine:
        mid = Fraction(math.floor(middle))
        return Grid(mid, Fraction(1), max(math.ceil(interval.high - mid), math.ceil(mid - interval.low), 1))
    step = Fraction(2) ** (_exponent(half / fine) + 1)
    mid = math.floor(middle / step) * step
    return Grid(mid, step, max(math.ceil((interval.high - mid) / step), math.ceil((mid - interval.low) / step), 1))


def _exponent(value: Fraction) -> int:
    """⌊log₂ value⌋ or one more."""
    return value.numerator.bit_length() - value.denominator.bit_length()


@final
@frozen
class Stat:
    """One total per group: Σ weight·v over its rows, where v depends on the form.

    rows: 1. present: 1 where the value is there. total: the value on a centred grid. plain: on a grid around 0. squares: the square of the
    centred value. units: 1 for each unit. distinct: 1 for each different value, of those that count.
    """

    form: Form
    expr: Expr | None = None
    grid: Grid | None = None

    @property
    def most(self) -> int:
        """The largest |v|."""
        if self.grid is None:
            return 1
        return self.grid.most**2 if self.form == "squares" else self.grid.most

    @property
    def step(self) -> Fraction:
        """What 1 stands for."""
        if self.grid is None:
            return Fraction(1)
        return self.grid.step**2 if self.form == "squares" else self.grid.step

    @property
    def signed(self) -> bool:
        """Whether rows may add less than nothing."""
        return self.form in ("total", "plain")

    def write(self, schema: Schema, dialect: Dialect) -> str:
        """The whole number that a row adds, never NULL, clamped whatever is believed of the expression."""
        if self.expr is None:
            return "1"
        text = write_expr(self.expr, schema, dialect)
        if self.grid is None:
            return f"CASE WHEN {text} IS NOT NULL THEN 1 ELSE 0 END"
        value = on_grid(text, self.grid, field_of(self.expr, schema).kind, dialect)
        most = self.grid.most
        clamped = f"CASE WHEN {value} > {most} THEN {most} WHEN {value} < {-most} THEN {-most} ELSE {value} END"
        squared = f"({clamped}) * ({clamped})" if self.form == "squares" else clamped
        return f"COALESCE({squared}, 0)"


def on_grid(text: str, grid: Grid, kind: Kind | None, dialect: Dialect) -> str:
    """The position of a value on the grid, rounded to the nearest, as a whole number."""
    whole = dialect.type_name(Kind.INTEGER)
    if kind is Kind.INTEGER and grid.step == 1:
        return f"(CAST({text} AS {whole}) - {dialect.literal(int(grid.mid))})"
    real = dialect.type_name(Kind.REAL)
    return f"CAST(FLOOR((CAST({text} AS {real}) - {dialect.real(grid.mid)}) * {dialect.real(1 / grid.step)} + 0.5) AS {whole})"


@final
@frozen
class Scaled:
    """A stat's totals as they leave the engine: divided by 2^bits, and how far they move between neighbours then."""

    bits: int
    l1: int
    l2: Fraction

    @classmethod
    def of(cls, stat: Stat, bounding: Bounding, adjacency: Adjacency, cells: int) -> Scaled:
        """Shift so that sensitivities keep 31 bits.

        Lemma. |⌊a/s⌋ − ⌊b/s⌋| ≤ |a − b|/s + 1, so each of the cells that move adds at most 1, in ℓ₂ together √cells.
        """
        reach = _reach(stat, bounding)
        found = moved(reach, adjacency, stat.signed)
        l1, l2 = found.l1 * stat.most, found.l2 * stat.most
        bits = max(0, l1.bit_length() - _KEPT)
        if not bits:
            return cls(0, l1, l2)
        return cls(bits, -(-l1 // 2**bits) + cells, l2 / 2**bits + math.isqrt(cells) + 1)


def _reach(stat: Stat, bounding: Bounding) -> Reach:
    match stat.form:
        case "units" if not isinstance(bounding, Single):
            return bounding.reach  # of Groups(…, per_group=1), see settle.bounding_for
        case "distinct":
            most = bounding.reach.l1 // bounding.one
            return Reach(most, Fraction(most))
        case _:
            return bounding.reach
