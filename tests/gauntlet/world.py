"""A small clinic: declared tables, a base of about 250 rows, and people (and rows) that come, go or are replaced."""

from __future__ import annotations

import datetime
import math
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gauntlet.replay import standing_clock

from discreet.engines.duckdb.engine import DuckDB
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.session.session import Session
from discreet.tables.catalog import Catalog
from discreet.tables.policy import read_policy

POLICY = """
adjacency = "{adjacency}"
[budget]
epsilon = 1000
delta = {delta}
[tables.visits]
unit = "pid"
[tables.visits.columns]
cost = {{ bounds = [0, 500] }}
part = {{ bounds = [0.1, 1] }}
age = {{ bounds = [0, 120] }}
qty = {{ bounds = [1, 10], nullable = false }}
dept = {{ keys = ["er", "icu", "lab", "none"] }}
site = {{ bounds = [0, 9] }}
[tables.people]
unit = "pid"
one_row_per_unit = true
[tables.people.columns]
age = {{ bounds = [0, 120] }}
sex = {{ keys = ["f", "m"] }}
[tables.rx]
unit = "pid"
[tables.rx.columns]
dose = {{ bounds = [0, 10] }}
[tables.orders]
unit = "pid"
[tables.orders.columns]
total = {{ bounds = [0, 100] }}
[tables.items]
link = {{ column = "oid", table = "orders", key = "oid" }}
[tables.items.columns]
price = {{ bounds = [0, 50] }}
[tables.events]
unit = "each row"
[tables.events.columns]
level = {{ bounds = [0, 5] }}
amount = {{ bounds = [-1, 1] }}
[tables.sites]
public = true
[tables.sites.columns]
id = {{ unique = true }}
beds = {{ bounds = [0, 900] }}
[tables.tags]
public = true
"""

TYPES: dict[str, dict[str, Any]] = {
    "visits": {
        "pid": pa.int64(),
        "cost": pa.float64(),
        "part": pa.float64(),
        "free": pa.float64(),
        "age": pa.int32(),
        "many": pa.int64(),
        "qty": pa.int64(),
        "site": pa.int64(),
        "dept": pa.string(),
        "town": pa.string(),
        "code": pa.int64(),
        "day": pa.date32(),
        "at": pa.timestamp("us"),
        "urgent": pa.bool_(),
    },
    "people": {"pid": pa.int64(), "age": pa.int32(), "sex": pa.string(), "income": pa.float64()},
    "rx": {"pid": pa.int64(), "drug": pa.string(), "dose": pa.float64()},
    "orders": {"oid": pa.int64(), "pid": pa.int64(), "total": pa.float64()},
    "items": {"oid": pa.int64(), "sku": pa.string(), "price": pa.float64()},
    "events": {"kind": pa.string(), "level": pa.int32(), "amount": pa.float64(), "load": pa.float64()},
    "sites": {"id": pa.int64(), "region": pa.string(), "beds": pa.int64()},
    "tags": {"dept": pa.string(), "tag": pa.string()},
}
Rows = dict[str, list[tuple[Any, ...]]]
INF, NAN, MOST = math.inf, math.nan, 2**63 - 1
_DAY, _AT = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30)
_PUBLIC: Rows = {
    "sites": [(i, ["north", "south", "east"][i % 3], 90 * i) for i in range(8)],
    "tags": [("er", "acute"), ("er", "night"), ("icu", "acute"), ("lab", "day")],
}


