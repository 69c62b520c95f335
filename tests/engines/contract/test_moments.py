"""Dates and times: one calendar, one clock (UTC), one spelling."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from engines.contract.asked import EngineOf, each, listed, rows
from engines.contract.places import Place

from discreet.query.relation.calendar import OF_TIMES, PARTS, STARTS
from discreet.query.relation.expr import Call, Column
from discreet.query.relation.field import Field
from discreet.query.relation.write import write_expr
from discreet.tables.kind import Kind

DAYS = [
    datetime.date(1, 1, 1),
    datetime.date(1, 12, 31),
    datetime.date(999, 3, 1),
    datetime.date(1582, 10, 10),
    datetime.date(1899, 12, 31),
    datetime.date(1969, 12, 31),
    datetime.date(1970, 1, 1),
    datetime.date(2000, 2, 29),
    datetime.date(2023, 12, 31),
    datetime.date(2024, 1, 1),
    datetime.date(2024, 2, 29),
    datetime.date(2024, 9, 30),
    datetime.date(9999, 12, 31),
    None,
]
MOMENTS = [
    datetime.datetime(1, 1, 1),
    datetime.datetime(1, 1, 7, 23, 59, 59, 999_999),
    datetime.datetime(1582, 10, 10, 12),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2024, 2, 29, 0, 0, 0, 1),
    datetime.datetime(2024, 3, 31, 2, 30),  # a time that some clocks skip
    datetime.datetime(2024, 10, 27, 2, 30, 0, 500_000),
    datetime.datetime(2024, 12, 30, 23, 59, 59, 120_000),
    datetime.datetime.max,
    None,
]


def part(name: str, moment: Any) -> int | None:
    if moment is None:
        return None
    iso = moment.isocalendar()
    named = {"quarter": (moment.month + 2) // 3, "weekday": moment.isoweekday(), "isoyear": iso.year, "week": iso.week}
    named["day_of_year"] = moment.timetuple().tm_yday
    return named.get(name) or int(getattr(moment, name))


def start(name: str, moment: Any) -> datetime.date | None:
    if moment is None:
        return None
    day = moment.date() if isinstance(moment, datetime.datetime) else moment
    match name:
        case "week":
            return day - datetime.timedelta(days=day.weekday())  # type: ignore[no-any-return]
        case "month":
            return day.replace(day=1)  # type: ignore[no-any-return]
        case "quarter":
            return day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1)  # type: ignore[no-any-return]
        case "year":
            return day.replace(day=1, month=1)  # type: ignore[no-any-return]
        case _:
            return day  # type: ignore[no-any-return]


def test_parts(engine_of: EngineOf) -> None:
    for kind, values in ((Kind.DATE, DAYS), (Kind.TIMESTAMP, MOMENTS)):
        engine = engine_of(listed(kind, values))
        names = [name for name in PARTS if kind is Kind.TIMESTAMP or name not in OF_TIMES]
        shown = ", ".join(f"{engine.dialect.part(name, 'x')} AS {name}_" for name in names)
        found = rows(engine, f"SELECT i, {shown} FROM t")
        assert [row[1:] for row in found] == [tuple(part(name, value) for name in names) for value in values]


def test_starts(engine_of: EngineOf) -> None:
    for kind, values in ((Kind.DATE, DAYS), (Kind.TIMESTAMP, MOMENTS)):
        engine = engine_of(listed(kind, values))
        shown = ", ".join(f"{engine.dialect.start(name, 'x')} AS {name}_" for name in STARTS)
        found = rows(engine, f"SELECT i, {shown} FROM t")
        assert [row[1:] for row in found] == [tuple(start(name, value) for name in STARTS) for value in values]


def test_days_of_moments(engine_of: EngineOf) -> None:
    schema = {"x": Field(Kind.TIMESTAMP, nullable=True)}
    found = each(engine_of, listed(Kind.TIMESTAMP, MOMENTS), lambda d: write_expr(Call("to_date", (Column("x"),)), schema, d))
    assert found == [value and value.date() for value in MOMENTS]


def shown(value: Any) -> str | None:
    if value is None:
        return None
    text: str = value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else value.isoformat()
    return text.rstrip("0") if getattr(value, "microsecond", 0) else text


def test_spelling(engine_of: EngineOf) -> None:
    for kind, values in ((Kind.DATE, DAYS), (Kind.TIMESTAMP, MOMENTS)):
        assert each(engine_of, listed(kind, values), lambda d: d.shown("x")) == [shown(value) for value in values]


def test_literals_compare_with_columns(engine_of: EngineOf) -> None:
    for kind, values in ((Kind.DATE, DAYS), (Kind.TIMESTAMP, MOMENTS)):
        engine = engine_of(listed(kind, values))
        cases = " ".join(f"WHEN x = {engine.dialect.literal(v)} THEN {n}" for n, v in enumerate(values) if v is not None)
        assert [v for _, v in rows(engine, f"SELECT i, CASE {cases} ELSE -1 END AS v FROM t")] == [*range(len(values) - 1), -1]
        assert [x for _, x in rows(engine, "SELECT i, x FROM t")] == values


@pytest.mark.parametrize("sql_type", ["zoned"])
def test_moments_with_a_zone_are_in_utc_whatever_the_session_says(place: Place, sql_type: str) -> None:
    texts = ["2024-02-29 12:00:00+00", "2024-02-29 23:30:00-05", "2024-07-01 00:15:00.25+05:45", "1970-01-01 00:00:00+00", None]
    expected = [
        datetime.datetime(2024, 2, 29, 12),
        datetime.datetime(2024, 3, 1, 4, 30),
        datetime.datetime(2024, 6, 30, 18, 30, 0, 250_000),
        datetime.datetime(1970, 1, 1),
        None,
    ]
    engine = place.open(listed(getattr(place, sql_type), texts))
    assert engine.schema("t")["x"] is Kind.TIMESTAMP
    assert [x for _, x in rows(engine, "SELECT i, x FROM t")] == expected
    assert [v for _, v in rows(engine, f"SELECT i, {engine.dialect.part('hour', 'x')} AS v FROM t")] == [e and e.hour for e in expected]
    assert [v for _, v in rows(engine, f"SELECT i, {engine.dialect.shown('x')} AS v FROM t")] == [shown(e) for e in expected]
    assert [v for _, v in rows(engine, f"SELECT i, {engine.dialect.start('day', 'x')} AS v FROM t")] == [e and e.date() for e in expected]
