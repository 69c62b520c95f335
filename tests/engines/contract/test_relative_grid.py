"""Positions on a grid without bounds: exact, total and the same on every engine."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from engines.contract.asked import EngineOf, each, listed

from discreet.mechanisms.value_grid import RelativeGrid
from discreet.query.relation.field import Interval, native
from discreet.query.statistics.percentile import unbounded_grid
from discreet.run.values import on_relative_grid
from discreet.tables.kind import Kind

NEAR = [math.nextafter(edge, way) for edge in (2.0**-20, 1.0, 2.0**11, 3.0 * 2**30, 2.0**60) for way in (-math.inf, edge, math.inf)]
REALS = [0.0, -0.0, 5e-324, 1e-300, 2.0**-31, 0.1, 7.3, 1234.5678, 1e17, 1e300, math.inf, *NEAR]
WHOLES = [0, 1, 2, 3, 1023, 1024, 1025, 2047, 2048, 2049, 2050, 4095, 4096, 10**6, 2**53 + 1, 2**60 - 1, 2**60, 2**63 - 1]


def expected(grid: RelativeGrid, value: Any) -> int | None:
    """The position by exact arithmetic; what lies beyond the largest size is at the largest position."""
    if value is None:
        return None
    furthest = max(-grid.first, grid.last)
    far = math.inf if math.isinf(value) else abs(grid.position(Fraction(value)))
    return math.copysign(min(far, furthest), value) if far else 0


def test_real_numbers(engine_of: EngineOf) -> None:
    grid = unbounded_grid(native(Kind.REAL), Kind.REAL)  # type: ignore[arg-type]
    values = [None, *REALS, *(-x for x in REALS)]
    found = each(engine_of, listed(Kind.REAL, values), lambda d: on_relative_grid("x", grid, Kind.REAL, d))
    assert found == [expected(grid, x) for x in values]


def test_whole_numbers(engine_of: EngineOf) -> None:
    grid = unbounded_grid(native(Kind.INTEGER), Kind.INTEGER)  # type: ignore[arg-type]
    values = [None, *WHOLES, *(-x for x in WHOLES), -(2**63)]
    found = each(engine_of, listed(Kind.INTEGER, values), lambda d: on_relative_grid("x", grid, Kind.INTEGER, d))
    assert found == [expected(grid, x if x is None else float(x)) for x in values]  # beyond 2^53 as the nearest float


def test_not_a_number_is_one_of_the_largest(engine_of: EngineOf) -> None:
    grid = unbounded_grid(Interval(Fraction(0), Fraction(1), True, False), Kind.REAL)
    assert grid.first == 0
    for text in ("'NaN'", "'Infinity'"):
        made = each(
            engine_of,
            listed(Kind.REAL, [1.0]),
            lambda d, text=text: on_relative_grid(f"CAST({text} AS {d.type_name(Kind.REAL)})", grid, Kind.REAL, d),
        )
        assert made == [grid.last]
