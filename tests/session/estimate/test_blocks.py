"""What a block's function sees depends on the people in that block alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
import pytest

import discreet
from discreet.session.estimate.blocks import Part, typed
from discreet.tables.kind import Kind

BLOCKS = 5


def rows(people: int) -> list[dict[str, Any]]:
    return [
        {"id": f"p{i}", "x": float(i % 7), "n": i * j % 4, "t": "abc"[(i + j) % 3], "b": i % 2 == 0, "day": f"2026-01-{1 + i % 28:02d}"}
        for i in range(people)
        for j in range(1 + i % 3)
    ]


def seen(table: list[dict[str, Any]], adjacency: str = "add/remove", **more: Any) -> list[dict[str, Any]]:
    """What the function was given, block by block."""
    found: list[dict[str, Any]] = []
    frame = polars.DataFrame(table, infer_schema_length=None).with_columns(polars.col("day").str.to_date())
    db = discreet.connect({"t": frame}, **{"unit": "id", "epsilon": 9, "ledger": ":memory:", "adjacency": adjacency} | more)
    db.table("t").estimate(lambda columns: found.append(columns) or 1.0, epsilon=1, bounds=(0, 1), blocks=BLOCKS)
    db.close()
    return found


def printed(block: dict[str, Any]) -> str:
    return repr([(name, column.dtype, column.tolist()) for name, column in block.items()])


def differing(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> int:
    return sum(printed(a) != printed(b) for a, b in zip(one, two, strict=True))


@pytest.fixture(scope="module")
def table() -> list[dict[str, Any]]:
    return rows(60)


def test_rows_of_a_person_are_together_and_all_are_there(table: list[dict[str, Any]]) -> None:
    blocks = seen(table)
    assert len(blocks) == BLOCKS
    assert sum(len(block["x"]) for block in blocks) == len(table)
    assert all(len(block["x"]) for block in blocks)
    assert "id" not in blocks[0]


def test_the_order_of_the_table_is_not_seen(table: list[dict[str, Any]]) -> None:
    shuffled = [table[i] for i in np.random.default_rng(1).permutation(len(table))]
    assert differing(seen(table), seen(shuffled)) == 0


def test_one_person_changes_one_block(table: list[dict[str, Any]]) -> None:
    strange = {"id": "new", "x": None, "n": None, "t": None, "b": None, "day": None}  # missing values would change types elsewhere
    before = seen(table)
    assert differing(before, seen([strange, strange, *table])) == 1
    assert differing(before, seen([row for row in table if row["id"] != "p11"])) == 1


def test_a_replaced_person_changes_two_blocks_and_pays_for_two(table: list[dict[str, Any]]) -> None:
    swapped = [row | {"id": "somebody"} if row["id"] == "p11" else row for row in table]
    before = seen(table, "replace-one")
    assert differing(before, seen(swapped, "replace-one")) in (0, 2)
    frame = polars.DataFrame(table)
    options: dict[str, Any] = {"unit": "id", "epsilon": 9, "ledger": ":memory:"}
    plans = []
    for adjacency in ("add/remove", "replace-one"):
        db = discreet.connect({"t": frame}, adjacency=adjacency, **options)
        plans.append(db.estimate("t", len, bounds=(0, 1)).plan(epsilon=1))
    once, twice = (plan.mechanism for plan in plans)
    assert (once.blocks_per_unit, twice.blocks_per_unit) == (1, 2)
    assert twice.aggregator.epsilon == once.aggregator.epsilon / 2


def test_rows_that_are_units_are_thrown_by_coins() -> None:
    frame = polars.DataFrame({"x": np.arange(500.0)})
    found: list[Any] = []
    db = discreet.connect({"t": frame}, unit=discreet.each_row(), epsilon=9, ledger=":memory:")
    for name in "ab":
        db.table("t").estimate(lambda c: found.append(c["x"].tolist()) or 1.0, epsilon=1, bounds=(0, 1), blocks=BLOCKS, name=name)
    first, second = found[:BLOCKS], found[BLOCKS:]
    assert sorted(x for block in first for x in block) == list(range(500))
    assert all(block == sorted(block) for block in found)
    assert first != second


def test_types_follow_from_kinds() -> None:
    assert typed(np.array([1, 2]), Kind.INTEGER).dtype == np.float64
    assert np.isnan(typed(np.array([1, None], object), Kind.INTEGER)[1])
    assert str(typed(np.array([-0.0]), Kind.REAL)[0]) == "0.0"
    days = typed(np.array(["2026-01-05", None, "no day"], object), Kind.DATE)
    assert days.dtype == "datetime64[us]"
    assert np.isnat(days).tolist() == [False, True, True]
    assert typed(np.array([True, False]), Kind.BOOLEAN).dtype == object


def test_units_are_taken_with_all_their_rows() -> None:
    part = Part({"x": np.array([1.0, 2.0, 3.0, 4.0])}, np.array([0, 3]), 4)
    taken = part.take(np.array([1, 0, 1]))
    assert (taken.columns["x"].tolist(), taken.starts.tolist(), len(taken)) == ([4.0, 1.0, 2.0, 3.0, 4.0], [0, 1, 4], 3)
    assert len(part.take(np.array([], np.int64))) == 0
