"""Leases: others wait for whoever paid, as long as that lasts; orders reserve what they will need."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from ledger.racing import killed, side_by_side
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


@pytest.mark.usefixtures("short")
def test_a_slow_question_is_paid_for_once(shelf: Shelf) -> None:
    """Three processes ask one question that takes three times as long as a lease lasts unless it is renewed."""
    open_ledger(shelf.at("a"), TERMS).close()

    def ask(number: int) -> str:
        def run(_: Any) -> Text:
            time.sleep(3)
            return Text(f"by {number}")

        return once(open_ledger(shelf.at("a")), "q", run)

    assert len(set(side_by_side(ask, 3))) == 1
    assert open_ledger(shelf.at("a")).spent.epsilon == 1


@pytest.mark.usefixtures("short")
def test_whoever_died_is_waited_for_as_long_as_the_lease(shelf: Shelf) -> None:
    open_ledger(shelf.at("a"), TERMS).close()

    def work(ready: Callable[[], None]) -> None:
        def run(_: Any) -> Text:
            ready()
            time.sleep(60)
            return Text("never")

        once(open_ledger(shelf.at("a")), "q", run)

    killed(work, 0.2)
    assert once(open_ledger(shelf.at("a")), "q", lambda _: Text("mine")) == "mine"
    assert open_ledger(shelf.at("a")).spent.epsilon == 2  # both debits stay


def test_a_holder_whose_lease_was_taken_throws_its_result_away(shelf: Shelf) -> None:
    ledger, other = open_ledger(shelf.at("a"), TERMS), open_ledger(shelf.at("a"), TERMS)

    def run(_: Any) -> Text:  # stopped for so long that the lease ran out, and another paid
        with ledger._lock, ledger._storage.writing():
            for lease in ledger._storage.leases():
                ledger._storage.drop_lease(lease.name)
        threading.Thread(target=lambda: found.append(once(other, "q", slowly))).start()
        while len(other.entries()) < 3:
            time.sleep(0.01)
        return Text("old")

    def slowly(_: Any) -> Text:
        time.sleep(0.5)
        return Text("new")

    found: list[str] = []
    assert once(ledger, "q", run) == "new"
    while not found:
        time.sleep(0.01)
    assert found == ["new"]
    assert ledger.find("q") == {"release": "new"}
    assert ledger.spent.epsilon == 2


def test_a_run_that_failed_lets_the_next_one_in_at_once(shelf: Shelf) -> None:
    ledger, began = open_ledger(shelf.at("a"), TERMS), time.monotonic()
    with pytest.raises(ZeroDivisionError):
        once(ledger, "q", lambda _: Text(str(1 / 0)))
    assert once(open_ledger(shelf.at("a")), "q", lambda _: Text("second")) == "second"
    assert time.monotonic() - began < leases.LASTS / 2
    assert ledger.spent.epsilon == 2


def test_what_may_be_drawn_once_is_not_drawn_again(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    with pytest.raises(ZeroDivisionError):
        once(ledger, "q", lambda _: Text(str(1 / 0)), lost="gone")
    for again in (ledger, open_ledger(shelf.at("a"))):
        with pytest.raises(Invalid, match="gone"):
            once(again, "q", lambda _: pytest.fail("drawn again"), lost="gone")
    assert ledger.spent.epsilon == 1


def test_a_clock_that_was_set_back_does_not_keep_a_lease_for_ever(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    clock = type(ledger._storage).clock
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger._storage), "clock", lambda self: clock(self) + 86_400)
        ledger.start(Pure(1), question="q", holder="tomorrow")
    assert once(ledger, "q", lambda _: Text("today")) == "today"


# ── orders ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_order_is_admitted_as_a_whole_or_not_at_all(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    with pytest.raises(BudgetExceeded, match="Nothing was charged"), Payments(ledger, None, lambda: None).reserved([Pure(1), Pure("3/2")]):
        pytest.fail("begun")
    assert (ledger.spent.epsilon, len(ledger.entries())) == (0, 1)


def test_delta_is_split_for_the_whole_order(shelf: Shelf) -> None:
    """A first step that brings little δ must not be what decides how δ is split."""
    ledger = open_ledger(shelf.at("a"), TERMS)
    steps: list[Loss] = [Approx("1/5", "1e-8"), Approx("9/5", "8.9e-7")]
    payments = Payments(ledger, None, lambda: None)
    with payments.reserved(steps):
        for place, loss in enumerate(steps):
            payments.claim(Price(loss), "q", f"k{place}", "")
    assert ledger.spent.epsilon == 2
    assert ledger.verify().spends == 2
    assert open_ledger(shelf.at("a"), TERMS).filter == ledger.filter


def test_others_do_not_get_what_is_reserved_and_what_is_left_lapses(shelf: Shelf) -> None:
    ledger, other = open_ledger(shelf.at("a"), TERMS), open_ledger(shelf.at("a"))
    payments, price = Payments(ledger, None, lambda: None), Price(Pure("1/2"))
    with payments.reserved([Pure("1/2"), Pure(1)]):
        payments.claim(price, "q", "first", "")
        told: list[BaseException] = []

        def greedy() -> None:
            try:
                other.spend(Pure(1), question="theirs")
            except BudgetExceeded as error:
                told.append(error)

        thread = threading.Thread(target=greedy)
        thread.start()
        thread.join()
        assert "reserved" in str(told[0])
        other.spend(Pure("1/2"), question="fits beside it")
    other.spend(Pure(1), question="theirs")  # the second step was never begun
    assert ledger.spent.epsilon == 2


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


def test_whoever_pays_first_the_reserved_order_still_fits(shelf: Shelf) -> None:
    ledger, other = open_ledger(shelf.at("a"), TERMS), open_ledger(shelf.at("a"))
    steps: list[Loss] = [Approx("1/5", "1e-8"), Approx("8/5", "8.9e-7")]
    payments = Payments(ledger, None, lambda: None)
    with payments.reserved(steps):
        other.spend(Approx("1/10", "1e-9"), question="theirs")
        for place, loss in enumerate(steps):
            payments.claim(Price(loss), "q", f"k{place}", "")
    assert ledger.verify().spends == 3


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


def test_a_run_that_asks_its_own_question_is_told(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    with pytest.raises(Invalid, match="its own run"):
        once(ledger, "q", lambda _: Text(once(ledger, "q", lambda _: Text("x"))))


def test_an_order_is_of_one_account(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    mine, theirs = Payments(ledger, None, lambda: None), Payments(ledger, None, lambda: None)
    with mine.reserved([Pure(1)]):
        theirs.claim(Price(Pure(1)), "q", "theirs", "")
        with pytest.raises(BudgetExceeded, match="reserved"):
            theirs.claim(Price(Pure("1/10")), "q", "more", "")
        mine.claim(Price(Pure(1)), "q", "mine", "")


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


def test_twenty_four_processes_each_get_their_turn(place: Path) -> None:
    """In two seconds nobody goes empty, and the cap is met exactly."""
    open_ledger(place / "a", Terms(10**6, 0, "id")).close()

    def work(number: int) -> int:
        ledger, until, done = open_ledger(place / "a"), time.monotonic() + 4, 0
        while time.monotonic() < until:
            ledger.spend(Pure(1), question=f"{number} {done}")
            done += 1
        return done

    done = side_by_side(work, 24)
    assert min(done) >= max(done) / 4
    assert open_ledger(place / "a").spent.epsilon == sum(done)
    numbers = (place / "a-turns").read_bytes()
    assert len(numbers) == 16, "the queue does not grow"


def test_a_queue_that_was_scribbled_on_stops_nobody(place: Path) -> None:
    ledger = open_ledger(place / "a", TERMS)
    for rubbish in (b"", b"x", b"\xff" * 16, b"\xff" * 7 + b"\x7f" + b"\x00" * 8, json.dumps({}).encode()):
        (place / "a-turns").write_bytes(rubbish)
        ledger.spend(Pure("1/100"), question=f"{rubbish!r}")
    (place / "a-turns").unlink()
    ledger.spend(Pure("1/100"), question="gone")
    assert ledger.verify().spends == 6
