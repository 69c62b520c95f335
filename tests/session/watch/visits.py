"""Visits for threshold questions."""

from __future__ import annotations

from typing import Any

import polars

import discreet
from discreet.session.session import Session

Row = tuple[int, str, float]
ER, WARD = "SELECT COUNT(*) FROM visits WHERE dept = 'er'", "SELECT COUNT(*) FROM visits WHERE dept = 'ward'"
COST, BALANCE = "SELECT SUM(cost) FROM visits", "SELECT SUM(cost - 50) FROM visits"
PEOPLE = "SELECT COUNT(DISTINCT patient) FROM visits"


def session(rows: list[Row] | None = None, **said: Any) -> Session:
    found = rows if rows is not None else [(i, "er" if i % 4 else "ward", 60.0) for i in range(4000)]
    frame = polars.DataFrame(found, schema={"patient": polars.Int64, "dept": polars.String, "cost": polars.Float64}, orient="row")
    usual: dict[str, Any] = {"bounds": {"cost": (0, 100)}, "contributions": {"rows": 2}, "epsilon": 1000}
    return discreet.connect({"visits": frame}, unit="patient", ledger=":memory:", **(usual | said))
