"""Threshold streams: what is charged and when, what is told, what is refused."""

from __future__ import annotations

import copy
import itertools
import math
import os
import pickle
import threading
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from mechanisms.shake import Shake
from session.watch.visits import BALANCE, COST, ER, PEOPLE, WARD, session

from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import BudgetExceeded, EngineError, Invalid, Refused
from discreet.mechanisms.streams import sparse_vector
from discreet.mechanisms.streams.sparse_vector import SparseVectorRun
from discreet.session.watch.total import Measured
from discreet.session.watch.watch import Outcome, Watch

# ── what is charged ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_debit_for_each_round_and_misses_are_free() -> None:
    with session() as db:
        stream = db.watch(epsilon=20, threshold=2000, rounds=2)
        assert (db.history(), stream.left, stream.spent) == ([], 2, 0)
        assert [stream.ask(WARD).above for _ in range(30)] == [False] * 30
        assert [one["epsilon"] for one in db.history()] == [20]
        assert stream.ask(ER).above
        assert [one["epsilon"] for one in db.history()] == [20]  # the next round is not paid for before it is needed
        assert (stream.left, stream.spent) == (1, 20)
        assert not stream.ask(WARD).above
        assert stream.ask(ER, threshold=2500).above
        assert [one["asked"] for one in db.history()] == ["watch: round 1 of 2", "watch: round 2 of 2"]
        with pytest.raises(BudgetExceeded, match="2 rounds"):
            stream.ask(WARD)
        assert db.spent.epsilon == 40
        assert repr(stream) == "Watch(0 of 2 rounds left; 33 questions asked; ε = 40 so far, 20 for each round)"


def test_what_is_told_of_a_hit() -> None:
    with session() as db:
        assert repr(db.watch(300, 2000).ask(ER)) == "Outcome(above)"
        told = db.watch(300, 2000, values=True).ask(ER)
        assert told.value == pytest.approx(3000, abs=5)
        assert told.gap is None
        assert told.error == pytest.approx(2 * math.log(20) / 100, rel=1e-3)  # Δ = 2 rows, a third of ε = 300, both in Laplace's quantile
        assert repr(told).startswith("Outcome(above, value ≈ ")
        gap = db.watch(300, 2000, values="gap").ask(ER)
        assert gap.gap == pytest.approx(1000, abs=5)
        assert repr(gap).startswith("Outcome(above, by ≈ ")
        assert db.watch(10, 200_000, values=True).ask(COST).value == pytest.approx(240_000, rel=0.1)  # Δ = 200


@pytest.mark.parametrize("threshold", [-(10**6), -(10**15), -(2**62), Fraction(-1, 3)])
def test_a_value_is_as_near_as_it_says_however_far_the_threshold(threshold: Any) -> None:
    """3,000 and its threshold differ in their last digits only if the threshold is far; errors of 95 %: 12 of 20 fail with 10⁻¹⁰."""
    with session(epsilon=10**6) as db:
        told = [db.watch(3, threshold, values=True).ask(ER) for _ in range(20)]
        assert all(one.value is not None and one.error is not None for one in told)
        assert sum(abs(one.value - 3000) > one.error for one in told) < 12  # type: ignore[operator]
        if threshold >= -(10**15):
            assert all(one.error < 8 for one in told)  # type: ignore[operator]  # 2·ln 20 and a little


@pytest.mark.parametrize("threshold", [1e250, -1e250, 2**63 + 1, -(2**63) - 1])
def test_thresholds_where_no_total_goes_are_not_asked_about(threshold: Any) -> None:
    with session() as db:
        for stream, given in ((db.watch(1, threshold, values=True), None), (db.watch(1, 0), threshold)):
            with pytest.raises(Invalid, match="beyond any possible total"):
                stream.ask(ER, given)
            assert (db.history(), stream.asked) == ([], 0)  # Δ = 2: up to 2⁶³


