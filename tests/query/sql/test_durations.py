"""INTERVAL literals as they are written."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from discreet.errors import Refused
from discreet.query.sql.durations import DAY, Duration, duration

READ = {
    "INTERVAL 90 DAY": Duration(microseconds=90 * DAY),
    "INTERVAL '90 days'": Duration(microseconds=90 * DAY),
    "INTERVAL (90) DAY": Duration(microseconds=90 * DAY),
    "INTERVAL '-3' MONTH": Duration(months=-3),
    "-(INTERVAL 3 MONTH)": Duration(months=-3),
    "3 * INTERVAL '1 year'": Duration(months=36),
    "INTERVAL 1 QUARTER * 2": Duration(months=6),
    "INTERVAL 2 WEEKS": Duration(microseconds=14 * DAY),
    "INTERVAL 36 HOUR": Duration(microseconds=DAY * 3 // 2),
}


def read(text: str) -> Duration | None:
    found = parse_one(f"SELECT {text}", dialect="duckdb")
    assert isinstance(found, exp.Select)
    return duration(found.expressions[0])


@pytest.mark.parametrize("text", READ)
def test_lengths(text: str) -> None:
    assert read(text) == READ[text]


@pytest.mark.parametrize("text", ["INTERVAL '1 year 2 months'", "INTERVAL n DAY", "INTERVAL 1.5 DAY", "INTERVAL 1 CENTURY"])
def test_other_intervals_are_refused(text: str) -> None:
    with pytest.raises(Refused, match="write INTERVAL 90 DAY"):
        read(text)


def test_what_is_no_interval() -> None:
    assert read("5") is None
    assert read("2 * x") is None
    assert Duration(microseconds=DAY // 2).days is None
    assert Duration(microseconds=-2 * DAY).days == -2
    assert Duration(months=1).days is None
