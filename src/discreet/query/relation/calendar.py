"""Dates and timestamps: their parts, the periods they lie in, and days and months added to them.

A period (day, week, month, …) has a number, counted from the year 1, so that the difference of two dates in any unit is a difference of
whole numbers with known ranges. What would leave the years 1 to 9999 is clamped to their ends, because engines raise errors beyond.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.engines.dialect import Dialect
from discreet.errors import Refused, WrongType
from discreet.query.relation.field import FIRST, LAST, MOST_LISTED, Field, Interval, native
from discreet.query.relation.number import Fields, Texts
from discreet.query.relation.values import later_month, number_of, start_of
from discreet.tables.kind import Kind

PARTS = {
    "year": (FIRST.year, LAST.year),
    "isoyear": (FIRST.year, LAST.year),  # the year of the ISO week
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),  # ISO: from Monday, week 1 has the year's first Thursday
    "day": (1, 31),
    "day_of_year": (1, 366),
    "weekday": (1, 7),  # Monday is 1
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}
OF_TIMES = ("hour", "minute", "second")
STARTS = ("day", "week", "month", "quarter", "year")
TIME_STARTS = ("hour", "minute")
NUMBERS = ("day", "week", "month", "quarter", "calendar")
TIME_NUMBERS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "microsecond": 1}
_PAST = {name: datetime.timedelta(days=days) for name, days in zip(STARTS, (1, 7, 31, 92, 366), strict=True)}  # always in the next period
MOST_DAYS, MOST_MONTHS = 10**6, 32_000  # that are added: further back than that, PostgreSQL has no dates


def _times(fields: Sequence[Field]) -> Field:
    if fields[0].kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise WrongType("a date or a timestamp is needed, and text is not cast: declare the column's type")
    return fields[0]


def _needs_time(time: Field, name: str) -> None:
    if time.kind is Kind.DATE:
        raise Refused(f"a date has no {name}: use a timestamp column")


def _days(time: Field) -> Interval:
    """The range of a date, as day numbers; that of a timestamp is not declared."""
    found = time.range or native(Kind.DATE)
    assert found is not None
    return found


def _through(time: Field, convert: Callable[[datetime.date], int]) -> Interval:
    """The range of a monotone function of the date."""
    days = _days(time)
    low, high = (Fraction(convert(datetime.date.fromordinal(int(end)))) for end in (days.low, days.high))
    return Interval(low, high, days.low_known, days.high_known)


def part(name: str) -> Callable[[Sequence[Field]], Field]:
    """The range of a part: fixed, except that years follow the bounds of a date."""

    def rule(fields: Sequence[Field]) -> Field:
        time = _times(fields)
        if name in OF_TIMES:
            _needs_time(time, name)
        low, high = (Fraction(end) for end in PARTS[name])
        within = Interval(low, high)
        if name == "year":
            within = _through(time, lambda day: day.year)
        elif name == "isoyear":
            within = _through(time, lambda day: day.isocalendar().year)
        return Field(Kind.INTEGER, within, True)

    return rule


def number(name: str) -> Callable[[Sequence[Field]], Field]:
    """The number of the period that a date lies in."""

    def rule(fields: Sequence[Field]) -> Field:
        return Field(Kind.INTEGER, _through(_times(fields), lambda day: number_of(name, day)), True)

    return rule


def time_number(name: str) -> Callable[[Sequence[Field]], Field]:
    """The number of hours, minutes, seconds or microseconds since the year 1."""

    def rule(fields: Sequence[Field]) -> Field:
        _needs_time(_times(fields), name)
        last = number_of(name, datetime.datetime.max)
        return Field(Kind.INTEGER, Interval(Fraction(0), Fraction(last), False, False), True)

    return rule


# ── periods ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def start(name: str) -> Callable[[Sequence[Field]], Field]:
    """The first day of a period; all first days are public where the bounds of the date are declared."""

    def rule(fields: Sequence[Field]) -> Field:
        time = _times(fields)
        within = _through(time, lambda day: start_of(name, day).toordinal())
        listed = starts(name, int(within.low), int(within.high)) if within.known else None
        return Field(Kind.DATE, within, True, listed)

    return rule


@lru_cache(maxsize=64)
def starts(name: str, low: int, high: int) -> tuple[datetime.date, ...] | None:
    """All first days of a period between two of them; None where they are many."""
    found: list[datetime.date] = []
    day = datetime.date.fromordinal(low)
    while day.toordinal() <= high and len(found) <= MOST_LISTED:
        found.append(day)
        if LAST - day < _PAST[name]:
            break
        day = start_of(name, day + _PAST[name])
    return None if len(found) > MOST_LISTED else tuple(found)


def time_start(name: str) -> Callable[[Sequence[Field]], Field]:
    def rule(fields: Sequence[Field]) -> Field:
        _needs_time(_times(fields), name)
        return Field(Kind.TIMESTAMP, None, True)

    return rule


def to_date(fields: Sequence[Field]) -> Field:
    time = _times(fields)
    return Field(Kind.DATE, _days(time), time.nullable, time.keys if time.kind is Kind.DATE else None)


def to_timestamp(fields: Sequence[Field]) -> Field:
    """A date as its midnight."""
    return Field(Kind.TIMESTAMP, None, _times(fields).nullable)


# ── later and earlier ────────────────────────────────────────────────────────────────────────────────────────────────


def _inside(low: Fraction, high: Fraction, days: Interval) -> Interval:
    first, last = Fraction(FIRST.toordinal()), Fraction(LAST.toordinal())
    return Interval(min(max(low, first), last), min(max(high, first), last), days.low_known, days.high_known)


def add_days(fields: Sequence[Field]) -> Field:
    time, more = fields
    if time.kind is not Kind.DATE or more.kind is not Kind.INTEGER or more.range is None:
        raise Refused("days are added to a date, as whole numbers: write day + 90")
    if more.range.magnitude > MOST_DAYS:
        raise Refused(f"at most {MOST_DAYS:,} days are added: declare bounds for the number of days, or write LEAST(n, 365)")
    days = _days(time)
    within = Interval(Fraction(0), Fraction(0), days.low_known and more.range.low_known, days.high_known and more.range.high_known)
    return Field(Kind.DATE, _inside(days.low + more.range.low, days.high + more.range.high, within), time.nullable or more.nullable)


def _whole(more: Field, most: int, what: str) -> int:
    if more.kind is not Kind.INTEGER or more.range is None or more.range.low != more.range.high or more.range.magnitude > most:
        raise Refused(f"the {what} that are added are a literal whole number of at most {most:,}: write day + INTERVAL 3 MONTH")
    return int(more.range.low)


def add_months(fields: Sequence[Field]) -> Field:
    time = _times(fields)
    months = _whole(fields[1], MOST_MONTHS, "months")
    if time.kind is Kind.TIMESTAMP:
        return Field(Kind.TIMESTAMP, None, time.nullable)
    return Field(Kind.DATE, _through(time, lambda day: later_month(day, months).toordinal()), time.nullable)


def add_microseconds(fields: Sequence[Field]) -> Field:
    time = _times(fields)
    _needs_time(time, "time")
    _whole(fields[1], MOST_DAYS * 86_400_000_000, "microseconds")
    return Field(Kind.TIMESTAMP, None, time.nullable)


# ── SQL ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

Writer = Callable[[Dialect, Texts, Fields, Field], str]


def write_part(name: str) -> Writer:
    return lambda dialect, texts, fields, out: dialect.part(name, texts[0])


def write_start(name: str) -> Writer:
    return lambda dialect, texts, fields, out: dialect.start(name, texts[0])


def write_time_start(name: str) -> Writer:
    return lambda dialect, texts, fields, out: dialect.time_start(name, texts[0])


def write_number(name: str) -> Writer:
    def write(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
        moment = texts[0]
        match name:
            case "day":
                return dialect.day_number(f"CAST({moment} AS DATE)")
            case "week":  # the first day of the year 1 was a Monday
                return dialect.whole(dialect.floor_divide(f"({dialect.day_number(f'CAST({moment} AS DATE)')} - 1)", "7"))
            case "calendar":
                return f"({dialect.part('year', moment)} * 10000 + {dialect.part('month', moment)} * 100 + {dialect.part('day', moment)})"
        each = {"month": 12, "quarter": 4}[name]
        return f"({dialect.part('year', moment)} * {each} + {dialect.part(name, moment)} - 1)"

    return write


def write_time_number(name: str) -> Writer:
    def write(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
        return dialect.whole(dialect.floor_divide(dialect.microseconds(texts[0]), str(TIME_NUMBERS[name])))

    return write


def write_to_date(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"CAST({texts[0]} AS DATE)"


def write_to_timestamp(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"CAST({texts[0]} AS {dialect.type_name(Kind.TIMESTAMP)})"


def _clamped(dialect: Dialect, moment: str, kind: Kind | None) -> str:
    days = kind is Kind.DATE
    low, high = (dialect.literal(end) for end in ((FIRST, LAST) if days else (datetime.datetime.min, datetime.datetime.max)))
    return f"(CASE WHEN {moment} > {high} THEN {high} WHEN {moment} < {low} THEN {low} ELSE {moment} END)"


def write_add_days(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return _clamped(dialect, dialect.later_day(*texts), Kind.DATE)


def write_add_months(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    assert fields[1].range is not None
    assert out.kind is not None
    return _clamped(dialect, dialect.later_month(texts[0], int(fields[1].range.low), out.kind), out.kind)


def write_add_microseconds(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    assert fields[1].range is not None
    return _clamped(dialect, dialect.later(texts[0], int(fields[1].range.low)), out.kind)
