"""A small clinic with a session in memory."""

from __future__ import annotations

import polars

from discreet.session.connect import connect
from discreet.session.session import Session

DEPARTMENTS = ["er", "ward", "lab"]


def visits() -> polars.DataFrame:
    """6,000 visits by 2,000 people."""
    rows = range(6_000)
    return polars.DataFrame(
        {
            "patient_id": [i % 2_000 for i in rows],
            "dept": [DEPARTMENTS[i % 7 % 2] for i in rows],
            "year": [2020 + i % 4 for i in rows],
            "cost": [float(i * 37 % 500) for i in rows],
        }
    )


def clinic(**declared: object) -> Session:
    said = {"bounds": {"cost": (0, 500)}, "keys": {"dept": DEPARTMENTS}, "contributions": {"rows": 3}} | declared
    return connect({"visits": visits()}, unit="patient_id", epsilon=10, delta=1e-6, ledger=":memory:", **said)  # type: ignore[arg-type]
