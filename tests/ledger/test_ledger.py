"""The ledger in one process: exact limits, keys, releases, terms, and what it says."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from ledger.shelves import Shelf

from discreet.errors import BudgetExceeded, Invalid, LedgerError, PolicyError
from discreet.ledger import history
from discreet.ledger.ledger import Ledger, Report, open_ledger
from discreet.ledger.standing import Amount
from discreet.ledger.terms import Terms
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.leaves import Approx, GaussianLoss, LaplaceLoss, Pure, Revealed
from discreet.loss.loss import Loss
from discreet.loss.promise import Promised

ONE = Terms(1, 0, "id")


def in_memory(terms: Terms = ONE) -> Ledger:
    return open_ledger(":memory:", terms)


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ten_tenths_are_granted_and_an_eleventh_is_not(shelf: Shelf) -> None:
    for ledger in (in_memory(), open_ledger(shelf.at("a"), ONE)):
        for i in range(10):
            assert ledger.spend(Pure(0.1), question=f"{i}").sequence == i + 1
        before = ledger.entries()
        for epsilon in ("1e-40", 0.1, 1):
            with pytest.raises(BudgetExceeded, match="Nothing was charged"):
                ledger.spend(Pure(epsilon), question="one more")
        assert ledger.entries() == before
        assert ledger.spent == Amount(Fraction(1), Fraction(0))
        assert ledger.remaining == Amount(Fraction(0), Fraction(0))


def test_ten_thousand_random_splits_do_not_drift() -> None:
    parts, unit = 10_000, 10**12
    cuts = sorted(random.Random(7).sample(range(1, unit), parts - 1))
    pieces = [Fraction(b - a, unit) for a, b in zip([0, *cuts], [*cuts, unit], strict=True)]
    ledger = in_memory()
    for i, piece in enumerate(pieces[:-1]):
        ledger.spend(Pure(piece), question=f"{i}")
    assert ledger.remaining.epsilon == pieces[-1] == 1 - (ledger.spent.epsilon or 0)
    with pytest.raises(BudgetExceeded):
        ledger.spend(Pure(pieces[-1] + Fraction(1, 10**30)), question="a little too much")
    ledger.spend(Pure(pieces[-1]), question="the rest")
    assert ledger.spent.epsilon == 1


def test_the_filter_is_that_of_the_losses_in_order(shelf: Shelf) -> None:
    terms = Terms(1, "1e-6", "id")
    losses: list[Loss] = [Promised(GaussianLoss("1/1000"), "1/4", "1e-8"), LaplaceLoss("1/50"), 3 * GaussianLoss("1/2000") + Pure("1/100")]
    ledger, expected = open_ledger(shelf.at("a"), terms), Filter(1, "1e-6")
    for loss in losses:
        ledger.spend(loss, question=repr(loss))
        expected = expected.spend(loss)
        if loss == losses[1]:
            assert ledger.spent == Amount(Fraction("0.27"), Fraction(1, 10**8))  # what was promised, and the rest
    assert ledger.filter == expected == open_ledger(shelf.at("a"), terms).filter
    assert ledger.spent.epsilon is not None  # by basic composition alone a Gaussian has no ε; by the other routes it has
    assert Fraction("0.1") < ledger.spent.epsilon < 1
    assert ledger.spent.delta <= terms.delta


def test_a_price_with_too_many_digits_is_refused_and_the_ledger_lives(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    with pytest.raises(Invalid, match="fewer digits"):
        ledger.spend(Pure(Fraction(1, 10**4400 + 7)), question="a")
    ledger.spend(Pure(1), question="b")
    assert open_ledger(shelf.at("a"), ONE).spent.epsilon == 1


def test_awkward_prices_cannot_be_used_to_refuse_those_of_others(shelf: Shelf) -> None:
    """Twelve prices whose exact sum has more than 4,300 digits, for ε < 0.001 in all: an ordinary price still fits."""
    ledger = open_ledger(shelf.at("a"), Terms(1, "1e-6", "id"))
    for i in range(12):
        ledger.spend(Approx(Fraction(1, 10**400 + 2 * i + 1), Fraction(1, 10**390 + 2 * i + 1)), question=f"{i}")
    ledger.spend(Pure(0.1), question="ordinary")
    assert ledger.spent.epsilon is not None
    assert 0 < ledger.spent.epsilon - Fraction(1, 10) <= Fraction(12, 10**40)
    assert len(ledger._history.standing.text) < 1000
    assert open_ledger(shelf.at("a")).filter == ledger.filter


@pytest.mark.parametrize("bad", [{"question": ""}, {"question": 3}, {"question": "q", "key": ""}, {"question": "q", "note": 4}])
def test_odd_arguments_are_named(bad: dict[str, object]) -> None:
    ledger = in_memory()
    with pytest.raises(Invalid, match="must be text"):
        ledger.spend(Pure(0.1), **bad)  # type: ignore[arg-type]
    assert ledger.spent.epsilon == 0


# ── keys and releases ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_pays_once(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    first = ledger.spend(Pure(1), question="q", key="k")
    assert ledger.spend(Pure(1), question="q", key="k") == first  # though nothing is left
    assert open_ledger(shelf.at("a"), ONE).spend(Pure(1), question="q", key="k") == first == ledger.spend_of("k")
    assert ledger.spent.epsilon == 1
    assert ledger.spend_of("other") is None


@pytest.mark.parametrize(("loss", "question"), [(Pure(0.2), "q"), (Pure(0.1), "other"), (LaplaceLoss(0.1), "q")])
def test_a_key_stands_for_one_question_at_one_price(loss: Loss, question: str) -> None:
    ledger = in_memory()
    ledger.spend(Pure(0.1), question="q", key="k")
    with pytest.raises(Invalid, match="new key"):
        ledger.spend(loss, question=question, key="k")
    assert ledger.spent.epsilon == Fraction(1, 10)


def test_only_the_first_release_of_a_spend_is_kept(shelf: Shelf) -> None:
    ledger, other = open_ledger(shelf.at("a"), ONE), open_ledger(shelf.at("a"), ONE)
    paid = ledger.spend(Pure(0.1), question="q", key="k")
    again = other.spend(Pure(0.1), question="q", key="k")
    assert ledger.pending() == [paid]
    assert other.release_of(again) is None
    assert other.store(again, {"noisy": 41}).body["release"] == {"noisy": 41}
    assert ledger.store(paid, {"noisy": 43}).body["release"] == {"noisy": 41}
    assert ledger.find("q") == ledger.release_of(paid) == {"noisy": 41}
    assert ledger.pending() == []
    assert len(ledger.entries()) == 3


def test_a_question_is_found_by_its_very_name() -> None:
    ledger = in_memory()
    for name in ("q", "q ", "Q"):
        ledger.store(ledger.spend(Pure(0.1), question=name), {"name": name})
    assert [ledger.find(name) for name in ("q", "q ", "Q", "p")] == [{"name": "q"}, {"name": "q "}, {"name": "Q"}, None]


def test_a_question_paid_twice_is_found_with_its_first_release() -> None:
    ledger = in_memory()
    first, second = (ledger.spend(Pure(0.1), question="q") for _ in range(2))
    ledger.store(second, {"n": 2})
    ledger.store(first, {"n": 1})
    assert (ledger.find("q"), ledger.release_of(first)) == ({"n": 2}, {"n": 1})


def test_a_release_comes_back_as_it_was(shelf: Shelf) -> None:
    release = {
        "rows": [{"dept": "ä\ud800\n", "n": 10**40, "mean": 0.1, "low": float("-inf"), "zero": -0.0, "none": None, "yes": True}],
        "$float": {"$float": "x", "$": 1, "$$a": [2.5]},
    }
    ledger = open_ledger(shelf.at("a"), ONE)
    ledger.store(ledger.spend(Pure(0.1), question="q"), release)
    found = open_ledger(shelf.at("a"), ONE).find("q")
    assert found == release
    assert math.copysign(1, found["rows"][0]["zero"]) == -1
    found["rows"].clear()
    assert ledger.find("q") == release


@pytest.mark.parametrize("bad", [{"x": b"bytes"}, {1: 2}, {"x": {1, 2}}, {"x": object()}])
def test_what_is_not_plain_is_no_release(bad: dict[str, object]) -> None:
    ledger = in_memory()
    paid = ledger.spend(Pure(0.1), question="q")
    with pytest.raises(Invalid, match="a ledger stores only"):
        ledger.store(paid, bad)
    assert ledger.store(paid, {"x": 1}).sequence == 2


def test_a_release_needs_a_spend_of_this_ledger() -> None:
    ledger, other = in_memory(), in_memory()
    foreign = other.spend(Pure(0.1), question="q")
    stored = ledger.store(ledger.spend(Pure(0.1), question="q"), {})
    for entry in (foreign, stored, ledger.entries()[0]):
        with pytest.raises(Invalid, match="not a spend of this ledger"):
            ledger.store(entry, {"x": 1})


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("terms", "named"),
    [
        (Terms(2, "1e-6", "id"), "epsilon = 1, not 2"),
        (Terms(1, "1e-7", "id"), "delta = 1e-06, not 1e-07"),
        (Terms(1, "1e-6", "name"), "unit = id, not name"),
        (Terms(1, "1e-6", "id", "replace-one"), "adjacency = add/remove, not replace-one"),
    ],
)
def test_other_terms_are_refused_by_name(shelf: Shelf, terms: Terms, named: str) -> None:
    open_ledger(shelf.at("a"), Terms(1, "1e-6", "id")).spend(Pure(0.1), question="q")
    with pytest.raises(PolicyError, match=named) as raised:
        open_ledger(shelf.at("a"), terms)
    assert "new ledger" in str(raised.value)
    assert open_ledger(shelf.at("a"), Terms(1, "1e-6", "id")).spent.epsilon == Fraction(1, 10)


def test_terms_may_change_while_nothing_was_spent(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner who tries out a policy need not delete anything; whoever opened it before works under the old one no longer."""
    other = Terms(2, "1e-6", "name", "replace-one")
    first = open_ledger(shelf.at("a"), ONE)
    first.grant("ana", "1/2")
    second = open_ledger(shelf.at("a"), other)
    assert (second.terms, second.remaining.epsilon, second.allowance("ana").granted.epsilon) == (other, 2, Fraction(1, 2))
    with pytest.raises(PolicyError, match="was changed since it was opened"):
        first.spend(Pure(0.1), question="q", analyst="owner")
    assert open_ledger(shelf.at("a"), other).length == second.length, "the same terms again are an entry"
    monkeypatch.setattr(history, "EVERY", 3)
    second.spend(Pure("3/2"), question="q", analyst="owner")
    assert second.entries()[-1].kind == "checkpoint"
    assert open_ledger(shelf.at("a"), other).spent.epsilon == Fraction(3, 2)
    assert open_ledger(shelf.at("a")).verify().spends == 1
    with pytest.raises(PolicyError, match="epsilon = 2, not 1"):
        open_ledger(shelf.at("a"), ONE)


