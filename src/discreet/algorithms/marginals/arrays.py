"""Arrays over a whole domain on one device, and the few operations that a dense fit needs of them.

An array is one vector of cells. Operations see it as three axes: those before, those that are summed out or repeated, and those after.
Here is the back end of numpy; `gpu` has that of torch. Floats here are public: what is fitted was released before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Array: TypeAlias = Any  # of a back end
SINGLE = 2**22  # cells from which numpy has single precision: half the memory, and half the time
_BLOCK, _RUN = 2**18, 2**14  # cells of one piece of work, and of one run along the last axis: they stay in a core's cache
_MOST_THREADS = 8  # more do not read memory faster


class Arrays(Protocol):
    """A back end: where arrays are held, how exact they are, and what can be done with them."""

    @property
    def itemsize(self) -> int:
        """The bytes of one cell."""

    def put(self, table: Floats) -> Array:
        """A copy of a table as an array of this back end."""

    def take(self, array: Array, scale: float = 1.0) -> NDArray[Any]:
        """An array as one of numpy, of the same precision, each cell multiplied by `scale`."""

    def repeat(self, array: Array, before: int, among: int, after: int) -> Array:
        """From (before, after) to (before, among, after): each cell `among` times."""

    def add(self, to: Array, array: Array, before: int, among: int, after: int) -> None:
        """Add an array (before, after) to each of the `among` slices of (before, among, after), in place."""

    def sum(self, array: Array, before: int, among: int, after: int) -> Array:
        """From (before, among, after) to (before, after): sum the middle axis."""

    def exponentiate(self, array: Array) -> tuple[float, float]:
        """Replace each cell x by exp(x − top), where `top` is the largest; returns `top`, and the sum of all cells."""


@final
class NumpyArrays:
    """Arrays of numpy, on all cores. Each thread has other cells of the result, so the result does not depend on their number."""

    def __init__(self, cells: int, threads: int | None = None) -> None:
        self._type = np.dtype(np.float64 if cells <= SINGLE else np.float32)
        self._threads = min(os.cpu_count() or 1, _MOST_THREADS) if threads is None else threads
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 and cells > _BLOCK else None

    @property
    def itemsize(self) -> int:
        return self._type.itemsize

    def put(self, table: Floats) -> Array:
        return np.array(table, self._type, order="C").reshape(-1)

    def take(self, array: Array, scale: float = 1.0) -> NDArray[Any]:
        return np.asarray(array if scale == 1.0 else np.multiply(array, self._type.type(scale), out=array))

    def repeat(self, array: Array, before: int, among: int, after: int) -> Array:
        found = np.empty((before, among, after), self._type)
        given = array.reshape(before, 1, after)

        def work(rows: slice, run: slice) -> None:
            found[rows, :, run] = given[rows, :, run]

        self._do(work, before, among, after)
        return found.reshape(-1)

    def add(self, to: Array, array: Array, before: int, among: int, after: int) -> None:
        sums, given = to.reshape(before, among, after), array.reshape(before, 1, after)

        def work(rows: slice, run: slice) -> None:
            sums[rows, :, run] += given[rows, :, run]

        self._do(work, before, among, after)

    def sum(self, array: Array, before: int, among: int, after: int) -> Array:
        given, found = array.reshape(before, among, after), np.empty((before, after), self._type)

        def work(rows: slice, run: slice) -> None:
            np.add.reduce(given[rows, :, run], axis=1, out=found[rows, run])

        self._do(work, before, among, after)
        return found.reshape(-1)

    def exponentiate(self, array: Array) -> tuple[float, float]:
        parts = [array[i : i + _RUN * 4] for i in range(0, len(array), _RUN * 4)]
        top = max(self._map(lambda part: part.max(), parts))

        def work(part: Array) -> float:
            np.subtract(part, top, out=part)
            np.exp(part, out=part)
            return float(part.sum(dtype=np.float64))

        return float(top), sum(self._map(work, parts))

    def _do(self, work: Callable[[slice, slice], None], before: int, among: int, after: int) -> None:
        """Do some work piece by piece."""
        if before * among * after <= _BLOCK:
            return work(slice(None), slice(None))
        run = min(after, _RUN)
        rows = max(1, _BLOCK // (among * run))
        pieces: Iterator[tuple[slice, slice]] = (
            (slice(i, i + rows), slice(j, j + run)) for i in range(0, before, rows) for j in range(0, after, run)
        )
        self._map(lambda piece: work(*piece), list(pieces))
        return None

    def _map(self, work: Callable[[Any], Any], pieces: list[Any]) -> list[Any]:
        return list(map(work, pieces) if self._pool is None or len(pieces) == 1 else self._pool.map(work, pieces))
