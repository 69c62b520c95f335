"""Arrow tables as numpy columns, regrouped into batches; no Spark is needed."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.spark.columns import in_batches, to_columns


def test_columns_without_null_are_numbers() -> None:
    table = pa.table({"i": pa.array([1, 2], pa.int8()), "f": pa.array([0.5, 1], pa.float32()), "b": [True, False], "s": ["a", "b"]})
    found = to_columns(table)
    assert [values.dtype for values in found.values()] == [np.int64, np.float64, np.bool_, np.object_]
    assert all(found[name].flags.writeable for name in "ifb")


def test_columns_with_null_are_objects() -> None:
    found = to_columns(pa.table({"i": [1, None], "d": [datetime.date(2024, 2, 29), None]}))
    assert found["i"].tolist() == [1, None]
    assert found["d"].tolist() == [datetime.date(2024, 2, 29), None]


@pytest.mark.parametrize(
    ("sizes", "rows", "batches"),
    [([], 3, [0]), ([0, 0], 3, [0]), ([2], 3, [2]), ([3], 3, [3]), ([7], 3, [3, 3, 1]), ([2, 2, 2, 5], 3, [3, 3, 3, 2])],
)
def test_batches(sizes: list[int], rows: int, batches: list[int]) -> None:
    numbers = iter(range(sum(sizes)))
    pieces = [pa.table({"x": pa.array([next(numbers) for _ in range(size)], pa.int64())}) for size in sizes]
    empty = pa.schema([("x", pa.int64())]).empty_table()
    found = list(in_batches(iter(pieces), empty, 3))
    assert [len(batch) for batch in found] == batches
    assert [x for batch in found for x in batch.column("x").to_pylist()] == list(range(sum(sizes)))
