"""Payments that charge each account for what it gets: what it knows and is told follows from its own account alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve, frozen
from ledger.racing import killed, side_by_side
from ledger.shelves import Shelf

from discreet.errors import BudgetExceeded, EngineError, Invalid
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.payment import Payments
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure
from discreet.loss.loss import Loss

TERMS = Terms(10, 0, "id")


@frozen
class Price:
    loss: Loss
    epsilon: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)


@frozen
class Text:
    text: str
    repeated: bool = False
    names_entries: bool = True

    def to_text(self) -> str:
        return self.text

    def without_entries(self) -> Text:
        return evolve(self, names_entries=False)


def payments(ledger: Ledger, analyst: str | None = "bo", ready: Callable[[], None] = lambda: None) -> Payments:
    return Payments(ledger, analyst, ready, per_account=True)


def ask(mine: Payments, question: str, price: Any = 1, run: Callable[[Any], Text] = lambda _: Text("drawn")) -> Text:
    return mine.pay_once(Price(Pure(price), Fraction(price)), question, "note", run, Text)


def shared(place: str = ":memory:") -> Ledger:
    """A ledger in which ada has asked q."""
    ledger = open_ledger(place, TERMS)
    ledger.grant("ada", 4)
    ledger.grant("bo", 2)
    ask(payments(ledger, "ada"), "q", run=lambda _: Text("ada's"))
    return ledger


def never(_: Any) -> Text:
    raise AssertionError("this was drawn")


def test_a_stored_answer_is_charged_at_first_and_free_afterwards() -> None:
    ledger = shared()
    mine = payments(ledger)
    assert (mine.knows("q"), mine.stored("q"), mine.is_answered("q"), mine.published("q")) == (False, None, True, None)
    assert ask(mine, "q", run=never) == Text("ada's", repeated=False, names_entries=False)
    assert (mine.knows("q"), mine.stored("q")) == (True, "ada's")
    assert ask(mine, "q", run=never) == Text("ada's", repeated=True, names_entries=False)
    assert (mine.allowance.spent.epsilon, ledger.spent.epsilon) == (1, 1)
    assert ledger.entries()[-1].body["note"] == "note"  # in bo's words


def test_what_is_drawn_looks_like_what_is_received() -> None:
    ledger = shared()
    mine = payments(ledger)
    assert ask(mine, "new") == Text("drawn", names_entries=False)
    assert ask(mine, "new", run=never) == Text("drawn", repeated=True, names_entries=False)
    assert ledger.spent.epsilon == 2


def test_owners_and_nobody_are_not_charged_for_what_is_stored() -> None:
    ledger = shared()
    assert ask(payments(ledger, "owner"), "q", run=never).repeated
    alone = open_ledger(":memory:", TERMS)
    ask(payments(alone, None), "q")
    assert ask(payments(alone, None), "q", run=never).repeated
    assert (ledger.verify().received, alone.verify().received) == (0, 0)


def test_what_the_owner_paid_for_is_published_where_that_is_asked_for() -> None:
    ledger = shared()
    ask(payments(ledger, "owner"), "facts", run=lambda _: Text("public"))
    assert payments(ledger).published("facts") == "public"
    assert not payments(ledger).knows("facts")
    assert Payments(ledger, "bo", lambda: None).published("q") == "ada's"  # without accounts, all is


def test_refusals_do_not_tell_what_is_stored_nor_whose_budget_is_short() -> None:
    alone, ledger = open_ledger(":memory:", TERMS), shared()
    alone.grant("bo", 2)
    ask(payments(ledger, "ada"), "dear", 3)
    refused = []
    for one in (alone, ledger):
        with pytest.raises(BudgetExceeded) as found:
            ask(payments(one), "dear", 3)
        refused.append(str(found.value))
    assert (
        refused[0]
        == refused[1]
        == ("the budget does not admit this; it still admits one question of ε ≤ 2 and δ ≤ 0. Nothing was charged.")
    )
    ledger.spend(Pure(5), question="rest", analyst="owner")  # 1 is left in the data set
    for work in (lambda: ask(payments(ledger), "new", "3/2"), lambda: payments(ledger).reserved([Pure(1), Pure("1/2")]).__enter__()):
        with pytest.raises(BudgetExceeded) as found:
            work()
        assert str(found.value) == refused[0]
    assert payments(ledger).allowance.remaining.epsilon == 2
    assert ledger.allowance("bo").remaining.epsilon == 1
    with pytest.raises(BudgetExceeded, match="eve has no budget here"):
        ask(payments(ledger, "eve"), "q")


def test_data_that_cannot_be_read_and_a_closed_session_are_told_alike() -> None:
    def not_ready() -> None:
        raise EngineError("the database is down")

    ledger = shared()
    for question in ("q", "new"):
        with pytest.raises(EngineError, match="down"):
            ask(payments(ledger, ready=not_ready), question)
        closed = payments(ledger)
        closed.close()
        with pytest.raises(Invalid, match="closed"):
            ask(closed, question)
    ask(payments(ledger), "q")
    assert ask(payments(ledger, ready=not_ready), "q").repeated  # his own answers are there all the same


def test_a_reservation_is_for_stored_steps_too() -> None:
    ledger = shared()
    mine = payments(ledger)
    with pytest.raises(BudgetExceeded), mine.reserved([Pure(1), Pure("3/2")]):
        pass
    with mine.reserved([Pure(1), Pure(1)]):
        with pytest.raises(BudgetExceeded, match="does not admit"):
            ask(payments(ledger), "elsewhere", "1/2")
        assert ask(mine, "q", run=never).text == "ada's"
        with pytest.raises(BudgetExceeded, match="does not admit"):
            ask(payments(ledger), "elsewhere", "1/2")
        ask(mine, "second")
    assert (mine.allowance.remaining.epsilon, ledger.spent.epsilon) == (0, 2)


def test_a_failed_run_names_no_entry() -> None:
    def fails(_: Any) -> Text:
        raise EngineError("lost")

    with pytest.raises(EngineError) as failed:
        ask(payments(shared()), "new", run=fails)
    assert failed.value.__notes__ == ["this question was charged and not answered: ask again, and pay again, for a new draw"]


# ── at the same time ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_whoever_waits_for_anothers_answer_is_charged_for_it(shelf: Shelf) -> None:
    ledger = shared(shelf.at("a"))
    running, found = threading.Event(), list[Text]()

    def slowly(_: Any) -> Text:
        running.set()
        time.sleep(0.5)
        return Text("ada's second")

    other = threading.Thread(target=lambda: found.append(ask(payments(open_ledger(shelf.at("a")), "ada"), "r", run=slowly)))
    other.start()
    assert running.wait(30)
    mine = ask(payments(ledger), "r", run=never)
    other.join()
    assert mine == found[0] == Text("ada's second", names_entries=False)
    assert (ledger.allowance("bo").spent.epsilon, ledger.allowance("ada").spent.epsilon, ledger.spent.epsilon) == (1, 2, 2)


def test_processes_of_several_accounts_draw_once_and_each_is_charged_once(shelf: Shelf) -> None:
    shared(shelf.at("a")).close()

    def work(number: int) -> str:
        mine = payments(open_ledger(shelf.at("a")), ("ada", "bo")[number % 2])
        return ask(mine, "new", run=lambda _: Text(f"by {number}")).text

    assert len(set(side_by_side(work, 4))) == 1
    ledger = open_ledger(shelf.at("a"))
    assert (ledger.allowance("bo").spent.epsilon, ledger.allowance("ada").spent.epsilon, ledger.spent.epsilon) == (1, 2, 2)
    assert ledger.verify().received == 1


def test_a_run_that_was_overtaken_pays_for_its_draw_and_for_what_it_shows(shelf: Shelf) -> None:
    """The draw that is thrown away could have been seen in an error; what is shown is another's."""
    ledger = shared(shelf.at("a"))
    other = open_ledger(shelf.at("a"))

    def run(_: Any) -> Text:
        with ledger._lock, ledger._storage.writing():
            for lease in ledger._storage.leases():
                ledger._storage.drop_lease(lease.name)
        ask(payments(other, "ada"), "r", run=lambda _: Text("ada's"))
        return Text("thrown away")

    assert ask(payments(ledger), "r", run=run).text == "ada's"
    assert (ledger.allowance("bo").spent.epsilon, ledger.spent.epsilon) == (2, 3)


@pytest.mark.parametrize("after", [0.0, 0.005, 0.03])
def test_whoever_is_killed_has_shown_nothing_without_the_charge(shelf: Shelf, after: float) -> None:
    shared(shelf.at("a")).close()
    shown = shelf.folder / "shown"

    def work(ready: Callable[[], None]) -> None:
        mine = payments(open_ledger(shelf.at("a")))
        ready()
        shown.write_text(ask(mine, "q", run=never).text)

    killed(work, after)
    ledger = open_ledger(shelf.at("a"))
    assert ledger.has_received("q", "bo") or not shown.exists()
    assert ask(payments(ledger), "q", run=never).text == "ada's"
    assert (ledger.allowance("bo").spent.epsilon, ledger.spent.epsilon) == (1, 1)
