"""The tables of the gauntlet's clinic with a few thousand rows: skewed people, and every person made to hurt."""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from engines.beliefs.awkward import REALS, TEXTS, WHOLES
from gauntlet import world

PEOPLE, HEAVIEST = 420, 90


@lru_cache
def tables() -> dict[str, pa.Table]:
    """The same rows for every engine."""
    rng = np.random.default_rng(5)
    visits = [min(HEAVIEST, int(rng.pareto(0.9) * 2)) for _ in range(PEOPLE)]
    usual = [world.person(pid, rng, count) for pid, count in enumerate(visits)]
    events = {"events": [("abcd"[i % 4], i % 7 - 1, (i % 9 - 4) / 3, float(i % 50)) for i in range(400)]}
    public = {
        "sites": [(i, ["north", "south", "east"][i % 3], 90 * i) for i in range(8)],
        "tags": [(d, t) for d in ("er", "icu", "lab") for t in "xy"],
    }
    found = world.joined(*usual, *world.WILD.values(), events, public)
    spoilt = {name: _spoilt(name, rows) if name not in public else rows for name, rows in found.items()}
    return {name: _arrow(name, rows) for name, rows in spoilt.items()}


def _spoilt(name: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Here and there something else than what is declared, in every column but the unit's."""
    coin = random.Random(name)
    kinds = list(world.TYPES[name].values())
    return [
        tuple(
            _other(value, kind, coin) if place and coin.random() < 0.04 else value
            for place, (value, kind) in enumerate(zip(row, kinds, strict=True))
        )
        for row in rows
    ]


def _other(value: Any, kind: pa.DataType, coin: random.Random) -> Any:
    if coin.random() < 0.3:
        return None
    if pa.types.is_floating(kind):
        return coin.choice([*REALS, -0.0, 0.5 * coin.randrange(-10, 1100)])
    if pa.types.is_int64(kind):
        return coin.choice(WHOLES)
    if pa.types.is_string(kind):
        return coin.choice([text for text in TEXTS if text.isascii()])  # the cases of other letters are each engine's own
    return value


def _arrow(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table({column: pa.array([row[i] for row in rows], kind) for i, (column, kind) in enumerate(world.TYPES[name].items())})


def awkwardness(table: pa.Table) -> set[str]:
    """Which odd numbers a table holds."""
    values = [
        value for name in table.column_names if pa.types.is_float64(table.schema.field(name).type) for value in table[name].to_pylist()
    ]
    found = {"NULL"} if None in values else set()
    here = [value for value in values if value is not None]
    found |= {"NaN"} if any(math.isnan(value) for value in here) else set()
    found |= {"infinite"} if any(math.isinf(value) for value in here) else set()
    return found | ({"-0.0"} if any(value == 0 and math.copysign(1, value) < 0 for value in here) else set())
