"""Leases: others wait for whoever paid, as long as that lasts; orders reserve what they will need."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import frozen
from ledger.shelves import Shelf

from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger import leases, payment
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.payment import Payments
from discreet.ledger.storage import Lease
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Approx, Pure
from discreet.loss.loss import Loss
from discreet.loss.notions import Gdp

TERMS = Terms(2, "1e-6", "id")


@frozen
class Price:
    loss: Loss
    epsilon: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)


@frozen
class Text:
    text: str

    def to_text(self) -> str:
        return self.text


def once(ledger: Ledger, question: str, run: Callable[[Any], Text], loss: Loss | None = None, lost: str | None = None) -> str:
    return Payments(ledger, None, lambda: None).pay_once(Price(loss or Pure(1)), question, "", run, lambda text, _: Text(text), lost).text


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases that run out soon."""
    monkeypatch.setattr(leases, "LASTS", 1.0)
    monkeypatch.setattr(payment, "LASTS", 1.0)


def test_a_clock_that_was_set_back_does_not_keep_a_lease_for_ever(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    clock = type(ledger._storage).clock
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger._storage), "clock", lambda self: clock(self) + 86_400)
        ledger.start(Pure(1), question="q", holder="tomorrow")
    assert once(ledger, "q", lambda _: Text("today")) == "today"


# ── orders ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("short")
def test_a_reservation_of_a_process_that_died_lapses(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    ledger.reserve([Pure(2)], holder="dead")
    with pytest.raises(BudgetExceeded, match="reserved"):
        ledger.spend(Pure(1), question="q")
    time.sleep(1.1)
    ledger.spend(Pure(1), question="q")


def test_the_cheap_first_step_of_an_order_closes_nothing_to_others(shelf: Shelf) -> None:
    """Else a step of 1e-30 could leave one gate open that admits nobody else's questions."""
    ledger = open_ledger(shelf.at("a"), Terms(1, "1e-6", "id"))
    with pytest.raises(BudgetExceeded):
        ledger.reserve([Pure("1e-30"), Gdp("0.2366")], holder="greedy")
    order = ledger.reserve([Pure("1e-30"), Approx("9/10", "9e-7")], holder="greedy")
    ledger.claim(Pure("1e-30"), question="q", key="k", reservation=order)
    ledger.drop_leases("greedy")
    for loss in (Approx("1/10", "1e-8"), Pure("1/2")):
        ledger.spend(loss, question=f"{loss}")


def test_a_reservation_that_no_longer_fits_holds_nothing(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    ledger.reserve([Pure(2)], holder="nameless")
    ledger.grant("ada", 1)
    ledger.spend(Pure("1/2"), question="q", analyst="ada")  # the reservation names nobody, and nobody may be nameless now
    with ledger._lock, ledger._storage.writing():
        now = ledger._storage.clock()
        for place, junk in enumerate(("junk", "[]", '{"rest":1,"whole":2}', '{"rest":{"basic":["9","0"]}}')):
            ledger._storage.lease(Lease(f"order {place}", "x", now + 10, None, junk))
    ledger.spend(Pure("1/2"), question="r", analyst="ada")


@pytest.mark.usefixtures("short")
def test_what_has_expired_is_not_renewed(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    ledger.reserve([Pure(2)], holder="late")
    time.sleep(1.1)
    ledger.renew("late")
    ledger.spend(Pure(1), question="q")


def test_an_analyst_s_order_is_checked_step_by_step(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), Terms(2, "1e-6", "id"))
    ledger.grant("ada", 2, "1e-6")
    ledger.spend(Pure("1/100"), question="before", analyst="owner")
    with pytest.raises(BudgetExceeded):
        ledger.reserve([Approx("1/5", "1e-8"), Approx("8/5", "8.9e-7")], holder="h", analyst="ada")
    assert ledger.allowance("ada").spent.epsilon == 0


def test_texts_that_a_storage_would_cut_are_refused(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    for bad in ("q\0", "\ud800"):
        for said in ({"question": bad}, {"question": "q", "key": bad}, {"question": "q", "note": bad}):
            with pytest.raises(Invalid, match="NUL"):
                ledger.spend(Pure(1), **said)
    ledger.store(ledger.spend(Pure(1), question="q"), {"n": 1})
    assert ledger.find("q") == {"n": 1}


def test_leases_are_no_part_of_the_chain(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    ledger.start(Pure(1), question="q", holder="me")
    before = [entry.hash for entry in ledger.entries()]
    with shelf.hand("a") as hand:
        hand.execute("DELETE FROM leases")
    assert [entry.hash for entry in ledger.entries()] == before
    ledger.verify()
