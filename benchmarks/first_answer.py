"""W7, the first answer: from the start of a process to a private answer on a small file with a ledger beside it; and what is installed."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from importlib.metadata import Distribution, distributions
from pathlib import Path

import duckdb
from attrs import frozen
from environments import OPENDP, OPENDP_POLARS, QRLEW, SMARTNOISE, SOURCE, Company, Peer, environment, python
from inputs import Inputs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from report import Goal, Report, Table, duration, progress

PROCESSES = 7
GOAL = 1.0
OURS = """
import discreet
db = discreet.connect("visits.parquet", unit="patient_id", epsilon=1, delta=1e-6, bounds={"cost": (0, 500)}, keys={"dept": range(5)})
print(db.sql("SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept").release(epsilon=0.5))
"""
COUNT = """
import discreet
db = discreet.connect("visits.parquet", unit=discreet.each_row(), epsilon=1)
print(db.sql("SELECT COUNT(*) AS n FROM visits").release(epsilon=0.5))
"""
OPENDP_COUNT = """
import opendp.prelude as dp
dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
print((space >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0))(list(range(1000))))
"""
POLARS_COUNT = """
import polars as pl
import opendp.prelude as dp
dp.enable_features("contrib")
unit, loss = dp.unit_of(contributions=1), dp.loss_of(epsilon=0.5)
context = dp.Context.compositor(data=pl.scan_parquet("visits.parquet"), privacy_unit=unit, privacy_loss=loss, split_evenly_over=1)
print(context.query().select(dp.len(signed=True)).release().collect())
"""
SMARTNOISE_COUNT = """
import pandas, snsql
table = {"row_privacy": True, "rows": 1000, "cost": {"type": "float", "lower": 0.0, "upper": 500.0}}
frame = pandas.read_parquet("visits.parquet")
reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=0.5, delta=1e-6), metadata={"": {"s": {"t": table}}})
print(reader.execute("SELECT COUNT(*) AS n FROM s.t"))
"""


@frozen
class Start:
    """A program to run in a fresh process."""

    name: str
    program: str
    peer: Peer | None = None


ROAD = Start("discreet: count and mean by key, per person", OURS)
STARTS = (
    ROAD,
    Start("discreet: count of rows", COUNT),
    Start("OpenDP: count of a list", OPENDP_COUNT, OPENDP),
    Start("OpenDP Polars: count of rows", POLARS_COUNT, OPENDP_POLARS),
    Start("SmartNoise: count of rows", SMARTNOISE_COUNT, SMARTNOISE),
)
INSTALLED = (("discreet", None), ("opendp", OPENDP), ("opendp[polars]", OPENDP_POLARS), ("pyqrlew", QRLEW), ("smartnoise-sql", SMARTNOISE))


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Measure starts in turns, then weigh what was installed."""
    started, goal = _starts(company)
    return Report([started, _installed(company)], [goal])


def _starts(company: Company) -> tuple[Table, Goal]:
    chosen = [start for start in STARTS if start.peer is None or start.peer in company.present]
    seconds: dict[Start, list[float]] = {start: [] for start in chosen}
    failures: dict[str, str] = {}
    say = progress("W7 first answer")
    for turn in range(PROCESSES + 1):
        for start in chosen:
            if start.name in failures:
                continue
            taken, why = _fresh(start)
            if why:
                failures[start.name] = why
            elif turn:  # the first turn fills the disk's cache and compiles
                seconds[start].append(taken)
            else:
                say(f"{start.name}: {taken:.3g} s")
    rows = [[s.name, *(duration(f(t)) for f in (min, statistics.median, max))] for s, t in seconds.items() if t]
    table = Table(
        "W7  From the start of a process to its end, with one private answer printed",
        ["", "least", "median", "most"],
        rows,
        [
            f"{PROCESSES} fresh processes each, in turns; a Parquet file of 1,000 rows; Python's own start is included",
            "ours: connect, ask in SQL, pay from a new ledger file beside the data, print the table with error bars",
            *(f"{name} not measured: {why}" for name, why in failures.items()),
        ],
    )
    median = statistics.median(seconds[ROAD]) if seconds[ROAD] else None
    return table, Goal.at_most("W7 process start to first private answer", GOAL, median)


def _fresh(start: Start) -> tuple[float, str]:
    """Seconds of one process in a folder of its own: an older ledger would answer for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        columns = "i % 250 AS patient_id, CAST(i % 5 AS INTEGER) AS dept, CAST(i % 400 AS DOUBLE) AS cost"
        duckdb.execute(f"COPY (SELECT {columns} FROM range(1000) AS r(i)) TO '{Path(folder) / 'visits.parquet'}' (FORMAT parquet)")
        begin = time.perf_counter()
        done = subprocess.run([str(python(start.peer)), "-c", start.program], capture_output=True, text=True, env=environment(), cwd=folder)
        seconds = time.perf_counter() - begin
    return seconds, "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1][:200]


# ── what is installed ────────────────────────────────────────────────────────────────────────────────────────────────


def _installed(company: Company) -> Table:
    rows = []
    for requirement, peer in INSTALLED:
        if peer is None or peer in company.present:
            needed = _needed(requirement, peer)
            size = sum(_size(distribution) for distribution in needed.values()) + (_ours() if peer is None else 0)
            rows.append([requirement, str(len(needed)), f"{size / 2**20:.0f} MB"])
    return Table(
        "W7  What `pip install` brings",
        ["", "packages", "size"],
        rows,
        ["the package and all that it needs, without pip and what this benchmark adds; sizes by each package's record of files"],
    )


def _needed(requirement: str, peer: Peer | None) -> dict[str, Distribution]:
    """A requirement and all that it needs, as installed in an environment."""
    place = [str(folder) for folder in (python(peer).parent.parent / "lib").glob("python3*/site-packages")]
    present = {canonicalize_name(d.metadata["Name"]): d for d in distributions(path=place)}
    needed: dict[str, Distribution] = {}
    waiting = [Requirement(requirement)]
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if str(wanted) in seen or name not in present:
            continue
        seen.add(str(wanted))
        needed[name] = present[name]
        for text in present[name].requires or []:
            further = Requirement(text)
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in (*wanted.extras, "")):
                waiting.append(further)
    return needed


def _size(distribution: Distribution) -> int:
    places = (Path(str(distribution.locate_file(file))) for file in distribution.files or [])
    return sum(place.stat().st_size for place in places if place.is_file())


def _ours() -> int:
    """Our own sources: an editable installation's record does not have them."""
    return sum(file.stat().st_size for file in (SOURCE / "discreet").rglob("*.py"))
