"""Prices in comments: read exactly or refused, and never taken from a text or a name."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import Refused
from discreet.query.sql.written_price import WrittenPrice, written_price

SQL = "SELECT COUNT(*) FROM visits"
TENTH, SMALL = Fraction(1, 10), Fraction(1, 10**6)
CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) FROM visits WHERE delta = 3"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"/* epsilon=0.1 */ {SQL}", {"epsilon": TENTH}),
        (f"{SQL} /* discreet: epsilon = 0.1, delta = 1e-6 */", {"epsilon": TENTH, "delta": SMALL}),
        (f"-- EPSILON=0.1; confidence=0.9\n{SQL}", {"epsilon": TENTH, "confidence": Fraction(9, 10)}),
        (f"/* epsilon=0.1 */ {SQL} /* epsilon=0.10 */", {"epsilon": TENTH}),
        (f"/* epsilon=1/10 */ {SQL}; -- delta=.000001", {"epsilon": TENTH, "delta": SMALL}),
        (f"/* Metabase:: userID: 1 */ {SQL} /*traceparent='00-ab'*/", {}),
        (f"{SQL} WHERE name = '/* epsilon=0.1 */' AND epsilon = 3", {}),
        (SQL, {}),
    ],
)
def test_comments(text: str, found: dict[str, Fraction]) -> None:
    assert written_price(text) == WrittenPrice(found)


def test_the_privacy_clause_states_it_itself() -> None:
    assert written_price(CLAUSE) == WrittenPrice({}, frozenset({"epsilon"}))
    assert written_price(CLAUSE.replace("epsilon = 1", "delta = 0, epsilon = 1")).clause == {"delta", "epsilon"}


@pytest.mark.parametrize(
    "text",
    [
        f"/* epsilon=much */ {SQL}",
        f"/* epsilon=1 or so */ {SQL}",
        f"/* epsilon: 1 */ {SQL}",
        f"/* epsilon=1-2 */ {SQL}",
        f"/* epsilon=1/0 */ {SQL}",
        f"/* epsilon=1 */ {SQL} /* epsilon=2 */",
        f"/* epsilon=1 */ {CLAUSE}",
    ],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        written_price(text)


def test_an_open_quote_is_left_to_the_reader() -> None:
    assert written_price("/* epsilon=1 */ SELECT 'open") == WrittenPrice()
