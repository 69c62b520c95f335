"""Arrow tables as numpy columns, in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engines.engine import Columns


def to_columns(table: pa.Table) -> Columns:
    """The columns of a table: int64, float64 and bool where nothing is NULL, else objects."""
    return {name: _column(table.column(name)) for name in table.column_names}


def _column(values: pa.ChunkedArray) -> NDArray[Any]:
    kind = values.type
    if not values.null_count and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        found: NDArray[Any] = values.to_numpy()
        # a copy: the memory of Arrow is read-only
        return found.astype(np.int64 if pa.types.is_integer(kind) else np.float64 if pa.types.is_floating(kind) else np.bool_)
    full = np.empty(len(values), object)
    full[:] = values.to_pylist()
    return full


def in_batches(pieces: Iterator[pa.Table], empty: pa.Table, rows: int) -> Iterator[pa.Table]:
    """Regroup tables into batches of `rows` rows, at least one."""
    held, length, some = [empty], 0, False
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= rows:
            whole, at = pa.concat_tables(held), 0
            for at in range(0, length - rows + 1, rows):
                yield whole.slice(at, rows)
            held, length, some = [whole.slice(at + rows)], length - at - rows, True
    if length or not some:
        yield pa.concat_tables(held)
