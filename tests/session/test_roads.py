"""What every road must refuse: rows that no unit can be held to."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import polars
import pytest

import discreet
from discreet.errors import Invalid, Refused

ROADS: dict[str, Callable[[discreet.Session, Any], Any]] = {
    "count": lambda db, table: table.count().release(epsilon=1),
    "estimate": lambda db, table: table.estimate(len, epsilon=1, bounds=(0, 9)),
    "median": lambda db, table: table.estimate("median", "x", epsilon=1, bounds=(0, 9)),
    "mean": lambda db, table: table.estimate("mean", "x", epsilon=1),
    "synthesize": lambda db, table: db.synthesize(table, 1, 1e-6, columns=["x"], contributions={"rows": 1}),
    "interactive": lambda db, table: db.interactive(["x"], 1, 10, table=table, delta=1e-6, contributions={"rows": 1}),
    "daily": lambda db, table: db.daily(table, day="d", start="2026-01-01", days=9, epsilon=1).release(until="2026-01-02"),
    "watch": lambda db, table: db.watch(1, 10).ask(table.count()),
}


def session() -> discreet.Session:
    day = datetime.date(2026, 1, 1)
    rows = polars.DataFrame({"k": [1, 2, 3], "x": [1, 2, 3], "d": [day] * 3})
    more = polars.DataFrame({"k": [1] * 9, "y": list(range(9))})
    return discreet.connect(
        {"rows": rows, "more": more}, unit=discreet.each_row(), public=["more"], epsilon=9, delta=1e-5, ledger=":memory:",
        bounds={"rows.x": (0, 9)},
    )  # fmt: skip


@pytest.mark.parametrize("road", ROADS)
def test_a_row_that_may_become_several_is_refused(road: str) -> None:
    with session() as db:
        table = db.table("rows")
        for several in (table.join(db.table("more"), on="k"), table.stack(table)):
            with pytest.raises((Refused, Invalid), match="one row may become several"):
                ROADS[road](db, several)
        assert not db.spent.epsilon


@pytest.mark.parametrize("road", [road for road in ROADS if road not in ("watch", "count")])
def test_public_tables_are_refused(road: str) -> None:
    with session() as db, pytest.raises((Refused, Invalid)):
        ROADS[road](db, db.table("more"))
