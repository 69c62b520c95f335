"""Columns as codes 0, 1, …: how the engine computes them, and which values they stand for."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.tables.kind import Kind, Value

Integers = NDArray[np.int64]
_GOLDEN = 0.6180339887498949
Grain: TypeAlias = Literal["day", "month", "year"]


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Value) -> str:
    """A value in SQL."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
    raise Invalid("a category must be text, a whole number, a date or true/false")


def evenly(codes: Integers) -> NDArray[np.float64]:
    """For each row a number from 0 to 1, spread evenly over the rows of the same code."""
    order = np.argsort(codes, kind="stable")
    turn = np.empty(len(codes))
    starts = np.searchsorted(codes[order], codes[order])
    turn[order] = ((np.arange(len(codes)) - starts) * _GOLDEN + 0.5) % 1
    return turn


@final
@frozen
class Listed:
    """A column with finitely many values, None among them for NULL; the last code, if there is `rest`, is for NULL and all others.

    Without `rest` a row with any other value has the code −1: it has no place in the table and is left out of it.
    With a grain, dates stand for the day, month or year that they begin.

    >>> print(Listed("dept", Kind.TEXT, ("er", "icu"), True).sql)
    CASE WHEN "dept" = 'er' THEN 0 WHEN "dept" = 'icu' THEN 1 ELSE 2 END
    >>> print(Listed("dept", Kind.TEXT, ("er", None), False).sql)
    CASE WHEN "dept" = 'er' THEN 0 WHEN "dept" IS NULL THEN 1 ELSE -1 END
    """

    name: str
    kind: Kind
    values: tuple[Value | None, ...]
    rest: bool
    grain: Grain | None = None

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.values) + self.rest

    @property
    def leaves_out(self) -> bool:
        """Whether rows may have no code."""
        return not self.rest

    @property
    def can_be_missing(self) -> bool:
        """Whether a code stands for no value."""
        return self.rest or None in self.values

    @property
    def sql(self) -> str:
        """The code of a row; never NULL."""
        column = quoted(self.name) if self.grain in (None, "day") else f"DATE_TRUNC('{self.grain}', {quoted(self.name)})"
        last = len(self.values) if self.rest else -1
        tests = [f"{column} IS NULL" if value is None else f"{column} = {literal(value)}" for value in self.values]
        cases = " ".join(f"WHEN {test} THEN {i}" for i, test in enumerate(tests))
        return f"CASE {cases} ELSE {last} END" if cases else "0"

    def decode(self, codes: Integers) -> list[Value | None]:
        """The values of codes."""
        values = [*self.values, *([None] if self.rest else [])]
        return [values[code] for code in codes.tolist()]

    def codes(self, wanted: Any) -> list[int]:
        """The codes of a value, of several, or of None for the rest."""
        if isinstance(wanted, tuple) and self.kind in (Kind.INTEGER, Kind.DATE):
            return self._between(wanted)
        several = wanted if isinstance(wanted, list | tuple | set | frozenset | range) else [wanted]
        found = []
        for value in several:
            if value in self.values:
                found.append(self.values.index(value))
            elif value is None and self.rest:
                found.append(len(self.values))
            else:
                raise Invalid(f"{self.name} has no such value in this table: its values are {_few(self.values)}")
        return found

    def _between(self, ends: tuple[Any, ...]) -> list[int]:
        """The codes of values between two ends."""
        try:
            low, high = ends
            found = [code for code, value in enumerate(self.values) if value is not None and low <= value <= high]
        except (TypeError, ValueError):
            raise Invalid(f"ask {self.name} for a value, for several in a list, or for a pair (low, high)") from None
        if not found:
            raise Invalid(f"{self.name} has no value between these ends: its values are {_few(self.values)}")
        return found

    def label(self, code: int) -> str:
        """A code as people read it."""
        if code >= len(self.values):
            return "(other)"
        value = self.values[code]
        return "(none)" if value is None else str(value)


