"""Requests for feeds: what is refused, with what to do instead."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from session.feeds.visits import FIRST, day, feed_of, session, values

from discreet.errors import Invalid, Refused

# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"day": "cost"}, "dates or timestamps"),
        ({"day": "no_such"}, "no_such"),
        ({"value": "free"}, "bounds"),
        ({"value": "on"}, "must be numeric"),
        ({"where": "SUM(cost) > 1"}, "SUM"),
        ({"every": "hour"}, "every must be"),
        ({"every": "week"}, "Monday"),
        ({"every": "month", "start": day(1)}, "first of a month"),
        ({"start": "soon"}, "start"),
        ({"days": 0}, "days"),
        ({"days": 10**7}, "days"),
        ({"start": datetime.date(9999, 12, 1), "days": 100}, "year 9999"),
        ({"every": "month", "start": datetime.date(9999, 12, 1), "days": 2}, "year 9999"),
        ({"per_day": 0}, "per_day"),
        ({"active_days": 5000}, "at most 1024"),
        ({"windows": (9,)}, "longer"),
        ({"windows": (0,)}, "a window"),
        ({"epsilon": 0}, "epsilon"),
        ({"name": 5}, "name"),
    ],
)
def test_what_cannot_be_asked(said: dict[str, Any], message: str) -> None:
    with session([(1, 1, 1)]) as db:
        with pytest.raises((Invalid, Refused), match=message):
            feed_of(db, **said)
        assert db.spent.epsilon == 0


def test_days_outside_the_feed() -> None:
    with session([(1, 1, 1)]) as db:
        feed = feed_of(db)
        for until, message in ((day(-1), "no day of this feed"), (day(8), "ends on 2026-01-08"), ("x", "until")):
            with pytest.raises(Invalid, match=message):
                feed.release(until=until)
        assert db.spent.epsilon == 0


def test_tables_that_are_not_its_own() -> None:
    with session([]) as db, session([], bounds={"cost": (0, 1)}) as other:
        with pytest.raises(Invalid, match="before it is grouped"):
            db.daily(other.table("visits").group_by("cost").count(), day="on", start=FIRST, days=3, epsilon=1)
        with pytest.raises(Invalid, match="another session"):
            db.daily(other.table("visits").where("cost > 2"), day="on", start=FIRST, days=3, epsilon=1)
        feed = db.daily(db.table("visits").where("cost > 1"), day="on", start=FIRST, days=3, epsilon=1)
        assert values(feed, 3) == [0, 0, 0]
