"""Feeds: what is paid and when, days that are noised once, and nothing else that varies with the data."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from session.feeds.visits import Row, day, feed_of, session, some_rows

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, EngineError, Invalid
from discreet.ledger.ledger import Ledger
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree
from discreet.session.feeds import days as released_days
from discreet.session.feeds.days import Batch

# ── paying ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_payment_for_all_days() -> None:
    with session([(1, 1, 1)]) as db:
        feed = feed_of(db)
        assert str(feed)
        assert feed.explain()
        assert db.spent.epsilon == 0
        first = feed.release(until=day(2))
        assert (db.spent.epsilon, db.spent.delta) == (1, feed.plan.delta)
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
            with pytest.raises(Invalid, match="drawn and not stored"):
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
                with pytest.raises(Invalid, match="drawn and not stored"):
                    again.release(until=until)
        assert len(db._ledger.entries()) == before
        assert len(feed_of(db).release(until=day(1))) == 2


@pytest.mark.parametrize("delta", [0, "1e-3"])
def test_threads_share_a_feed(monkeypatch: pytest.MonkeyPatch, delta: Any) -> None:
    """A switch of threads just when a batch has been named: each day is there once, and the same for both."""
    rows: list[Row] = [(unit, unit % 8, 1) for unit in range(800)]
    with session(rows, epsilon=10**6) as db, monkeypatch.context() as patch:
        feed, name, begun, totals = feed_of(db, epsilon=10**5, delta=delta), released_days.digest, threading.Event(), {}

        def other() -> None:
            begun.wait(10)
            totals["other"] = feed.release(until=day(2)).totals

        thread, left, between = threading.Thread(target=other), threading.Event(), list[bool]()
        thread.start()

        def slow(named: Any) -> str:
            found = name(named)
            if named[0] == feed.plan.priced.question and threading.current_thread() is thread:
                between.append(not left.is_set())
            elif named[0] == feed.plan.priced.question and not begun.is_set():
                begun.set()
                thread.join(0.5)  # the other one may run now, if it can
                left.set()
            return found

        patch.setattr(released_days, "digest", slow)
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
            with pytest.raises(Invalid, match="inconsistent"):
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
