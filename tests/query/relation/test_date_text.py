"""Dates as text: formats, public values, and the calendar of Python."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest

from discreet.errors import Refused
from discreet.query.relation.calendar import starts
from discreet.query.relation.date_text import pieces, value
from discreet.query.relation.expr import Column, Literal, call, field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.values import later, later_month, number_of, start_of
from discreet.tables.kind import Kind

LOW, HIGH = datetime.date(2023, 11, 15), datetime.date(2024, 2, 10)
DAYS = Field(Kind.DATE, Interval(Fraction(LOW.toordinal()), Fraction(HIGH.toordinal())))
SCHEMA = {"day": DAYS, "open": Field(Kind.DATE), "seen": Field(Kind.TIMESTAMP)}


def keys(name: str, written: str) -> tuple[object, ...] | None:
    return field_of(call("date_text", Column(name), Literal(written)), SCHEMA).public_keys


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "%j of %Y", "%G-W%V-%u", "%H:%M:%S", "100%% %m"])
def test_as_python_formats(written: str) -> None:
    for moment in (datetime.datetime(2024, 2, 29, 7, 5, 9), datetime.datetime(2021, 1, 3), datetime.datetime(2020, 12, 31, 23, 59, 59)):
        assert value(moment, written) == moment.strftime(written)


def test_names_are_english_whatever_the_locale() -> None:
    assert value(datetime.date(2024, 2, 29), "%A %d %B, %a %b") == "Thursday 29 February, Thu Feb"
    assert value(datetime.date(4, 2, 29), "%Y") == "0004"


def test_values_are_public_within_bounds() -> None:
    assert keys("day", "%Y-%m") == ("2023-11", "2023-12", "2024-01", "2024-02")
    assert keys("day", "%Y") == ("2023", "2024")
    assert len(keys("day", "%Y-%m-%d") or ()) == (HIGH - LOW).days + 1
    assert keys("open", "%Y-%m") is None
    assert keys("seen", "%Y-%m") is None


def test_cycles_are_public_without_bounds() -> None:
    assert keys("open", "%m") == tuple(f"{month:02}" for month in range(1, 13))
    assert keys("seen", "%a")[:2] == ("Mon", "Tue")  # type: ignore[index]
    assert len(keys("seen", "%H:%M") or ()) == 1440
    assert keys("seen", "%H:%M:%S") is None  # 86,400 are too many
    assert keys("open", "%m-%d") is None  # 30 February would be among them


@pytest.mark.parametrize("written", ["%Q", "%", "month", "%Y'", "%Y" * 40, "%Y\n"])
def test_other_formats_are_refused(written: str) -> None:
    with pytest.raises(Refused, match="write STRFTIME"):
        pieces(written)


@pytest.mark.parametrize("name", ["day", "week", "month", "quarter", "year"])
def test_first_days_are_all_there(name: str) -> None:
    low, high = datetime.date(2019, 3, 4).toordinal(), datetime.date(2024, 2, 29).toordinal()
    every = dict.fromkeys(start_of(name, datetime.date.fromordinal(day)) for day in range(low, high + 1))
    assert starts(name, start_of(name, datetime.date(2019, 3, 4)).toordinal(), high) == tuple(every)
    last = starts(name, datetime.date(9998, 1, 1).toordinal(), datetime.date.max.toordinal())
    assert last is not None
    assert start_of(name, datetime.date.max) == last[-1] or name == "week"


def test_a_truncated_date_has_public_groups_within_bounds() -> None:
    assert field_of(call("start_of_month", Column("day")), SCHEMA).public_keys == tuple(
        datetime.date(year, month, 1) for year, month in [(2023, 11), (2023, 12), (2024, 1), (2024, 2)]
    )
    assert field_of(call("start_of_month", Column("open")), SCHEMA).public_keys is None
    assert len(field_of(Column("day"), SCHEMA).public_keys or ()) == (HIGH - LOW).days + 1


def test_months_end_where_they_end() -> None:
    assert later_month(datetime.date(2024, 1, 31), 1) == datetime.date(2024, 2, 29)
    assert later_month(datetime.date(2024, 3, 31), -13) == datetime.date(2023, 2, 28)
    assert later_month(datetime.date(9999, 12, 5), 1) == datetime.date.max
    assert later_month(datetime.datetime(1, 1, 5), -1) == datetime.datetime.min
    assert later(datetime.date.max, datetime.timedelta(days=1)) == datetime.date.max
    assert later(datetime.date.min, datetime.timedelta(days=-1)) == datetime.date.min


def test_numbers_of_periods() -> None:
    assert number_of("week", datetime.date(2024, 1, 8)) - number_of("week", datetime.date(2024, 1, 7)) == 1
    assert number_of("month", datetime.date(2025, 1, 1)) - number_of("month", datetime.date(2024, 11, 30)) == 2
    assert number_of("second", datetime.datetime(1, 1, 1, 0, 1, 1)) == 61
