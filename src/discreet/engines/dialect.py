"""How an engine spells the few primitives on which exactness and totality rest.

What is written here means the same on every engine, to the last bit; where engines differ, or raise where another gives NULL, the
difference is taken care of here and pinned by tests/engines/contract. Everything else is plain SQL that all engines share.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from discreet.tables.kind import Kind, Value

_FAR = 2**52  # floats from here on are whole


class Dialect(ABC):
    """SQL text for primitives."""

    __slots__ = ()

    name: str
    inline: str  # what keeps a WITH that is read twice from being written out in between
    once: str  # what makes the engine compute a WITH once
    joins_all: bool  # whether rows are joined with the counts of all units, or only of those beyond a limit
    small: str  # what says that the table u is likely to be small, after SELECT
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
        """A real literal: the nearest float, spelled so that it reads back the same."""
        return f"CAST({float(value)!r} AS {self.type_name(Kind.REAL)})"

    def whole(self, text: str) -> str:
        """A number that is whole and fits, as a 64-bit integer."""
        return f"CAST({text} AS {self.type_name(Kind.INTEGER)})"

    # ── reals ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def is_number(self, real: str) -> str:
        """Whether a float is neither NaN nor NULL; it may be NULL where the float is."""

    def floor(self, real: str) -> str:
        """⌊x⌋ of a float of at most 2^62, as a number that compares with floats and casts to an integer."""
        return f"FLOOR({real})"

    def floor_real(self, real: str) -> str:
        """⌊x⌋ of any float, as a float."""
        return f"FLOOR({real})"

    def ceil(self, real: str) -> str:
        """⌈x⌉ of a float of at most 2^62, as a number that compares with floats and casts to an integer."""
        return f"CEIL({real})"

    def times(self, a: str, b: str) -> str:
        """The product of floats that does not overflow; it must not fail where it underflows."""
        return f"({a} * {b})"

    def scaled(self, real: str, factor: Fraction) -> str:
        """The product of a float and a positive constant that does not overflow; it must not fail where it underflows."""
        return f"({real} * {self.real(factor)})"

    def over(self, a: str, b: str) -> str:
        """The quotient of floats that does not overflow and whose divisor is not 0; it must not fail where it underflows."""
        return f"({a} / {b})"

    def exp(self, real: str) -> str:
        """e^x for x ≤ 200; it must not fail where it underflows."""
        return f"EXP({real})"

    # ── whole numbers ────────────────────────────────────────────────────────────────────────────────────────────────

    def total(self, summand: str, most: int) -> str:
        """An aggregate: the exact sum of whole numbers of at most `most`, beyond 64 bits if need be; `shifted` brings it back."""
        return f"SUM({summand})"

    @abstractmethod
    def shifted(self, total: str, bits: int) -> str:
        """A large whole total divided by 2^bits towards 0, moved to ±2^62 if it lies beyond, as a 64-bit number; 0 for NULL."""

    def isqrt(self, whole: str) -> str:
        """⌊√whole⌋ for 0 ≤ whole ≤ 2^50."""
        # √ is correctly rounded; below 2^50 it cannot round up to a whole number that the true root does not reach
        return self.whole(self.floor(f"SQRT(CAST({whole} AS {self.type_name(Kind.REAL)}))"))

    @abstractmethod
    def floor_divide(self, whole: str, by: str) -> str:
        """⌊whole/by⌋ for whole ≥ 0 and by > 0."""

    @abstractmethod
    def bits_set(self, masks: str) -> str:
        """An aggregate: how many of 62 bits are set in any of the masks, as a 64-bit number."""

    def extreme(self, word: str, text: str, kind: Kind | None) -> str:
        """The aggregate MIN or MAX."""
        return f"{word}({text})"

    def same(self, a: str, b: str, kind: Kind | None) -> str:
        """Whether two values are equal or both missing, in a form by which tables can be joined quickly."""
        return f"{a} IS NOT DISTINCT FROM {b}"

    # ── order ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def hash_order(self, columns: Sequence[tuple[str, Kind | None]], salt: str) -> str:
        """A well-mixed order on rows, the same for equal rows and on all engines, fixed by the salt."""
        # what is missing is told apart from every text, also from 'NULL'
        parts = [self.text(salt), *(f"COALESCE('=' || {self._spelled(text, kind)}, 'NULL')" for text, kind in columns)]
        return f"MD5({self._joined(parts)})"

    def _joined(self, parts: Sequence[str]) -> str:
        return " || '|' || ".join(parts)

    def _spelled(self, text: str, kind: Kind | None) -> str:
        if kind is Kind.REAL:  # its whole part will do, for engines spell floats differently
            clamped = f"CASE WHEN {text} > {_FAR} THEN {_FAR} WHEN {text} < -{_FAR} THEN -{_FAR} ELSE {text} END"
            text = self.whole(self.floor(f"({clamped})"))
        return f"CAST({text} AS {self.type_name(Kind.TEXT)})"

    # ── texts and dates ──────────────────────────────────────────────────────────────────────────────────────────────

    def like(self, text: str, pattern: str) -> str:
        """Whether a text fits a pattern in which only % and _ are special."""
        return f"({text} LIKE {self.text(pattern)})"

    def change_case(self, word: str, text: str) -> str:
        """LOWER or UPPER; beyond ASCII as the engine does it."""
        return f"{word}({text})"

    def part(self, name: str, moment: str) -> str:
        """A part of a date or timestamp as a 64-bit number; weekdays from Monday, 1."""
        return self.whole(f"EXTRACT({'ISODOW' if name == 'weekday' else name.upper()} FROM {moment})")

    def start(self, name: str, moment: str) -> str:
        """The first day of the day, week, month, quarter or year."""
        return f"CAST(DATE_TRUNC('{name}', CAST({moment} AS {self.type_name(Kind.TIMESTAMP)})) AS DATE)"

    def shown(self, moment: str) -> str:
        """A date or timestamp as text: ISO, a space before the time, parts of seconds without trailing zeros."""
        return f"CAST({moment} AS {self.type_name(Kind.TEXT)})"


_ORDER = (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
