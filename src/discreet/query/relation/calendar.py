"""Dates and timestamps: their parts, and truncation to a day, week, month, quarter or year."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation.field import FIRST, LAST, Field, Interval, native
from discreet.query.relation.number import Fields, Texts
from discreet.tables.kind import Kind

PARTS = {
    "year": (FIRST.year, LAST.year),
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "weekday": (1, 7),  # Monday is 1
    "hour": (0, 23),
    "minute": (0, 59),
}
STARTS = ("day", "week", "month", "quarter", "year")


def _times(fields: Sequence[Field]) -> Field:
    if fields[0].kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise Refused("a date or a timestamp is needed, and text is not cast: declare the column's type")
    return fields[0]


def part(name: str) -> Callable[[Sequence[Field]], Field]:
    """The range of a part: fixed, except that years follow the bounds of a date."""

    def rule(fields: Sequence[Field]) -> Field:
        time = _times(fields)
        if time.kind is Kind.DATE and name in ("hour", "minute"):
            raise Refused(f"a date has no {name}: use a timestamp column")
        low, high = (Fraction(end) for end in PARTS[name])
        known = name != "year"
        if name == "year" and time.range is not None and time.range.known:
            low, high = (Fraction(datetime.date.fromordinal(int(end)).year) for end in (time.range.low, time.range.high))
            known = True
        return Field(Kind.INTEGER, Interval(low, high, known, known), True)

    return rule


def start(fields: Sequence[Field]) -> Field:
    _times(fields)
    return Field(Kind.DATE, native(Kind.DATE), True)


def to_date(fields: Sequence[Field]) -> Field:
    time = _times(fields)
    return Field(Kind.DATE, time.range or native(Kind.DATE), time.nullable, time.keys if time.kind is Kind.DATE else None)


def write_part(name: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    return lambda dialect, texts, fields, out: dialect.part(name, texts[0])


def write_start(name: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    return lambda dialect, texts, fields, out: dialect.start(name, texts[0])


def write_to_date(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"CAST({texts[0]} AS DATE)"
