"""Opening begins at the newest checkpoint; what lies before it is checked when it is used, and as a whole by `verify`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from ledger.shelves import Files, Shelf

from discreet.errors import LedgerError
from discreet.ledger import chain, history
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.terms import Terms
from discreet.ledger.verified import VerifiedChain
from discreet.loss.leaves import GaussianLoss, Pure
from discreet.loss.promise import Promised

TERMS = Terms(1000, "1e-6", "id")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "EVERY", 10)


def filled(place: str, count: int = 17) -> Ledger:
    ledger = open_ledger(place, TERMS)
    ledger.grant("ada", 500, "1e-7")
    for i in range(count):
        loss = Promised(GaussianLoss("1/1000"), "1/4", "1e-8") if i % 5 == 0 else Pure("1/8")
        paid = ledger.spend(loss, question=f"q{i}", key=f"k{i}", analyst="ada" if i % 2 else "owner")
        if i % 3:
            ledger.store(paid, {"n": i})
    return ledger


def entries_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seen: list[int] = []
    storage = type(ledger._storage)
    original = storage.entries

    def counted(self: object, start: int, stop: int | None = None) -> Iterator[chain.Entry]:
        for entry in original(self, start, stop):  # type: ignore[arg-type]
            seen.append(entry.sequence)
            yield entry

    monkeypatch.setattr(storage, "entries", counted)
    return seen


def test_opening_reads_from_the_newest_checkpoint_on(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = filled(shelf.at("a"))
    newest = max(entry.sequence for entry in ledger.entries() if entry.kind == "checkpoint")
    assert newest > 20
    seen = entries_read(ledger, monkeypatch)
    again = open_ledger(shelf.at("a"), TERMS)
    assert min(sequence for sequence in seen if sequence) >= newest
    assert again.filter == ledger.filter
    assert again.analysts() == ledger.analysts()
    assert again._history.summary == ledger._history.summary
    assert again.verify() == ledger.verify()


def test_everything_is_found_from_before_the_checkpoint(shelf: Shelf) -> None:
    filled(shelf.at("a")).close()
    ledger = open_ledger(shelf.at("a"), TERMS)
    assert ledger.find("q1") == {"n": 1}
    assert ledger.find("q0") is None
    paid = ledger.spend_of("k0")
    assert paid is not None
    assert paid.body["question"] == "q0"
    assert ledger.claim(Promised(GaussianLoss("1/1000"), "1/4", "1e-8"), question="q0", key="k0", analyst="owner") == (paid, False)
    assert ledger.store(paid, {"n": 99}).body["release"] == {"n": 99}  # type: ignore[union-attr]
    assert ledger.store(paid, {"n": 98}).body["release"] == {"n": 99}  # type: ignore[union-attr]
    assert {entry.body["question"] for entry in ledger.pending()} == {f"q{i}" for i in range(3, 17, 3)}
    assert ledger.entry(1).kind == "grant"
    assert ledger.grant("ada", 500, "1e-7").sequence == 1  # nothing changes
    ledger.grant("ada", 400, "1e-7")
    ledger.verify()


@pytest.mark.parametrize("edit", ["body = replace(body, '\"n\":1}', '\"n\":7}')", "at = replace(at, '20', '19')"])
def test_an_old_answer_that_was_changed_is_not_given(shelf: Shelf, edit: str) -> None:
    ledger = filled(shelf.at("a"))
    ledger.close()
    where = next(entry.sequence for entry in ledger.entries() if entry.kind == "release" and entry.body["question"] == "q1")
    with shelf.behind_its_back("a") as hand:
        hand.execute(f"UPDATE entries SET {edit} WHERE sequence = {where}")
    again = open_ledger(shelf.at("a"), TERMS)  # which does not look so far back
    with pytest.raises(LedgerError, match="missing or was changed"):
        again.find("q1")
    with pytest.raises(LedgerError, match="cannot be trusted"):
        again.verify()


def test_an_old_answer_sealed_anew_does_not_fit_the_entry_after_it(shelf: Shelf) -> None:
    ledger = filled(shelf.at("a"))
    old = next(entry for entry in ledger.entries() if entry.kind == "release" and entry.body["question"] == "q1")
    forged = chain.seal(old.sequence, "release", old.body | {"release": {"n": 7}}, old.previous, old.at)
    ledger.close()
    with shelf.behind_its_back("a") as hand:
        hand.execute("UPDATE entries SET body = ?, hash = ? WHERE sequence = ?", (forged.text, forged.hash, forged.sequence))
    again = open_ledger(shelf.at("a"), TERMS)
    with pytest.raises(LedgerError, match="missing or was changed"):
        again.find("q1")


def test_a_checkpoint_that_forgets_a_spend_is_seen_by_who_follows_and_by_verify(shelf: Shelf) -> None:
    ledger = filled(shelf.at("a"), 3)
    other = open_ledger(shelf.at("a"), TERMS)
    summary = other._history.summary
    ledger.spend(Pure(100), question="dear", analyst="owner")
    head = ledger._history.head
    forged = chain.seal(ledger._history.length, "checkpoint", summary, head)  # what stood before the last spend
    with shelf.behind_its_back("a") as hand:
        shelf.insert(hand, forged)
        text = other._history.standing.text
        hand.execute("UPDATE state SET sequence = ?, head = ?, filter = ?", (forged.sequence, forged.hash, text))
    with pytest.raises(LedgerError, match="not valid at its place"):
        ledger.find("q1")
    with pytest.raises(LedgerError, match="not valid at its place"):
        other.verify()


def test_a_checkpoint_of_another_ledger_is_refused(shelf: Shelf) -> None:
    filled(shelf.at("a")).close()
    theirs = filled(shelf.at("b"))
    found = max((entry for entry in theirs.entries() if entry.kind == "checkpoint"), key=lambda entry: entry.sequence)
    with shelf.behind_its_back("a") as hand:
        hand.execute("UPDATE entries SET body = ?, previous = ?, at = ?, hash = ? WHERE sequence = ?",
                     (found.text, found.previous, found.at, found.hash, found.sequence))  # fmt: skip
    with pytest.raises(LedgerError, match="cannot be trusted"):
        open_ledger(shelf.at("a"), TERMS)


def test_a_spend_stands_though_its_checkpoint_could_not_be_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(place / "a", TERMS)
    for i in range(8):
        ledger.spend(Pure(1), question=f"{i}")

    def full(*_: object) -> None:
        raise LedgerError("the ledger's disk is full or failing")

    with monkeypatch.context() as patch:
        append = VerifiedChain.append
        patch.setattr(VerifiedChain, "append", lambda self, kind, body: full() if kind == "checkpoint" else append(self, kind, body))
        ledger.spend(Pure(1), question="8")
        ledger.spend(Pure(1), question="9")
    assert [entry.kind for entry in ledger.entries()].count("checkpoint") == 0
    ledger.spend(Pure(1), question="10")
    assert ledger.entries()[-1].kind == "checkpoint"
    assert ledger.verify().spends == 11


def test_an_old_copy_is_seen_by_a_witness_to_which_much_was_appended(place: Path) -> None:
    shelf = Files(place)
    ledger = open_ledger(shelf.at("a"), TERMS, place / "w")
    for i in range(30):
        ledger.spend(Pure(1), question=f"{i}")
    ledger.close()
    shelf.copy("a", "b")
    ledger.spend(Pure(1), question="later")
    ledger.close()
    text = (place / "w").read_bytes()
    (place / "w").write_bytes(text + b"\n" * 70_000 + text.splitlines(keepends=True)[0] * 2000)  # whoever may append cannot hide it
    assert open_ledger(shelf.at("a"), TERMS, place / "w").verify().spends == 31
    shelf.copy("b", "a")
    with pytest.raises(LedgerError, match="an older copy"):
        open_ledger(shelf.at("a"), TERMS, place / "w")


def steps(ledger: Ledger, start: int, stop: int) -> None:
    """Steps of a conversation: no two of one price, none of them a short decimal."""
    for i in range(start, stop):
        ledger.claim(GaussianLoss(Fraction(1, 10**12 + 7 * i)), question="talk", key=f"talk#{i}", note="step")


def test_a_conversation_of_two_thousand_steps_leaves_a_small_state() -> None:
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    steps(ledger, 0, 2_000)
    assert len(ledger._history.standing.text) < 1000
    assert ledger.spent.epsilon is not None
    assert ledger.spent.epsilon < 2
    ledger.spend(Pure(0.1), question="an ordinary price")


@pytest.mark.slow
@pytest.mark.parametrize("count", [100_000, 1_000_000])
def test_a_long_conversation_opens_at_once_and_its_state_stays_small(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(history, "EVERY", 1000)
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    steps(ledger, 0, count)
    assert len(ledger._history.standing.text) < 1000
    began = time.perf_counter()
    again = Ledger(ledger._storage, None)
    assert time.perf_counter() - began < 5  # seconds, where reading all of it takes minutes
    assert again.filter == ledger.filter
    ledger.spend(Pure(0.1), question="an ordinary price")
