"""A project to try things on, and small tables."""

from __future__ import annotations

from pathlib import Path

import duckdb

POLICY = """
[budget]
epsilon = 2
delta = 1e-6
[tables.visits]
source = "visits.parquet"
unit = "patient_id"
contributions = { rows = 3 }
columns.dept.keys = ["er", "ward", "lab"]
columns.cost.bounds = [0, 500]
"""


def copied(select: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    duckdb.connect().execute(f"COPY ({select} FROM range(9) AS t(i)) TO '{place}'")
