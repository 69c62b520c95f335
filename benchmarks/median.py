"""W4, a median: 10⁷ values with declared bounds, from SQL text to the answer, beside DuckDB's own median and OpenDP's."""

from __future__ import annotations

from contextlib import ExitStack

from environments import OPENDP, Company
from inputs import MOST, Inputs
from report import Goal, Report, Table, duration, progress, times
from road import PLAIN, TUNED, ours, plain
from timing import complaints, race

import discreet

OURS = "discreet"
GOAL = 2
CANDIDATES = 1001


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Measure all in turns."""
    path = inputs.values()
    with ExitStack() as open_things:
        enter = open_things.enter_context
        db = enter(discreet.connect(path, unit=discreet.each_row(), epsilon=1000, bounds={"v": (0, MOST)}, ledger=":memory:"))
        contenders = [*enter(plain(path, "SELECT median(v) FROM t", db)), ours(OURS, db, f"SELECT MEDIAN(v) AS m FROM {path.stem}")]
        if (opendp := enter(company.process(OPENDP, "opendp_arrays.py"))) is not None:
            contenders.append(
                opendp.contender(f"OpenDP, {CANDIDATES:,} candidates", f"median {CANDIDATES} {MOST} {path.with_suffix('.npy')}")
            )
        results = race(contenders, rounds, say=progress("W4"))
    beside = [results[name].over(results[OURS]) for name in (PLAIN, TUNED)]
    table = Table(
        "W4  Median of 10⁷ values",
        ["", "time", "/ plain", "/ tuned"],
        [
            [name, duration(result.best), *(times(results[other].over(result)) for other in (PLAIN, TUNED))]
            for name, result in results.items()
        ],
        [
            "plain: DuckDB's exact median on a view of the same Parquet file, as it comes; tuned: with our engine's settings; not private",
            f"values in [0, {MOST}]; OpenDP starts from an array in memory and chooses among {CANDIDATES:,} candidates",
            *complaints([results]),
        ],
    )
    return Report([table], [Goal.within(f"W4 median of 10⁷, time beside {PLAIN}", GOAL, beside[0])])
