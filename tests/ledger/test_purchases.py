"""What was paid for, as a list: prices, notes, who asked, and whether there was an answer."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.ledger.ledger import open_ledger
from discreet.ledger.purchases import Purchase, purchases, purchases_as_dicts
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
    assert found.keys() == {"entry", "at", "epsilon", "delta", "asked", "answered", "analyst"}  # db.history() shows these names
    assert (found["epsilon"], found["delta"], found["answered"]) == (math.inf, 0.0, False)
