"""The settings of a connection, and the price of a question."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.dbapi.settings import Settings
from discreet.errors import Invalid

SQL = "SELECT COUNT(*) AS n FROM visits"
OPTIONS = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) COUNT(*) AS n FROM visits WHERE delta = 3"


def test_texts_are_read_exactly() -> None:
    found = Settings().changed("epsilon", "0.1").changed("delta", "1e-6").changed("confidence", "0.9").changed("intervals", "OFF")
    assert (found.epsilon, found.delta, found.confidence) == (Fraction(1, 10), Fraction(1, 10**6), Fraction(9, 10))
    assert (found.shown("epsilon"), found.shown("intervals"), found.shown("dialect")) == ("0.1", "off", "duckdb")
    assert found.changed("epsilon", None).shown("epsilon") == ""


@pytest.mark.parametrize(("name", "value"), [("epsilon", "0"), ("epsilon", "x"), ("delta", "2"), ("confidence", "1"), ("cached_only", "2")])
def test_values_that_make_no_sense(name: str, value: str) -> None:
    with pytest.raises(Invalid):
        Settings().changed(name, value)


def test_a_price_is_that_of_the_text_first() -> None:
    usual = Settings().changed("epsilon", "0.1").changed("delta", "1e-6")
    assert usual.price_of(SQL) == {"epsilon": Fraction(1, 10), "delta": Fraction(1, 10**6)}
    assert usual.price_of(f"/* epsilon=2 */ {SQL}") == {"epsilon": 2, "delta": Fraction(1, 10**6)}
    assert usual.price_of(OPTIONS.format("epsilon = 2")) == {"delta": Fraction(1, 10**6)}
    assert usual.price_of(OPTIONS.format("epsilon = 2, delta = 0")) == {}
    with pytest.raises(Invalid, match="the price is missing"):
        Settings().price_of(OPTIONS.format("delta = 0"))