@final
@frozen
class Binned:
    """A number between bounds, in bins of equal width; the last code, if there is `missing`, is for NULL.

    >>> Binned("age", Kind.INTEGER, Fraction(0), Fraction(120), 12, True).sql
    'COALESCE(GREATEST(LEAST(WIDTH_BUCKET("age", 0.0, 120.0, 12), 12), 1) - 1, 12)'
    """

    name: str
    kind: Kind
    low: Fraction
    high: Fraction  # not reached by whole numbers
    bins: int
    missing: bool

    @property
    def leaves_out(self) -> bool:
        """Whether rows may have no code: no, numbers beyond the bounds are clipped to them."""
        return False

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.bins + self.missing

    @property
    def can_be_missing(self) -> bool:
        """Whether a code stands for no value."""
        return self.missing

    @property
    def whole_numbers(self) -> bool:
        """Whether each bin is one whole number."""
        return self.kind is Kind.INTEGER and self.width == 1

    @property
    def width(self) -> Fraction:
        """How wide a bin is."""
        return (self.high - self.low) / self.bins

    @property
    def sql(self) -> str:
        """The code of a row; never NULL."""
        column = quoted(self.name)
        if self.whole_numbers:
            inside = f"LEAST(GREATEST({column} - {int(self.low)}, 0), {self.bins - 1})"
        else:
            bucket = f"WIDTH_BUCKET({column}, {float(self.low)!r}, {float(self.high)!r}, {self.bins})"
            inside = f"GREATEST(LEAST({bucket}, {self.bins}), 1) - 1"  # bounds that were found clamp nothing by themselves
        return f"COALESCE({inside}, {self.bins if self.missing else 0})"

    def decode(self, codes: Integers) -> list[Value | float | None]:
        """Values spread evenly over their bins."""
        values = float(self.low) + (codes + evenly(codes)) * float(self.width)
        if self.kind is Kind.INTEGER:
            whole = np.clip(np.floor(values), int(self.low), int(self.high) - 1).astype(np.int64).tolist()
            return [None if code == self.bins else value for code, value in zip(codes.tolist(), whole, strict=True)]
        return [None if code == self.bins else value for code, value in zip(codes.tolist(), values.tolist(), strict=True)]

    def codes(self, wanted: Any) -> list[int]:
        """The codes of a number, of several in a list, of None, or of all between (low, high); always whole bins."""
        if wanted is None and self.missing:
            return [self.bins]
        if isinstance(wanted, list | set | frozenset):
            return sorted({code for one in wanted for code in self.codes(one)})
        ends = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        if isinstance(wanted, range) and wanted.step == 1 and len(wanted):
            ends = (wanted.start, wanted.stop - 1)
        if len(ends) != 2 or not all(_is_number(end) for end in ends):
            raise Invalid(f"{self.name} is a number: ask for one, for several in a list, for a pair (low, high), or for None")
        if ends[0] > ends[1]:
            raise Invalid(f"the range asked of {self.name} is empty: give the lower end first")
        if ends[1] < self.low or ends[0] > self.high:
            raise Invalid(f"the range asked of {self.name} lies outside its bounds, {float(self.low):g} to {float(self.high):g}")
        first, last = (min(max(int((_exactly(end) - self.low) // self.width), 0), self.bins - 1) for end in ends)
        return list(range(first, last + 1))

    def label(self, code: int) -> str:
        """A code as people read it."""
        if code == self.bins:
            return "(none)"
        start = self.low + code * self.width
        return f"{float(start):g}" if self.whole_numbers else f"{float(start):g}–{float(start + self.width):g}"


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(value, bool)
    return real and math.isfinite(value)


def _exactly(value: Any) -> Fraction:
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def _few(values: tuple[Value | None, ...]) -> str:
    shown = ", ".join(repr(value) for value in values[:8])
    return shown + (", …" if len(values) > 8 else "")


def binned(name: str, kind: Kind, low: Fraction, high: Fraction, most: int, missing: bool) -> Binned:
    """At most so many bins; whole numbers each by itself where that fits, else in bins of whole width."""
    if kind is Kind.INTEGER and max(abs(low), abs(high)) > 2**53:
        raise Invalid(f"{name} has bounds beyond 2^53, where bins would not be exact: declare narrower ones, or leave it out")
    if kind is Kind.INTEGER:
        first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
        many = last - first + 1
        width = -(-many // most)
        bins = -(-many // width)
        return Binned(name, kind, Fraction(first), Fraction(first + bins * width), bins, missing)
    return Binned(name, kind, low, high, most, missing)


def dated(name: str, first: datetime.date, last: datetime.date, most: int, rest: bool) -> Listed:
    """Days, months or years between two dates, the finest that are few enough."""
    days = (last - first).days + 1
    if days <= most:
        values = [first + datetime.timedelta(days=i) for i in range(days)]
        return Listed(name, Kind.DATE, tuple(values), rest, "day")
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    if months <= most:
        numbers = [first.year * 12 + first.month - 1 + i for i in range(months)]
        return Listed(name, Kind.DATE, tuple(datetime.date(n // 12, n % 12 + 1, 1) for n in numbers), rest, "month")
    if last.year - first.year + 1 > most:
        raise Invalid(f"{name} spans more than {most} years: declare narrower bounds, or leave it out")
    return Listed(name, Kind.DATE, tuple(datetime.date(year, 1, 1) for year in range(first.year, last.year + 1)), rest, "year")
