"""What a feed counts: what one unit moves, by random small tables in exact numbers."""

from __future__ import annotations

import datetime
import itertools
from collections import defaultdict
from typing import Any

import duckdb
import numpy as np
import psycopg
import pytest
from session.feeds.visits import Row, day, feed_of, session, some_rows, values

import discreet
from discreet.run.statement import Statement
from discreet.session.feeds.totals import DailyTotals


def reference(rows: list[Row], per_day: int, active: int, summed: bool, low: int = -3) -> list[int]:
    """The days' numbers as the theorem's words say, without SQL."""
    own: dict[Any, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for unit, number, cost in rows:
        if unit is None or number is None or not 0 <= number < 8 or (summed and cost is None):
            continue
        own[unit][number] += min(max(cost or 0, low), 10) if summed else 1
    most = per_day * (10 if summed else 1)
    found = [0] * 8
    for days in own.values():
        for number in sorted(days)[:active]:
            found[number] += min(max(days[number], -most if summed and low < 0 else 0), most)
    return found


# ── what one unit moves ──────────────────────────────────────────────────────────────────────────────────────────────


def moves_too_far(order: DailyTotals, before: list[int], after: list[int], unsigned: bool = True) -> bool:
    moved = [b - a for a, b in zip(before, after, strict=True)]
    return (
        sum(one != 0 for one in moved) > order.active_days
        or max(map(abs, moved)) > order.moved
        or (unsigned and min(moved) < 0 < max(moved))
    )


@pytest.mark.parametrize("value", [pytest.param(None, marks=pytest.mark.slow), "cost"])
def test_a_unit_moves_no_more_than_is_said(value: str | None) -> None:
    choose, tight = np.random.default_rng(3), False
    for _ in range(20):
        rows = some_rows(choose)
        with session(rows) as db:
            feed = feed_of(db, value=value)
            whole = values(feed)
        assert whole == reference(rows, 2, 3, value is not None)
        for unit in range(4):
            with session([row for row in rows if row[0] != unit]) as db:
                rest = values(feed_of(db, value=value))
            assert not moves_too_far(feed.plan.totals, rest, whole, unsigned=value is None)
            tight |= max(a - b for a, b in zip(whole, rest, strict=True)) == feed.plan.totals.moved
    assert tight


def ranked(order: str) -> Any:
    """Broken: a unit counts on other days than its first."""
    written = DailyTotals.statement

    def statement(self: DailyTotals, steps: int, dialect: Any) -> Statement:
        found = written(self, steps, dialect)
        return Statement(found.text.replace("ORDER BY k0", order), found.given, found.scans, found.shuffles)

    return statement


def changes_the_past(trials: int) -> bool:
    """Whether rows of later days change what was counted of earlier ones, in any of some random tables."""
    choose = np.random.default_rng(8)
    for _ in range(trials):
        rows = some_rows(choose)
        with session(rows) as db:
            feed = feed_of(db)
            whole = values(feed)
            if any(values(feed, steps) != whole[:steps] for steps in (1, 4, 7)):
                return True
        with session([row for row in rows if row[1] is None or row[1] < 4]) as db:
            if values(feed_of(db))[:4] != whole[:4]:
                return True
    return False


def test_the_past_does_not_change() -> None:
    assert not changes_the_past(15)


def test_last_days_instead_of_first_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DailyTotals, "statement", ranked("ORDER BY k0 DESC"))
    assert changes_the_past(15)


def test_unbounded_days_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = [(1, number, 1) for number in range(8)]
    with session([]) as db:
        empty = values(feed_of(db))
    with session(rows) as db:
        assert not moves_too_far(feed_of(db).plan.totals, empty, values(feed_of(db)))
        monkeypatch.setattr(DailyTotals, "statement", ranked("ORDER BY 1) - ROW_NUMBER() OVER (PARTITION BY k0"))
        assert moves_too_far(feed_of(db).plan.totals, empty, values(feed_of(db)))


def test_postgres_counts_the_same(postgres: str) -> None:
    choose = np.random.default_rng(6)
    rows = [row for _ in range(8) for row in some_rows(choose)]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA feeds; CREATE TABLE feeds.visits (id bigint, on_day date, at timestamp, cost bigint)")
        for unit, number, cost in rows:
            when = None if number is None else day(number)
            connection.execute("INSERT INTO feeds.visits VALUES (%s, %s, %s, %s)", [unit, when, when, cost])
    here = {"visits": (postgres, "feeds.visits")}
    with discreet.connect(here, unit="id", epsilon=9, bounds={"cost": (-3, 10)}, ledger=":memory:") as db, session(rows) as ours:
        for said in (
            {},
            {"value": "cost"},
            {"value": "cost / 3", "per_day": 1},
            {"day": "at"},
            {"every": "week", "start": "2025-12-29", "days": 3},
        ):
            steps = said.get("days", 8)
            theirs = feed_of(db, **({"day": "on_day"} | said))  # type: ignore[arg-type]
            assert values(theirs, steps) == values(feed_of(ours, **said), steps)  # type: ignore[arg-type]
        assert len(feed_of(db, day="on_day").release(until=day(5))) == 6
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA feeds CASCADE")


