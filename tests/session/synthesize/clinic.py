"""Visits that are easy to check: people with several rows, awkward names, missing values."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars

import discreet

PEOPLE, ROWS = 900, 3000
KEYS = {"dept": ["er", "it's", "ward"]}
BOUNDS = {"cost": (0, 500), "age": (0, 119), "day": ("2024-01-01", "2024-12-31")}


def visits() -> polars.DataFrame:
    coin = np.random.default_rng(11)
    dept = coin.choice(np.array(["er", "it's", "ward", "attic"]), ROWS, p=[0.5, 0.2, 0.25, 0.05]).tolist()
    age = coin.integers(-5, 130, ROWS).tolist()
    return polars.DataFrame(
        {
            "patient": coin.integers(0, PEOPLE, ROWS),
            "dept": [None if i % 97 == 0 else name for i, name in enumerate(dept)],
            "age": [None if i % 53 == 0 else value for i, value in enumerate(age)],
            "cost": [float("nan") if i % 71 == 0 else float(v) for i, v in enumerate(coin.lognormal(4, 1, ROWS))],
            "urgent": [None if i % 89 == 0 else bool(v) for i, v in enumerate(coin.random(ROWS) < 0.3)],
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(v)) for v in coin.integers(0, 366, ROWS)],
        }
    )


def session(data: Any = None, **said: Any) -> discreet.Session:
    usual: dict[str, Any] = {"bounds": BOUNDS, "keys": KEYS, "contributions": {"rows": 4}, "epsilon": 100, "delta": 1e-3}
    return discreet.connect({"visits": visits() if data is None else data}, unit="patient", ledger=":memory:", **(usual | said))
