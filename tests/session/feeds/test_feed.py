"""Daily feeds: what one unit moves, by random small tables in exact numbers; what is paid and when; days that are noised once."""

from __future__ import annotations

import copy
import datetime
import itertools
import math
import os
import pickle
import threading
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import psycopg
import pytest

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, EngineError, Invalid, Refused
from discreet.ledger.ledger import Ledger
from discreet.mechanisms.streams.toeplitz import Toeplitz, measurement_sensitivity
from discreet.mechanisms.streams.toeplitz_factor import UNIT, ToeplitzFactor
from discreet.mechanisms.streams.tree import Tree
from discreet.private import reveal
from discreet.run.statement import Statement
from discreet.session.feeds import feed as daily
from discreet.session.feeds.days import Batch
from discreet.session.feeds.feed import Feed
from discreet.session.feeds.request import Calendar, Order
from discreet.session.receipts import verify_receipt
from discreet.session.session import Session

FIRST = datetime.date(2026, 1, 1)
Row = tuple[int | None, int | None, int | None]  # unit, day from the first on, value
SCHEMA = {"id": polars.Int64, "on": polars.Date, "at": polars.Datetime, "cost": polars.Int64, "free": polars.Float64}


def day(number: int) -> datetime.date:
    return FIRST + datetime.timedelta(days=number)


def session(rows: list[Row], **said: Any) -> Session:
    days = [None if number is None else day(number) for _, number, _ in rows]
    moments = [None if one is None else datetime.datetime.combine(one, datetime.time(13, 30)) for one in days]
    costs = [cost for _, _, cost in rows]
    frame = polars.DataFrame({"id": [unit for unit, _, _ in rows], "on": days, "at": moments, "cost": costs, "free": costs}, schema=SCHEMA)
    usual: dict[str, Any] = {"unit": "id", "epsilon": 100, "delta": "1e-3", "bounds": {"cost": (-3, 10)}, "ledger": ":memory:"}
    return discreet.connect({"visits": frame}, **(usual | said))


def feed_of(db: Session, **said: Any) -> Feed:
    usual: dict[str, Any] = {"day": "on", "start": FIRST, "days": 8, "epsilon": 1, "per_day": 2, "active_days": 3}
    return db.daily("visits", **(usual | said))


def values(feed: Feed, steps: int = 8) -> list[int]:
    """The private numbers, as only a test may see them."""
    return reveal(feed._values(steps))


def some_rows(choose: np.random.Generator) -> list[Row]:
    wild: list[Any] = [None, -9, -3, 0, 2, 10, 11]
    return [
        (int(choose.integers(0, 4)), int(choose.integers(-1, 9)), wild[int(choose.integers(len(wild)))])
        for _ in range(int(choose.integers(0, 30)))
    ]


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


def moves_too_far(order: Order, before: list[int], after: list[int], unsigned: bool = True) -> bool:
    moved = [b - a for a, b in zip(before, after, strict=True)]
    return (
        sum(one != 0 for one in moved) > order.active_days
        or max(map(abs, moved)) > order.moved
        or (unsigned and min(moved) < 0 < max(moved))
    )


@pytest.mark.parametrize("value", [None, "cost"])
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
            assert not moves_too_far(feed.order, rest, whole, unsigned=value is None)
            tight |= max(a - b for a, b in zip(whole, rest, strict=True)) == feed.order.moved
    assert tight


def ranked(order: str) -> Any:
    """Broken: a unit counts on other days than its first."""
    written = Order.statement

    def statement(self: Order, steps: int, dialect: Any) -> Statement:
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
    monkeypatch.setattr(Order, "statement", ranked("ORDER BY k0 DESC"))
    assert changes_the_past(15)


def test_unbounded_days_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = [(1, number, 1) for number in range(8)]
    with session([]) as db:
        empty = values(feed_of(db))
    with session(rows) as db:
        assert not moves_too_far(feed_of(db).order, empty, values(feed_of(db)))
        monkeypatch.setattr(Order, "statement", ranked("ORDER BY 1) - ROW_NUMBER() OVER (PARTITION BY k0"))
        assert moves_too_far(feed_of(db).order, empty, values(feed_of(db)))


