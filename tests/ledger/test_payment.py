"""Payments: each question is paid for once, and one reservation pays for all steps of a request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import frozen
from ledger.racing import killed, side_by_side
from ledger.shelves import Shelf

from discreet.errors import BudgetExceeded, EngineError, Invalid
from discreet.ledger import leases, payment
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.payment import Payments
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Approx, Pure
from discreet.loss.loss import Loss

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


def test_whoever_pays_first_the_reserved_order_still_fits(shelf: Shelf) -> None:
    ledger, other = open_ledger(shelf.at("a"), TERMS), open_ledger(shelf.at("a"))
    steps: list[Loss] = [Approx("1/5", "1e-8"), Approx("8/5", "8.9e-7")]
    payments = Payments(ledger, None, lambda: None)
    with payments.reserved(steps):
        other.spend(Approx("1/10", "1e-9"), question="theirs")
        for place, loss in enumerate(steps):
            payments.claim(Price(loss), "q", f"k{place}", "")
    assert ledger.verify().spends == 3


def test_a_run_that_asks_its_own_question_is_told(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    with pytest.raises(Invalid, match="being answered"):
        once(ledger, "q", lambda _: Text(once(ledger, "q", lambda _: Text("x"))))


def test_an_order_is_of_one_account(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), TERMS)
    mine, theirs = Payments(ledger, None, lambda: None), Payments(ledger, None, lambda: None)
    with mine.reserved([Pure(1)]):
        theirs.claim(Price(Pure(1)), "q", "theirs", "")
        with pytest.raises(BudgetExceeded, match="reserved"):
            theirs.claim(Price(Pure("1/10")), "q", "more", "")
        mine.claim(Price(Pure(1)), "q", "mine", "")


def test_what_could_not_be_read_is_not_paid_for() -> None:
    ledger = open_ledger(":memory:", TERMS)

    def unready() -> None:
        raise EngineError("gone")

    payments = Payments(ledger, None, unready)
    with pytest.raises(EngineError):
        payments.pay_once(Price(Pure(1)), "q", "", lambda _: Text("x"), lambda text, _: Text(text))
    with pytest.raises(EngineError):
        payments.claim(Price(Pure(1)), "q", "k", "")
    with pytest.raises(EngineError), payments.reserved([Pure(1)]):
        pass
    assert ledger.spent.epsilon == 0


def test_a_closed_session_pays_nothing() -> None:
    ledger = open_ledger(":memory:", TERMS)
    payments = Payments(ledger, None, lambda: None)
    payments.close()
    with pytest.raises(Invalid, match="this session is closed: connect again"):
        payments.claim(Price(Pure(1)), "q", "k", "")
    with pytest.raises(Invalid, match="closed"), payments.reserved([Pure(1)]):
        pass
    assert ledger.spent.epsilon == 0


def test_a_stored_answer_is_free_and_known() -> None:
    payments = Payments(open_ledger(":memory:", TERMS), None, lambda: None)
    assert not payments.knows("q")
    read: list[bool] = []

    def again(text: str, free: bool) -> Text:
        read.append(free)
        return Text(text)

    for run in (lambda _: Text("first"), lambda _: pytest.fail("drawn again")):
        assert payments.pay_once(Price(Pure(1)), "q", "", run, again).text == "first"
    assert read == [True]
    assert payments.knows("q")
    assert payments.allowance.spent.epsilon == 1


def test_a_claim_says_whether_it_paid() -> None:
    payments = Payments(open_ledger(":memory:", TERMS), None, lambda: None)
    first, paid = payments.claim(Price(Pure(1)), "q", "k", "")
    assert payments.claim(Price(Pure(1)), "q", "k", "") == (first, False)
    assert paid


def test_a_question_that_needs_more_delta_than_is_left_is_told_how_to_need_none() -> None:
    payments = Payments(open_ledger(":memory:", Terms(2, "1e-9", "id")), None, lambda: None)
    price = Price(Approx(1, "1e-6"), Fraction(1), Fraction(1, 10**6))
    with pytest.raises(
        BudgetExceeded, match=r"only δ = 1e-09 of the budget is left .* declare its keys and pass delta=0\. Nothing was charged"
    ):
        payments.claim(price, "q", "k", "")
