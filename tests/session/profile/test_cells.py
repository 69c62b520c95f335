"""Every value of a column has exactly one cell, on engines as by hand."""

from __future__ import annotations

import datetime
import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import polars
import psycopg
import pytest

import discreet
from discreet.algorithms.marginals.domain import Domain
from discreet.private import reveal
from discreet.query.relation.node import Select
from discreet.session.profile.cells import CELLS, Counts, Grid, bounded_grid, coarse_grid, equal_edges, fine_grid, middle_grid
from discreet.session.synthesize.counted import EngineCounts
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind

MOST = 2**63 - 1
_AT = datetime.date(2024, 2, 29)
REALS = [
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**-20, -(2.0**-20), 2.0**40, -(2.0**40),
    math.nextafter(2.0**40, math.inf), math.nextafter(-(2.0**40), -math.inf), 0.1, 1.0, 3.0, -1.0, 10.0, math.nextafter(10.0, 0), 99.5,
]  # fmt: skip
INTEGERS = [None, 0, 1, -1, 2, -2, 3, 7, 8, -7, -8, 2**40, 2**40 - 1, -(2**40), 1 - 2**40, MOST, -MOST - 1, 10, 99, 100]
_DAYS = ("0001-01-01", "1899-12-31", "1900-01-01", "2024-02-29", "2099-12-31", "2100-01-01", "9999-12-31")
DATES = [None, *map(datetime.date.fromisoformat, _DAYS)]
VALUES: dict[Kind, list[Any]] = {Kind.REAL: REALS, Kind.INTEGER: INTEGERS, Kind.DATE: DATES}


def grids(kind: Kind) -> list[Grid]:
    coarse = coarse_grid(kind)
    low, high = (Fraction(738_000), Fraction(739_500)) if kind is Kind.DATE else (Fraction(0), Fraction(100))
    middle = middle_grid(coarse, low, high, 32)
    counts = Counts((50.0, *(float(i % 7) * 100 for i in range(middle.cells)), 50.0, 0.0), 10.0, 45.0)  # some beyond both ends
    bounds = {Kind.REAL: (-1, 10), Kind.INTEGER: (-(2**62), MOST), Kind.DATE: (datetime.date(1, 1, 1), datetime.date(9999, 12, 31))}[kind]
    return [coarse, middle, fine_grid(middle, counts, (2, 5), CELLS), bounded_grid(ColumnMetadata.of("x", kind, bounds=bounds))]


def by_hand(grid: Grid, value: Any) -> int:
    """The code of a value: missing, zero, below, a cell or above."""
    if value is None or value != value:
        return grid.missing
    number = value.toordinal() if isinstance(value, datetime.date) else value
    if grid.zero and number == 0:
        return grid.codes - 1
    if number > (grid.edges[-1] - 1 if grid.whole else grid.edges[-1]):
        return grid.cells + 1
    return bisect_right(grid.edges, number) if number < grid.edges[-1] else grid.cells


def counted(db: discreet.Session, grid: Grid) -> list[int]:
    table = db.table("cells")
    counts = EngineCounts(
        db._engine, Select(table.relation, (("c", grid.code("x")),)), ["c"], Domain(("c",), (grid.codes,)), 1, "add/remove"
    )
    return [int(count) for count in reveal(counts.marginals([(0,)]))[(0,)]]


def check(db: discreet.Session, kind: Kind) -> None:
    for grid in grids(kind):
        assert list(grid.edges) == sorted(set(grid.edges))
        expected = [0] * grid.codes
        for value in VALUES[kind]:
            expected[by_hand(grid, value)] += 1
        assert counted(db, grid) == expected


@pytest.mark.parametrize("kind", VALUES)
def test_each_value_has_one_cell(kind: Kind) -> None:
    types = {Kind.REAL: polars.Float64, Kind.INTEGER: polars.Int64, Kind.DATE: polars.Date}
    frame = polars.DataFrame({"x": polars.Series(VALUES[kind], dtype=types[kind])})
    with discreet.connect({"cells": frame}, unit=discreet.each_row(), epsilon=1, ledger=":memory:") as db:
        check(db, kind)


@pytest.mark.parametrize("kind", VALUES)
def test_postgres(kind: Kind, postgres: str) -> None:
    typed = {Kind.REAL: "double precision", Kind.INTEGER: "bigint", Kind.DATE: "date"}[kind]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS cells; CREATE TABLE cells (x {typed})")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO cells VALUES (%s)", [(value,) for value in VALUES[kind]])
    with discreet.connect({"cells": (postgres, "public.cells")}, unit=discreet.each_row(), epsilon=1, ledger=":memory:") as db:
        check(db, kind)


@pytest.mark.parametrize("whole", [False, True])
def test_edges_of_equal_width_keep_both_ends(whole: bool) -> None:
    edges = equal_edges(Fraction(3), Fraction(10), 64, whole)
    assert (min(edges), max(edges)) == (3, 10)
    assert len(edges) == (8 if whole else 65)


def test_whole_numbers_have_a_cell_each_where_that_fits() -> None:
    middle = middle_grid(coarse_grid(Kind.INTEGER), Fraction(1024), Fraction(2048), 32)
    fine = fine_grid(middle, Counts((0.0,) * 40, 10.0, 45.0), (20, 21), CELLS)
    low, high = middle.edges[20], middle.edges[22]
    assert {low + i for i in range(int(high - low) + 1)} <= set(fine.edges)
    assert (fine.edges[0], fine.edges[-1]) == (1024, 2048)


@pytest.mark.parametrize("kind", [Kind.REAL, Kind.INTEGER])
def test_cells_beyond_an_end_where_rows_seem_to_lie(kind: Kind) -> None:
    middle = middle_grid(coarse_grid(kind), Fraction(0), Fraction(128), 32)
    for below, above, ends in ((0.0, 0.0, (0, 128)), (30.0, 0.0, (-(2**17), 128)), (0.0, 30.0, (0, 128 + 2**17)), (24.0, 24.0, (0, 128))):
        counts = Counts((below, *[100.0] * middle.cells, above, 0.0), 10.0, 45.0)
        fine = fine_grid(middle, counts, (0, middle.cells - 1), CELLS)
        assert (fine.edges[0], fine.edges[-1]) == ends
        assert sum(edge < 0 for edge in fine.edges) == (16 if below > 25 else 0)
