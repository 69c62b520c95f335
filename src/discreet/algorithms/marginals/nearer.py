"""Rows nearer to a model: values of single rows are changed while that brings the workload's marginals nearer to the model's.

Everything here is a deterministic function of the model and of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.model import Model
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_WORK = 2e8  # entries of marginals that are looked at
_CELLS = 10**7  # of all marginals that are compared, at most
_COUNTED = 10**8  # rows × marginals: of more rows, rounding is a small part
_ROWS, _PLACES = 20_000, 5 * 10**6  # that may be changed, and their places in marginals
_TRIED = 4  # other values that are tried for a row's column, if it has more
_BATCHES = 12  # changes of one column are made in so many batches, so that they take account of each other


def nearer(model: Model, columns: Sequence[Integers], workload: Workload, work: float = _WORK) -> list[Integers]:
    """The rows, after changes of single values that reduce Σ weight·(rows − model)² over all cells of the workload's marginals."""
    domain, count = model.domain, len(columns[0])
    cliques = [clique for clique in workload.cliques if clique]
    if not count or not cliques or workload.cells > _CELLS or count * len(cliques) > _COUNTED:
        return list(columns)
    search = _Search(model, cliques, [workload.weights[clique] for clique in cliques], columns)
    gone, quiet, column = 0.0, 0, 0
    while gone < work and quiet < len(domain.names):
        looked, changed = search.improve(column % len(domain.names), column)
        gone, quiet, column = gone + looked, 0 if changed else quiet + 1, column + 1
    return search.columns


@final
class _Search:
    """The rows, and how far each cell of each marginal is above the model, in one vector."""

    def __init__(self, model: Model, cliques: Sequence[Clique], weights: Sequence[int], columns: Sequence[Integers]) -> None:
        domain = model.domain
        self.columns = [column.copy() for column in columns]
        self._domain, self._cliques, self._weights = domain, cliques, np.array(weights, np.float64)
        count = len(columns[0])
        self._starts = np.cumsum([0, *(domain.cells(clique) for clique in cliques)])
        self._strides = [dict(zip(clique, _strides(domain.shape(clique)), strict=True)) for clique in cliques]
        rows = [np.bincount(self._places(c, slice(None)), minlength=domain.cells(clique)) for c, clique in enumerate(cliques)]
        wanted = [model.marginal(clique).ravel() * (count / model.total) for clique in cliques]
        self._above = np.concatenate(rows) - np.concatenate(wanted)
        self._holding = [[c for c, clique in enumerate(cliques) if i in clique] for i in domain.columns]
        free = min(count, _ROWS, max(1, _PLACES // max(map(len, self._holding))))
        self._free = np.linspace(0, count - 1, free).astype(np.int64)  # at most `count`, so all different

    def _places(self, c: int, rows: Integers | slice) -> Integers:
        """Where each row is in a marginal."""
        found = np.zeros(len(self.columns[0][rows]), np.int64)
        for i, stride in self._strides[c].items():
            found += self.columns[i][rows] * stride
        return found

    def improve(self, column: int, turn: int) -> tuple[float, int]:
        """Change one column of the rows where that helps most; how many entries were looked at, and how many rows changed."""
        size, holding = self._domain.sizes[column], self._holding[column]
        if size < 2 or not holding:
            return 0.0, 0
        step = np.array([self._strides[c][column] for c in holding])
        rows = self._free
        changed, looked = 0, 0.0
        for batch in range(_BATCHES):
            now = self.columns[column][rows]
            base = np.stack([self._places(c, rows) + self._starts[c] for c in holding]) - now * step[:, None]
            here = self._sum(base, now, step, holding)
            best, value = np.full(len(rows), np.inf), now.copy()
            others = _others(size, turn + batch)
            for other in others:
                there = (now + other) % size
                gain = self._sum(base, there, step, holding) - here
                better = gain < best
                best, value = np.where(better, gain, best), np.where(better, there, value)
            looked += base.size * (1 + len(others))
            helps = np.flatnonzero(best + self._weights[holding].sum() < 0)
            if not len(helps):
                break
            order = helps[np.argsort(best[helps], kind="stable")]
            made = self._change(column, rows[order], value[order], base[:, order], step, holding)
            if not made:
                break
            changed += made
            rows = rows[order[made:]] if len(order) > made else rows[order]
        return looked, changed

    def _sum(self, base: Integers, values: Integers, step: Integers, holding: Sequence[int]) -> Floats:
        return np.asarray(self._weights[holding] @ self._above[base + values * step[:, None]])

    def _change(self, column: int, rows: Integers, values: Integers, base: Integers, step: Integers, holding: Sequence[int]) -> int:
        """Change as many of the rows, in their order, as together reduce the distance: a quarter, or half of that, and so on."""
        weights = self._weights[holding][:, None]
        many = max(1, len(rows) // 4)
        while many:
            chosen, old = base[:, :many], self.columns[column][rows[:many]]
            out, into = chosen + old * step[:, None], chosen + values[:many] * step[:, None]
            touched = np.unique(np.concatenate([out.ravel(), into.ravel()]))
            moved = np.zeros(len(touched))
            weight = np.zeros(len(touched))
            for places, sign in ((out, -1.0), (into, 1.0)):
                at = np.searchsorted(touched, places.ravel())
                np.add.at(moved, at, sign)
                weight[at] = np.broadcast_to(weights, places.shape).ravel()
            above = self._above[touched]
            if float((weight * moved * (2 * above + moved)).sum()) < 0:
                self._above[touched] += moved
                self.columns[column][rows[:many]] = values[:many]
                return many
            many //= 2
        return 0


def _others(size: int, turn: int) -> list[int]:
    """Distances to other values: all, or a few that are spread evenly and differ from turn to turn."""
    if size - 1 <= _TRIED:
        return list(range(1, size))
    return [1 + (turn + k * (size // _TRIED)) % (size - 1) for k in range(_TRIED)]


def _strides(shape: Sequence[int]) -> list[int]:
    found = [1]
    for size in reversed(shape[1:]):
        found.append(found[-1] * size)
    return found[::-1]
