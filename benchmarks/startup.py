"""W7, starting up: imports and first answers in fresh processes, and a private median beside numpy's."""

from __future__ import annotations

import statistics
import subprocess
import time

import numpy as np
from attrs import frozen
from environments import ALL, OPENDP, Company, Peer, environment, python
from report import Goal, Report, Table, duration, times
from timing import local, race

from discreet.mechanisms.quantile import Quantile, Quantiles

PROCESSES = 10
FIRST_COUNT = "import discreet; discreet.Laplace(epsilon=1).release(5)"
FIRST_COUNT_OPENDP = (
    "import opendp.prelude as dp; dp.enable_features('contrib'); "
    "dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)(5)"
)


@frozen
class Start:
    """A statement to run in a fresh process."""

    name: str
    statement: str
    peer: Peer | None = None


def run(company: Company, rounds: int) -> Report:
    """Measure starting up, then the quantiles."""
    started, goal = _starts(company)
    return Report([started, _quantiles(rounds)], [goal])


def _starts(company: Company) -> tuple[Table, Goal]:
    ours = Start("import discreet", "import discreet")
    cases = [
        Start("(nothing)", "pass"),
        Start("import numpy", "import numpy"),
        ours,
        *(Start(f"import {peer.module}", f"import {peer.module}", peer) for peer in ALL if peer in company.present),
        Start("first private count", FIRST_COUNT),
        *([Start("first private count, OpenDP", FIRST_COUNT_OPENDP, OPENDP)] if OPENDP in company.present else []),
    ]
    inside: dict[Start, list[float]] = {c: [] for c in cases}
    whole: dict[Start, list[float]] = {c: [] for c in cases}
    for turn in range(PROCESSES + 1):
        for c in cases:
            seconds = _fresh(c)
            if turn and seconds is not None:  # the first turn fills the disk's cache and compiles
                inside[c].append(seconds[0])
                whole[c].append(seconds[1])
    rows = [
        [c.name, duration(statistics.median(inside[c])), duration(statistics.median(whole[c])), times(_over(inside, c, ours))]
        for c in cases
        if inside[c]
    ]
    table = Table(
        "W7  Starting up, fresh processes",
        ["", "statement", "whole process", "time/ours"],
        rows,
        [
            f"medians of {PROCESSES}, in turns; time/ours: the statement's time beside that of import discreet",
            *(f"{c.name}: failed" for c in cases if not inside[c]),
        ],
    )
    return table, Goal.at_most("import discreet", 0.3, statistics.median(inside[ours]) if inside[ours] else None)


def _over(inside: dict[Start, list[float]], case: Start, ours: Start) -> float | None:
    if not inside[ours] or case.statement == "pass" or case is ours:
        return None
    return statistics.median(inside[case]) / statistics.median(inside[ours])


def _fresh(case: Start) -> tuple[float, float] | None:
    """Seconds of the statement, and of the process from start to end."""
    program = f"import time; t = time.perf_counter()\n{case.statement}\nprint(time.perf_counter() - t)"
    begin = time.perf_counter()
    done = subprocess.run([str(python(case.peer)), "-c", program], capture_output=True, text=True, env=environment())
    return (float(done.stdout.split()[-1]), time.perf_counter() - begin) if done.returncode == 0 else None


def _quantiles(rounds: int) -> Table:
    generator = np.random.default_rng()
    values = generator.normal(50, 20, 1_000_000)
    whole = np.rint(values).astype(np.int64)
    median = Quantile(epsilon=1, q=0.5, lower=0, upper=100)
    nine = Quantiles(epsilon=1, qs=[i / 10 for i in range(1, 10)], lower=0, upper=100)
    tenths = np.arange(1, 10) / 10
    cases = {
        "median of reals": (lambda: median.release(values), lambda: np.median(values)),
        "median of whole numbers": (lambda: median.release(whole), lambda: np.median(whole)),
        "nine deciles of reals": (lambda: nine.release(values), lambda: np.quantile(values, tenths)),
    }
    rows = []
    for name, (ours, theirs) in cases.items():
        results = race([local("ours", ours), local("numpy", theirs)], rounds)
        rows.append([name, duration(results["ours"].best), duration(results["numpy"].best), times(results["ours"].over(results["numpy"]))])
    return Table(
        "W7  Quantiles of 10⁶ values",
        ["", "ours", "numpy", "ours/numpy"],
        rows,
        ["numpy: np.median and np.quantile, not private", "ours: the exponential mechanism over a grid of 2²⁰ points or more"],
    )