def test_the_mechanism_is_made_for_that() -> None:
    with session([]) as db:
        feed = feed_of(db, value="cost", days=100)
        mechanism = feed.mechanism
        assert isinstance(mechanism, Toeplitz)
        assert (mechanism.sensitivity, mechanism.contributions, mechanism.horizon) == (20, 3, 100)
        assert feed.loss.basic == (1, feed.order.delta)
        assert feed.order.delta == Fraction(1, 32000)
        pure = feed_of(db, delta=0).mechanism
        assert isinstance(pure, Tree)
        assert (pure.sensitivity, pure.contributions, pure.loss.epsilon) == (2, 3, 1)


def test_a_replacement_moves_by_what_is_said() -> None:
    """For all pairs of units on five days: ‖C(v − v′)‖² is at most twice ‖Cv‖² if nothing is negative, else four times."""
    factor, size, k = ToeplitzFactor.of(5), 5, 2
    pairs = list(zip(factor.weights, factor.rates, strict=True))
    c = [sum((Fraction(w * r**n, 2 ** (UNIT * (n + 1))) for w, r in pairs), Fraction(0)) for n in range(size)]

    def worst(levels: tuple[int, ...]) -> Fraction:
        units = [v for v in itertools.product(levels, repeat=size) if sum(map(bool, v)) <= k]
        differences = {tuple(a - b for a, b in zip(v, w, strict=True)) for v in units for w in units}
        return max(sum(sum(c[t - s] * v[s] for s in range(t + 1)) ** 2 for t in range(size)) for v in differences)

    alone = factor.sensitivity(k) ** 2
    assert worst((0, 1)) <= 2 * alone
    assert 2 * alone < worst((-1, 0, 1)) <= 4 * alone  # the root of two would not do for values of both signs


@pytest.mark.parametrize(("value", "times"), [(None, Fraction(14143, 10000)), ("cost", Fraction(2))])
def test_replacing_costs_more_noise(value: str | None, times: Fraction) -> None:
    with session([]) as db, session([], adjacency="replace-one") as other:
        one, two = (feed_of(each, value=value, days=200).mechanism for each in (db, other))
        assert isinstance(one, Toeplitz)
        assert isinstance(two, Toeplitz)
        assert float(two.scale / one.scale) == pytest.approx(float(times), rel=1e-4)
        assert (two.exchanged, two.sensitivity / one.sensitivity) == ((True, 1) if value is None else (False, 2))
        lengths = [measurement_sensitivity(200, each.sensitivity, 3, each.exchanged) for each in (one, two)]
        assert lengths[1] ** 2 >= (2 if value is None else 4) * lengths[0] ** 2 * (1 - Fraction(1, 2**60))
        trees = [feed_of(each, value=value, delta=0).mechanism for each in (db, other)]
        assert trees[1].sensitivity == 2 * trees[0].sensitivity


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
        assert values(summed)[1] * float(summed.order.stat.step) == 12  # 5 + 0 + 5 + 2, and NaN is missing


def test_units_of_one_row() -> None:
    rows: list[Row] = [(unit, unit % 8, 5) for unit in range(20)]
    for said in ({"unit": discreet.each_row()}, {"one_row_per_unit": True}):
        with session(rows, **said) as db:
            feed = feed_of(db, value="cost")
            assert (feed.order.per_day, feed.order.active_days) == (1, 1)
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
            sum(day(3 * unit).isocalendar()[:2] == one.isocalendar()[:2] for unit in range(40)) for one in weeks.order.calendar.first_days
        ]
        assert values(weeks, 6) == counted
        months = feed_of(db, every="month", days=3)
        assert values(months, 3) == [sum(day(3 * unit).month == month for unit in range(40)) for month in (1, 2, 3)]
        assert months.order.calendar.last == datetime.date(2026, 3, 31)
        assert len(months.release(until="2026-03-15")) == 2


def test_real_values_are_on_a_grid() -> None:
    rows: list[Row] = [(unit, 0, 7) for unit in range(10)]
    with session(rows) as db:
        feed = feed_of(db, value="CLAMP(free / 3, 0, 5)", epsilon=90, per_day=1, active_days=1, delta=0)
        assert not feed.order.signed
        assert values(feed)[0] * float(feed.order.stat.step) == pytest.approx(70 / 3, rel=1e-4)
        assert feed.release(until=day(0)).totals[0] == pytest.approx(70 / 3, abs=4 * feed.error(0.999))


