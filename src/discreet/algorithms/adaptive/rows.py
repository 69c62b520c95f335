"""Rows of a table one by one, each in a form that depends only on that row and on public information."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


@final
@frozen
class IsolatedRows:
    """The rows of a table; `rows[i]` is a table with that row only.

    One record can decide the form of all: a text turns an array into one of objects, a missing value turns whole numbers into floats, and
    either may change the memory order in which products are summed. So each row is rebuilt from its own entries: numbers become the nearest
    floats, contiguous in memory, and take the public table's type where that keeps their value.
    """

    _entries: Sequence[Any] | NDArray[Any]
    _build: Callable[[Any], Any]

    @classmethod
    def of(cls, table: Any, like: Any) -> IsolatedRows:
        """Read a table; `like` is a public table with the same columns, whose types are used."""
        if hasattr(table, "iloc") and hasattr(table, "columns"):
            return cls(*_frame(table, like))
        if hasattr(table, "iloc"):  # a series, for example of texts
            return cls(entries(table, like), lambda value: type(table)([value]))
        if isinstance(table, np.ndarray):
            kind = like.dtype if isinstance(like, np.ndarray) else np.dtype(np.float64)
            return cls(table, lambda row: _array(row, kind).reshape(1, *np.shape(row)))
        if isinstance(table, list | tuple):
            first = like[0] if isinstance(like, list | tuple | np.ndarray) else None
            kind = first.dtype if isinstance(first, np.ndarray) else np.dtype(np.float64)
            return cls(table, lambda row: [_array(row, kind) if isinstance(row, np.ndarray) else row])
        return cls(range(len(table)), lambda place: table[place : place + 1])  # its types are declared, not inferred from the records

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, place: int) -> Any:
        return self._build(self._entries[place])


def entry(value: Any, kind: str) -> Any:
    """One entry: a number becomes a float, or a value of the column's kind if that is equal; None becomes NaN in numeric columns."""
    if value is None and kind in "biuf":
        return float("nan")
    if isinstance(value, complex | np.complexfloating) and not value.imag:  # one complex record makes the whole column complex
        value = value.real
    if not isinstance(value, _NUMBERS) or isinstance(value, np.timedelta64):
        return value
    try:
        read = float(value)
    except OverflowError:
        read = float("inf") if value > 0 else float("-inf")
    if kind == "b" and read in (0.0, 1.0):
        return bool(read)
    return int(read) if kind in "iu" and read.is_integer() else read


def entries(column: Any, like: Any) -> list[Any]:
    """The same for a column of labels; a plain list is returned as it is, because there no label affects another."""
    if not hasattr(column, "__array__"):
        return list(column)
    kind = getattr(getattr(like, "dtype", None), "kind", "f")
    return [entry(value, kind) for value in np.asarray(column).tolist()]


@np.errstate(all="ignore")
def _array(row: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    """One row of an array."""
    row = np.asarray(row)
    if row.dtype.kind in "Mm":
        return np.array(row, order="C")
    if row.dtype.kind not in "biuf" or kind.kind not in "biuf":
        each = [entry(value, kind.kind) for value in row.ravel().tolist()]
        if kind.kind not in "biuf" or not all(isinstance(value, int | float) for value in each):
            mixed = np.empty(len(each), object)
            mixed[:] = each
            text = kind.kind == "U" and all(isinstance(value, str) for value in each)
            return (mixed.astype(str) if text else mixed).reshape(row.shape)
        row = np.array(each, np.float64).reshape(row.shape)
    read = np.array(row, np.float64, order="C")
    kept = read.astype(kind)
    return kept if np.array_equal(kept.astype(np.float64), read, equal_nan=True) else read


def _frame(table: Any, like: Any) -> tuple[list[tuple[Any, ...]], Callable[[Any], Any]]:
    """The entries of a data frame's rows, and a function that builds a one-row frame from them."""
    types = list(getattr(like, "dtypes", ()))
    kinds = [getattr(one, "kind", "O") for one in types] if len(types) == len(table.columns) else ["f"] * len(table.columns)
    columns = [[entry(value, kind) for value in table.iloc[:, place].tolist()] for place, kind in enumerate(kinds)]
    declared = {name: one for name, one, kind in zip(table.columns, types, kinds, strict=False) if kind not in "biuf"}

    def build(row: tuple[Any, ...]) -> Any:
        frame = type(table)([row], columns=table.columns)
        try:
            return frame.astype(declared) if declared else frame
        except (TypeError, ValueError):  # the public table's column cannot hold this entry
            return frame

    return (list(zip(*columns, strict=True)) if columns else [()] * len(table)), build
