"""Columns between numpy and DuckDB."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from discreet.engines.duckdb.values import public_column, result_column
from discreet.tables.kind import Kind


@pytest.mark.parametrize(
    ("values", "sql_type", "dtype", "found"),
    [
        (np.array([1, 2], np.int8), "TINYINT", np.int64, [1, 2]),
        (np.array([1, 2], np.uint32), "UINTEGER", np.int64, [1, 2]),
        (np.array([0.5], np.float32), "FLOAT", np.float64, [0.5]),
        (np.array([True]), "BOOLEAN", np.bool_, [True]),
        (np.ma.masked_array([1, 2], [False, False]), "BIGINT", np.int64, [1, 2]),
        (np.ma.masked_array([1, 2], [False, True]), "BIGINT", np.object_, [1, None]),
        (np.array(["2024-02-29"], "datetime64[D]"), "DATE", np.object_, [datetime.date(2024, 2, 29)]),
        (np.array(["2024-02-29T08:30"], "datetime64[us]"), "TIMESTAMP", np.object_, [datetime.datetime(2024, 2, 29, 8, 30)]),
        (np.ma.masked_array(np.array(["2024-02-29"], "datetime64[D]"), [True]), "DATE", np.object_, [None]),
    ],
)
def test_results(values: Any, sql_type: str, dtype: Any, found: list[Any]) -> None:
    column = result_column(values, sql_type)
    assert column.dtype == dtype
    assert column.tolist() == found
    assert not isinstance(column, np.ma.MaskedArray)


@pytest.mark.parametrize(
    ("kind", "values", "found"),
    [
        (Kind.INTEGER, [1, 2], [1, 2]),
        (Kind.INTEGER, [1, None], ["1", None]),
        (Kind.TEXT, ["a", None], ["a", None]),
        (Kind.DATE, [datetime.date(2024, 2, 29)], ["2024-02-29"]),
    ],
)
def test_public_values(kind: Kind, values: list[Any], found: list[Any]) -> None:
    column = public_column(kind, values)
    assert column.tolist() == found
    assert (column.dtype == np.int64) is (kind is Kind.INTEGER and None not in values)
