"""Conversations, threshold streams and feeds on a server: each step is taken once."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from session.remote.losing import losing

from discreet.errors import BudgetExceeded, Invalid
from discreet.session.remote.http import Connection
from discreet.session.remote.session import RemoteSession
from discreet.session.watch.watch import Outcome

ALL = "SELECT COUNT(*) FROM visits"


def test_a_conversation(shared: Any) -> None:
    talk = shared.interactive(["dept", "cost"], epsilon=1, accuracy=300)
    first = talk.ask({"cost": (0, 250)})
    assert (first.source, talk.asked, talk.accuracy) == ("paid", 1, 300)
    assert abs(first.value - 3000) < 600
    assert talk.ask({"cost": (0, 250)}).source == "cached"
    assert 0 < talk.spent <= 1
    assert first.cost.epsilon_at(1e-9) > 0
    assert 0 <= talk.ask(mean="cost").value <= 500
    assert [row["source"] for row in talk.release()][:2] == ["paid", "cached"]
    talk.verify(shared._ledger)
    with pytest.raises(Invalid, match="conditions are a dict"):
        talk.ask(["dept"])
    with pytest.raises(Invalid, match="cannot be copied"):
        copy.copy(talk)
    assert repr(talk).startswith("Conversation(visits: dept")
    assert talk._repr_html_()


def test_a_pair_is_a_range_and_a_list_are_values(shared: Any) -> None:
    talk = shared.interactive(["cost"], epsilon=5, accuracy=200, bins=8)
    both, ends = talk.ask({"cost": (0, 499)}), talk.ask({"cost": [0, 499]})
    assert abs(both.value - 6000) < 400
    assert abs(ends.value - 1500) < 400


def test_a_stream(shared: Any) -> None:
    stream = shared.watch(epsilon=1, threshold=5000, rounds=2)
    assert (stream.left, stream.spent) == (2, 0)
    assert stream.ask(shared.table("visits").where("cost > 400").count()) == Outcome(False)
    assert stream.ask(ALL) == Outcome(True)
    assert (stream.left, stream.spent, stream.asked) == (1, Fraction(1), 2)
    assert stream.ask(shared.sql(ALL), threshold=10) == Outcome(True)
    with pytest.raises(BudgetExceeded, match="all 2 rounds"):
        stream.ask(ALL)
    assert stream.error(questions=10) > stream.error()
    assert stream.error(question=ALL) == 3 * stream.error()
    assert [row["above"] for row in stream.release()] == [False, True, True]
    assert len(stream.receipt.payments) == 2


def test_a_feed(shared: Any) -> None:
    rows = shared.table("visits").with_columns(day="CAST('2026-01-01' AS DATE)")
    request = shared.daily(rows, day="day", start="2026-01-01", days=4, windows=(2,))
    assert request.plan(1).epsilon == 1
    feed = request.open(1)
    assert "(paid)" not in feed.explain()
    first = feed.release(until="2026-01-02")
    assert len(first) == 2
    assert "(paid)" in feed.explain()
    assert feed.release(until="2026-01-03").totals[:2] == first.totals
    assert feed.error(window=2) > 0
    assert feed.loss.epsilon_at(0) <= 1.000001
    assert request.open(1).release(until="2026-01-02").repeated


def test_a_closed_run_is_gone(shared: Any) -> None:
    stream = shared.watch(epsilon=1, threshold=5000)
    stream.close()
    with pytest.raises(Invalid, match="not open"):
        stream.ask(ALL)


def test_a_lost_step_is_taken_once(db: Any) -> None:
    with losing(db._connection.address) as (address, proxy):
        away = RemoteSession(Connection(address, "data", db._connection._token, timeout=20, pause=0.05))
        proxy.lose = 1
        stream = away.watch(epsilon=0.5, threshold=100, rounds=3)
        proxy.lose = 1
        assert stream.ask(ALL) == Outcome(True)
        assert (stream.asked, stream.left, db.spent.epsilon) == (1, 2, 0.5)
        proxy.lose = 1
        with pytest.raises(Invalid, match="beyond any possible"):
            stream.ask(ALL, threshold=10**30)
    opened = [key for line, key in zip(proxy.seen, proxy.keys, strict=True) if line.endswith("/runs")]
    assert (len(opened), len(set(opened))) == (2, 1)
    assert len(db._server.runs._open) == 1


def test_a_step_s_key_is_bound_to_its_body(db: Any) -> None:
    stream, key = db.watch(epsilon=0.5, threshold=100), {"Idempotency-Key": "k"}
    body = {"step": "ask", "arguments": {"question": ALL}}
    db._connection._send("POST", f"/runs/{stream._number}", body, key)
    with pytest.raises(Invalid, match="used for another request"):
        db._connection._send("POST", f"/runs/{stream._number}", body | {"step": "release", "arguments": {}}, key)
    opening = {"request": [["watch", [], {"threshold": 100}]], "price": {"epsilon": 0.5}}
    first = db._connection._send("POST", "/datasets/data/runs", opening, key)[1]
    assert db._connection._send("POST", "/datasets/data/runs", opening, key)[1]["run"] == first["run"]
    with pytest.raises(Invalid, match="used for another request"):
        db._connection._send("POST", "/datasets/data/runs", opening | {"price": {"epsilon": 0.25}}, key)
