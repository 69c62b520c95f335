"""Types of columns, as PEP 249 compares them."""

from __future__ import annotations

import datetime

import pytest

from discreet import dbapi
from discreet.dbapi.types import type_code


@pytest.mark.parametrize(
    ("value", "code", "object_"),
    [
        (True, "boolean", dbapi.NUMBER),
        (3, "integer", dbapi.NUMBER),
        (2.5, "real", dbapi.NUMBER),
        ("a", "text", dbapi.STRING),
        (datetime.date(2026, 1, 31), "date", dbapi.DATETIME),
        (datetime.datetime(2026, 1, 31, 8), "timestamp", dbapi.DATETIME),
    ],
)
def test_codes(value: object, code: str, object_: object) -> None:
    assert type_code([None, value]) == code
    assert [known for known in (dbapi.NUMBER, dbapi.STRING, dbapi.DATETIME, dbapi.BINARY, dbapi.ROWID) if known == code] == [object_]


def test_type_objects_are_themselves() -> None:
    assert dbapi.NUMBER != dbapi.STRING
    assert len({dbapi.NUMBER, dbapi.STRING, dbapi.NUMBER}) == 2


def test_constructors() -> None:
    noon = datetime.datetime(2026, 1, 31, 12)
    ticks = noon.timestamp()
    assert (dbapi.DateFromTicks(ticks), dbapi.TimeFromTicks(ticks), dbapi.TimestampFromTicks(ticks)) == (noon.date(), noon.time(), noon)
    assert (dbapi.Date(2026, 1, 31), dbapi.Timestamp(2026, 1, 31, 12), dbapi.Binary(b"a")) == (noon.date(), noon, b"a")
