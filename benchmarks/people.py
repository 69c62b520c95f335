"""W3, people: count, sum and mean by 50 departments for 10⁶ people with many rows each, bounded per person, from SQL text to rows."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from environments import OPENDP_POLARS, QRLEW, SMARTNOISE, Company
from inputs import DEPARTMENTS, ROWS, Inputs
from report import Goal, Report, Table, duration, power, progress, times
from road import PLAIN, ours, plain, view
from timing import Contender, Result, complaints, local, race

import discreet

SIZES = (1_000_000, ROWS)
PATIENCE = {1_000_000: 3.0, ROWS: 9.0}  # seconds for each contender
SLOW = 60.0  # seconds that a peer may take at the larger size

GROUPS, PER_GROUP, EACH = 3, 5, 10
BY_ROWS = {"rows": EACH}
BY_GROUPS = {"groups": GROUPS, "per_group": PER_GROUP}
BOUNDS = {"amount": (0, 100)}
CLAMPED = "least(greatest(amount, 0), 100)"
PLAINLY = f"SELECT dept, count(*), sum({CLAMPED}), avg({CLAMPED}) FROM t GROUP BY dept"

# what others do: rows or groups beyond the limit are dropped, by rank in the order of a hash; here without any noise
DROPPED_ROWS = f"""
SELECT dept, count(*), sum(v), avg(v) FROM (
    SELECT dept, {CLAMPED} AS v FROM t QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY hash(user_id, dept, amount)) <= {EACH}
) GROUP BY dept"""
DROPPED_GROUPS = f"""
SELECT dept, sum(least(n, {PER_GROUP})), sum(s * least(n, {PER_GROUP}) / n), sum(s * least(n, {PER_GROUP}) / n) / sum(least(n, {PER_GROUP}))
FROM (
    SELECT user_id, dept, count(*) AS n, sum({CLAMPED}) AS s FROM t GROUP BY user_id, dept
    QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY hash(user_id, dept, 42)) <= {GROUPS}
) GROUP BY dept"""

OURS_ROWS, OURS_GROUPS = f"discreet, ≤ {EACH} rows each", f"discreet, ≤ {GROUPS} groups × {PER_GROUP}"
QRLEW_SQL, OPENDP = "Qrlew's SQL on DuckDB", "OpenDP Polars"


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Measure both sizes."""
    races = {rows: _measured(company, rounds, inputs, rows) for rows in SIZES}
    names = list(dict.fromkeys(name for rows in reversed(SIZES) for name in races[rows]))
    table = Table(
        f"W3  Count, sum and mean by {DEPARTMENTS} keys, bounded per person",
        ["", *(f"{power(rows)} rows" if i == 0 else "/ plain" for rows in SIZES for i in range(2)), "rows is faster", "groups is"],
        [[name, *(cell for rows in SIZES for cell in _cells(races[rows], name)), *_faster(races, name)] for name in names],
        [
            "discreet: db.sql(text).release(epsilon=…).rows on a Parquet file, ledger in memory, each time at a new price",
            f"/ plain: the time beside {PLAIN}: count, sum and avg of the clamped column on a view of the same file; not private",
            "slow contenders have two turns, and are compared with what the others did in the same rounds",
            "rows is faster, groups is: how many times as fast our forms with public keys are, at 10⁷ rows, or 10⁶ where that is missing",
            "window: rank by a hash, drop the rest; no noise. Scattered: people's numbers spread over 64 bits (above: 0 to 10⁶ − 1)",
            "Qrlew: rewriting is not in the time; noise from the engine's RANDOM(); on a view of the same file unless in memory",
            f"OpenDP Polars: {GROUPS} groups × {PER_GROUP}, same file; SmartNoise: {EACH} rows each, a pandas frame, 10⁶ rows only",
            *complaints(races.values()),
        ],
    )
    return Report([table], _goals(races))


def _goals(races: dict[int, dict[str, Result]]) -> list[Goal]:
    """Both forms beside plain DuckDB at 10⁷ rows, and beside the peers: at 10⁷ rows, or at 10⁶ for one that is too slow for more."""
    forms, largest = (("rows", OURS_ROWS, 9), ("groups", OURS_GROUPS, 25)), races[ROWS]
    goals = [
        Goal.within(f"W3 by {form}, 10⁷ rows, time beside {PLAIN}", target, largest[PLAIN].over(largest[name]))
        for form, name, target in forms
    ]
    for peer, target in ((QRLEW_SQL, 4), (OPENDP, 20)):
        rows, results = _largest(races, f"{peer}, public keys") or (ROWS, largest)
        for form, name, _ in forms:
            ratio = results[name].over(results.get(f"{peer}, public keys"))
            goals.append(Goal.at_least(f"W3 by {form}, {power(rows)} rows, beside {peer}", target, ratio))
    return goals


