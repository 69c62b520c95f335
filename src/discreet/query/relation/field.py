"""The inferred field of an expression: its kind, its range, whether it may be NULL, which values are public."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.query.relation.progression import EVERY, Progression
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind, Value

FURTHEST = Fraction(1e100)  # real numbers are clamped to this
WIDEST = Fraction(1e290)  # the largest magnitude of an expression: floats end at 10^308
WHOLE = Fraction(2**63 - 1)
FIRST, LAST = datetime.date.min, datetime.date.max  # dates and times are clamped to these: beyond them, engines raise errors


AS_THEY_ARE = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN)  # kinds whose values are read unchanged


@final
@frozen
class Interval:
    """The guaranteed range of a number; an end is known if it follows from declarations, and not only from the column's type."""

    low: Fraction
    high: Fraction
    low_known: bool = True
    high_known: bool = True

    @property
    def known(self) -> bool:
        """Whether both ends follow from declarations."""
        return self.low_known and self.high_known

    @property
    def magnitude(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def floats(self) -> Interval:
        """The same for the nearest floats. Rounding is monotone, so an interval with rounded ends contains every rounded value."""
        return Interval(Fraction(float(self.low)), Fraction(float(self.high)), self.low_known, self.high_known)

    def contains(self, value: Fraction | int) -> bool:
        """Whether a value may occur."""
        return self.low <= value <= self.high

    def __add__(self, other: Interval) -> Interval:
        known = self.low_known and other.low_known, self.high_known and other.high_known
        return Interval(self.low + other.low, self.high + other.high, *known)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low, self.high_known, self.low_known)

    def __mul__(self, other: Interval) -> Interval:
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        known = self.known and other.known
        return Interval(min(corners), max(corners), known, known)

    def reciprocal(self) -> Interval:
        """1/x, for an interval without 0."""
        return Interval(1 / self.high, 1 / self.low, self.known, self.known)

    def union(self, other: Interval) -> Interval:
        """Either of two values."""
        return Interval(
            min(self.low, other.low),
            max(self.high, other.high),
            self.low_known and other.low_known,
            self.high_known and other.high_known,
        )

    def least(self, other: Interval) -> Interval:
        """The smaller of two values: it is known to be below whichever known upper end there is."""
        low, high = min(self.low, other.low), min(self.high, other.high)
        return Interval(low, high, self.low_known and other.low_known, _known_at(high, self, other, "high"))

    def greatest(self, other: Interval) -> Interval:
        """The larger of two values."""
        low, high = max(self.low, other.low), max(self.high, other.high)
        return Interval(low, high, _known_at(low, self, other, "low"), self.high_known and other.high_known)

    def absolute(self) -> Interval:
        """|x|."""
        low = Fraction(0) if self.contains(0) else min(abs(self.low), abs(self.high))
        return Interval(low, self.magnitude, True, self.known)


def _known_at(end: Fraction, a: Interval, b: Interval, which: str) -> bool:
    return any(getattr(side, which) == end and getattr(side, f"{which}_known") for side in (a, b))


def exactly(value: Fraction | int) -> Interval:
    """The interval of one number."""
    return Interval(Fraction(value), Fraction(value))


_NATIVE = {
    Kind.INTEGER: Interval(-WHOLE - 1, WHOLE, False, False),
    Kind.REAL: Interval(-FURTHEST, FURTHEST, False, False).floats(),
    Kind.DATE: Interval(Fraction(FIRST.toordinal()), Fraction(LAST.toordinal()), False, False),
    Kind.TIMESTAMP: None,
    Kind.TEXT: None,
    Kind.BOOLEAN: None,
}


@final
@frozen
class Field:
    """The static facts about one column or expression. `kind` is None for a bare NULL."""

    kind: Kind | None
    range: Interval | None = None
    nullable: bool = False
    keys: tuple[Value | None, ...] | None = None  # the values that may occur; None among them is NULL
    unit: bool = False
    progression: Progression = EVERY  # where a whole number lies within its range

    @classmethod
    def of(cls, column: ColumnMetadata, unit: bool = False) -> Field:
        """The field of a declared column as it is read: clamped to its bounds, NaN read as NULL (write.py enforces this)."""
        if column.unique and column.kind in AS_THEY_ARE:  # read unchanged, so that it stays unique: declared bounds are not enforced
            return cls(column.kind, native(column.kind), True, column.keys, unit)
        bounds = None if column.bounds is None else Interval(*column.bounds)
        if bounds is not None and column.kind is Kind.REAL:
            bounds = bounds.floats()
        return cls(column.kind, bounds or native(column.kind), column.nullable or not column.kind.numeric, column.keys, unit)

    @property
    def public_keys(self) -> tuple[Value | None, ...] | None:
        """The values that may occur, where they are few and follow from declarations."""
        if self.keys is not None:
            return self.keys
        if self.kind is Kind.BOOLEAN:
            return (False, True)
        if self.kind is Kind.INTEGER and self.range is not None and self.range.known:
            listed = self.progression.within(self.range.low, self.range.high)
            return None if listed[MOST_LISTED : MOST_LISTED + 1] else tuple(listed)
        if self.kind is Kind.DATE and self.range is not None and self.range.known and self.range.high - self.range.low < MOST_LISTED:
            return tuple(datetime.date.fromordinal(day) for day in range(int(self.range.low), int(self.range.high) + 1))
        return None


MOST_LISTED = 10_000  # the most whole numbers, or days, within declared bounds that are listed as groups


def native(kind: Kind | None) -> Interval | None:
    """The range of a kind without declared bounds."""
    return None if kind is None else _NATIVE[kind]
