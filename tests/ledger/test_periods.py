"""Weeks and months in UTC, by number."""

from __future__ import annotations

import datetime
import itertools
import math
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.ledger.periods import Period


def seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("every", "moment", "start", "after"),
    [
        ("month", "2026-11-01T00:00:00", "2026-11-01", "2026-12-01"),
        ("month", "2026-11-30T23:59:59", "2026-11-01", "2026-12-01"),
        ("month", "2026-12-31T23:59:59", "2026-12-01", "2027-01-01"),
        ("month", "1969-12-31T23:59:59", "1969-12-01", "1970-01-01"),
        ("week", "2026-11-16T00:00:00", "2026-11-16", "2026-11-23"),  # a Monday
        ("week", "2026-11-22T23:59:59", "2026-11-16", "2026-11-23"),
        ("week", "2027-01-01T12:00:00", "2026-12-28", "2027-01-04"),
        ("week", "1970-01-01T00:00:00", "1969-12-29", "1970-01-05"),
    ],
)
def test_a_period_begins_at_midnight(every: str, moment: str, start: str, after: str) -> None:
    period = Period.at(every, seconds(moment))
    assert period.start.isoformat() == start
    assert period.next.start.isoformat() == after
    assert Period.at(every, seconds(f"{after}T00:00:00")) == period.next


def test_days_follow_one_another_for_centuries() -> None:
    for every in ("week", "month"):
        numbers = [Period.at(every, 86_400.0 * day).index for day in range(-200_000, 200_000, 1)]
        assert all(0 <= b - a <= 1 for a, b in itertools.pairwise(numbers))


@pytest.mark.parametrize("clock", [-1e300, 1e300, -math.inf, math.inf])
@pytest.mark.parametrize("every", ["week", "month"])
def test_no_clock_is_an_error(every: str, clock: float) -> None:
    period = Period.at(every, clock)
    assert period.start <= period.next.start


def test_records_are_read_back_and_others_refused() -> None:
    period = Period("week", 7)
    assert Period.from_json(period.to_json()) == period
    assert Period.from_json({"analyst": "ada"}) is None
    wrong: list[dict[str, Any]] = [{"every": "day", "period": 1}, {"every": "week", "period": -1}, {"every": "week", "period": True}]
    for record in wrong:
        with pytest.raises(Invalid):
            Period.from_json(record)