def person(pid: int, rng: np.random.Generator, visits: int) -> Rows:
    """An ordinary person."""
    pick = rng.integers
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(d)) for d in pick(0, 60, visits)]
    return {
        "visits": [
            (
                pid,
                float(rng.gamma(2, 60)),
                float(rng.uniform(0.1, 1)),
                float(rng.gamma(2, 5)),
                int(pick(0, 100)),
                int(pick(5, 60)),
                int(pick(1, 11)),
                int(pick(0, 10)),
                ["er", "icu", "lab"][pick(0, 3)],
                ["york", "bath", "hull"][pick(0, 3)],
                int(pick(0, 4)),
                day,
                datetime.datetime(day.year, day.month, day.day, int(pick(0, 3))),
                bool(pick(0, 2)),
            )
            for day in days
        ],
        "people": [(pid, int(pick(0, 100)), "fm"[pick(0, 2)], float(rng.gamma(3, 900)))],
        "rx": [(pid, ["aspirin", "zinc"][pick(0, 2)], float(rng.uniform(0, 9))) for _ in range(visits // 2)],
        "orders": [(pid * 10, pid, float(rng.uniform(0, 90))), (pid * 10 + 1, pid, 5.0)],
        "items": [(pid * 10 + i % 2, ["pen", "cup"][pick(0, 2)], float(rng.uniform(0, 40))) for i in range(3)],
        "events": [],
    }


def wild(
    pid: int, visits: list[tuple[Any, ...]], age: Any, sex: Any, income: Any, drugs: list[tuple[Any, Any]], event: tuple[Any, ...]
) -> Rows:
    """A person made to hurt; `event` is a row that comes with him, in a table where rows are protected one by one."""
    return {
        "visits": [(pid, *visit) for visit in visits],
        "people": [(pid, age, sex, income)],
        "rx": [(pid, *drug) for drug in drugs],
        "orders": [(pid * 10, pid, income), (pid * 10 + 1, pid, NAN)],
        "items": [(pid * 10, name, dose) for name, dose in drugs] + [(None, "x", 1.0), (77_777_777, "nobody's", 1.0)],
        "events": [event],
    }


def _visit(
    cost: Any,
    part: Any,
    free: Any,
    age: Any,
    many: Any,
    qty: Any,
    site: Any,
    dept: Any,
    town: Any,
    code: Any,
    day: Any = _DAY,
    at: Any = _AT,
    urgent: Any = True,
) -> tuple[Any, ...]:
    return cost, part, free, age, many, qty, site, dept, town, code, day, at, urgent


LONG, ODD = "long " * 400, "o'brien \"; DROP TABLE x; -- \\ % _ \u202e 漢字 \U0001f600"
WILD: dict[str, Rows] = {
    "missing": wild(901, [_visit(*[None] * 10, None, None, None)] * 3, None, None, None, [(None, None)], (None, None, None, None)),
    "nan": wild(902, [_visit(NAN, NAN, NAN, 5, 5, 5, 5, "er", "york", 1)] * 2, 5, "f", NAN, [("zinc", NAN)], ("a", 1, NAN, NAN)),
    "infinite": wild(
        903,
        [
            _visit(INF, INF, INF, 2**31 - 1, MOST, MOST, MOST, "", "", MOST),
            _visit(-INF, -INF, -INF, -(2**31), -MOST - 1, -MOST - 1, -MOST - 1, "er", "hull", -MOST - 1),
        ],
        2**31 - 1,
        "",
        INF,
        [("", INF), ("zinc", -INF)],
        ("", 2**31 - 1, INF, INF),
    ),
    "huge": wild(
        904, [_visit(1e300, 1e308, 1e300, 120, MOST, 10, 9, "icu", ODD, 3)], 120, ODD, 1e300, [(ODD, 1e300)], (ODD, 5, 1e300, 1e300)
    ),
    "lowest": wild(
        905,
        [
            _visit(
                -1e300,
                5e-324,
                -1e308,
                0,
                -MOST - 1,
                1,
                0,
                "lab",
                LONG,
                0,
                datetime.date(1, 1, 1),
                datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
                False,
            )
        ]
        * 4,
        0,
        "m",
        -1e300,
        [(LONG, -1e300)],
        (LONG, 0, -1e300, -1e300),
    ),
    "edges": wild(
        906,
        [_visit(0.0, 0.1, -0.0, 120, 0, 1, 9, "er", "york", 0), _visit(500.0, 1.0, 5e-324, 0, -1, 10, 0, "icu", "bath", 1)] * 60,
        120,
        "f",
        0.0,
        [("zinc", 10.0)] * 9,
        ("a", 5, 1.0, 0.0),
    ),
    "everywhere": wild(
        907,
        [
            _visit(
                500.0 * (i % 2),
                0.1,
                1e9 * i,
                i % 121,
                i * 10**15,
                10,
                i % 10,
                ["er", "icu", "lab", "none"][i % 4],
                f"town {i}",
                i,
                datetime.date(2000, 1, 1) + datetime.timedelta(days=i),
                _AT + datetime.timedelta(hours=i),
                i % 2 > 0,
            )
            for i in range(256)
        ],
        60,
        "m",
        1e9,
        [(f"drug {i}", 10.0) for i in range(40)],
        ("new kind", 5, -1.0, 1e9),
    ),
    "nobody": wild(908, [], 33, "f", 5.0, [], ("b", 2, 0.5, 5.0)),
}
CROWD = wild(
    909,
    [_visit(500.0, 1.0, 1e100, 120, MOST, 10, i % 10, "er", f"town {i % 4096}", i % 4096) for i in range(10_000)],
    99,
    "f",
    1e100,
    [("zinc", 10.0)],
    ("a", 5, 1.0, 1e100),
)
EXACT = wild(
    910,
    [_visit(500.0, 1.0, 5.0, 120, 9, 10, 5, "er", f"town {i}", i) for i in range(4096)],
    99,
    "f",
    5.0,
    [("zinc", 10.0)],
    ("a", 5, 1.0, 5.0),
)


def joined(*parts: Rows) -> Rows:
    return {name: [row for part in parts for row in part.get(name, [])] for name in TYPES}


@lru_cache
def base() -> Rows:
    rng = np.random.default_rng(7)
    events = {"events": [("abc"[i % 3], i % 6, (i % 9 - 4) / 4, float(i)) for i in range(60)]}
    return joined(*(person(pid, rng, int(rng.integers(0, 8))) for pid in range(40)), events, _PUBLIC)


@lru_cache
def fewer() -> Rows:
    """The base without its most frequent visitor, and without one event."""
    counts = [row[0] for row in base()["visits"]]
    gone = max(set(counts), key=counts.count)
    kept = {
        name: [row for row in rows if row[1 if name == "orders" else 0] != gone]
        for name, rows in base().items()
        if name not in ("items", "events", "sites", "tags")
    }
    kept["items"] = [row for row in base()["items"] if row[0] // 10 != gone]
    return joined(kept, {"events": base()["events"][1:]}, _PUBLIC)


_FOLDER = tempfile.TemporaryDirectory(prefix="discreet-gauntlet-")
FILES = Path(_FOLDER.name)


@lru_cache
def engine(name: str) -> DuckDB:
    """An engine over one version of the tables: base, fewer, empty, base+x, only x."""
    match name.split("+"):
        case ["base"]:
            rows = base()
        case ["fewer"]:
            rows = fewer()
        case ["empty"]:
            rows = joined(_PUBLIC)
        case [start, who]:
            more = {"crowd": CROWD, "exact": EXACT}.get(who) or WILD[who]
            rows = joined(base() if start == "base" else {}, more, {} if start == "base" else _PUBLIC)
    tables = {
        table: pa.table({column: pa.array([row[i] for row in rows[table]], kind) for i, (column, kind) in enumerate(kinds.items())})
        for table, kinds in TYPES.items()
    }
    for table, found in tables.items():
        pq.write_table(found, FILES / f"{name}-{table}.parquet")  # files, for an engine believes their statistics
    return DuckDB.open({table: FILES / f"{name}-{table}.parquet" for table in tables}, threads=1)


@lru_cache
def catalog(adjacency: str, delta: str) -> Catalog:
    policy = read_policy(POLICY.format(adjacency=adjacency, delta=delta))
    return policy.catalog({name: engine("base").schema(name) for name in TYPES})


def session(version: str, adjacency: str = "add/remove", delta: str = "0.05") -> Session:
    """A session over one version of the tables, with a fresh ledger in memory."""
    declared = catalog(adjacency, delta)
    with standing_clock():
        ledger = open_ledger(":memory:", Terms("1000", delta, declared.protected, adjacency))
    return Session(engine(version), declared, ledger)


ADDED = [("base", f"base+{who}") for who in WILD]
PAIRS = [*ADDED, ("base", "fewer"), *(("empty", f"empty+{who}") for who in WILD)]