# ── paying ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_payment_for_all_days() -> None:
    with session([(1, 1, 1)]) as db:
        feed = feed_of(db)
        assert str(feed)
        assert feed.explain()
        assert db.spent.epsilon == 0
        first = feed.release(until=day(2))
        assert (db.spent.epsilon, db.spent.delta) == (1, feed.order.delta)
        again = feed_of(db).release(until="2026-01-07")
        assert again.totals[:3] == first.totals
        assert len(again) == 7
        assert feed.release(until=day(2)).rows == first.rows
        assert db.spent.epsilon == 1
        assert feed_of(db, name="another").release(until=day(2)).totals != first.totals
        assert db.spent.epsilon == 2


def test_days_stay_free_when_the_budget_is_used_up() -> None:
    with session([(1, 1, 1)], epsilon=1, delta=0) as db:
        feed = feed_of(db)
        feed.release(until=day(2))
        assert db.remaining.epsilon == 0
        assert len(feed.release(until=day(7))) == 8
        with pytest.raises(BudgetExceeded):
            feed_of(db, name="another").release(until=day(2))


def stored(folder: Path, rows: list[Row]) -> str:
    frame = polars.DataFrame(
        {"id": [row[0] for row in rows], "on": [day(row[1] or 0) for row in rows]}, schema={"id": polars.Int64, "on": polars.Date}
    )
    frame.write_parquet(folder / "visits.parquet")
    return str(folder / "visits.parquet")


@pytest.mark.parametrize("delta", [0, "1e-3"])
def test_another_process_goes_on(tmp_path: Path, delta: Any) -> None:
    rows: list[Row] = [(unit, unit % 8, 1) for unit in range(4000)]
    totals: list[Any] = []
    for last in (1, 2, 5, 7):
        place = stored(tmp_path, [row for row in rows if (row[1] or 0) <= last])  # rows come in day by day
        with discreet.connect(place, unit="id", epsilon=9, delta=delta) as db:
            days = feed_of(db, epsilon=8).release(until=day(last))
            assert days.totals[: len(totals)] == totals
            assert db.spent.epsilon == 8
            totals = list(days.totals)
            worst = feed_of(db, epsilon=8).error(1 - 1e-7, size=8)
    assert max(abs(total - 500 * (i + 1)) for i, total in enumerate(totals)) <= worst


def test_a_new_version_is_a_new_feed(tmp_path: Path) -> None:
    place = stored(tmp_path, [(1, 1, 1)])
    for version, spent in (("1", 1), ("2", 2)):
        with discreet.connect(place, unit="id", epsilon=9, version=version) as db:
            feed_of(db).release(until=day(2))
            assert db.spent.epsilon == spent


# ── noise is drawn once ──────────────────────────────────────────────────────────────────────────────────────────────


