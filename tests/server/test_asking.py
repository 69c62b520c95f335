"""Asking: free plans, jobs that end, and what a restart makes of those that did not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from server.clinic import Served, asked

from discreet.errors import EngineError
from discreet.loss.leaves import Pure
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.outcome import as_outcome
from discreet.server.store.accounts import Account


def account(served: Served, name: str) -> Account:
    found = served.server.accounts.get(name)
    assert found is not None
    return found


def test_a_plan_is_free(served: Served, data: DataSet) -> None:
    before = data.ledger.length
    plan = served.server.asking.plan(data, account(served, "ann"), Asked.read(asked()))
    assert float(plan.epsilon) == 0.1
    assert data.ledger.length == before


def test_an_answer_is_known_to_who_received_it(served: Served, data: DataSet) -> None:
    server = served.server
    job, _ = server.asking.add(data, account(served, "ann"), asked(), None)
    ended = asyncio.run(server.asking.answer(data, account(served, "ann"), job))
    assert "release" in ended.said
    assert server.asking.known(data, account(served, "ann"), Asked.read(asked())) is not None
    assert server.asking.known(data, account(served, "ann"), Asked.read(asked(epsilon=0.2))) is None
    stored = server.jobs.get(job.id)
    assert stored is not None
    assert (stored.state, stored.said) == (ended.state, ended.said) == ("done", ended.said)


def test_slots_follow_from_public_sizes(served: Served, data: DataSet) -> None:
    asking = served.server.asking
    assert asking.rows_of(data) == 2000
    profile = Asked.read({"request": [["profile", ["visits"], {}]], "price": {"epsilon": 1}})
    assert asking.slot(data, Asked.read(asked())) <= asking.slot(data, profile)


def test_errors_are_outcomes_without_their_reason(served: Served, data: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    server, told = served.server, []
    monkeypatch.setattr(server.asking, "_failed", lambda job, error: told.append((job, error)))

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the patient Maria")

    monkeypatch.setattr("discreet.server.asking.perform", fail)
    job, _ = server.asking.add(data, account(served, "ann"), asked(), None)
    outcome = asyncio.run(server.asking.answer(data, account(served, "ann"), job)).said
    assert outcome["error"] == "Error"
    assert "Maria" not in str(outcome)
    assert "Maria" in str(told[0][1])
    error = EngineError("it failed")
    error.add_note("a note")
    assert as_outcome(error) == {"error": "EngineError", "message": "it failed", "notes": ["a note"]}


# ── after a restart ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["ann", "owner", "olga"])
def test_what_was_charged_and_not_answered_is_interrupted(served: Served, data: DataSet, name: str) -> None:
    server = served.server
    server.accounts.add("olga", "owner", "owner")  # a second owner pays as the owner
    who = account(served, name)
    job, _ = server.asking.add(data, who, asked(), None)
    server.jobs.begin(job.id, data.ledger.length)
    question = server.asking.plan(data, who, Asked.read(asked())).priced.question
    data.ledger.spend(Pure("0.1"), question=question, analyst=who.payer)
    running = server.jobs.open()[0]
    assert not server.asking.recover(data, who, running)
    ended = server.jobs.get(job.id)
    assert ended is not None
    assert ended.state == "interrupted"
    assert "charges again" in ended.said["message"]


def test_what_was_not_charged_is_queued_again(served: Served, data: DataSet) -> None:
    server, ann = served.server, account(served, "ann")
    data.ledger.spend(Pure("0.1"), question="an earlier one", analyst="ann")
    job, _ = server.asking.add(data, ann, asked(), None)
    server.jobs.begin(job.id, data.ledger.length)
    data.ledger.spend(Pure("0.1"), question="another's", analyst="bob")
    data.ledger.spend(Pure("0.1"), question="another of her own", analyst="ann")
    assert server.asking.recover(data, ann, server.jobs.open()[0])
    assert server.jobs.open()[0].state == "queued"
