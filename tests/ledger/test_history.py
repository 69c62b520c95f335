"""The history of a chain: entries are judged without being accepted, and the state covers all accounts."""

from __future__ import annotations

import pytest
from attrs import evolve

from discreet.errors import LedgerError
from discreet.ledger import chain
from discreet.ledger.history import History
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.standing import Account
from discreet.ledger.terms import Terms
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.leaves import Pure

ONE = Terms(1, 0, "id")


def in_memory(terms: Terms = ONE, **grants: object) -> Ledger:
    ledger = open_ledger(":memory:", terms)
    for name, epsilon in grants.items():
        ledger.grant(name, epsilon)  # type: ignore[arg-type]
    return ledger


def spend_body(epsilon: object, analyst: object) -> dict[str, object]:
    price = {"loss": record.to_json(Pure(epsilon)), "charge": Charge.of(Pure(epsilon), pure=ONE.delta == 0).to_json()}  # type: ignore[arg-type]
    return {"question": "q", "key": None, "note": "", "analyst": analyst, "whole": None} | price


def test_the_state_covers_every_filter() -> None:
    ledger = in_memory(ada=0.5)
    before = ledger._history.standing.text
    ledger.grant("bob", 0.5)
    middle = ledger._history.standing.text
    ledger.spend(Pure(0.1), question="q", analyst="bob")
    assert len({before, middle, ledger._history.standing.text}) == 3
    assert [name for name, _ in chain.read(middle)["analysts"]] == ["ada", "bob"]


def test_a_judged_entry_changes_nothing() -> None:
    history = History()
    for entry in in_memory(ada=0.5).entries():
        history.follow(entry)
    before = history.standing.text
    history.judge(chain.seal(2, "spend", spend_body(0.25, "ada"), history.head))
    history.judge(chain.seal(2, "grant", {"analyst": "bob", "epsilon": "1/4", "delta": "0"}, history.head))
    assert history.standing.text == before
    assert history.standing.analysts == {"ada": Account(Filter("1/2"))}


def test_entries_that_do_not_follow_are_refused() -> None:
    entries = in_memory(ada=0.5).entries()
    history = History()
    with pytest.raises(LedgerError, match="does not follow"):
        history.follow(entries[1])
    history.follow(entries[0])
    with pytest.raises(LedgerError, match="does not follow"):
        history.follow(entries[0])
    with pytest.raises(LedgerError, match="was changed"):
        history.follow(evolve(entries[1], text=entries[1].text.replace("ada", "eve")))
    with pytest.raises(LedgerError, match="not valid at its place"):
        history.follow(chain.seal(1, "terms", entries[0].body, history.head))
    assert history.length == 1


def test_a_history_resumed_at_a_checkpoint_is_that_of_all_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.ledger.history.EVERY", 3)
    ledger = in_memory(ada=0.5)
    for number in range(4):
        ledger.spend(Pure("1/100"), question=f"{number}", analyst="ada")
    entries = ledger.entries()
    whole = History()
    for entry in entries:
        whole.follow(entry)
    checkpoint = next(entry for entry in reversed(entries) if entry.kind == "checkpoint")
    resumed = History.resumed(entries[0], checkpoint)
    for entry in entries[checkpoint.sequence + 1 :]:
        resumed.follow(entry)
    assert (resumed.head, resumed.length, resumed.summary) == (whole.head, whole.length, whole.summary)
    assert resumed.holds(entries[-1])
    assert not resumed.holds(entries[0])
    with pytest.raises(LedgerError, match="first entry or its last checkpoint"):
        History.resumed(entries[1], checkpoint)
