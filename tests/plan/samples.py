"""Small tables for plans: many units, awkward values, and a Python reference of what bounding means."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.engines.duckdb.engine import DuckDB
from discreet.plan.bounding import Bounding, Groups, Rows, Single
from discreet.query.relation.node import Scan
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Person

Row = tuple[Any, Any, Any]  # unit, key, value
AWKWARD = [None, math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, -0.0, 0.0, 2.5, 10.0, 9.999999999]


def rows(seed: int, count: int = 120, units: int = 12, keys: int = 5) -> list[Row]:
    """Rows with a few heavy units, NULL units and keys, and every awkward value."""
    draw = random.Random(seed)
    heavy = draw.randrange(units)
    found: list[Row] = []
    for _ in range(count):
        unit = heavy if draw.random() < 0.4 else draw.choice([*range(units), None])
        key = draw.choice([*(f"k{i}" for i in range(keys)), None])
        found.append((unit, key, draw.choice(AWKWARD) if draw.random() < 0.3 else draw.uniform(-3, 12)))
    return found


def engine(found: list[Row]) -> DuckDB:
    unit, key, value = (list(column) for column in zip(*found, strict=True)) if found else ([], [], [])
    table = pa.table({"u": pa.array(unit, pa.int64()), "k": pa.array(key, pa.string()), "x": pa.array(value, pa.float64())})
    return DuckDB.open({"t": table})


def scan(one_row: bool = False, each: bool = False, bounds: tuple[int, int] | None = (0, 10), keys: list[str] | None = None) -> Scan:
    columns = (
        ColumnMetadata.of("u", Kind.INTEGER),
        ColumnMetadata.of("k", Kind.TEXT, keys=keys),
        ColumnMetadata.of("x", Kind.REAL, bounds=bounds),
    )
    return Scan(Table("t", columns, EachRow() if each else Person("u"), one_row=one_row))


def clamped(value: Any, low: float = 0.0, high: float = 10.0) -> float | None:
    """What reading a bounded column gives."""
    return None if value is None or math.isnan(value) else min(max(value, low), high)


def weights(found: list[Row], bounding: Bounding, groups: set[Any]) -> list[tuple[Row, int]]:
    """Each row that counts, with its weight, by the definition."""
    kept = [row for row in found if row[0] is not None and row[1] in groups]
    match bounding:
        case Single():
            return [(row, 1) for row in found if row[1] in groups]
        case Rows(limit, one):
            many = {unit: sum(row[0] == unit for row in kept) for unit in {row[0] for row in kept}}
            return [(row, one * limit // max(many[row[0]], limit)) for row in kept]
        case Groups(limit, per_group, euclidean, one):
            pairs = {(row[0], row[1]) for row in kept}
            c = {pair: sum((row[0], row[1]) == pair for row in kept) for pair in pairs}
            m = {unit: sum(pair[0] == unit for pair in pairs) for unit in {row[0] for row in kept}}
            if euclidean:
                spread = {unit: math.isqrt(one * one * limit // max(m[unit], limit)) for unit in m}
                return [(row, spread[row[0]] * per_group // max(c[row[0], row[1]], per_group)) for row in kept]
            return [(row, one * per_group * limit // (max(c[row[0], row[1]], per_group) * max(m[row[0]], limit))) for row in kept]


def place(value: float, mid: Fraction, step: Fraction, most: int) -> int:
    """A value's place on a grid, as floats compute it."""
    return min(max(math.floor((value - float(mid)) * float(1 / step) + 0.5), -most), most)