def test_other_terms_after_a_spend_are_no_entry(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    ledger.spend(Pure(0.1), question="q")
    with pytest.raises(LedgerError, match="not valid at its place"), ledger._chain.writing():
        ledger._chain.append("grant", Terms(5, 0, "id").plain)


def test_without_terms_a_ledger_is_opened_as_it_stands(shelf: Shelf) -> None:
    open_ledger(shelf.at("a"), ONE).spend(Pure(0.1), question="q")
    assert open_ledger(shelf.at("a")).terms == ONE
    with pytest.raises(LedgerError, match="no ledger at this"):
        open_ledger(shelf.at("b"))
    with pytest.raises(LedgerError, match="no ledger at this"):  # nothing was made
        open_ledger(shelf.at("b"))


def test_an_entry_tells_what_was_asked_and_cannot_be_changed() -> None:
    ledger = in_memory()
    entry = ledger.spend(Pure(0.1), question="q", note="by the analyst")
    said = {"question": "q", "key": None, "note": "by the analyst", "analyst": None, "loss": {"kind": "pure", "epsilon": "1/10"}}
    assert entry.body == said | {"charge": Charge.of(Pure(0.1), pure=ONE.delta == 0).to_json(), "whole": None}
    entry.body.clear()
    assert ledger.entries()[1].body["question"] == "q"
    assert entry.at.endswith("Z")
    assert len(entry.at) == 27


def test_a_report_counts() -> None:
    ledger = in_memory()
    ledger.store(ledger.spend(Pure(0.1), question="q"), {})
    last = ledger.spend(Pure(0.1), question="r")
    report = ledger.verify()
    assert report == Report(entries=4, spends=2, releases=1, received=0, repriced=0, head=last.hash, witnessed=False)


@pytest.mark.parametrize(
    "loss", [Pure(1), LaplaceLoss("1/3"), GaussianLoss("1/9"), Approx(1, "1e-9"), Promised(GaussianLoss("1/50"), 1, "1e-6"), Revealed()]
)
@pytest.mark.parametrize("budget", [Filter(2), Filter(2, "1e-5"), Filter(2, "1e-5").spend(GaussianLoss("1/1000"))])
def test_a_charge_is_to_a_filter_what_the_loss_is(loss: Loss, budget: Filter) -> None:
    charge = Charge.from_json(Charge.of(loss, pure=budget.delta == 0).to_json())
    assert charge == Charge.of(loss, pure=budget.delta == 0)
    assert budget.admits(charge) == budget.admits(loss)
    if budget.admits(loss):
        assert budget.spend(charge) == budget.spend(loss)


@pytest.mark.parametrize("bad", [{}, {"basic": ["-1", "0"]}, {"basic": ["1"], "rho": None, "mu_squared": None, "delta": "0"}, []])
def test_what_is_no_charge_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="record of a charge"):
        Charge.from_json(bad)
