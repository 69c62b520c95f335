"""Whoever receives an answer is charged for it, once, from her own budget; the data set pays for a question once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from ledger.racing import killed, side_by_side
from ledger.shelves import Shelf

from discreet.errors import BudgetExceeded, Invalid, LedgerError
from discreet.ledger.chain import Entry, seal
from discreet.ledger.history import History
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.replay import Replay
from discreet.ledger.terms import Terms
from discreet.loss.charge import Charge
from discreet.loss.leaves import Pure

TERMS = Terms(10, 0, "id")
UNIT = Fraction(1, 10**40)  # prices are multiples of it


def shared(place: str | Path = ":memory:", witness: Path | None = None) -> Ledger:
    """A ledger in which ada paid for q, and bo has a budget of twice its price."""
    ledger = open_ledger(place, TERMS, witness)
    ledger.grant("ada", 3)
    ledger.grant("bo", 2)
    ledger.store(ledger.spend(Pure(1), question="q", analyst="ada"), {"n": 42})
    return ledger


def spent(ledger: Ledger, analyst: str | None = None) -> Fraction | None:
    return ledger.allowance(analyst).spent.epsilon


# ── the law ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_who_receives_is_charged_once_and_the_data_set_not_at_all(shelf: Shelf) -> None:
    ledger = shared(shelf.at("a"))
    assert [ledger.has_received("q", who) for who in ("ada", "bo", "owner", None)] == [True, False, True, True]
    entry = ledger.receive("q", "bo", note="in his words")
    assert entry is not None
    paid = ledger.paid_for("q")
    assert paid is not None
    assert entry.body == {"spend": paid.sequence, "question": "q", "note": "in his words", "analyst": "bo", "charge": paid.body["charge"]}
    assert ledger.has_received("q", "bo")
    assert [ledger.receive("q", who) for who in ("bo", "ada", "owner", None)] == [None] * 4
    again = open_ledger(shelf.at("a"), TERMS)
    assert again.has_received("q", "bo")
    assert again.receive("q", "bo") is None
    assert (spent(again, "bo"), spent(again, "ada"), spent(again)) == (1, 1, 1)
    assert again.verify().received == 1


def test_nothing_is_charged_that_cannot_be_received() -> None:
    ledger = shared()
    ledger.spend(Pure(1), question="running", analyst="ada")
    for who in ("bo", "owner", None):
        for question in ("nobody asked", "running"):
            assert not ledger.has_received(question, who)
            with pytest.raises(Invalid, match="no answer that could be received"):
                ledger.receive(question, who)
    with pytest.raises(BudgetExceeded, match="eve has no budget here"):
        ledger.receive("q", "eve")
    ledger.store(ledger.spend(Pure("5/2"), question="dear", analyst="owner"), {})
    with pytest.raises(BudgetExceeded, match=r"^bo's own budget does not admit this; it still admits one question of ε ≤ 2 and") as refused:
        ledger.receive("dear", "bo")
    assert "data set" not in str(refused.value)
    assert (spent(ledger, "bo"), ledger.verify().received) == (0, 0)


def test_what_the_owner_or_nobody_paid_for_is_charged_to_analysts() -> None:
    ledger = open_ledger(":memory:", TERMS)
    ledger.store(ledger.spend(Pure(1), question="before grants"), {})
    ledger.grant("bo", 2)
    ledger.store(ledger.spend(Pure(1), question="owner's", analyst="owner"), {})
    assert ledger.receive("before grants", "bo") is not None
    assert ledger.receive("owner's", "bo") is not None
    assert ledger.remaining.epsilon == 8
    assert ledger.allowance("bo").remaining.epsilon == 0


@pytest.mark.parametrize("seed", range(4))
def test_every_account_pays_for_what_it_saw_to_the_last_unit(seed: int) -> None:
    """Many analysts and questions, compared with sums: an account holds the prices of what it received, the data set each price once."""
    chance, ledger = random.Random(seed), open_ledger(":memory:", Terms(100, 0, "id"))
    budgets = {f"analyst {i}": Fraction(chance.randrange(1, 40), 10) + UNIT * chance.randrange(3) for i in range(6)}
    prices = {f"q{i}": Fraction(chance.randrange(1, 12), 10) + UNIT * chance.randrange(3) for i in range(12)}
    for name, budget in budgets.items():
        ledger.grant(name, budget)
    seen: dict[str, set[str]] = {name: set() for name in budgets}
    asked: set[str] = set()
    for _ in range(150):
        name, question = chance.choice([*budgets, "owner"]), chance.choice([*prices])
        mine = seen.get(name, set())
        fits = name == "owner" or question in mine or sum(prices[one] for one in mine | {question}) <= budgets[name]
        try:
            if question in asked:
                charged = ledger.receive(question, name)
                assert (charged is not None) == (name != "owner" and question not in mine)
            else:
                ledger.store(ledger.spend(Pure(prices[question]), question=question, analyst=name), {})
                asked.add(question)
            assert fits
            mine.add(question)
        except BudgetExceeded:
            assert not fits
        assert all(ledger.has_received(one, name) == (one in mine) for one in asked if name != "owner")
    for name, mine in seen.items():
        assert spent(ledger, name) == sum(prices[one] for one in mine)
        assert ledger.allowance(name).own.remaining.epsilon == budgets[name] - sum(prices[one] for one in mine)
    assert spent(ledger) == sum(prices[one] for one in asked)
    assert ledger.verify().spends == len(asked)


def test_a_budget_that_renews_receives_in_the_new_period(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, now = open_ledger(":memory:", TERMS), [1_794_873_600.0]
    monkeypatch.setattr(type(ledger._storage), "clock", lambda _: now[0])
    ledger.grant("bo", 1, every="month")
    for question in ("a", "b"):
        ledger.store(ledger.spend(Pure(1), question=question, analyst="owner"), {})
    assert ledger.receive("a", "bo") is not None
    with pytest.raises(BudgetExceeded, match="renews on 2026-12-01"):
        ledger.receive("b", "bo")
    now[0] += 31 * 86_400
    assert ledger.receive("b", "bo") is not None
    assert ledger.receive("a", "bo") is None  # what was received stays received
    assert ledger.verify().received == 2


# ── reservations ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reservation_pays_for_what_is_received_and_stands_against_other_requests() -> None:
    ledger = shared()
    ledger.store(ledger.spend(Pure(1), question="r", analyst="ada"), {})
    ledger.store(ledger.spend(Pure(1), question="s", analyst="ada"), {})
    name = ledger.reserve([Pure(1), Pure("1/2")], holder="bo's", analyst="bo")
    with pytest.raises(BudgetExceeded, match="reserved"):
        ledger.receive("s", "bo")
    assert ledger.receive("q", "bo", reservation=name) is not None
    with pytest.raises(BudgetExceeded, match="reserved"):  # half of it is still reserved
        ledger.receive("s", "bo")
    ledger.spend(Pure("1/2"), question="half", analyst="bo")  # beside the other half
    ledger.drop_leases("bo's")
    ledger.reserve([Pure(3)], holder="ada's", analyst="owner")
    with pytest.raises(BudgetExceeded, match="bo's own"):
        ledger.receive("s", "bo")  # the reservations of others are of no account


# ── several at once, and crashes ─────────────────────────────────────────────────────────────────────────────────────


def test_two_threads_receive_one_question_for_one_charge(shelf: Shelf) -> None:
    ledgers = [shared(shelf.at("a")), open_ledger(shelf.at("a"), TERMS)]
    found: list[Entry | None] = []
    start = threading.Barrier(6)

    def work(number: int) -> None:
        start.wait(30)
        found.append(ledgers[number % 2].receive("q", "bo"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(entry is not None for entry in found) == 1
    assert spent(ledgers[1], "bo") == 1
    assert ledgers[0].verify().received == 1


def test_processes_receive_one_question_for_one_charge(shelf: Shelf) -> None:
    shared(shelf.at("a")).close()
    found = side_by_side(lambda _: open_ledger(shelf.at("a"), TERMS).receive("q", "bo") is not None, 3)
    assert sorted(found) == [False, False, True]
    assert spent(open_ledger(shelf.at("a"), TERMS), "bo") == 1


@pytest.mark.parametrize("after", [0.0, 0.002, 0.01, 0.05])
def test_whoever_is_killed_has_shown_nothing_without_the_charge(shelf: Shelf, after: float) -> None:
    shared(shelf.at("a")).close()
    shown = shelf.folder / "shown"

    def work(ready: Callable[[], None]) -> None:
        ledger = open_ledger(shelf.at("a"), TERMS)
        ready()
        ledger.receive("q", "bo")
        shown.write_text(str(ledger.find("q")))

    killed(work, after)
    ledger = open_ledger(shelf.at("a"), TERMS)
    assert ledger.has_received("q", "bo") or not shown.exists()
    ledger.receive("q", "bo")
    assert spent(ledger, "bo") == 1
    ledger.verify()


def test_a_charge_is_witnessed_before_the_answer_is_shown(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = shelf.folder / "w"
    ledger = shared(shelf.at("a"), witness)
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger._chain._witness), "add", lambda *_: (_ for _ in ()).throw(LedgerError("the disk is full")))
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.receive("q", "bo")
        with pytest.raises(LedgerError, match="disk is full"):  # charged, and still nothing may be shown
            ledger.has_received("q", "bo")
    assert ledger.receive("q", "bo") is None
    assert witness.read_text().splitlines()[-1].split()[0] == str(ledger.length - 1)


# ── entries that nobody wrote ────────────────────────────────────────────────────────────────────────────────────────


def changed(**parts: Any) -> dict[str, Any]:
    return {"spend": 3, "question": "q", "note": "", "analyst": "bo", "charge": Charge.of(Pure(1)).to_json()} | parts


def test_the_entry_as_it_is_written_is_accepted() -> None:
    ledger = shared()
    Replay().follow([*ledger.entries(), seal(5, "receive", changed(), ledger.entries()[-1].hash)])


@pytest.mark.parametrize(
    "body",
    [
        changed(analyst="eve"),
        changed(analyst="owner"),
        changed(analyst=None),
        changed(spend=4),  # no release lies between
        changed(spend=5),
        changed(spend=0),
        changed(spend=True),
        changed(spend="3"),
        changed(question=None),
        changed(note=None),
        changed(more=1),
        changed(charge=Charge.of(Pure(3)).to_json()),  # more than the budget
        changed(charge={}),
        {"spend": 3, "question": "q", "analyst": "bo", "charge": Charge.of(Pure(1)).to_json()},
    ],
)
def test_what_history_can_know_is_refused_when_a_ledger_is_followed(body: dict[str, Any]) -> None:
    history, entries = History(), shared().entries()
    for entry in entries:
        history.follow(entry)
    with pytest.raises(LedgerError, match="cannot be trusted"):
        history.follow(seal(5, "receive", body, entries[-1].hash))


@pytest.mark.parametrize(
    "body",
    [
        changed(charge=Charge.of(Pure("1/2")).to_json()),  # cheaper than it was
        changed(charge=Charge.of(Pure("3/2")).to_json()),
        changed(question="r"),
        changed(spend=1),  # a grant
        changed(analyst="ada"),  # who paid
    ],
)
def test_the_rest_is_refused_by_a_replay(body: dict[str, Any]) -> None:
    entries = shared().entries()
    with pytest.raises(LedgerError, match="entry 5 is not valid at its place"):
        Replay().follow([*entries, seal(5, "receive", body, entries[-1].hash)])


def test_a_second_receive_and_that_of_a_second_release_are_refused_by_a_replay() -> None:
    ledger = shared()
    ledger.receive("q", "bo")
    entries = ledger.entries()
    with pytest.raises(LedgerError, match="entry 6 is not valid at its place"):
        Replay().follow([*entries, seal(6, "receive", changed(), entries[-1].hash)])
    other = shared()
    other.store(other.spend(Pure(1), question="q", key="again", analyst="ada"), {"n": 43})
    entries = other.entries()
    with pytest.raises(LedgerError, match="entry 7 is not valid at its place"):  # not the release that `find` returns
        Replay().follow([*entries, seal(7, "receive", changed(spend=5), entries[-1].hash)])


def test_the_storage_refuses_a_second_receive(shelf: Shelf) -> None:
    ledger = shared(shelf.at("a"))
    ledger.receive("q", "bo")
    with pytest.raises(LedgerError), ledger._lock, ledger._chain.writing():
        ledger._chain.append("receive", changed())
    with ledger._lock, ledger._chain.writing():
        ledger._chain.append("receive", changed(analyst="ada"))  # another analyst's passes here, and is found by `verify`
    with pytest.raises(LedgerError, match="not valid at its place"):
        ledger.verify()


def test_a_tampered_receive_is_seen(shelf: Shelf) -> None:
    ledger = shared(shelf.at("a"))
    ledger.receive("q", "bo")
    ledger.close()
    with shelf.behind_its_back("a") as hand:
        hand.execute("UPDATE entries SET body = replace(body, '\"bo\"', '\"eve\"') WHERE kind = 'receive'")
    with pytest.raises(LedgerError, match="entry 5 was changed"):
        open_ledger(shelf.at("a"), TERMS)
