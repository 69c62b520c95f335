"""W3 at scale: the people's workload on Spark and on PostgreSQL, each beside the same engine's plain GROUP BY; Tumult on the same Spark."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen
from environments import TUMULT, Company, Process
from inputs import DEPARTMENTS, ROWS, Inputs
from people import BOUNDS, BY_GROUPS, BY_ROWS, CLAMPED, EACH, GROUPS, OURS_GROUPS, OURS_ROWS, PER_GROUP
from places import TABLE, Place, on_postgres, on_spark, postgres, spark
from report import Goal, Report, Table, duration, power, progress, times
from road import asking
from timing import Contender, Result, Unmeasured, complaints, local, race

import discreet

SIZES = (1_000_000, ROWS)
PATIENCE = {1_000_000: 20.0, ROWS: 60.0}  # seconds for each contender
SLOW = 900.0  # seconds that Tumult may take for its three queries
FORMS = ((OURS_ROWS, BY_ROWS), (OURS_GROUPS, BY_GROUPS))
PLAIN, SETTLED = "plain GROUP BY", "plain GROUP BY, in our session"
PLAINLY = f"SELECT dept, count(*) AS n, sum({CLAMPED}) AS s, avg({CLAMPED}) AS m FROM {TABLE} GROUP BY dept"
QUESTION = f"SELECT dept, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM {TABLE} GROUP BY dept"
TUMULT_ROWS, TUMULT_GROUPS = f"Tumult, ≤ {EACH} rows each", f"Tumult, ≤ {GROUPS} groups × {PER_GROUP}"
THEIRS = {OURS_ROWS: (TUMULT_ROWS, f"rows {EACH}"), OURS_GROUPS: (TUMULT_GROUPS, f"groups {GROUPS} {PER_GROUP}")}
TARGETS = {"Spark": 4, "PostgreSQL": 5}


@frozen
class Measured:
    """What one engine did with one size: the turns, and the bytes that one run of each moved between tasks."""

    results: dict[str, Result]
    moved: dict[str, float] = field(factory=dict)


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Measure both engines at both sizes."""
    engines = {"Spark": _spark(company, rounds, inputs), "PostgreSQL": _postgres(rounds, inputs)}
    return Report([_table(name, sizes) for name, sizes in engines.items()], _goals(engines))


def _spark(company: Company, rounds: int, inputs: Inputs) -> dict[int, Measured]:
    with spark() as session:
        return {rows: _beside_tumult(company, rounds, on_spark(session, inputs.visits(rows)), inputs.visits(rows), rows) for rows in SIZES}


def _beside_tumult(company: Company, rounds: int, place: Place, path: Path, rows: int) -> Measured:
    if rows == ROWS and not os.environ.get("DISCREET_PATIENCE"):  # Tumult takes a quarter of an hour there
        return _measured(place, rows, rounds, [])
    with company.process(TUMULT, "tumult_people.py") as tumult:
        if tumult is None:
            return _measured(place, rows, rounds, [])
        theirs = {name: f"{limits} {path}" for name, limits in THEIRS.values() if rows < ROWS or name == TUMULT_ROWS}
        contenders = [tumult.contender(name, case, limit=SLOW) for name, case in theirs.items()]
        measured = _measured(place, rows, rounds, contenders if rows < ROWS else [_once(contender) for contender in contenders])
        for name, case in theirs.items():
            measured.moved.update(_moved(tumult, name, case))
        return measured


def _once(contender: Contender) -> Contender:
    """The same with one turn, for it takes minutes."""
    turns = iter([contender.run])

    def run(repeats: int) -> float:
        turn = next(turns, None)
        if turn is None:
            raise Unmeasured(f"one turn at {power(ROWS)} rows, for it is slow")
        return turn(repeats)

    return Contender(contender.name, run, contender.work)


def _moved(tumult: Process, name: str, case: str) -> dict[str, float]:
    try:
        return {name: float(tumult.ask(f"moved {case}")["value"])}
    except Unmeasured:
        return {}


def _postgres(rounds: int, inputs: Inputs) -> dict[int, Measured]:
    found = {}
    with postgres() as uri:
        for rows in SIZES:
            with on_postgres(uri, inputs.visits(rows)) as place:
                found[rows] = _measured(place, rows, rounds, [])
    return found


