"""Questions on a sample of the units beside the same questions on all of them, at the same ε, through a session.

`python benchmarks/sampled.py` makes a Parquet file of 2·10⁷ rows of 2·10⁶ people (`--rows`, `--people`), asks each question on all units,
on 10 % and on 1 % of them in turns (`--rounds`), and prints the best times, the half-widths of the intervals and the errors as Markdown.
With `--engine spark` a local Spark reads the file.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

import discreet

EPSILON = Fraction(1, 10)
SHARES = (None, 0.1, 0.01)
SLOW = "CASE WHEN LOWER(TRIM(note)) LIKE '%cash%' THEN LN(amount + 1) ELSE SQRT(amount) END"
LOOSE, BY_GROUPS = {"rows": 20}, {"groups": 3, "per_group": 10}
QUESTIONS: dict[str, tuple[str, dict[str, int]]] = {
    "rows of all, ≤ 20 each": ("SELECT COUNT(*) AS n FROM visits", LOOSE),
    "count, sum and mean by department, ≤ 20 rows each": (
        "SELECT dept, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM visits GROUP BY dept", LOOSE,
    ),
    "count, sum and mean by department, ≤ 10 rows in each of 3": (
        "SELECT dept, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM visits GROUP BY dept", BY_GROUPS,
    ),
    "a mean of a longer expression over texts, ≤ 20 rows each": (f"SELECT AVG({SLOW}) AS m FROM visits", LOOSE),
    "people by department": ("SELECT dept, COUNT(DISTINCT id) AS n FROM visits GROUP BY dept", BY_GROUPS),
}  # fmt: skip


def make(path: Path, rows: int, people: int) -> None:
    """A table of visits, in no order."""
    duckdb.sql(
        f"COPY (SELECT (hash(i) % {people})::BIGINT AS id, 'd' || (hash(i + 7) % 5) AS dept, (hash(i + 13) % 100000) / 200.0 AS amount, "
        f"CASE hash(i + 17) % 3 WHEN 0 THEN ' paid in Cash ' WHEN 1 THEN 'by card, in two parts' ELSE 'invoice 30 days' END AS note "
        f"FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)"
    )


def ask(db: Any, text: str, limits: dict[str, int], share: float | None, epsilon: Fraction) -> tuple[float, Any]:
    """The seconds of one answer, and the answer."""
    start = time.perf_counter()
    found = db.sql(text, contributions=limits, sample=share).release(epsilon=epsilon, delta=0)
    return time.perf_counter() - start, found


def relative(found: Any, truth: Any) -> tuple[float, float]:
    """The mean half-width, and the root mean square of the distance from the truth, both relative to the truth, of the first statistic."""
    name = next(column for column in ("n", "m") if column in found.rows[0])
    pairs = list(zip(found.rows, found.intervals, truth.rows, strict=True))
    widths = [(ends[name][1] - ends[name][0]) / 2 / true[name] for _, ends, true in pairs]
    errors = [(row[name] / true[name] - 1) ** 2 for row, _, true in pairs]
    return statistics.fmean(widths), math.sqrt(statistics.fmean(errors))


@contextmanager
def opened(engine: str, path: Path) -> Iterator[Any]:
    """What a session connects to."""
    if engine == "duckdb":
        yield path
        return
    from peers.local_spark import opened as local_spark

    session = local_spark()
    try:
        yield session.read.parquet(str(path))
    finally:
        session.stop()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--people", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    given = parser.parse_args()
    fresh = count(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        make(path, given.rows, given.people)
        with opened(given.engine, path) as data, discreet.connect(
            {"visits": data}, unit="id", epsilon=10**7, delta=1e-6, bounds={"amount": (0, 500)}, keys={"dept": [f"d{i}" for i in range(5)]},
            ledger=":memory:",
        ) as db:  # fmt: skip
            print("| question | units read | seconds | beside all | half-width | error |\n|---|---|---|---|---|---|")
            for name, (text, limits) in QUESTIONS.items():
                _, truth = ask(db, text, limits, None, Fraction(10**5))
                seconds: dict[Any, list[float]] = {share: [] for share in SHARES}
                answers: dict[Any, Any] = {}
                for _ in range(given.rounds):
                    for share in SHARES:
                        took, answers[share] = ask(db, text, limits, share, EPSILON + Fraction(next(fresh), 10**9))
                        seconds[share].append(took)
                whole = min(seconds[None])
                for share in SHARES:
                    width, error = relative(answers[share], truth)
                    part, best = "all" if share is None else f"{100 * share:g} %", min(seconds[share])
                    print(f"| {name} | {part} | {best:.2f} | {best / whole:.2f}× | ± {width:.3%} | {error:.3%} |", flush=True)


if __name__ == "__main__":
    main()
