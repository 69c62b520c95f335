"""What a row adds to a total, computed by the engine."""

from __future__ import annotations

import math

import pytest
from plan import samples

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.private import reveal
from discreet.query.grid import SUMMED
from discreet.query.relation.expr import Column
from discreet.query.totals import Total, Totals
from discreet.run.values import on_grid, write_value
from discreet.tables.kind import Kind

X = Column("x")
SCHEMA = samples.scan().schema
OF = Totals(SCHEMA, {}, SUMMED, True, False)


def added(total: Total, values: list[float | None]) -> list[int]:
    text = write_value(total, {X: "x"}, SCHEMA, DUCKDB)
    engine = samples.engine([(i, "k0", value) for i, value in enumerate(values)])
    return [int(v) for v in reveal(engine.run(f"SELECT {text} AS v FROM t ORDER BY u"))["v"].tolist()]


def test_counts() -> None:
    assert added(OF.rows(), [1.0, None]) == [1, 1]
    assert added(OF.count(X), [1.0, None, math.inf]) == [1, 0, 1]


@pytest.mark.parametrize("power", [1, 2, 3])
def test_powers_lie_on_the_grid_and_within_it(power: int) -> None:
    total = OF.product((X, power))
    (factor,) = total.factors
    values = [None, -1e300, 0.0, 2.5, 7.25, 10.0, 1e300, math.inf, -math.inf]
    clamped = [
        0 if v is None else samples.place(min(max(v, 0.0), 10.0), factor.grid.mid, factor.grid.step, factor.grid.most) for v in values
    ]
    assert added(total, values) == [0 if v is None else place**power for v, place in zip(values, clamped, strict=True)]
    assert max(map(abs, added(total, values))) <= total.most


def test_whole_numbers_are_exact_and_null_stays_null() -> None:
    grid = OF.product((X, 1)).factors[0].grid
    text = on_grid("x", grid, Kind.REAL, DUCKDB)
    engine = samples.engine([(1, "k0", None)])
    assert reveal(engine.run(f"SELECT ({text}) IS NULL AS v FROM t"))["v"].tolist() == [True]
