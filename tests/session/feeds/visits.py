"""Visits by day, in sessions that are easy to check."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars

import discreet
from discreet.private import reveal
from discreet.session.feeds.feed import Feed
from discreet.session.session import Session

FIRST = datetime.date(2026, 1, 1)
Row = tuple[int | None, int | None, int | None]  # unit, day from the first on, value
SCHEMA = {"id": polars.Int64, "on": polars.Date, "at": polars.Datetime, "cost": polars.Int64, "free": polars.Float64}


def day(number: int) -> datetime.date:
    return FIRST + datetime.timedelta(days=number)


def session(rows: list[Row], **said: Any) -> Session:
    days = [None if number is None else day(number) for _, number, _ in rows]
    moments = [None if one is None else datetime.datetime.combine(one, datetime.time(13, 30)) for one in days]
    costs = [cost for _, _, cost in rows]
    frame = polars.DataFrame({"id": [unit for unit, _, _ in rows], "on": days, "at": moments, "cost": costs, "free": costs}, schema=SCHEMA)
    usual: dict[str, Any] = {"unit": "id", "epsilon": 100, "delta": "1e-3", "bounds": {"cost": (-3, 10)}, "ledger": ":memory:"}
    return discreet.connect({"visits": frame}, **(usual | said))


def feed_of(db: Session, **said: Any) -> Feed:
    usual: dict[str, Any] = {"day": "on", "start": FIRST, "days": 8, "epsilon": 1, "per_day": 2, "active_days": 3}
    return db.daily("visits", **(usual | said))


def values(feed: Feed, steps: int = 8) -> list[int]:
    """The private numbers, as only a test may see them."""
    return reveal(feed._values(steps))


def some_rows(choose: np.random.Generator) -> list[Row]:
    wild: list[Any] = [None, -9, -3, 0, 2, 10, 11]
    return [
        (int(choose.integers(0, 4)), int(choose.integers(-1, 9)), wild[int(choose.integers(len(wild)))])
        for _ in range(int(choose.integers(0, 30)))
    ]