def events(monkeypatch: pytest.MonkeyPatch, ask: Any, stream: Watch) -> list[str]:
    """Debits and statements, in the order in which they happen."""
    seen: list[str] = []
    payments, read = type(stream._pipeline.payments), DuckDB.batches
    pay = payments.claim

    def batches(self: Any, *args: Any) -> Iterator[Any]:
        seen.append("statement")
        return read(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(payments, "claim", lambda self, *a, **k: (seen.append("debit"), pay(self, *a, **k))[1])
        patch.setattr(DuckDB, "batches", batches)
        ask(stream)
    return seen


def test_the_debit_comes_first_and_the_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(stream: Watch) -> None:
        stream.ask(WARD)
        stream.ask(WARD)

    def answers_first(stream: Watch) -> None:
        """A broken variant: it pays after it has read."""
        read = Measured.of(stream._compiled(WARD)).read(stream._pipeline.engine)
        stream._open().ask(read)

    with session() as db:
        assert events(monkeypatch, twice, db.watch(1, 10**9)) == ["debit", "statement", "statement"]
        assert events(monkeypatch, answers_first, db.watch(1, 10**9))[0] != "debit"


def test_without_money_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with session(epsilon=1) as db:
        stream = db.watch(2, 10)

        def ask(stream: Watch) -> None:
            with pytest.raises(BudgetExceeded):
                stream.ask(ER)

        assert events(monkeypatch, ask, stream) == ["debit"]
        assert (stream.left, stream.spent, db.spent.epsilon) == (1, 0, 0)


def test_a_refused_question_costs_nothing() -> None:
    with session() as db:
        stream = db.watch(1, 10)
        for sql in ("SELECT AVG(cost) FROM visits", "SELECT nonsense FROM visits"):
            with pytest.raises((Refused, Invalid)):
                stream.ask(sql)
        assert db.history() == []


def test_a_failing_engine_keeps_the_round_and_its_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    with session() as db:
        stream = db.watch(20, 2000)
        stream.ask(WARD)
        run = stream._run
        assert run is not None
        noise = run._threshold_noise

        def failing(*_: Any) -> Iterator[Any]:
            raise RuntimeError("patient 17 has a strange cost")
            yield

        with monkeypatch.context() as patch:
            patch.setattr(DuckDB, "batches", failing)
            with pytest.raises(EngineError) as told:
                stream.ask(ER)
            assert "17" not in str(told.value)
        assert stream._run is run
        assert run._threshold_noise == noise
        assert len(db.history()) == 1
        assert stream.ask(ER).above


def test_a_failure_after_noise_was_drawn_ends_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the same noise might be asked about again after a hit that nobody saw."""
    with session() as db:
        stream = db.watch(20, 2000, rounds=2)

        def interrupted(self: SparseVectorRun, answer: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(SparseVectorRun, "ask", interrupted)
            with pytest.raises(KeyboardInterrupt):
                stream.ask(ER)
        assert stream.left == 1
        stream.ask(WARD)
        assert len(db.history()) == 2


@pytest.mark.parametrize("values", [False, True, "gap"])
def test_neighbours_with_the_same_answers_have_the_same_outcomes(monkeypatch: pytest.MonkeyPatch, values: Any) -> None:
    """More units, whose rows do not meet the condition: with the same coins, all that is told is the same."""
    one = [(i % 40, "er", 50.0) for i in range(80)]
    other = [*one, (77, "ward", 100.0), (78, "ward", 100.0)]
    heard = []
    for rows in (one, other):
        with session(rows) as db:
            coins = itertools.count()
            monkeypatch.setattr(sparse_vector, "SystemBits", lambda coins=coins: Shake(next(coins)))
            stream = db.watch(Fraction(1, 2), 80, rounds=5, values=values)
            said = []
            while stream.left:
                said.append(stream.ask(ER))
            heard.append((said, [entry["epsilon"] for entry in db.history()], repr(stream)))
    assert heard[0] == heard[1]
    assert any(not outcome.above for outcome in heard[0][0])


def test_questions_of_all_sensitivities_share_a_round() -> None:
    """ε = 100 and totals far from their thresholds: an error has probability below e⁻¹⁰⁰."""
    for adjacency in ("add/remove", "replace-one"):
        with session(adjacency=adjacency) as db:
            stream = db.watch(100, 0)
            asked = [(COST, 300_000), (BALANCE, 60_000), (PEOPLE, 5000), (WARD, 2000), ("SELECT COUNT(cost) FROM visits", 6000)]
            assert [stream.ask(sql, threshold).above for sql, threshold in asked] == [False] * 5
            assert stream.ask(COST, 200_000).above
            assert len(db.history()) == 1


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_error_is_known_before_paying() -> None:
    with session() as db:
        stream = db.watch(1, 1000)
        assert stream.error(0.99, 100) > stream.error(0.95, 100) > stream.error(0.95, 1)
        assert stream.error(0.95, 100, COST) == pytest.approx(200 * stream.error(0.95, 100), rel=1e-3)
        assert db.history() == []


def test_questions_of_every_kind() -> None:
    with session() as db, session(bounds={"cost": (0, 7)}) as other:
        stream = db.watch(100, 2000, rounds=3)
        assert stream.ask(db.sql(ER, contributions={"rows": 1})).above
        assert stream.ask(db.table("visits").where("dept = 'er'").count()).above
        with pytest.raises(Invalid, match="another session"):
            stream.ask(other.sql(ER))
        with pytest.raises(Invalid, match="SQL"):
            stream.ask(7)
        with pytest.raises(Invalid, match="OPTIONS"):
            stream.ask("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM visits")


def test_a_closed_session_answers_no_more() -> None:
    db = session()
    stream = db.watch(1, 10**6)
    stream.ask(ER)
    db.close()
    with pytest.raises(Invalid, match="closed"):
        stream.ask(ER)


def test_a_stream_is_not_copied() -> None:
    with session() as db:
        stream = db.watch(1, 10**6)
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(Invalid, match="copied"):
                way(stream)


def test_a_forked_stream_does_not_go_on() -> None:
    with session() as db:
        stream = db.watch(1, 10**6, rounds=2)
        stream.ask(ER)
        child = os.fork()
        if not child:
            status = 1
            try:
                stream.ask(ER)
            except Invalid:
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not stream.ask(ER).above  # the parent does


def test_two_threads_do_not_share_a_hit() -> None:
    with session(epsilon=10**6) as db:
        stream = db.watch(100, 2000, rounds=20)
        hits: list[Outcome] = []

        def ask() -> None:
            hits.extend(stream.ask(ER) for _ in range(5))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(one.above for one in hits) == len(db.history()) == 20
