"""Terms: exact, on the grid of prices, and compared by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid, PolicyError
from discreet.ledger.terms import Terms


def test_terms_are_exact_and_rounded_down_to_the_grid() -> None:
    terms = Terms(0.1, "1e-6", "id")
    assert (terms.epsilon, terms.delta) == (Fraction(1, 10), Fraction(1, 10**6))
    third = Terms("1/3", 0, "id").epsilon
    assert 0 < Fraction(1, 3) - third < Fraction(1, 10**40)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((1, 0, ""), "name the column"),
        ((1, 0, 7), "name the column"),
        ((1, 0, "id", "both"), "adjacency must be"),
        ((1, "1e-41", "id"), "the delta of a budget is recorded in multiples of 1e-40"),
        (("1e-41", 0, "id"), "the epsilon of a budget"),
        ((-1, 0, "id"), "epsilon"),
    ],
)
def test_terms_that_are_refused(given: tuple[Any, ...], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        Terms(*given)


def test_the_first_entry_is_read_back_and_nothing_else() -> None:
    terms = Terms(1, "1e-6", "id", "replace-one")
    body = terms.to_json(witnessed=True)
    assert body == {"format": 3, "epsilon": "1", "delta": "0.000001", "unit": "id", "adjacency": "replace-one", "witnessed": True}
    assert Terms.from_json(body) == terms
    for changed in ({"format": 2}, {"witnessed": 1}, {"more": 0}, {"epsilon": "01"}):
        with pytest.raises(Invalid, match="not the terms of a ledger"):
            Terms.from_json(body | changed)
    for missing in body:
        with pytest.raises(Invalid, match="not the terms"):
            Terms.from_json({name: value for name, value in body.items() if name != missing})


def test_a_part_is_no_more_than_the_whole() -> None:
    terms = Terms(1, "1e-6", "id")
    assert (terms.part(1, "1e-6").epsilon, terms.budget.delta) == (1, Fraction(1, 10**6))
    for epsilon, delta in ((2, 0), (1, "1e-5")):
        with pytest.raises(Invalid, match="epsilon = 1 and delta = 1e-06: grant less"):
            terms.part(epsilon, delta)


def test_every_difference_is_named() -> None:
    terms = Terms(1, 0, "id")
    terms.require(Terms(1.0, 0, "id"))
    with pytest.raises(PolicyError) as caught:
        terms.require(Terms(2, "1e-6", "id", "replace-one"))
    said = str(caught.value)
    assert said.startswith(
        "the ledger was created with epsilon = 1, not 2; delta = 0, not 1e-06; adjacency = add/remove, not replace-one. "
    )
    assert "unit" not in said
