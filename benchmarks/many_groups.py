"""Many groups: 10⁶ to 10⁸ candidates of which those with enough people are found privately, in a fresh process, and the memory it took."""

from __future__ import annotations

import os

from environments import Company, running
from inputs import POPULAR, Inputs
from report import Report, Table, duration, power
from timing import Unmeasured

SIZES = (1_000_000, 10_000_000)
LARGEST = 100_000_000  # only where DISCREET_LARGEST is set: its table is 2 GB and takes minutes to make
LIMIT = 900.0  # seconds


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Measure each size once, in a process of its own."""
    sizes = (*SIZES, LARGEST) if os.environ.get("DISCREET_LARGEST") else SIZES
    return Report([_table([[power(groups), *_cells(inputs, groups)] for groups in sizes])])


def _table(rows: list[list[str]]) -> Table:
    return Table(
        "Many groups, found privately on DuckDB",
        ["candidates", "time", "each", "groups named", "peak memory"],
        rows,
        [
            f"two rows for each candidate: half of them about one page in {power(POPULAR)}, the others each about another",
            "from a Parquet file to rows of Python values; at most 4 groups each; the peak of a fresh process, DuckDB's memory in it",
        ],
    )


def _cells(inputs: Inputs, groups: int) -> list[str]:
    path = inputs.pages(groups)
    with running(None, "discreet_groups.py") as process:
        try:
            answer = process.ask(str(path), limit=LIMIT)
        except Unmeasured as failure:
            return [str(failure), "–", "–", "–"]
    named, peak = answer["value"]
    return [duration(answer["seconds"]), duration(answer["seconds"] / groups), f"{named:,.0f}", f"{peak / 1e9:.2f} GB"]
