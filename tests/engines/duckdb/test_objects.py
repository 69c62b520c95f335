"""Python objects as texts: total, and injective where they identify units."""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.engines.duckdb.objects import as_identity, as_text, to_texts
from discreet.tables.kind import Kind

NOON = datetime.datetime(2024, 1, 1, 12)


class Hostile:
    def __eq__(self, other: object) -> bool:
        raise ValueError("SECRET")

    def __str__(self) -> str:
        raise ValueError("SECRET")

    __hash__ = object.__hash__


class Colour(str, enum.Enum):  # noqa: UP042 - the str() of this one is not its value
    RED = "red"


def test_no_value_raises() -> None:
    values = np.empty(6, object)
    values[:] = [Hostile(), 10**5000, float("nan"), "\ud800", None, [1]]
    assert to_texts(values, as_text).tolist() == [None, None, None, "?", None, None]
    for kind in Kind:
        assert to_texts(values, as_identity(kind)).tolist() == [None] * 6 or kind is Kind.TEXT


@pytest.mark.parametrize(("value", "text"), [("x", "x"), (7, "7"), (True, "True"), (0.5, "0.5"), (NOON.date(), "2024-01-01"), (b"x", None)])
def test_plain_values_as_python_writes_them(value: Any, text: str | None) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Kind.INTEGER, [1, 1.0, True, Decimal(1), Fraction(1), 2, -1, 2**53]),
        (Kind.INTEGER, [1, np.int8(1), np.float32(1), np.True_, 2, np.uint64(2)]),
        (Kind.REAL, [0.5, Decimal("0.5"), 0.25, 0.0, -0.0, 1, True]),
        (Kind.REAL, [0.5, np.float32(0.5), np.float64(0.25)]),
        (Kind.TEXT, ["a", "A", "", "1", Colour.RED, "red"]),
        (Kind.BOOLEAN, [True, 1, 1.0, False, 0, np.False_]),
        (Kind.DATE, [NOON.date(), datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]),
        (Kind.TIMESTAMP, [NOON, datetime.datetime(2024, 1, 1, 12, 0, 0, 0), datetime.datetime(2024, 1, 1, 12, 0, 0, 1)]),
    ],
)
def test_two_values_have_one_text_if_and_only_if_they_are_equal(kind: Kind, values: list[Any]) -> None:
    texts = [as_identity(kind)(value) for value in values]
    assert None not in texts
    for a, text in zip(values, texts, strict=True):
        for b, other in zip(values, texts, strict=True):
            assert (a == b) == (text == other), (a, b)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.INTEGER, "1"),
        (Kind.INTEGER, 0.5),
        (Kind.INTEGER, 2**63),
        (Kind.REAL, 10**400),
        (Kind.REAL, 2**53 + 1),
        (Kind.REAL, float("inf")),
        (Kind.TEXT, 1),
        (Kind.BOOLEAN, 2),
        (Kind.DATE, NOON),
        (Kind.TIMESTAMP, NOON.replace(tzinfo=datetime.UTC)),
        (Kind.TIMESTAMP, NOON.date()),
    ],
)
def test_values_of_another_type_identify_nobody(kind: Kind, value: Any) -> None:
    assert to_texts(np.array([value, None], object), as_identity(kind)).tolist() == [None, None]
