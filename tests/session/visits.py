"""Visits in a Parquet file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import discreet
from discreet.session.session import Session

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"


def table(people: int = 3000) -> pa.Table:
    ids = [person for person in range(people) for _ in range(1 + person % 3)]
    return pa.table(
        {
            "patient_id": ids,
            "dept": [["cardio", "ortho", "er"][i % 3] for i in range(len(ids))],
            "cost": [float(i * 37 % 500) for i in range(len(ids))],
        }
    )


def declared(**more: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"unit": "patient_id", "epsilon": 1, "bounds": {"cost": (0, 500)}, "contributions": {"rows": 3}}
    return said | {"keys": {"dept": ["cardio", "ortho", "er"]}} | more


def connect(path: Path, **more: Any) -> Session:
    return discreet.connect(path, **declared(**more))
