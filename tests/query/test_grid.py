"""Values on their grid: whoever leaves out the outer clamp must know that nothing lies beyond the ends."""

from __future__ import annotations

import random
from fractions import Fraction

import duckdb
import pytest

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.query.grid import SUMMED, UNWEIGHTED, WEIGHTED, Grid, grid
from discreet.query.relation.expr import Column
from discreet.query.relation.field import Field, Interval
from discreet.query.totals import Factor, Total
from discreet.run.values import write_value
from discreet.tables.kind import Kind

X = Column("x")
BEYOND = ["'NaN'", "'Infinity'", "'-Infinity'", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "0"]


def grids() -> list[Grid]:
    coin = random.Random(5)
    found = []
    for _ in range(300):
        size = Fraction(2) ** coin.randint(-300, 300)
        low, high = sorted(Fraction(coin.uniform(-1, 1)) * size + coin.choice((0, 1000, 2**45)) * size for _ in range(2))
        interval = Interval(low, high)
        found.append(
            grid(
                Field(Kind.REAL, interval),
                interval,
                coin.choice((*(p.bits(k) for p in (UNWEIGHTED, WEIGHTED, SUMMED) for k in (1, 2, 3, 4)),)),
                coin.random() < 0.5,
            )
        )
    return found


def test_no_value_is_beyond_the_grid() -> None:
    plain = 0
    for one in grids():
        ends = [float(end) for end in (one.mid - one.half, one.mid + one.half, one.mid)]
        near = [repr(end * (1 + k * 2.0**-52)) for end in ends for k in (-2, -1, 0, 1, 2)]
        plain += one.in_floats
        text = write_value(Total("product", factors=(Factor(X, one),)), {X: "x"}, {"x": Field(Kind.REAL)}, DUCKDB)
        assert ("LEAST" in text) != one.in_floats
        values = ", ".join(f"(CAST({value} AS DOUBLE))" for value in [*BEYOND, *near, "NULL"])
        rows = duckdb.sql(f"SELECT {text} FROM (VALUES {values}) AS t(x)").fetchall()
        assert all(value is not None and abs(value) <= one.most for (value,) in rows)
        assert rows[-1] == (0,)
    assert 100 < plain < 300  # both kinds were tried


@pytest.mark.parametrize("mid", [Fraction(1, 3), Fraction(2) ** 600, Fraction(2**60 + 1)])
def test_what_floats_cannot_hold_keeps_its_clamp(mid: Fraction) -> None:
    assert not Grid(mid, Fraction(1), 10).in_floats


def test_values_are_clamped_to_narrower_ends_exactly() -> None:
    """Bounds that are chosen within wider ones hold for every value, though the grid reaches further."""
    interval = Interval(Fraction("0.3"), Fraction("17.9"))
    made = grid(Field(Kind.REAL, interval), interval, 30, True)
    inner = Grid(made.mid, made.step, made.most, (interval.low, interval.high))
    text = write_value(Total("product", factors=(Factor(X, inner),)), {X: "x"}, {"x": Field(Kind.REAL)}, DUCKDB)
    values = ["-1e300", "-1.0", "0.29", "0.3", "5.0", "17.9", "17.95", "1e300"]
    shown = ", ".join(f"(CAST({value} AS DOUBLE))" for value in values)
    found = [float(made.mid + value * made.step) for (value,) in duckdb.sql(f"SELECT {text} FROM (VALUES {shown}) AS t(x)").fetchall()]
    for value, at in zip(values, found, strict=True):
        assert abs(at - min(max(float(value), 0.3), 17.9)) <= float(made.step)
    assert made.ends != inner.ends
