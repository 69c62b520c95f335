"""W2, a histogram: count 10⁷ rows by 10² and 10⁵ public keys, a row for each person, from SQL text to rows with error bars."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from environments import OPENDP, OPENDP_POLARS, Company
from inputs import Inputs
from report import Goal, Report, Table, duration, progress, times
from road import PLAIN, TUNED, ours, plain, releasing, view
from timing import Contender, Result, complaints, local, race

import discreet

KEYS = (100, 100_000)
MEMORY, FILE, AS_ROWS = "discreet", "discreet, ledger in a file", "discreet, as Python rows"
PLAIN_ROWS = f"{PLAIN}, as Python rows"
GOAL = 1.3


def run(company: Company, rounds: int, inputs: Inputs) -> Report:
    """Measure both numbers of keys."""
    races = {keys: _measured(company, rounds, inputs, keys) for keys in KEYS}
    names = list(dict.fromkeys(name for results in races.values() for name in results))
    few, many = (races[keys] for keys in KEYS)
    table = Table(
        "W2  Histogram of 10⁷ rows, one row per person, public keys",
        ["", "10² keys", "/ plain", "/ tuned", "10⁵ keys", "/ plain", "/ tuned"],
        [[name, *_cells(few, name), *_cells(many, name)] for name in names],
        [
            "discreet: db.sql(text).release(epsilon=…) on a Parquet file, each time at a new price; ledger in memory unless said",
            "as Python rows: the same with .rows, a list of dicts; plain: fetchall, a list of tuples",
            f"/ plain: the time beside {PLAIN}, a GROUP BY on a view of the same file as it comes, fetched as arrays; not private",
            "/ tuned: beside the same query with our engine's settings (a larger threshold for counting in an array, rows in any order)",
            "numpy and OpenDP start from an array in memory, OpenDP Polars from the same Parquet file",
            *complaints(races.values()),
        ],
    )
    pairs = ((MEMORY, PLAIN), (MEMORY, TUNED), (AS_ROWS, PLAIN_ROWS))
    goals = [Goal.within(f"W2 10⁵ keys, {name}, time beside {other}", GOAL, many[other].over(many[name])) for name, other in pairs]
    return Report([table], goals)


def _measured(company: Company, rounds: int, inputs: Inputs, keys: int) -> dict[str, Result]:
    path = inputs.keys(keys)
    text = f"SELECT key, COUNT(*) AS n FROM {path.stem} GROUP BY key"
    sql = "SELECT key, count(*) FROM t GROUP BY key"
    with ExitStack() as open_things:
        enter = open_things.enter_context
        folder = enter(tempfile.TemporaryDirectory())
        connect = partial(discreet.connect, path, unit=discreet.each_row(), epsilon=1000, keys={"key": range(keys)})
        kept, listed = enter(connect(ledger=":memory:")), enter(connect(ledger=":memory:"))
        filed = enter(connect(ledger=Path(folder) / "ledger.sqlite"))
        contenders: list[Contender] = [
            *enter(plain(path, sql, kept, arrays=True)),
            local("numpy bincount", partial(_bincount, np.load(path.with_suffix(".npy")), keys)),
            local(PLAIN_ROWS, partial(_rows, enter(view(path)), sql)),
            local(MEMORY, releasing(kept, text)),
            local(FILE, releasing(filed, text)),
            ours(AS_ROWS, listed, text),
        ]
        if (opendp := enter(company.process(OPENDP, "opendp_arrays.py"))) is not None:
            contenders.append(opendp.contender("OpenDP", f"histogram {keys} {path.with_suffix('.npy')}"))
        if (polars := enter(company.process(OPENDP_POLARS, "opendp_polars.py"))) is not None:
            contenders.append(polars.contender("OpenDP Polars", f"histogram {keys} {path}"))
        return race(contenders, rounds, say=progress(f"W2 {keys} keys"))


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    return connection.execute(sql).fetchall()


def _bincount(values: Any, keys: int) -> Any:
    return np.bincount(values, minlength=keys)


def _cells(results: dict[str, Result], name: str) -> list[str]:
    if name not in results:
        return ["–", "–", "–"]
    return [duration(results[name].best), *(times(results[other].over(results[name])) for other in (PLAIN, TUNED))]
