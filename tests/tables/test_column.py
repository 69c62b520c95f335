"""Column metadata: bounds are exact and ordered, keys are distinct."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.tables import column
from discreet.tables.column import ColumnMetadata, read_bounds, read_keys
from discreet.tables.kind import Kind


def test_bounds_are_exact() -> None:
    assert read_bounds(Kind.REAL, (0.1, 0.3), "x") == (Fraction(1, 10), Fraction(3, 10))
    assert read_bounds(Kind.INTEGER, [0, 120], "x") == (0, 120)
    day = datetime.date(2024, 1, 1)
    assert read_bounds(Kind.DATE, (day, "2024-01-03"), "x") == (day.toordinal(), day.toordinal() + 2)
    assert read_bounds(Kind.REAL, None, "x") is None


@pytest.mark.parametrize(
    ("kind", "bounds", "why"),
    [
        (Kind.REAL, 3, "must be a pair"),
        (Kind.REAL, "ab", "must be a pair"),
        (Kind.REAL, (1, 2, 3), "must be a pair"),
        (Kind.TEXT, (0, 1), "only numbers and dates have bounds: remove its bounds"),
        (Kind.TIMESTAMP, (0, 1), "only numbers and dates"),
        (Kind.REAL, (1, 1), "the lower bound of x must be below the upper"),
        (Kind.REAL, (0, 10**51), "within ±10\\^50"),
        (Kind.REAL, (0, Fraction(1, 10**51)), "at least 10\\^-50"),
        (Kind.INTEGER, (0, 1.5), "the upper bound of x must be an integer"),
    ],
)
def test_bounds_that_are_refused(kind: Kind, bounds: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        read_bounds(kind, bounds, "x")


def test_keys_keep_their_order_and_may_contain_null() -> None:
    assert read_keys(Kind.TEXT, ["b", None, "a"], "x") == ("b", None, "a")
    assert read_keys(Kind.DATE, ["2024-01-01"], "x") == (datetime.date(2024, 1, 1),)
    assert read_keys(Kind.INTEGER, range(3), "x") == (0, 1, 2)


def test_keys_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column, "MOST_KEYS", 2)
    cases: list[tuple[Kind, Any, str]] = [
        (Kind.TEXT, "ab", "must be a list of values"),
        (Kind.TEXT, 3, "must be a list of values"),
        (Kind.REAL, [0.5], "group by bins"),
        (Kind.TEXT, [], "at least one"),
        (Kind.TEXT, ["a", "a"], "must be different"),
        (Kind.TEXT, [1], "each key of x must be a text"),
        (Kind.INTEGER, [1, 2, 3], "more than 2 keys"),
    ]
    for kind, keys, why in cases:
        with pytest.raises(Invalid, match=why):
            read_keys(kind, keys, "x")


def test_metadata_of_a_column() -> None:
    assert ColumnMetadata.of("x", Kind.INTEGER, bounds=(0, 9), keys=[1], nullable=False, unique=True) == ColumnMetadata(
        "x", Kind.INTEGER, (Fraction(0), Fraction(9)), (1,), False, True
    )
