"""Values that people write: read exactly, or refused with the kind that is expected."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.tables.kind import Kind, is_storable

NOON = datetime.datetime(2026, 11, 15, 12, 30)
ZONE = datetime.timezone(datetime.timedelta(hours=2))


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [
        (Kind.BOOLEAN, True, True),
        (Kind.INTEGER, 7, 7),
        (Kind.INTEGER, 7.0, 7),
        (Kind.INTEGER, -(2**63) + 1, -(2**63) + 1),
        (Kind.REAL, 0.1, Fraction(1, 10)),
        (Kind.REAL, Decimal("0.3"), Fraction(3, 10)),
        (Kind.TEXT, "", ""),
        (Kind.DATE, "2026-11-15", NOON.date()),
        (Kind.TIMESTAMP, "2026-11-15 12:30:00", NOON),
        (Kind.TIMESTAMP, NOON.replace(tzinfo=ZONE), NOON - datetime.timedelta(hours=2)),
        (Kind.TIMESTAMP, "2026-11-15T12:30:00+02:00", NOON - datetime.timedelta(hours=2)),
    ],
)
def test_values_are_read_exactly(kind: Kind, given: Any, read: Any) -> None:
    found = kind.read(given)
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        (Kind.BOOLEAN, 1, "must be a boolean"),
        (Kind.INTEGER, True, "must be an integer"),
        (Kind.INTEGER, 1.5, "must be an integer"),
        (Kind.INTEGER, 2**63, "must be an integer"),
        (Kind.INTEGER, "7", "must be an integer"),
        (Kind.REAL, float("nan"), "finite"),
        (Kind.REAL, "0.1", "must be a real"),
        (Kind.TEXT, 7, "must be a text"),
        (Kind.TEXT, "a\x00", "must be a text"),
        (Kind.TEXT, "x" * 10_001, "must be a text"),
        (Kind.DATE, NOON, "must be a date"),
        (Kind.DATE, "yesterday", "must be written like 2026-11-15$"),
        (Kind.TIMESTAMP, "noon", "must be written like 2026-11-15 08:30:00"),
        (Kind.TIMESTAMP, datetime.datetime(1, 1, 1, tzinfo=ZONE), "within the years 1 to 9999"),
    ],
)
def test_other_values_are_refused(kind: Kind, given: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        kind.read(given, "it")


def test_only_numbers_are_numeric() -> None:
    assert [kind for kind in Kind if kind.numeric] == [Kind.INTEGER, Kind.REAL]


def test_texts_that_no_engine_stores() -> None:
    assert [is_storable(text) for text in ("Zoë", "𝒳", "a\x00", "\ud800", "\udfff")] == [True, True, False, False, False]
