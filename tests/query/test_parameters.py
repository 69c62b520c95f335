"""Parameters are values of our own kinds, whatever library they come from."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.query.parameters import parameter_values, with_values

NOON = datetime.datetime(2026, 1, 31, 12)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (True, True),
        (3, 3),
        (0.1, Fraction(1, 10)),
        (Decimal("1e-7"), Fraction(1, 10**7)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("a", "a"),
        (None, None),
        (NOON, NOON),
        (NOON.date(), NOON.date()),
        (np.int64(3), 3),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.5), Fraction(1, 2)),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
    ],
)
def test_values(given: Any, value: Any) -> None:
    assert parameter_values([given]) == (value,)
    (found,) = parameter_values({"x": given}).values()  # type: ignore[union-attr]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("given", [None, [], (), {}])
def test_no_values(given: Any) -> None:
    assert parameter_values(given) is None


AWARE = NOON.replace(tzinfo=datetime.UTC)


@pytest.mark.parametrize("given", ["abc", b"abc", 3, {1: 2}, [1] * 10_001])
def test_what_are_no_parameters(given: Any) -> None:
    with pytest.raises(Invalid):
        parameter_values(given)


@pytest.mark.parametrize(
    "given", [[b"a"], [[1, 2]], [float("nan")], [Decimal("inf")], ["a\x00"], [AWARE], [Decimal("0." + "1" * 5000)], [Decimal("1e99999999")]]
)
def test_what_is_no_value(given: Any) -> None:
    with pytest.raises(Invalid):
        parameter_values(given)


def test_values_are_shown_to_people() -> None:
    assert with_values("SELECT ?, ?", (Fraction(1, 2), NOON.date())) == "SELECT ?, ? -- parameters: 0.5, 2026-01-31"
    assert with_values("SELECT :a", {"a": "x\n*/"}) == "SELECT :a -- parameters: a = 'x\\n*/'"
    assert with_values("SELECT :a", {"a": 1, "b\nDROP": 2}) == "SELECT :a -- parameters: a = 1, 'b\\nDROP' = 2"
    assert len(with_values("SELECT ?", ("x" * 10_000,))) < 300
    assert with_values("SELECT 1", None) == "SELECT 1"
