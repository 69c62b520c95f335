"""Budgets of analysts under the data set's ceiling: exact, replayed, and told apart; and the same tests on broken ones."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve
from ledger.racing import side_by_side
from ledger.shelves import Files, Shelf

from discreet.errors import BudgetExceeded, Invalid, LedgerError
from discreet.ledger import chain
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.purchases import purchases
from discreet.ledger.standing import OWNER, Amount, Standing
from discreet.ledger.terms import Terms
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.leaves import GaussianLoss, LaplaceLoss, Pure
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised

ONE = Terms(1, 0, "id")
PROCESSES, ATTEMPTS = 8, 40


def in_memory(terms: Terms = ONE, **grants: object) -> Ledger:
    ledger = open_ledger(":memory:", terms)
    for name, epsilon in grants.items():
        ledger.grant(name, epsilon)  # type: ignore[arg-type]
    return ledger


def attempts(ledger: Ledger, analyst: str | None, count: int = ATTEMPTS) -> int:
    granted = 0
    for i in range(count):
        try:
            ledger.spend(Pure(1), question=f"{analyst} {i}", analyst=analyst)
            granted += 1
        except BudgetExceeded:
            pass
    return granted


# ── the law ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def race(shelf: Shelf, cap: int, limit: int) -> list[int]:
    """What each of eight analysts is granted, all asking at once, each in a process of her own."""
    ledger = open_ledger(shelf.at("a"), Terms(cap, 0, "id"))
    for number in range(PROCESSES):
        ledger.grant(f"analyst {number}", limit)
    ledger.close()
    return side_by_side(lambda number: attempts(open_ledger(shelf.at("a")), f"analyst {number}"), PROCESSES)


@pytest.mark.parametrize(("cap", "limit"), [(100, 25), (400, 25), (200, 25)])
def test_together_within_the_ceiling_and_each_within_hers(shelf: Shelf, cap: int, limit: int) -> None:
    granted = race(shelf, cap, limit)
    assert sum(granted) == min(cap, PROCESSES * limit)
    assert max(granted) <= limit
    ledger = open_ledger(shelf.at("a"))
    assert ledger.spent.epsilon == sum(granted) == ledger.verify().spends
    assert [allowance.spent.epsilon for allowance in ledger.analysts().values()] == granted


def forgets_the_analyst(self: Standing, charge: Charge, analyst: str | None, whole: Charge | None = None) -> Standing:
    return evolve(self, whole=self.whole.after(charge))


def forgets_the_ceiling(self: Standing, charge: Charge, analyst: str | None, whole: Charge | None = None) -> Standing:
    return evolve(self, analysts={**self.analysts, str(analyst): self.analysts[str(analyst)].after(charge)})


def charges_the_first(self: Standing, charge: Charge, analyst: str | None, whole: Charge | None = None) -> Standing:
    name = next(iter(self.analysts))
    return Standing(self.whole.after(charge), {**self.analysts, name: self.analysts[name].after(charge)})


@pytest.mark.parametrize("broken", [forgets_the_analyst, forgets_the_ceiling, charges_the_first])
def test_a_ledger_that_forgets_one_of_the_two_breaks_the_law(place: Path, monkeypatch: pytest.MonkeyPatch, broken: object) -> None:
    monkeypatch.setattr(Standing, "after", broken)
    for name, cap, limit in (("a", 100, 20), ("b", 100, 10)):  # the ceiling binds in the first, each one's limit in the second
        (place / name).mkdir()
        granted = race(Files(place / name), cap, limit)
        if sum(granted) != min(cap, PROCESSES * limit) or max(granted) > limit:
            return
    pytest.fail("nothing was seen")


def test_random_grants_and_spends_against_plain_sums() -> None:
    coins = random.Random(5)
    for _ in range(20):
        cap = Fraction(coins.randrange(1, 40), 8)
        ledger, limits, spent = in_memory(Terms(cap, 0, "id")), {}, {}
        for step in range(60):
            name, amount = coins.choice("abc"), Fraction(coins.randrange(1, 12), 16)
            if coins.random() < 0.2:
                wanted = amount * 4
                if wanted <= cap and wanted >= spent.get(name, 0):
                    ledger.grant(name, wanted)
                    limits[name] = wanted
                else:
                    with pytest.raises(Invalid):
                        ledger.grant(name, wanted)
            elif name in limits and spent.get(name, 0) + amount <= limits[name] and sum(spent.values()) + amount <= cap:
                ledger.spend(Pure(amount), question=f"{step}", analyst=name)
                spent[name] = spent.get(name, 0) + amount
            else:
                with pytest.raises(BudgetExceeded):
                    ledger.spend(Pure(amount), question=f"{step}", analyst=name)
        assert {name: one.spent.epsilon for name, one in ledger.analysts().items()} == {name: spent.get(name, 0) for name in limits}
        assert ledger.spent.epsilon == sum(spent.values())
        for name, one in ledger.analysts().items():
            assert one.remaining.epsilon == min(limits[name] - spent.get(name, 0), cap - sum(spent.values()))
            assert one.granted.epsilon == limits[name]


# ── who asks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_grants_nobody_has_to_say_who_asks() -> None:
    ledger = in_memory()
    ledger.spend(Pure(0.1), question="q")
    ledger.spend(Pure(0.1), question="r", analyst=OWNER)
    with pytest.raises(BudgetExceeded, match="ada has no budget here: ask the data owner to grant one"):
        ledger.spend(Pure(0.1), question="s", analyst="ada")
    assert ledger.spent.epsilon == Fraction(1, 5)
    assert ledger.analysts() == {}


def test_after_a_grant_whoever_asks_has_a_name() -> None:
    ledger = in_memory(ada=0.5)
    with pytest.raises(Invalid, match="name the analyst who asks"):
        ledger.spend(Pure(0.1), question="q")
    for name in ("Ada", "ada ", "bob"):
        with pytest.raises(BudgetExceeded, match="has no budget here"):
            ledger.spend(Pure(0.1), question="q", analyst=name)
        with pytest.raises(BudgetExceeded, match="has no budget here"):
            ledger.allowance(name)
    ledger.spend(Pure(1), question="q", analyst=OWNER)  # only the ceiling binds the owner
    with pytest.raises(BudgetExceeded):
        ledger.spend(Pure(0.1), question="r", analyst="ada")
    assert len(ledger.entries()) == 3


@pytest.mark.parametrize("name", ["", " ada", "ada\n", "a\x00b", "a" * 101, OWNER, "Owner", None, 3])
def test_odd_names_are_refused(name: object) -> None:
    with pytest.raises(Invalid):
        in_memory().grant(name, 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-1, 0), (2, 0), (0.5, "1e-6"), ("x", 0), (0.5, 1), (float("inf"), 0)])
def test_odd_limits_are_refused(epsilon: object, delta: object) -> None:
    ledger = in_memory()
    with pytest.raises(Invalid):
        ledger.grant("ada", epsilon, delta)  # type: ignore[arg-type]
    assert len(ledger.entries()) == 1


def test_it_is_said_whose_budget_is_short_and_what_is_left() -> None:
    ledger = in_memory(ada=0.25, bob=1)
    for loss, name, said in (
        (Pure(0.5), "ada", ["ada's own budget", "ε ≤ 0.25"]),
        (Pure(2), "bob", ["bob's own budget", "the data set's budget", "ε ≤ 1"]),
    ):
        with pytest.raises(BudgetExceeded, match="Nothing was charged") as raised:
            ledger.spend(loss, question="q", analyst=name)
        assert all(words in str(raised.value) for words in said)
        assert ("the data set's" in str(raised.value)) == ("the data set's budget" in said)
    ledger.spend(Pure(0.875), question="q", analyst="bob")
    with pytest.raises(BudgetExceeded, match=r"^the data set's budget does not admit this; it still admits .* ε ≤ 0\.125") as raised:
        ledger.spend(Pure(0.25), question="r", analyst="ada")
    assert "ada's own" not in str(raised.value)
    assert ledger.allowance("ada").remaining == Amount(Fraction(1, 8), Fraction(0))


def test_stored_answers_stay_free_and_a_key_pays_once_whoever_asks() -> None:
    ledger = in_memory(ada=0.5, bob=0.1)
    paid, fresh = ledger.claim(Pure(0.5), question="q", key="k", analyst="ada")
    assert fresh
    assert ledger.claim(Pure(0.5), question="q", key="k", analyst="bob") == (paid, False)
    ledger.store(paid, {"n": 1})
    assert ledger.find("q") == {"n": 1}
    assert [one.spent.epsilon for one in ledger.analysts().values()] == [Fraction(1, 2), 0]
    assert [(one.analyst, one.epsilon) for one in purchases(ledger)] == [("ada", Fraction(1, 2))]


# ── changing a limit ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_limit_is_raised_and_lowered_and_never_below_what_was_spent(shelf: Shelf) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    first = ledger.grant("ada", 0.5)
    assert ledger.grant("ada", "1/2") == first  # said again, it changes nothing
    ledger.spend(Pure(0.4), question="q", analyst="ada")
    with pytest.raises(Invalid, match="ada has already spent more than this"):
        ledger.grant("ada", 0.3)
    ledger.grant("ada", 0.4)
    with pytest.raises(BudgetExceeded):
        ledger.spend(Pure("1e-9"), question="r", analyst="ada")
    ledger.grant("ada", 0.9)
    ledger.spend(Pure(0.5), question="r", analyst="ada")
    again = open_ledger(shelf.at("a"))
    assert again.allowance("ada") == ledger.allowance("ada")
    assert again.verify().entries == 6
    assert again.allowance("ada").granted.epsilon == Fraction(9, 10)


def test_another_limit_is_as_if_it_had_been_there_from_the_beginning() -> None:
    losses: list[Loss] = [Promised(GaussianLoss("1/1000"), "1/4", "1e-8"), LaplaceLoss("1/50"), 3 * GaussianLoss("1/2000") + Pure("1/100")]
    ledger, expected = in_memory(Terms(1, "1e-6", "id")), Filter("3/4", "5e-7")
    ledger.grant("ada", 0.5, "1e-7")
    for number, loss in enumerate(losses):
        ledger.spend(loss, question=f"{number}", analyst="ada")
        expected = expected.spend(loss)
    ledger.grant("ada", 0.75, "5e-7")
    assert ledger.allowance("ada").filters == (expected, ledger.filter)


def test_what_remains_is_what_both_filters_admit() -> None:
    ledger = in_memory(Terms(1, "1e-6", "id"))
    ledger.grant("ada", 0.5, "1e-6")
    ledger.grant("bob", 1, "1e-7")
    ledger.spend(GaussianLoss("1/1000"), question="q", analyst="bob")
    ledger.spend(Pure(0.1), question="r", analyst="bob")
    for name, one in ledger.analysts().items():
        epsilon, delta = one.remaining.epsilon, one.remaining.delta
        assert epsilon is not None
        assert one.admits(Pure(epsilon))
        assert not one.admits(Pure(epsilon + Fraction(1, 1000)))
        assert one.most(Pure) == epsilon
        assert delta == min(budget.remaining[1] for budget in one.filters)
        with pytest.raises(BudgetExceeded):
            ledger.spend(Pure(epsilon + Fraction(1, 1000)), question=f"{name} too much", analyst=name)
    ledger.spend(Pure(ledger.allowance("ada").remaining.epsilon), question="all of it", analyst="ada")  # type: ignore[arg-type]


# ── replay and tampering ─────────────────────────────────────────────────────────────────────────────────────────────


def spend_body(epsilon: object, analyst: object) -> dict[str, object]:
    price = {"loss": record.to_json(Pure(epsilon)), "charge": Charge.of(Pure(epsilon), pure=ONE.delta == 0).to_json()}  # type: ignore[arg-type]
    return {"question": "q", "key": None, "note": "", "analyst": analyst, "whole": None} | price


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("spend", spend_body(0.3, "ada"), "more than the budget"),
        ("spend", spend_body(0.1, "bob"), "more than the budget"),
        ("spend", spend_body(0.1, None), "cannot be read"),
        ("spend", spend_body(0.1, ["ada"]), "cannot be read"),
        ("spend", {key: value for key, value in spend_body(0.1, "ada").items() if key != "analyst"}, "not valid at its place"),
        ("grant", {"analyst": "ada", "epsilon": "1/10", "delta": "0"}, "grants less than was spent"),
        ("grant", {"analyst": "ada", "epsilon": "2", "delta": "0"}, "cannot be read"),
        ("grant", {"analyst": "owner", "epsilon": "1/2", "delta": "0"}, "cannot be read"),
        ("grant", {"analyst": "ada", "epsilon": "1/2"}, "not valid at its place"),
    ],
)
def test_forged_entries_are_seen_though_every_seal_fits(shelf: Shelf, kind: chain.EntryKind, body: dict[str, object], said: str) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    ledger.grant("ada", 0.5)
    last = ledger.spend(Pure(0.25), question="q", analyst="ada")
    forged = chain.seal(3, kind, body, last.hash)
    with shelf.behind_its_back("a") as hand:
        shelf.insert(hand, forged)
        hand.execute("UPDATE state SET sequence = 3, head = ?", (forged.hash,))
    with pytest.raises(LedgerError, match=said):
        open_ledger(shelf.at("a"), ONE)
    with pytest.raises(LedgerError, match=said):
        ledger.find("q")


@pytest.mark.parametrize(
    "edit",
    [
        """UPDATE entries SET body = replace(body, '"analyst":"ada"', '"analyst":"bob"') WHERE kind = 'spend'""",
        """UPDATE entries SET body = replace(body, '"0.25"', '"0.5"') WHERE kind = 'grant'""",
        """UPDATE state SET filter = replace(filter, '"epsilon":"0.25"', '"epsilon":"0.5"')""",
        """UPDATE state SET filter = replace(filter, '"ada"', '"eve"')""",
        """UPDATE entries SET kind = 'spend' WHERE kind = 'grant'""",
    ],
)
def test_edits_of_grants_and_names_are_seen(shelf: Shelf, edit: str) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    ledger.grant("ada", 0.25)
    ledger.grant("bob", 0.75)
    ledger.spend(Pure(0.25), question="q", analyst="ada")
    with shelf.behind_its_back("a") as hand:
        hand.execute(edit)
    with pytest.raises(LedgerError, match="cannot be trusted"):
        open_ledger(shelf.at("a"), ONE)


def test_what_remains_says_what_it_means() -> None:
    ledger = open_ledger(":memory:", Terms(1, "1e-6", "id"))
    assert str(ledger.remaining) == "Amount(epsilon=1, delta=1e-06): the largest single further question"
    ledger.spend(Pure("1/4"), question="a")
    assert str(ledger.remaining) == (
        "Amount(epsilon=0.75, delta=3.8e-07): the largest single further question; of δ = 1e-06 in all, 3.8e-07 is for the questions' "
        "own δ (0 charged), the rest for adding up many questions tightly"
    )
    ledger.spend(Approx("1/4", "1e-7"), question="b")
    assert "(1e-07 charged)" in str(ledger.remaining)
    assert str(ledger.spent) == repr(ledger.spent) == "Amount(epsilon=0.5, delta=1e-07)"
    pure = open_ledger(":memory:", Terms(1, 0, "id"))
    pure.spend(Pure("1/4"), question="a")
    assert str(pure.remaining) == "Amount(epsilon=0.75, delta=0): the largest single further question"


def test_the_text_is_that_of_all_accounts_however_it_is_put_together() -> None:
    ledger = in_memory(Terms(10, "1e-6", "id"), Åsa=2, **{'a "b"': 3})
    for number, name in enumerate(["Åsa", 'a "b"', OWNER, "Åsa"]):
        ledger.spend(LaplaceLoss(Fraction(1, 10 + number)) if number % 2 else Pure("0.1"), question=f"q{number}", analyst=name)
        standing = ledger._history.standing
        assert standing.text == chain.write(standing.to_json())
    ledger.revoke("Åsa")
    standing = ledger._history.standing
    assert '"taken_back"' in standing.text
    assert standing.text == chain.write(standing.to_json())
