"""Accuracy for the same ε: how far count, sum and mean of W3 are from the exact ones, by bounding alone and with the noise."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np
from environments import OPENDP_POLARS, QRLEW, SMARTNOISE, Company
from inputs import DEPARTMENTS, Inputs
from numpy.typing import NDArray
from people import BY_GROUPS, BY_ROWS, CLAMPED, EACH, GROUPS, PER_GROUP, PLAINLY, connect, question
from report import Report, Table, progress
from road import asking, view
from timing import Unmeasured

import discreet

ROWS = 1_000_000
DRAWS = 5  # releases of ours; the peers have one, over 50 departments
PLENTY = 10**6  # an ε at which hardly any noise is left
SPLIT = (0.358, 0.385, 0.257)  # how our plan shares ε among count, centred sum, and count of amounts
MIDDLE = 50  # of the bounds: a centred sum moves half as far

# at most 3 departments of a person and 5 rows in each, both chosen by rank in the order of a hash
DROPPED = f"""
SELECT dept, count(*), sum(v) FROM (
    SELECT dept, v, dense_rank() OVER (PARTITION BY user_id ORDER BY hash(user_id, dept, 42)) AS place FROM (
        SELECT user_id, dept, {CLAMPED} AS v FROM t
        QUALIFY row_number() OVER (PARTITION BY user_id, dept ORDER BY hash(user_id, amount, 42)) <= {PER_GROUP})
    ) WHERE place <= {GROUPS} GROUP BY dept"""

Answers = NDArray[np.float64]  # a row for each department: count, sum, mean


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Ask everyone once (ourselves a few times), and compare with the exact answers."""
    say, path = progress("accuracy"), inputs.visits(ROWS)
    with view(path) as plain:
        exact = _answers(plain.execute(PLAINLY).fetchall())
        kept = _answers((*row, row[2] / row[1]) for row in plain.execute(DROPPED).fetchall())
    lines: list[list[str]] = []
    forms: tuple[tuple[str, dict[str, int]], ...] = (
        (f"discreet, ≤ {EACH} rows each, weighted", BY_ROWS),
        (f"discreet, ≤ {GROUPS} groups × {PER_GROUP}, weighted", BY_GROUPS),
    )
    for name, limits in forms:
        with connect(path, limits) as db:
            ask = asking(db, question(path))
            bounded = _answers(row.values() for row in db.sql(question(path)).release(epsilon=PLENTY).rows)
            lines.append(_line(name, exact, bounded, [_answers(row.values() for row in ask()) for _ in range(DRAWS)]))
        say(name)
    lines.append(_line(f"≤ {GROUPS} groups × {PER_GROUP}, the rest dropped", exact, kept, [_noisy(kept) for _ in range(DRAWS)]))
    complaints: list[str] = []
    with ExitStack() as open_things:
        for name, peer, script, case in (
            ("OpenDP Polars, ≤ 3 groups × 5", OPENDP_POLARS, "opendp_polars.py", f"people known {GROUPS} {PER_GROUP} {path}"),
            ("Qrlew, ≤ 3 groups", QRLEW, "qrlew_people.py", f"found view {GROUPS} {GROUPS * PER_GROUP} {path}"),
            ("SmartNoise, ≤ 10 rows each", SMARTNOISE, "smartnoise_people.py", f"{EACH} {path}"),
        ):
            process = open_things.enter_context(company.process(peer, script))
            if process is None:
                continue
            try:
                lines.append(_line(name, exact, None, [_answers(process.ask(case)["value"])]))
            except Unmeasured as failure:
                complaints.append(f"{name} not measured: {failure}")
            say(name)
    table = Table(
        "W3  Error at ε = 1, 10⁶ rows of 10⁵ people, root mean square over 50 departments, % of the exact answer",
        ["", "bounding: count", "sum", "mean", "with noise: count", "sum", "mean"],
        lines,
        [
            "exact: all rows, amounts clamped to [0, 100]; bounding alone cannot be seen from a peer's private answers",
            "the rest dropped: what others do, here with the noise of our plan for the same limits, so that only the bounding differs",
            "the limits are those of the speed test, not the best for this table; a peer's limits may mean something else than ours",
            "OpenDP keeps groups first come (its sampling raises here), so some counts come near 0 and their means far off",
            "Qrlew with keys found: with public keys it clips to the size of its schema's table",
            *complaints,
        ],
    )
    return Report([table])


def _answers(rows: Iterable[Iterable[Any]]) -> Answers:
    """Rows of department, count, sum and mean as an array; a department that is missing is not a number."""
    out = np.full((DEPARTMENTS, 3), np.nan)
    for department, *values in rows:
        out[int(department)] = [np.nan if value is None else float(value) for value in values]
    return out


def _noisy(kept: Answers) -> Answers:
    """Dropped rows with noise: one person moves counts by at most 15 and centred sums by at most 15 × 50."""
    most = GROUPS * PER_GROUP
    totals = (kept[:, 0], 1), (kept[:, 1] - MIDDLE * kept[:, 0], MIDDLE), (kept[:, 0], 1)  # the last: rows whose amount is there
    count, centred, there = (
        np.asarray(discreet.Laplace(epsilon=part, sensitivity=most * each).release(total))
        for part, (total, each) in zip(SPLIT, totals, strict=True)
    )
    return np.stack([count, centred + MIDDLE * there, MIDDLE + centred / there], axis=1)


def _line(name: str, exact: Answers, bounded: Answers | None, noisy: list[Answers]) -> list[str]:
    alone = ["–"] * 3 if bounded is None else _percent(bounded[None], exact)
    return [name, *alone, *_percent(np.stack(noisy), exact)]


def _percent(given: NDArray[np.float64], exact: Answers) -> list[str]:
    errors = np.sqrt(np.nanmean((given / exact - 1) ** 2, axis=(0, 1)))
    return [f"{100 * error:.3g}" for error in errors]
