"""The SQL primitives on which exactness and totality rest, as each engine spells them.

Each primitive gives the same bits on every engine. Where engines differ, or where one raises and another gives NULL, the dialect removes
the difference, and tests/engines/contract pins it. Everything else is SQL that all engines share.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from discreet.tables.kind import Kind, Value

_FAR = 2**52  # floats from here on are integers
BEFORE_1970 = 62_135_596_800_000_000  # microseconds from the beginning of the year 1


class Dialect(ABC):
    """SQL text for the primitives."""

    __slots__ = ()

    name: str
    inline: str  # a keyword: do not materialise a WITH that is read twice
    once: str  # a keyword: compute a WITH only once
    joins_all: bool  # whether rows are joined with the counts of all units, or only of units above the limit
    hashes_units: bool  # whether units are grouped and hashed once for a sample, or every row is hashed, which takes no shuffle
    small: str  # a hint after SELECT: the table u is probably small
    types: tuple[str, str, str, str, str, str]  # boolean, integer, real, text, date, timestamp

    def type_name(self, kind: Kind) -> str:
        """The engine's type for a kind."""
        return self.types[_ORDER.index(kind)]

    # ── literals ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def identifier(self, name: str) -> str:
        """A name, quoted."""
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """A text literal."""
        return "'" + value.replace("'", "''") + "'"

    def literal(self, value: Value | None) -> str:
        """A literal of any kind."""
        match value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return str(value) if value >= 0 else f"({value})"
            case Fraction():
                return self.real(value)
            case str():
                return self.text(value)
            case datetime.datetime():
                return f"{self.type_name(Kind.TIMESTAMP)} '{value.isoformat(sep=' ')}'"
            case datetime.date():
                return f"DATE '{value.isoformat()}'"
        assert_never(value)

    def real(self, value: Fraction) -> str:
        """A real literal: the nearest float, spelled so that it is read back as the same float."""
        return f"CAST({float(value)!r} AS {self.type_name(Kind.REAL)})"

    def whole(self, text: str) -> str:
        """Cast a number that is an integer of 64 bits to that type."""
        return f"CAST({text} AS {self.type_name(Kind.INTEGER)})"

    # ── reals ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def is_number(self, real: str) -> str:
        """Whether a float is neither NaN nor NULL; the result may be NULL where the float is."""

    def floor(self, real: str) -> str:
        """⌊x⌋ of a float of magnitude at most 2^62, as a number that compares with floats and casts to an integer."""
        return f"FLOOR({real})"

    def floor_real(self, real: str) -> str:
        """⌊x⌋ of any float, as a float."""
        return f"FLOOR({real})"

    def ceil(self, real: str) -> str:
        """⌈x⌉ of a float of magnitude at most 2^62, as a number that compares with floats and casts to an integer."""
        return f"CEIL({real})"

    def times(self, a: str, b: str) -> str:
        """A product of floats that does not overflow; it must not raise on underflow."""
        return f"({a} * {b})"

    def scaled(self, real: str, factor: Fraction) -> str:
        """A product of a float and a positive constant that does not overflow; it must not raise on underflow."""
        return f"({real} * {self.real(factor)})"

    def over(self, a: str, b: str) -> str:
        """A quotient of floats that does not overflow and whose divisor is not 0; it must not raise on underflow."""
        return f"({a} / {b})"

    def exp(self, real: str) -> str:
        """e^x for x ≤ 200; it must not raise on underflow."""
        return f"EXP({real})"

    # ── integers ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def total(self, summand: str, most: int) -> str:
        """An aggregate: the exact sum of integers of magnitude at most `most`. It may exceed 64 bits; `shifted` brings it back."""
        return "COUNT(*)" if summand == "1" else f"SUM({summand})"  # engines count faster than they add ones

    @abstractmethod
    def shifted(self, total: str, bits: int) -> str:
        """An integer total divided by 2^bits towards 0 and clamped to ±2^62, as a 64-bit integer; 0 for NULL."""

    def isqrt(self, whole: str) -> str:
        """⌊√whole⌋ of an integer with 0 ≤ whole ≤ 2^50."""
        # √ is correctly rounded; below 2^50 it cannot round up to an integer above the true root
        return self.whole(self.floor(f"SQRT(CAST({whole} AS {self.type_name(Kind.REAL)}))"))

    @abstractmethod
    def floor_divide(self, whole: str, by: str) -> str:
        """⌊whole/by⌋ of integers with whole ≥ 0 and by > 0."""

    @abstractmethod
    def bits_set(self, masks: str) -> str:
        """An aggregate: how many of 62 bits are set in any of the masks, as a 64-bit integer."""

    def extreme(self, word: str, text: str, kind: Kind | None) -> str:
        """The aggregate MIN or MAX."""
        return f"{word}({text})"

    def same(self, a: str, b: str, kind: Kind | None) -> str:
        """Whether two values are equal or both NULL, in a form that engines join on quickly."""
        return f"{a} IS NOT DISTINCT FROM {b}"

    # ── order ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def hash_order(self, columns: Sequence[tuple[str, Kind | None]], salt: str) -> str:
        """A pseudorandom order of rows, fixed by the salt; equal rows and all engines give the same."""
        # NULL differs from every text, also from 'NULL'
        parts = [self.text(salt), *(f"COALESCE('=' || {self._spelled(text, kind)}, 'NULL')" for text, kind in columns)]
        return f"MD5({self._joined(parts)})"

    def _joined(self, parts: Sequence[str]) -> str:
        return " || '|' || ".join(parts)

    def _spelled(self, text: str, kind: Kind | None) -> str:
        if kind is Kind.REAL:  # the integer part suffices; engines spell floats differently
            clamped = f"CASE WHEN {text} > {_FAR} THEN {_FAR} WHEN {text} < -{_FAR} THEN -{_FAR} ELSE {text} END"
            text = self.whole(self.floor(f"({clamped})"))
        return f"CAST({text} AS {self.type_name(Kind.TEXT)})"

    # ── samples ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def in_sample(self, unit: str, kind: Kind | None, key: str, below: str) -> str:
        """Whether SHA-256 of a key and a unit's identifier, in hexadecimal digits, begins with less than these; the same on all engines."""
        return f"({self._sha256(f'{key} || {self.identifying(unit, kind)}')} < {self._digits(below)})"

    def identifying(self, unit: str, kind: Kind | None) -> str:
        """A unit's identifier as text; different ones have different texts. Floats have none that is the same on all engines."""
        return self.shown(unit) if kind in (Kind.DATE, Kind.TIMESTAMP) else f"CAST({unit} AS {self.type_name(Kind.TEXT)})"

    def _sha256(self, text: str) -> str:
        return f"SHA256({text})"

    def _digits(self, digits: str) -> str:
        return self.text(digits)

    # ── texts and dates ──────────────────────────────────────────────────────────────────────────────────────────────

    def like(self, text: str, pattern: str) -> str:
        """Whether a text matches a pattern in which only % and _ are special."""
        return f"({text} LIKE {self.text(pattern)})"

    def change_case(self, word: str, text: str) -> str:
        """LOWER or UPPER; outside ASCII the engine decides."""
        return f"{word}({text})"

    def parsed(self, text: str, kind: Kind) -> str:
        """A text parsed as a kind, NULL where it does not parse; only for engines that read files without types."""
        raise NotImplementedError(f"{self.name} reads no file without types")

    def part(self, name: str, moment: str) -> str:
        """A part of a date or timestamp as a 64-bit integer; weekdays count from Monday = 1, weeks are ISO's, seconds are whole."""
        found = f"EXTRACT({_PARTS.get(name, name.upper())} FROM {moment})"
        return self.whole(f"FLOOR({found})" if name == "second" else found)

    def start(self, name: str, moment: str) -> str:
        """The first day of the day, week, month, quarter or year of a date or timestamp."""
        return f"CAST(DATE_TRUNC('{name}', CAST({moment} AS {self.type_name(Kind.TIMESTAMP)})) AS DATE)"

    def time_start(self, name: str, moment: str) -> str:
        """The first moment of the hour or minute of a timestamp."""
        return f"DATE_TRUNC('{name}', {moment})"

    def day_number(self, date: str) -> str:
        """The days from the beginning of the year 1, the first being 1, as a 64-bit integer."""
        since = f"({date} - DATE '0001-01-01')"
        return f"({self.whole(since)} + 1)"

    @abstractmethod
    def microseconds(self, moment: str) -> str:
        """The microseconds of a timestamp since the beginning of the year 1, as a 64-bit integer."""

    def later_day(self, date: str, days: str) -> str:
        """A date so many days later."""
        return f"({date} + CAST({days} AS INTEGER))"

    def later_month(self, moment: str, months: int, kind: Kind) -> str:
        """A date or timestamp so many months later: the same day, or the last of a shorter month."""
        later = f"(CAST({moment} AS {self.type_name(Kind.TIMESTAMP)}) + INTERVAL '{months} months')"
        return later if kind is Kind.TIMESTAMP else f"CAST({later} AS DATE)"

    def later(self, moment: str, microseconds: int) -> str:
        """A timestamp so many microseconds later."""
        sign = -1 if microseconds < 0 else 1
        seconds, small = divmod(abs(microseconds), 10**6)
        days, rest = divmod(seconds, 86_400)
        return f"({moment} + INTERVAL '{sign * days} days {sign * rest} seconds {sign * small} microseconds')"

    def shown(self, moment: str) -> str:
        """A date or timestamp as ISO text: a space before the time, fractions of seconds without trailing zeros."""
        return f"CAST({moment} AS {self.type_name(Kind.TEXT)})"


_PARTS = {"weekday": "ISODOW", "day_of_year": "DOY"}
_ORDER = (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
