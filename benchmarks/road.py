"""The road as a contender: a session asked the same question at a new price each time, beside plain DuckDB on a view of the same file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
from timing import Contender, local

import discreet

CHOSEN = ("perfect_ht_threshold", "preserve_insertion_order")  # what our engine sets that changes how fast a plain query is
PLAIN, TUNED = "plain DuckDB", "plain DuckDB, our settings"
STEP = Fraction(1, 1000)  # between one price and the next: an equal question at an equal price would be answered from the ledger


def releasing(db: discreet.Session, text: str) -> Callable[[], discreet.Release]:
    """Ask from text to release, at ε a little above 1 and never at the same price twice."""
    prices = itertools.count(1)
    return lambda: db.sql(text).release(epsilon=1 + next(prices) * STEP)


def asking(db: discreet.Session, text: str) -> Callable[[], list[dict[str, Any]]]:
    """Ask from text to rows of Python values."""
    release = releasing(db, text)
    return lambda: release().rows


def ours(name: str, db: discreet.Session, text: str) -> Contender:
    """A question as a contender."""
    return local(name, asking(db, text))


def settings(db: discreet.Session) -> list[str]:
    """The settings of a session's engine, for a plain query to have too."""
    values = db._engine.read_public("SELECT " + ", ".join(f"CAST(current_setting('{name}') AS VARCHAR) AS {name}" for name in CHOSEN))
    return [f"{name}='{values[name][0]}'" for name in CHOSEN]


def view(path: Path, chosen: list[str] | None = None) -> duckdb.DuckDBPyConnection:
    """A connection with the file as the view t."""
    connection = duckdb.connect()
    for setting in chosen or []:
        connection.execute(f"SET {setting}")
    connection.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet('{path}')")
    return connection


@contextmanager
def plain(path: Path, sql: str, db: discreet.Session, arrays: bool = False) -> Iterator[list[Contender]]:
    """A query as it comes, and with our engine's settings; both not private. Rows of Python values, or arrays."""
    with view(path) as usual, view(path, settings(db)) as tuned:
        yield [local(name, _fetching(connection, sql, arrays)) for name, connection in ((PLAIN, usual), (TUNED, tuned))]


def _fetching(connection: duckdb.DuckDBPyConnection, sql: str, arrays: bool) -> Callable[[], Any]:
    return lambda: connection.execute(sql).fetchnumpy() if arrays else connection.execute(sql).fetchall()
