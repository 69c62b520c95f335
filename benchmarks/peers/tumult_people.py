"""Tumult Analytics on Spark: count, sum and average as three queries. A case is "rows N FILE" or "groups N ROWS FILE"; with "moved "
before it, the bytes that its last whole run moved between tasks."""

from __future__ import annotations

import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = sys.executable  # workers need tmlt too
begin = time.perf_counter()
from tmlt.analytics import (  # noqa: E402
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

import_seconds = time.perf_counter() - begin
from local_spark import moved, named, opened  # noqa: E402
from serve import serve  # noqa: E402

DEPARTMENTS = 50
spark = opened()
numbers = itertools.count()
last: dict[str, str] = {}  # the name under which a case was last run to its end


@cache
def rows(path: str) -> Any:
    """The table; Spark reads it anew for each query."""
    return spark.read.parquet(path)


def bounded(limits: list[int]) -> QueryBuilder:
    """At most so many rows each, or so many groups and rows in each."""
    query = QueryBuilder("t")
    if len(limits) == 1:
        return query.enforce(MaxRowsPerID(limits[0]))
    return query.enforce(MaxGroupsPerID("dept", limits[0])).enforce(MaxRowsPerGroupPerID("dept", limits[1]))


def answered(path: str, limits: list[int]) -> list[Any]:
    """Ask all three, each at ε = 1."""
    one = PureDPBudget(1.0)
    session = Session.from_dataframe(PureDPBudget(3.0), "t", rows(path), protected_change=AddRowsWithID("user_id"))
    asked = bounded(limits).groupby(KeySet.from_dict({"dept": list(range(DEPARTMENTS))}))
    queries = (asked.count(), asked.sum("amount", 0.0, 100.0), asked.average("amount", 0.0, 100.0))
    return [session.evaluate(query, one).collect() for query in queries]


def case(name: str) -> Callable[[], float]:
    """Read a case."""
    if name.startswith("moved "):
        asked = name.removeprefix("moved ")
        return lambda: float(moved(spark, last[asked]))
    form, rest = name.split(" ", 1)
    *limits, path = rest.split(" ", 1 if form == "rows" else 2)

    def run() -> float:
        group = f"{next(numbers)} {name}"
        named(spark, group)
        answers = answered(path, [int(limit) for limit in limits])
        last[name] = group
        return float(sum(map(len, answers)))

    return run


serve("tmlt.analytics", import_seconds, case)
