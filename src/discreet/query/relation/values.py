"""Functions of released numbers and dates, for post-processing: NULL where they are undefined."""

from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Callable
from typing import Any, TypeVar

M = TypeVar("M", bound=datetime.date)


def null_safe(function: Callable[..., Any]) -> Callable[..., Any]:
    """NULL if any argument is."""
    return lambda *arguments: None if any(a is None for a in arguments) else function(*arguments)


def quotient(a: float, b: float) -> float | None:
    return a / b if b else None


def remainder(a: int, b: int) -> int | None:
    return int(math.fmod(a, b)) if b else None


def floor(value: float) -> int:
    return math.floor(value)


def ceil(value: float) -> int:
    return math.ceil(value)


def round_half_up(value: float, digits: int = 0) -> float:
    factor = 10 ** int(digits)
    found: int = math.floor(value * factor + 0.5)
    return found if factor == 1 else found / factor


def safe_sqrt(value: float) -> float | None:
    return math.sqrt(value) if value >= 0 else None


def safe_ln(value: float) -> float | None:
    return math.log(value) if value > 0 else None


def safe_exp(value: float) -> float | None:
    return math.exp(value) if value < 700 else None


# ── dates and timestamps ─────────────────────────────────────────────────────────────────────────────────────────────


def part_of(name: str, moment: datetime.date) -> int:
    """A part of a date or timestamp; weekdays count from Monday = 1, weeks are ISO's."""
    match name:
        case "isoyear":
            return moment.isocalendar().year
        case "week":
            return moment.isocalendar().week
        case "weekday":
            return moment.isoweekday()
        case "quarter":
            return (moment.month + 2) // 3
        case "day_of_year":
            return moment.timetuple().tm_yday
    found: int = getattr(moment, name)
    return found


def start_of(name: str, moment: datetime.date) -> datetime.date:
    """The first day of the day, week, month, quarter or year."""
    day = datetime.date(moment.year, moment.month, moment.day)
    match name:
        case "week":
            return day - datetime.timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def time_start_of(name: str, moment: datetime.datetime) -> datetime.datetime:
    """The first moment of the hour or minute."""
    return moment.replace(minute=0 if name == "hour" else moment.minute, second=0, microsecond=0)


def number_of(name: str, moment: datetime.date) -> int:
    """The number of the period, counted from the year 1; "calendar" is year, month and day in decimal digits."""
    match name:
        case "day":
            return moment.toordinal()
        case "week":
            return (moment.toordinal() - 1) // 7
        case "month":
            return moment.year * 12 + moment.month - 1
        case "quarter":
            return moment.year * 4 + part_of("quarter", moment) - 1
        case "calendar":
            return moment.year * 10_000 + moment.month * 100 + moment.day
    assert isinstance(moment, datetime.datetime)
    since = (moment - datetime.datetime.min) // datetime.timedelta(microseconds=1)
    return since // {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "microsecond": 1}[name]


def later_month(moment: M, months: int) -> M:
    """The same day so many months later, or the last day of a shorter month; within the years 1 to 9999."""
    at = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(at, 12)
    if not datetime.MINYEAR <= year <= datetime.MAXYEAR:
        return _end(moment, early=year < datetime.MINYEAR)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))


def later(moment: M, by: datetime.timedelta) -> M:
    """So much later, within the years 1 to 9999."""
    try:
        return moment + by
    except OverflowError:
        return _end(moment, early=by < datetime.timedelta(0))


def _end(moment: M, early: bool) -> M:
    ends = (type(moment).min, type(moment).max)
    return ends[0] if early else ends[1]  # type: ignore[return-value]  # of the moment's own type


def of_dates(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of released dates and timestamps; NULL where there is none, as for a key outside Python's calendar."""
    return lambda *arguments: function(*arguments) if isinstance(arguments[0], datetime.date) else None
