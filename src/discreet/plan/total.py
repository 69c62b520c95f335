"""The totals behind the statistics: which whole number each row adds, and on which grid."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias, final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bounding import Bounding, Reach, Single, moved
from discreet.query.relation.expr import Expr
from discreet.query.relation.field import Field, Interval
from discreet.tables.kind import Kind

Form: TypeAlias = Literal["rows", "present", "units", "distinct", "total", "plain", "squares"]
ALONE, WEIGHTED, SQUARES = 30, 20, 14  # bits of a value: fewer where it is weighted or squared, so that all products fit 64 bits
_FAR = Fraction(2) ** 500  # floats are not subnormal, nor near their end, as long as nothing is further or finer
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

    def is_whole(self, kind: Kind | None) -> bool:
        """Whether values of this kind lie on the grid as they are."""
        return kind is Kind.INTEGER and self.step == 1 and self.mid.denominator == 1

    @property
    def in_floats(self) -> bool:
        """Whether floats hold its middle and ends exactly.

        Lemma. Then a float x between the ends has |x − mid| ≤ half, however the difference is rounded, for rounding keeps order and ±half
        are floats. The step is a power of two, so that the position is a product without error, and |⌊(x − mid)/step + ½⌋| ≤ most.
        """
        ends = (self.mid - self.half, self.mid, self.mid + self.half)
        return all(-_FAR < end < _FAR and Fraction(float(end)) == end for end in ends) and 1 / _FAR < self.step < _FAR


def grid(field: Field, interval: Interval, fine: int, centred: bool) -> Grid:
    """The grid of a number within bounds, with |v| up to about 2^fine: whole numbers exactly where they fit, else a power of two.

    The middle is the same however fine the grid is, so that squares and totals have it in common.
    """
    half = (interval.high - interval.low) / 2 if centred else interval.magnitude
    middle = (interval.high + interval.low) / 2 if centred else Fraction(0)
    if field.kind is not Kind.INTEGER and half * 2**60 < interval.magnitude:
        raise Refused("these bounds are too close together for floats so far from 0: declare wider ones, or subtract their middle first")
    coarse, step = (_power(half, bits, field.kind is Kind.INTEGER) for bits in (SQUARES, fine))
    mid = math.floor(middle / coarse) * coarse
    return Grid(mid, step, max(math.ceil((interval.high - mid) / step), math.ceil((mid - interval.low) / step), 1))


def _power(half: Fraction, fine: int, whole: bool) -> Fraction:
    """The step of a grid: a power of two, for whole numbers at least 1."""
    step = Fraction(2) ** (_exponent(half / 2**fine) + 1)
    return max(step, Fraction(1)) if whole else step


def _exponent(value: Fraction) -> int:
    """⌊log₂ value⌋ or one more."""
    return value.numerator.bit_length() - value.denominator.bit_length()


@final
@frozen
class Stat:
    """One total per group: Σ weight·v over its rows, where v depends on the form.

    rows: 1. present: 1 where the value is there. total: the value on a centred grid. plain: on a grid around 0. squares: the square of the
    centred value. units: 1 for each unit. distinct: 1 for each different value, of those that count. `size` is how many rows there are,
    where that is declared and public: what a mean divides a total by.
    """

    form: Form
    expr: Expr | None = None
    grid: Grid | None = None
    size: int | None = None

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

    def write(self, text: str, kind: Kind | None, dialect: Dialect) -> str:
        """The whole number that a row adds, from its expression's column, never NULL, clamped whatever is believed of it."""
        if self.expr is None:
            return "1"
        if self.grid is None:
            return f"CASE WHEN {text} IS NOT NULL THEN 1 ELSE 0 END"
        value = f"COALESCE({on_grid(text, self.grid, kind, dialect)}, 0)"
        exact = self.grid.in_floats or self.grid.is_whole(kind)
        clamped = value if exact else f"LEAST(GREATEST({value}, {-self.grid.most}), {self.grid.most})"
        return f"({clamped} * {clamped})" if self.form == "squares" else clamped


def on_grid(text: str, grid: Grid, kind: Kind | None, dialect: Dialect, nudge: str = " + 0.5") -> str:
    """The position of a value on the grid, rounded to the nearest (or down, without the nudge), as a whole number; NULL stays NULL.

    The value is clamped to the grid's ends before it is cast or subtracted from, so that nothing overflows whatever it is. (Engines sort
    NaN above all numbers, so it counts as the upper end.)
    """
    whole, low, high = dialect.type_name(Kind.INTEGER), grid.mid - grid.half, grid.mid + grid.half
    if grid.is_whole(kind):
        inside = _clamp(text, dialect.literal(int(low)), dialect.literal(int(high)), whole)
        return f"({inside} - {dialect.literal(int(grid.mid))})"
    inside = _clamp(text, dialect.real(low), dialect.real(high), dialect.type_name(Kind.REAL))
    return dialect.whole(dialect.floor(f"{dialect.scaled(f'({inside} - {dialect.real(grid.mid)})', 1 / grid.step)}{nudge}"))


def _clamp(text: str, low: str, high: str, kind: str) -> str:
    return f"CASE WHEN {text} > {high} THEN {high} WHEN {text} < {low} THEN {low} ELSE CAST({text} AS {kind}) END"


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