def _largest(races: dict[int, dict[str, Result]], name: str) -> tuple[int, dict[str, Result]] | None:
    """The largest size at which a contender was measured."""
    return next(((rows, races[rows]) for rows in reversed(SIZES) if name in races[rows] and races[rows][name].best is not None), None)


def _measured(company: Company, rounds: int, inputs: Inputs, rows: int) -> dict[str, Result]:
    path = inputs.visits(rows)
    with ExitStack() as open_things:
        enter = open_things.enter_context
        first, *others = _ours(open_things, path)
        contenders = [*enter(plain(path, PLAINLY, first[1])), *(ours(name, db, question(path)) for name, db in (first, *others))]
        if rows == ROWS:
            spread = inputs.scattered()
            contenders += [ours(f"{name}, scattered", db, question(spread)) for name, db in _ours(open_things, spread)[:2]]
        dropping = enter(view(path))
        for name, sql in ((f"window, ≤ {EACH} rows each", DROPPED_ROWS), (f"window, ≤ {GROUPS} groups × {PER_GROUP}", DROPPED_GROUPS)):
            contenders.append(local(name, partial(_fetched, dropping, sql)))
        contenders += _peers(open_things, company, path, rows)
        return race(contenders, rounds, PATIENCE[rows], progress(f"W3 {rows:,} rows"))


def connect(path: Path, contributions: dict[str, int], public: bool = True) -> discreet.Session:
    """A session on the visits, with the keys declared or not."""
    keys = {"dept": range(DEPARTMENTS)} if public else None
    return discreet.connect(
        path, unit="user_id", epsilon=10**9, delta=1e-6, bounds=BOUNDS, keys=keys, contributions=contributions, ledger=":memory:"
    )


def question(path: Path) -> str:
    """What is asked."""
    return f"SELECT dept, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM {path.stem} GROUP BY dept"


def _ours(open_things: ExitStack, path: Path) -> list[tuple[str, discreet.Session]]:
    """Our forms: the two ways to bound with public keys first, then with keys that have to be found."""
    forms: list[tuple[str, dict[str, int], bool]] = [
        (OURS_ROWS, BY_ROWS, True),
        (OURS_GROUPS, BY_GROUPS, True),
        (f"{OURS_ROWS}, keys found", BY_ROWS, False),
        (f"{OURS_GROUPS}, keys found", BY_GROUPS, False),
    ]
    return [(name, open_things.enter_context(connect(path, limits, public))) for name, limits, public in forms]


def _peers(open_things: ExitStack, company: Company, path: Path, rows: int) -> list[Contender]:
    found: list[Contender] = []
    enter = open_things.enter_context
    if (qrlew := enter(company.process(QRLEW, "qrlew_people.py"))) is not None:
        for form, which in (("public keys", "known view"), ("public keys, in memory", "known table"), ("keys found", "found view")):
            found.append(qrlew.contender(f"{QRLEW_SQL}, {form}", f"{which} {GROUPS} {GROUPS * PER_GROUP} {path}", limit=SLOW))
    if (polars := enter(company.process(OPENDP_POLARS, "opendp_polars.py"))) is not None:
        for form, which in (("public keys", "known"), ("keys found", "found")):
            if form == "public keys" or rows < ROWS:
                found.append(polars.contender(f"{OPENDP}, {form}", f"people {which} {GROUPS} {PER_GROUP} {path}", limit=SLOW))
    if rows < ROWS and (smartnoise := enter(company.process(SMARTNOISE, "smartnoise_people.py"))) is not None:
        found.append(smartnoise.contender("SmartNoise, public keys", f"{EACH} {path}"))
    return found


def _fetched(connection: Any, sql: str) -> Any:
    return connection.execute(sql).fetchall()


def _cells(results: dict[str, Result], name: str) -> list[str]:
    return [duration(results[name].best), times(results[PLAIN].over(results[name]))] if name in results else ["–", "–"]


def _faster(races: dict[int, dict[str, Result]], name: str) -> list[str]:
    if name.startswith(("discreet", PLAIN)):
        return ["", ""]
    found = _largest(races, name)
    return ["–", "–"] if found is None else [times(found[1][form].over(found[1][name])) for form in (OURS_ROWS, OURS_GROUPS)]