def test_days_that_were_claimed_and_not_stored_are_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = stored(tmp_path, [(1, 1, 1)])
    store = Ledger.store
    with discreet.connect(place, unit="id", epsilon=9) as db:
        feed = feed_of(db)
        before = feed.release(until=day(1))

        def crash(*_: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(Ledger, "store", crash)
        with pytest.raises(KeyboardInterrupt):
            feed.release(until=day(3))
        monkeypatch.setattr(Ledger, "store", store)
        opened = Toeplitz.open, Tree.open
        monkeypatch.setattr(Tree, "open", lambda *_: pytest.fail("noise would be drawn a second time"))
        for until in (day(3), day(5)):
            with pytest.raises(Invalid, match="never stored"):
                feed.release(until=until)
        assert feed.release(until=day(1)).rows == before.rows
    with discreet.connect(place, unit="id", epsilon=9) as db:
        with pytest.raises(Invalid, match="open a new feed"):
            feed_of(db).release(until=day(3))
        assert feed_of(db).release(until=day(1)).rows == before.rows
        monkeypatch.setattr(Tree, "open", opened[1])
        assert len(feed_of(db, name="again", start=day(2), days=4).release(until=day(3))) == 2
        assert db.spent.epsilon == 2


def test_a_feed_that_stopped_leaves_no_more_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    with session([(1, 1, 1)]) as db, monkeypatch.context() as patch:
        feed = feed_of(db)
        feed.release(until=day(1))
        patch.setattr(Ledger, "store", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            feed.release(until=day(3))
        patch.undo()
        before = len(db._ledger.entries())
        for again in (feed, feed_of(db)):
            for until in (day(3), day(6)):
                with pytest.raises(Invalid, match="never stored"):
                    again.release(until=until)
        assert len(db._ledger.entries()) == before
        assert len(feed_of(db).release(until=day(1))) == 2


@pytest.mark.parametrize("delta", [0, "1e-3"])
def test_threads_share_a_feed(monkeypatch: pytest.MonkeyPatch, delta: Any) -> None:
    """A switch of threads just when a batch has been named: each day is there once, and the same for both."""
    rows: list[Row] = [(unit, unit % 8, 1) for unit in range(800)]
    with session(rows, epsilon=10**6) as db, monkeypatch.context() as patch:
        feed, name, begun, totals = feed_of(db, epsilon=10**5, delta=delta), daily.fingerprint, threading.Event(), {}

        def other() -> None:
            begun.wait(10)
            totals["other"] = feed.release(until=day(2)).totals

        thread, left, between = threading.Thread(target=other), threading.Event(), list[bool]()
        thread.start()

        def slow(named: Any) -> str:
            found = name(named)
            if named[0] == feed.order.question and threading.current_thread() is thread:
                between.append(not left.is_set())
            elif named[0] == feed.order.question and not begun.is_set():
                begun.set()
                thread.join(0.5)  # the other one may run now, if it can
                left.set()
            return found

        patch.setattr(daily, "fingerprint", slow)
        totals["this"] = feed.release(until=day(6)).totals
        thread.join(10)
        assert not any(between)
        for found in (totals["this"], totals["other"], feed_of(db, epsilon=10**5, delta=delta).release(until=day(6)).totals):
            assert found == pytest.approx([100 * (i + 1) for i in range(len(found))], abs=1)
        assert [batch.first for batch in feed._known] == list(itertools.accumulate([0, *(len(one.totals) for one in feed._known[:-1])]))


def test_batches_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with session([(1, 1, 1)]) as db:
        feed_of(db).release(until=day(3))
        for wrong in (Batch(1, (1,) * 4, (1,) * 4), Batch(0, (), ()), Batch(0, (1,), (1, 2, 3, 4))):
            monkeypatch.setattr(Batch, "from_text", classmethod(lambda cls, text, repeated=True, wrong=wrong: wrong))
            with pytest.raises(Invalid, match="does not fit"):
                feed_of(db).release(until=day(3))


def test_an_engine_that_fails_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with session([(1, 1, 1)]) as db:
        feed = feed_of(db)
        batches = DuckDB.batches

        def fail(self: DuckDB, *_: Any) -> Any:
            raise EngineError("no")

        monkeypatch.setattr(DuckDB, "batches", fail)
        with pytest.raises(EngineError):
            feed.release(until=day(3))
        assert db.spent.epsilon == 1  # paid before anything was read
        monkeypatch.setattr(DuckDB, "batches", batches)
        assert len(feed.release(until=day(3))) == 4
        assert db.spent.epsilon == 1


def test_runs_are_not_copied() -> None:
    for run in (Tree(epsilon=1, horizon=4).open(), Toeplitz(rho=1, horizon=4).open()):
        run.add(1)
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(Invalid, match="cannot be copied"):
                way(run)
        if not (child := os.fork()):
            try:
                run.add(2)
            except Invalid:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


# ── nothing else varies ──────────────────────────────────────────────────────────────────────────────────────────────


def seen(rows: list[Row], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Statements and debits of a feed, in their order."""
    events: list[Any] = []
    run, charge = Engine.run, Ledger._charge

    def read(self: Engine, sql: str, given: Any = ()) -> Any:
        events.append(("statement", sql))
        return run(self, sql, given)

    def paid(self: Ledger, body: Any, order: Any) -> Any:
        events.append(("debit", body, order))
        return charge(self, body, order)

    with session(rows) as db, monkeypatch.context() as patch:
        patch.setattr(Engine, "run", read)
        patch.setattr(Ledger, "_charge", paid)
        feed = feed_of(db, value="cost", windows=(2,))
        shapes = [len(feed.release(until=until)) for until in (day(1), day(1), day(6))]
        return (*events, shapes, feed.explain(), repr(feed), [entry.kind for entry in db._ledger.entries()])


def test_neighbours_look_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = np.random.default_rng(5)
    for _ in range(4):
        rows = some_rows(choose)
        first = seen(rows, monkeypatch)
        assert first[0][0] == "debit"  # before anything is read
        assert first == seen([row for row in rows if row[0] != 1], monkeypatch) == seen([], monkeypatch)


# ── what people see ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_windows_and_errors() -> None:
    rows: list[Row] = [(unit, unit % 8, 1) for unit in range(800)]
    with session(rows) as db:
        days = feed_of(db, epsilon=90, per_day=1, active_days=1, delta=0, windows=(3,)).release(until=day(7))
        assert [row["day"] for row in days] == [day(i) for i in range(8)]
        assert max(abs(row["total"] - 100 * (i + 1)) for i, row in enumerate(days)) <= 3
        assert max(abs(row["last_3"] - 100 * min(i + 1, 3)) for i, row in enumerate(days)) <= 3
        assert set(days.rows[0]) == {"day", "total", "total_error", "last_3", "last_3_error"}
        assert polars.DataFrame(days.to_columns()).shape == (8, 5)
        assert "2026-01-08" in repr(days)
        assert all(map(math.isfinite, days.errors))


def test_the_receipt_holds() -> None:
    with session([(1, 1, 1)]) as db:
        for said in ({}, {"delta": 0}):
            receipt = feed_of(db, **said).release(until=day(1)).receipt
            verify_receipt(receipt, db._ledger)
            with pytest.raises(Invalid, match="changed"):
                verify_receipt(receipt | {"epsilon": "2"})


def test_the_explanation_tells_who_and_how_much() -> None:
    with session([]) as db:
        feed = feed_of(db, windows=(7,))
        text = feed.explain()
        assert "each id, over all of these days" in text
        assert "first 3 days with any rows, on each of them 2 rows at most" in text
        assert "for 2 units together: ε = " in text
        assert "for 10 units together: " in text
        assert "the last 7 days" in text
        summed = feed_of(db, value="cost")
        assert "its first 3 days with a value that is not missing, on each of them 20 at most" in summed.explain()
        assert summed.release(until=day(0)).receipt["notes"] == ["of each unit its first 3 days with a value that is not missing count"]
        assert "(paid)" not in text
        feed.release(until=day(0))
        assert "(paid)" in feed.explain()


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"day": "cost"}, "dates or timestamps"),
        ({"day": "no_such"}, "no_such"),
        ({"value": "free"}, "bounds"),
        ({"value": "on"}, "must be a number"),
        ({"where": "SUM(cost) > 1"}, "SUM"),
        ({"every": "hour"}, "every must be"),
        ({"every": "week"}, "Monday"),
        ({"every": "month", "start": day(1)}, "first of a month"),
        ({"start": "soon"}, "start"),
        ({"days": 0}, "days"),
        ({"days": 10**7}, "days"),
        ({"start": datetime.date(9999, 12, 1), "days": 100}, "calendar"),
        ({"every": "month", "start": datetime.date(9999, 12, 1), "days": 2}, "calendar"),
        ({"per_day": 0}, "per_day"),
        ({"active_days": 5000}, "at most 1024"),
        ({"windows": (9,)}, "longer"),
        ({"windows": (0,)}, "a window"),
        ({"epsilon": 0}, "epsilon"),
        ({"name": 5}, "name"),
    ],
)
def test_what_cannot_be_asked(said: dict[str, Any], message: str) -> None:
    with session([(1, 1, 1)]) as db:
        with pytest.raises((Invalid, Refused), match=message):
            feed_of(db, **said)
        assert db.spent.epsilon == 0


def test_days_outside_the_feed() -> None:
    with session([(1, 1, 1)]) as db:
        feed = feed_of(db)
        for until, message in ((day(-1), "no day of this feed"), (day(8), "ends on 2026-01-08"), ("x", "until")):
            with pytest.raises(Invalid, match=message):
                feed.release(until=until)
        assert db.spent.epsilon == 0


def test_tables_that_are_not_its_own() -> None:
    with session([]) as db, session([], bounds={"cost": (0, 1)}) as other:
        with pytest.raises(Invalid, match="before it is grouped"):
            db.daily(other.table("visits").group_by("cost").count(), day="on", start=FIRST, days=3, epsilon=1)
        with pytest.raises(Invalid, match="another session"):
            db.daily(other.table("visits").where("cost > 2"), day="on", start=FIRST, days=3, epsilon=1)
        feed = db.daily(db.table("visits").where("cost > 1"), day="on", start=FIRST, days=3, epsilon=1)
        assert values(feed, 3) == [0, 0, 0]


# ── tables whose past changes ────────────────────────────────────────────────────────────────────────────────────────

Tables = tuple[list[Row], list[Row]]


def both(tables: Tables) -> Session:
    """Visits and refunds of the same units, and a public table of kinds."""
    frames = {
        name: polars.DataFrame(
            {"id": [row[0] for row in rows], "d": [day(row[1] or 0) for row in rows], "kind": [row[2] for row in rows]},
            schema={"id": polars.Int64, "d": polars.Date, "kind": polars.Int64},
        )
        for name, rows in zip(("visits", "refunds"), tables, strict=True)
    }
    kinds = polars.DataFrame({"kind": [0, 1, 1], "label": ["a", "b", "c"]})
    return discreet.connect({**frames, "kinds": kinds}, unit="id", public=["kinds"], epsilon=100, delta="1e-3", ledger=":memory:")


REFUSED: dict[str, Any] = {
    "the last day": lambda db: db.table("visits").per_unit(d="MAX(d)"),
    "by kind": lambda db: db.table("visits").per_unit("kind", d="MIN(d)"),
    "not refunded": lambda db: db.table("visits").join(db.table("refunds"), on=["id", "kind"], how="left").where("d_2 IS NULL"),
    "refunded": lambda db: db.table("visits").join(db.table("refunds"), on=["id", "kind"]),
    "beneath": lambda db: db.table("visits").per_unit(d="MAX(d)").where("d IS NOT NULL").with_columns(x="1"),
    "stacked": lambda db: db.table("visits").per_unit(d="MAX(d)").stack(db.table("refunds").per_unit(d="MAX(d)")),
    "behind a public one": lambda db: db.table("visits").join(
        db.table("refunds").join(db.table("kinds"), on="kind"), on=["id", "kind"], how="left"
    ),
}
ACCEPTED: dict[str, Any] = {
    "itself": lambda db: db.table("visits"),
    "with a public one": lambda db: db.table("visits").join(db.table("kinds"), on="kind"),
    "left with a public one": lambda db: db.table("visits").join(db.table("kinds"), on="kind", how="left").where("label IS NULL"),
    "stacked": lambda db: db.table("visits").stack(db.table("refunds")),
}


def feed_over(db: Session, asked: Any) -> Feed:
    return db.daily(asked(db), day="d", start=FIRST, days=8, epsilon=1, delta=0, per_day=2, active_days=2)


@pytest.mark.parametrize("asked", REFUSED.values(), ids=REFUSED)
def test_tables_whose_past_changes_are_refused(asked: Any) -> None:
    with both(([], [])) as db:
        with pytest.raises(Refused, match=r"later rows would change days that were released\. Ask the table"):
            feed_over(db, asked)
        assert db.spent.epsilon == 0


def grows_into_another_past(asked: Any) -> bool:
    """Whether rows of later days, as they are appended evening by evening, ever change a day that is over; for random tables."""
    choose = np.random.default_rng(4)
    for _ in range(6):
        whole = [[(int(choose.integers(0, 3)), int(choose.integers(0, 8)), int(choose.integers(0, 3))) for _ in range(15)] for _ in "ab"]
        before: list[int] = []
        for evening in range(8):
            visits, refunds = ([row for row in rows if row[1] <= evening] for rows in whole)
            with both((visits, refunds)) as db:  # type: ignore[arg-type]
                counted = values(feed_over(db, asked), evening + 1)
            if counted[:evening] != before:
                return True
            before = counted
    return False


@pytest.mark.parametrize("asked", ACCEPTED.values(), ids=ACCEPTED)
def test_tables_that_only_grow_keep_their_past(asked: Any) -> None:
    assert not grows_into_another_past(asked)


@pytest.mark.parametrize("name", ["the last day", "not refunded"])
def test_without_the_refusal_the_past_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.session.feeds.request.check_causal", lambda _: None)
    assert grows_into_another_past(REFUSED[name])


def test_the_calendar() -> None:
    weeks = Calendar.of("2026-01-05", 3, "week")
    assert [weeks.complete(until) for until in ("2026-01-11", "2026-01-17", "2026-01-18", "2026-01-25")] == [1, 1, 2, 3]


def test_days_are_looked_at_and_taken_elsewhere(tmp_path: Path) -> None:
    with session([(unit, unit % 8, 1) for unit in range(80)]) as db:
        days = feed_of(db, windows=(7,)).release(until=day(7))
    assert "last_7" in days._repr_html_()
    assert list(days.to_pandas().columns) == list(days.to_polars().columns) == list(days.to_columns())
    days.plot(tmp_path / "days.png", "last_7")
    assert (tmp_path / "days.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(Invalid, match="no column of that name"):
        days.plot(column="last_8")
