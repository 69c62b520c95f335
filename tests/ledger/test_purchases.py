"""What was paid for, as a list: prices, notes, who asked, and whether there was an answer."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.ledger.ledger import open_ledger
from discreet.ledger.purchases import Purchase, own_purchases, purchases, purchases_as_dicts
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Approx, Pure
from discreet.loss.notions import Gdp


def test_purchases_are_listed_oldest_first() -> None:
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    assert purchases(ledger) == []
    first = ledger.spend(Pure("1/2"), question="a", note="SELECT 1")
    ledger.store(first, {"n": 1})
    ledger.grant("ada", 1, "1e-6")
    second = ledger.spend(Approx("1/4", "1e-7"), question="b", analyst="ada")
    assert purchases(ledger) == [
        Purchase(first.sequence, first.at, Fraction(1, 2), Fraction(0), "SELECT 1", True, None),
        Purchase(second.sequence, second.at, Fraction(1, 4), Fraction(1, 10**7), "", False, "ada"),
    ]


def test_as_dicts_prices_are_floats_and_an_infinite_price_is_infinity() -> None:
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    ledger.spend(Gdp("1/10"), question="a")
    (found,) = purchases_as_dicts(ledger)
    assert found.keys() == {"entry", "at", "epsilon", "delta", "asked", "answered", "analyst", "received"}  # db.history() shows these names
    assert (found["epsilon"], found["delta"], found["answered"]) == (math.inf, 0.0, False)


def test_what_was_received_is_listed_and_an_account_cannot_tell_it_from_what_it_paid_for() -> None:
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    for name in ("ada", "bo"):
        ledger.grant(name, 1, "1e-7")
    for number, price in enumerate((Approx("1/4", "1e-8"), Pure(0))):
        ledger.store(ledger.spend(price, question=f"q{number}", note="hers", analyst="ada"), {})
        ledger.receive(f"q{number}", "bo", note="his")
    received = [one for one in purchases(ledger) if one.received]
    assert [(one.epsilon, one.delta, one.asked, one.answered, one.analyst) for one in received] == [
        (Fraction(1, 4), Fraction(1, 10**8), "his", True, "bo"),
        (Fraction(0), Fraction(0), "his", True, "bo"),
    ]
    (hers,), (his,) = own_purchases(ledger, "ada"), own_purchases(ledger, "bo")  # without those that cost nothing
    assert hers | {"at": "", "asked": "", "analyst": ""} == his | {"at": "", "asked": "", "analyst": ""}
    assert his.keys() == {"at", "epsilon", "delta", "asked", "answered", "analyst"}