def _measured(place: Place, rows: int, rounds: int, others: list[Contender]) -> Measured:
    with ExitStack() as open_things:
        sessions = {name: open_things.enter_context(_connected(place, limits)) for name, limits in FORMS}
        first = next(iter(sessions.values()))
        calls: dict[str, Callable[[], Any]] = {
            PLAIN: partial(place.fetch, PLAINLY),
            SETTLED: partial(first._engine.read_public, PLAINLY),
            **{name: asking(db, QUESTION) for name, db in sessions.items()},
        }
        contenders = [*(local(name, call) for name, call in calls.items()), *others]
        results = race(contenders, rounds, PATIENCE[rows], progress(f"W3 on {place.name}, {rows:,} rows"))
        moved = {name: place.moved(call) for name, call in calls.items()}
        return Measured(results, {name: bytes for name, bytes in moved.items() if bytes is not None})


@contextmanager
def _connected(place: Place, limits: dict[str, int]) -> Iterator[discreet.Session]:
    keys = {"dept": range(DEPARTMENTS)}
    declared: dict[str, Any] = {"unit": "user_id", "bounds": BOUNDS, "keys": keys, "contributions": limits}
    with discreet.connect({TABLE: place.data}, epsilon=10**9, delta=1e-6, ledger=":memory:", **declared) as db:
        yield db


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _table(engine: str, sizes: dict[int, Measured]) -> Table:
    names = list(dict.fromkeys(name for measured in sizes.values() for name in measured.results))
    heads = [head for rows in SIZES for head in (f"{power(rows)} rows", "median", "/ plain", "ns a row")]
    tells = any(measured.moved for measured in sizes.values())
    return Table(
        f"W3  The same on {engine}, 2 cores",
        ["", *heads, *(["moved a row", "ours is faster"] if tells else [])],
        [
            [name, *(cell for rows in SIZES for cell in _cells(sizes[rows], rows, name)), *(_told(sizes, name) if tells else [])]
            for name in names
        ],
        [
            f"discreet: db.sql(text).release(epsilon=…).rows, {DEPARTMENTS} public keys, ledger in memory, each time at a new price",
            "plain: count, sum and avg of the clamped column, not private; in a session as it comes, and through our engine's own",
            "the first number of a size is the best turn, by which it is compared; ns a row: the best turn over the rows",
            *(_about_spark() if tells else _about_postgres()),
            *complaints(measured.results for measured in sizes.values()),
        ],
    )


def _about_spark() -> list[str]:
    return [
        "Spark: local[2], 4 shuffle partitions, Parquet; Tumult Analytics has a Spark 3.5 of its own with the same settings",
        "moved a row: bytes written for other tasks to read, for each row of the largest size measured",
        "Tumult: count, sum and average as three queries in a fresh session, bounded in the same way by dropping rows",
    ]


def _about_postgres() -> list[str]:
    return ["PostgreSQL: a server of our own as it comes, on the disk; the rows were copied and analysed; it may use 2 workers more"]


def _cells(measured: Measured, rows: int, name: str) -> list[str]:
    result = measured.results.get(name)
    if result is None or result.best is None:
        return ["–"] * 4
    middle = statistics.median(result.turns[i] for i in result.counted)
    return [duration(result.best), duration(middle), times(measured.results[PLAIN].over(result)), f"{result.best / rows * 1e9:,.0f}"]


def _told(sizes: dict[int, Measured], name: str) -> list[str]:
    bytes = next((f"{sizes[rows].moved[name] / rows:.2g} B" for rows in reversed(SIZES) if name in sizes[rows].moved), "–")
    return [bytes, next((times(ratio) for ours in THEIRS if THEIRS[ours][0] == name and (ratio := _faster(sizes, ours)[1])), "")]


def _faster(sizes: dict[int, Measured], ours: str) -> tuple[int, float | None]:
    """How many times as fast as Tumult ours is, at the largest size at which it was measured."""
    theirs, _ = THEIRS[ours]
    for rows in reversed(SIZES):
        results = sizes[rows].results
        if theirs in results and results[theirs].best is not None:
            return rows, results[ours].over(results[theirs])
    return SIZES[0], None


def _goals(engines: dict[str, dict[int, Measured]]) -> list[Goal]:
    goals = [
        Goal.within(
            f"W3 by rows on {engine}, {power(rows)} rows, beside its {PLAIN}",
            TARGETS[engine],
            measured.results[PLAIN].over(measured.results[OURS_ROWS]),
        )
        for engine, sizes in engines.items()
        for rows, measured in sizes.items()
    ]
    for form, ours in (("rows", OURS_ROWS), ("groups", OURS_GROUPS)):
        rows, ratio = _faster(engines["Spark"], ours)
        goals.append(Goal.at_least(f"W3 by {form} on Spark, {power(rows)} rows, beside Tumult", 10, ratio))
    return goals
