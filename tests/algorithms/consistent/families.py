"""Families of tables that add up, and noisy measurements of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from discreet.algorithms.consistent.estimate import estimate, variances
from discreet.algorithms.consistent.layout import Floats, Layout, Table


def cube(keys: int) -> tuple[Table, ...]:
    return tuple(Table(0, flat) for number in range(keys, -1, -1) for flat in combinations(range(keys), number))


def rollup(keys: int) -> tuple[Table, ...]:
    return tuple(Table(0, tuple(range(number))) for number in range(keys, -1, -1))


CITIES = Layout(((0,) * 20, tuple(city % 20 for city in range(400))), (2,))  # not in the order of their regions
FAMILIES: dict[str, tuple[Layout, tuple[Table, ...]]] = {
    "cube": (Layout((), (16, 5, 2)), cube(3)),
    "rollup": (Layout((), (12, 10, 7)), rollup(3)),
    "cities": (CITIES, (Table(2, (0,)), Table(2, ()), Table(1, (0,)), Table(1, ()), Table(0, ()))),
    "not the finest": (Layout((), (6, 7, 8)), (Table(0, (0, 1)), Table(0, (1, 2)), Table(0, ()))),
}


def measured(layout: Layout, asked: tuple[Table, ...], filled: float, seed: int = 1) -> tuple[Floats, Floats, dict[Table, float]]:
    """Cells of which only some are filled, their best estimate from noisy tables, and the standard deviation of each table."""
    rng = np.random.default_rng(seed)
    shape = layout.shape(layout.finest)
    true = np.where(rng.random(shape) < filled, rng.geometric(0.1, shape), 0).astype(float)
    precision = dict.fromkeys(asked, 1 / (9 * len(asked)))
    noisy = {table: layout.summed(true, table) + rng.normal(0, one**-0.5, layout.shape(table)) for table, one in precision.items()}
    spread = {table: float(found.mean()) ** 0.5 for table, found in variances(layout, precision, asked).items()}
    return true, estimate(layout, noisy, precision), spread


def squared_error(layout: Layout, asked: tuple[Table, ...], found: Floats, true: Floats) -> float:
    return sum(float((layout.summed(found - true, table) ** 2).sum()) for table in asked)
