"""A table with one row, or several, for each person."""

from __future__ import annotations

import datetime
from typing import Any

import polars

import discreet

DAY = datetime.date(2024, 1, 1)


def frame(rows: int = 3000, each: int = 1) -> polars.DataFrame:
    ids = range(rows)
    return polars.DataFrame(
        {
            "id": [i // each for i in ids],
            "age": [None if i % 10 == 0 else 20 + i % 60 for i in ids],
            "cost": [0.0 if i % 5 == 0 else float(i * 7 % 1000) / 10 for i in ids],
            "town": [["York", "Bath", "x" * 20_000][i % 3] for i in ids],
            "kind": [i % 3 for i in ids],
            "day": [DAY + datetime.timedelta(days=i % 90) for i in ids],
            "ok": [i % 2 == 0 for i in ids],
            "name": [f"n{i}" for i in ids],
        }
    )


def quiet(what: str, share: float) -> None:
    """Show no progress."""


def session(each: int = 1, data: Any = None, **declared: Any) -> discreet.Session:
    given = {"unit": "id", "epsilon": 1000, "delta": 1e-4, "ledger": ":memory:", "one_row_per_unit": each == 1} | declared
    return discreet.connect({"people": frame(each=each)} if data is None else data, **given)
