"""Discoveries on an engine: their statements, and what large and small data give."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from plan.questions import catalog, steps

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.engine import DuckDB
from discreet.plan.discovery import Discovered
from discreet.plan.range_discovery import HIGHEST, LOWEST, TOP
from discreet.private import reveal
from discreet.query.relation.expr import Column
from discreet.run.discovery import discover, discovery_statement, log_place

UNITS, EACH = 3000, 4


def engine() -> DuckDB:
    ids = [i for i in range(UNITS) for _ in range(EACH)]
    depts = ["a" if i % 3 else "rare" if i == 0 else "b" for i in ids]
    rows = {"id": ids, "dept": depts, "x": [float(i % 90) for i in ids], "age": [30] * len(ids)}
    return DuckDB.open({"t": pa.table(rows)})


def test_limits_bounds_and_groups_of_many_units() -> None:
    plan = steps("SELECT dept, SUM(x) AS s FROM t GROUP BY dept", catalog(keys=None, bounds=None), epsilon=Fraction(20))
    found = Discovered()
    with engine() as data:
        for one in plan.discoveries:
            found = discover(one, plan, found, data)
    assert found.limits == {"rows": EACH}
    assert found.groups == (("a",), ("b",))
    assert found.bounds[Column("x"), "high"] == 128
    assert abs(found.bounds[Column("x"), "low"]) < 1


def test_statements_depend_on_the_plan_alone() -> None:
    plan = steps("SELECT dept, COUNT(*) FROM t GROUP BY dept", catalog(keys=None))
    texts = [discovery_statement(one, plan, Discovered(limits={"rows": 4}), DUCKDB).text for one in plan.discoveries]
    assert texts == [discovery_statement(one, plan, Discovered(limits={"rows": 4}), DUCKDB).text for one in plan.discoveries]
    assert "n <= 4" in texts[-1]


@pytest.mark.parametrize("x", [0.0, 1e-9, -1e-9, 1.0, -1.0, 3.0, 1e6, -1e6, 1e300, -1e300, math.inf])
def test_places_on_the_log_grid(x: float) -> None:
    with DuckDB.open({"t": pa.table({"x": [x]})}) as data:
        (place,) = reveal(data.run(f"SELECT {log_place('x', DUCKDB)} AS v FROM t"))["v"].tolist()
    if abs(x) < 2.0**LOWEST:
        assert place == 0
    else:
        steps_out = math.floor(math.log2(min(abs(x), 2.0 ** (HIGHEST + 1))) + 1e-9) + 1 - LOWEST
        assert place == math.copysign(min(steps_out, TOP), x)