def test_wild_days_and_values_are_no_error() -> None:
    wild = duckdb.connect()
    wild.execute("CREATE TABLE visits (id BIGINT, d DATE, moment TIMESTAMP, free DOUBLE)")
    days = ["infinity", "-infinity", "9999-12-31", "0001-01-01", "5000000-01-01", "2026-01-02"]
    for unit, (when, free) in enumerate(itertools.product(days, ["nan", "inf", "-inf", "1e308", "2"])):
        wild.execute("INSERT INTO visits VALUES (?, CAST(? AS DATE), TIMESTAMP '2026-01-03', CAST(? AS DOUBLE))", [unit, when, free])
    wild.execute("INSERT INTO visits VALUES (99, NULL, 'infinity', NULL), (NULL, NULL, '-infinity', 1)")
    with discreet.connect(wild, unit="id", epsilon=9, ledger=":memory:") as db:
        assert values(feed_of(db, day="d")) == [0, 5, 0, 0, 0, 0, 0, 0]
        assert values(feed_of(db, day="moment")) == [0, 0, 30, 0, 0, 0, 0, 0]
        for every, start in (("week", "2025-12-29"), ("month", "2026-01-01")):
            assert sum(values(feed_of(db, day="d", every=every, start=start, days=1), 1)) == 5
        summed = feed_of(db, day="d", value="CLAMP(free, 0, 5)", per_day=1)
        assert values(summed)[1] * float(summed.plan.totals.stat.step) == 12  # 5 + 0 + 5 + 2, and NaN is missing


def test_units_of_one_row() -> None:
    rows: list[Row] = [(unit, unit % 8, 5) for unit in range(20)]
    for said in ({"unit": discreet.each_row()}, {"one_row_per_unit": True}):
        with session(rows, **said) as db:
            feed = feed_of(db, value="cost")
            assert (feed.plan.totals.per_day, feed.plan.totals.active_days) == (1, 1)
            assert values(feed) == [15] * 4 + [10] * 4
            assert feed.mechanism.contributions == 1


def test_rows_without_a_day_a_unit_or_a_value_do_not_count() -> None:
    with session([(None, 1, 5), (1, None, 5), (1, 2, None), (1, 3, 4), (1, 4, 4), (1, 5, 4)]) as db:
        assert values(feed_of(db)) == [0, 0, 1, 1, 1, 0, 0, 0]
        assert values(feed_of(db, value="cost")) == [0, 0, 0, 4, 4, 4, 0, 0]
        assert values(feed_of(db, where="cost > 4")) == [0] * 8


def test_weeks_months_and_moments() -> None:
    rows: list[Row] = [(unit, 3 * unit, 1) for unit in range(40)]
    with session(rows) as db:
        assert values(feed_of(db, day="at")) == values(feed_of(db))
        weeks = feed_of(db, every="week", start="2025-12-29", days=6)
        counted = [
            sum(day(3 * unit).isocalendar()[:2] == one.isocalendar()[:2] for unit in range(40))
            for one in weeks.plan.totals.calendar.first_days
        ]
        assert values(weeks, 6) == counted
        months = feed_of(db, every="month", days=3)
        assert values(months, 3) == [sum(day(3 * unit).month == month for unit in range(40)) for month in (1, 2, 3)]
        assert months.plan.totals.calendar.last == datetime.date(2026, 3, 31)
        assert len(months.release(until="2026-03-15")) == 2


def test_real_values_are_on_a_grid() -> None:
    rows: list[Row] = [(unit, 0, 7) for unit in range(10)]
    with session(rows) as db:
        feed = feed_of(db, value="CLAMP(free / 3, 0, 5)", epsilon=90, per_day=1, active_days=1, delta=0)
        assert not feed.plan.totals.signed
        assert values(feed)[0] * float(feed.plan.totals.stat.step) == pytest.approx(70 / 3, rel=1e-4)
        assert feed.release(until=day(0)).totals[0] == pytest.approx(70 / 3, abs=4 * feed.error(0.999))
