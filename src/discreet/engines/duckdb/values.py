"""Numpy columns: results from DuckDB, and public values for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.tables.kind import Kind, Value


def result_column(values: NDArray[Any], sql_type: str) -> NDArray[Any]:
    """A result column without masks: integers are int64, dates and timestamps are Python objects."""
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    bare = np.asarray(values.data if isinstance(values, np.ma.MaskedArray) else values)
    if bare.dtype.kind in "iu":
        bare = bare.astype(np.int64, copy=False)
    elif bare.dtype.kind == "f":
        bare = bare.astype(np.float64, copy=False)
    elif bare.dtype.kind == "M":
        bare = bare.astype("datetime64[D]" if sql_type == "DATE" else "datetime64[us]").astype(object)
    if missing is None or not missing.any():
        return bare
    full = bare.astype(object)
    full[missing] = None
    return full


def public_column(kind: Kind, values: Sequence[Value | None]) -> NDArray[Any]:
    """Public values as a column of their kind; dates and timestamps are texts, which the statement casts."""
    if kind is Kind.INTEGER and None not in values:
        return np.array(values, np.int64)
    found = np.empty(len(values), object)
    found[:] = [value if value is None or kind is Kind.TEXT else str(value) for value in values]
    return found
