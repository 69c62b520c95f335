"""Budgets that renew: one period at a time, below the budget of the data set, whatever the clock does."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from ledger.racing import side_by_side
from ledger.shelves import Shelf

from discreet.errors import BudgetExceeded, Invalid, LedgerError
from discreet.ledger import grants, history
from discreet.ledger.chain import seal
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

TERMS = Terms(10, 0, "id")
MONTH = 31 * 86_400.0
NOVEMBER = 1_794_873_600.0  # 2026-11-17
SetClock = Callable[[float], None]


@pytest.fixture
def clock(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """Set the clock of every ledger."""
    now = [NOVEMBER]
    monkeypatch.setattr(type(shelf.storage("clock")), "clock", lambda self: now[0])

    def set_to(seconds: float) -> None:
        now[0] = seconds

    return set_to


@pytest.fixture
def ledger(shelf: Shelf, clock: SetClock) -> Ledger:
    found = open_ledger(shelf.at("a"), TERMS)
    found.grant("ada", 1, every="month")
    return found


def spends(ledger: Ledger, question: str, epsilon: object = 1) -> bool:
    try:
        ledger.spend(Pure(epsilon), question=question, analyst="ada")  # type: ignore[arg-type]
        return True
    except BudgetExceeded:
        return False


def renewals(ledger: Ledger) -> int:
    return sum(entry.kind == "grant" for entry in ledger.entries()) - 1


def test_a_budget_renews_with_the_month_and_nothing_rolls_over(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a", "1/4")
    assert ledger.allowance("ada").remaining.epsilon == 0.75
    clock(NOVEMBER + MONTH)
    length = ledger.length
    allowance = ledger.allowance("ada")
    assert (allowance.spent.epsilon, allowance.remaining.epsilon) == (0, 1)  # not 1.75
    assert allowance.period is not None
    assert allowance.period.next.start.isoformat() == "2027-01-01"
    assert ledger.length == length  # looking records nothing
    assert spends(ledger, "b")
    assert not spends(ledger, "c", "1/100")
    assert renewals(ledger) == 1
    assert ledger.allowance("owner").spent.epsilon == 1.25
    assert ledger.verify().spends == 2


def test_the_refusal_says_when_it_renews(ledger: Ledger) -> None:
    assert spends(ledger, "a")
    with pytest.raises(BudgetExceeded, match=r"ada's own budget does not admit this.*and renews on 2026-12-01 \(UTC\)"):
        ledger.spend(Pure(1), question="b", analyst="ada")


def test_the_budget_of_the_data_set_is_never_renewed(shelf: Shelf, clock: SetClock) -> None:
    ledger = open_ledger(shelf.at("b"), Terms(2, 0, "id"))
    ledger.grant("ada", 1, every="month")
    months = [spends(ledger, f"{number}") for number in range(5) if clock(NOVEMBER + number * MONTH) is None]
    assert months == [True, True, False, False, False]
    with pytest.raises(BudgetExceeded, match="the data set's budget does not admit this"):
        ledger.spend(Pure(1), question="more", analyst="ada")
    assert ledger.allowance("ada").remaining.epsilon == 0
    ledger.verify()


def test_a_clock_set_forward_brings_one_period_and_then_none_until_it_is_passed(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a")
    clock(NOVEMBER + 10 * MONTH)
    assert spends(ledger, "forward")
    assert not spends(ledger, "more")
    for months in range(11):  # the real time goes on
        clock(NOVEMBER + months * MONTH)
        assert not spends(ledger, f"month {months}", "1/1000")
    clock(NOVEMBER + 12 * MONTH)
    assert spends(ledger, "at last")
    assert renewals(ledger) == 2


def test_a_clock_set_back_brings_nothing(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a")
    for moment in (NOVEMBER - MONTH, 0.0, -1e300, NOVEMBER):
        clock(moment)
        assert not spends(ledger, f"{moment}", "1/1000")
        ledger.grant("ada", 1, every="month")
    assert renewals(ledger) == 0


def test_a_budget_that_was_taken_back_is_granted_again_at_a_clock_set_back(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a")
    ledger.revoke("ada")
    clock(NOVEMBER - 3 * MONTH)
    for every in ("month", "week", "month"):
        ledger.grant("ada", 1, every=every)
        assert not spends(ledger, f"back {every}", "1/1000")
        ledger.revoke("ada")
    ledger.verify()


def test_periods_of_another_length_at_a_clock_set_back_bring_nothing(ledger: Ledger, clock: SetClock) -> None:
    """A grant by week forgets no month that was recorded, nor the other way round."""
    assert spends(ledger, "a")
    clock(NOVEMBER - 3 * MONTH)
    for every in ("week", "month", "week", "month"):
        ledger.grant("ada", 1, every=every)
        assert not spends(ledger, f"back {every}", "1/1000")
    clock(NOVEMBER)
    assert not spends(ledger, "restored", "1/1000")
    clock(NOVEMBER + 4 * MONTH)  # each change of length may reach into the next month
    assert spends(ledger, "later")


def test_to_and_fro_brings_one_period_for_each_new_month_at_most(ledger: Ledger, clock: SetClock) -> None:
    paid = 0
    for number in range(30):
        clock(NOVEMBER + (3 * MONTH if number % 2 else -3 * MONTH))
        paid += spends(ledger, f"{number}")
    assert paid == 2  # that of November, and that of the one month that was seen later


def test_a_crash_between_renewal_and_spend_loses_and_grants_nothing(ledger: Ledger, shelf: Shelf, clock: SetClock) -> None:
    assert spends(ledger, "a")
    clock(NOVEMBER + MONTH)
    child = os.fork()
    if child == 0:
        try:
            grants.begin_period(open_ledger(shelf.at("a"))._chain, "ada")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    again = open_ledger(shelf.at("a"))
    assert renewals(again) == 1
    assert spends(again, "b")
    assert not spends(again, "c")
    assert renewals(again) == 1
    again.verify()


def test_a_renewal_that_cannot_be_written_is_no_renewal(ledger: Ledger, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert spends(ledger, "a")
    clock(NOVEMBER + MONTH)

    def fails(*_: object) -> None:
        raise LedgerError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(type(ledger._storage), "append", fails)
        with pytest.raises(LedgerError, match="full"):
            ledger.spend(Pure(1), question="b", analyst="ada")
    assert renewals(ledger) == 0
    assert spends(ledger, "b")


def test_of_several_processes_one_renews_and_all_share_the_period(ledger: Ledger, shelf: Shelf, clock: SetClock) -> None:
    assert spends(ledger, "a")
    clock(NOVEMBER + MONTH)
    ledger.close()
    paid = side_by_side(lambda number: sum(spends(open_ledger(shelf.at("a")), f"{number}.{i}", "1/4") for i in range(4)), 4)
    assert sum(paid) == 4
    again = open_ledger(shelf.at("a"))
    assert renewals(again) == 1
    again.verify()


def test_another_limit_keeps_what_was_spent_in_the_period(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a", "1/2")
    ledger.grant("ada", 2, every="month")
    assert ledger.allowance("ada").remaining.epsilon == 1.5
    with pytest.raises(Invalid, match="already spent more"):
        ledger.grant("ada", "1/4", every="month")
    ledger.grant("ada", 2, every="week")  # neither does another period renew it
    assert ledger.allowance("ada").remaining.epsilon == 1.5
    ledger.grant("ada", 2)
    clock(NOVEMBER + 5 * MONTH)
    assert ledger.allowance("ada").remaining.epsilon == 1.5  # it no longer renews
    with pytest.raises(Invalid, match='every "week"'):
        ledger.grant("ada", 2, every="day")


def test_a_reservation_is_made_in_the_new_period(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a")
    clock(NOVEMBER + MONTH)
    ledger.reserve([Pure("1/2"), Pure("1/2")], holder="h", analyst="ada")
    assert renewals(ledger) == 1
    assert not spends(ledger, "b")  # it is reserved


def test_renewals_outlast_checkpoints(ledger: Ledger, shelf: Shelf, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "EVERY", 3)
    for number in range(8):
        clock(NOVEMBER + number * MONTH)
        assert spends(ledger, f"{number}")
    again = open_ledger(shelf.at("a"))
    assert again.allowance("ada") == ledger.allowance("ada")
    assert again._history.start > 0  # it was resumed
    assert not spends(again, "more")
    clock(NOVEMBER)
    assert not spends(open_ledger(shelf.at("a")), "more")
    again.verify()


def test_an_entry_of_an_earlier_period_is_not_followed(ledger: Ledger, clock: SetClock) -> None:
    assert spends(ledger, "a")
    chain = ledger._history
    body = ledger.entry(1).body
    for changes in ({"period": body["period"] - 1}, {"every": "day"}, {"period": "x"}, {"more": 1}):
        with pytest.raises(LedgerError, match=r"cannot be read|not valid"):
            chain.judge(seal(chain.length, "grant", body | changes, chain.head))


def test_a_grant_is_taken_back_and_what_was_spent_is_kept(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(shelf.at("b"), TERMS)
    ledger.grant("ada", 1)
    ledger.spend(Pure("1/4"), question="q", analyst="ada")
    monkeypatch.setattr(history, "EVERY", 1)
    ledger.revoke("ada")
    again = open_ledger(shelf.at("b"), TERMS)  # from a checkpoint
    assert (again.has_grant("ada"), again.analysts()) == (False, {})
    with pytest.raises(BudgetExceeded, match="ada has no budget here"):
        again.spend(Pure("1/4"), question="r", analyst="ada")
    with pytest.raises(Invalid, match="name the analyst"):
        again.spend(Pure("1/4"), question="r")
    with pytest.raises(Invalid, match="no budget that could be taken back"):
        again.revoke("ada")
    again.grant("ada", 1)
    assert again.allowance("ada").remaining.epsilon == 0.75
    assert again.verify().spends == 1
