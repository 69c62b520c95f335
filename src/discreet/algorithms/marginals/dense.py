"""The whole domain as one array: the residuals of all cliques at once, by partial sums and one matrix for each group of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import combinations, pairwise
from math import prod
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.arrays import Array, Arrays
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.partial_sums import PartialSums, group_columns
from discreet.algorithms.marginals.residual import contrasts
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]


@final
class Transform:
    """Multiply each axis of a table by a matrix of sums and contrasts of its codes; an axis is a group of columns, or each column is one.

    The cost is (number of cells) × (sum of the axes' sizes), for any number of cliques.
    """

    def __init__(self, domain: Domain, bits: int, groups: Sequence[Sequence[int]] | None = None) -> None:
        self.domain = domain
        each = [np.vstack([np.ones(size), contrasts(size, bits) / 2**bits]) for size in domain.sizes]
        self._matrices = [reduce(np.kron, (each[i] for i in group)) for group in groups] if groups is not None else each

    def forward(self, array: Floats) -> Floats:
        """The residuals of all cliques from the cells, as one vector."""
        for matrix in self._matrices:
            array = np.ascontiguousarray(array.reshape(len(matrix), -1).T @ matrix.T)  # the axes rotate through once
        return array.reshape(-1)

    def backward(self, array: Floats) -> Floats:
        """The transpose: a number for each cell from numbers for the residuals."""
        for matrix in self._matrices:
            array = np.ascontiguousarray(array.reshape(len(matrix), -1).T @ matrix)
        return array.reshape(-1)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        return np.arange(self.domain.size).reshape(self.domain.sizes)

    def block(self, clique: Clique) -> NDArray[np.int64]:
        """The indices of a clique's residual; the columns are in the clique's order."""
        found = self._places[tuple(slice(1, None) if i in clique else 0 for i in self.domain.columns)]
        return found.transpose(np.argsort(np.argsort(clique))).ravel()


class _Part(NamedTuple):
    """A table of some groups, the residuals that are read off it, and their places among all."""

    columns: Clique
    transform: Transform
    found: NDArray[np.int64]
    places: NDArray[np.int64]


@final
class DenseTransform:
    """The residuals of some cliques from an array over the whole domain, and the transpose.

    Cells are in the order of `order`, column by column. The large array is only summed and added to (`PartialSums`); contrasts are applied
    to small tables in double precision.
    """

    def __init__(self, domain: Domain, cliques: Sequence[Clique], bits: int, arrays: Arrays) -> None:
        self.domain, self.arrays = domain, arrays
        grouping = group_columns(domain.sizes, [*cliques, *((i,) for i in domain.columns)])
        self.order = grouping.order
        self._sums = PartialSums([domain.cells(group) for group in grouping.groups], grouping.sets)
        ends = np.cumsum([0, *(prod(domain.sizes[i] - 1 for i in clique) for clique in cliques)])
        self.size, homes = int(ends[-1]), dict[Clique, list[int]]()
        group_of = {i: place for place, group in enumerate(grouping.groups) for i in group}
        for place, clique in enumerate(cliques):
            needed = {group_of[i] for i in clique}
            homes.setdefault(next(one for one in grouping.sets if needed <= set(one)), []).append(place)
        self._parts = []
        for place, one in enumerate(grouping.sets):
            columns = grouping.columns(place)
            small = Domain(tuple(domain.names[i] for i in columns), domain.shape(columns))
            transform = Transform(small, bits, _runs([grouping.groups[group] for group in one]))
            here = homes.get(one, [])
            index = [transform.block(tuple(columns.index(i) for i in cliques[k])) for k in here]
            places = [np.arange(ends[k], ends[k + 1]) for k in here]
            nothing = np.zeros(0, np.int64)
            self._parts.append(_Part(columns, transform, np.concatenate([nothing, *index]), np.concatenate([nothing, *places])))

    def marginals(self, array: Array) -> list[Floats]:
        """The marginals from which residuals are computed."""
        return self._sums.marginals(self.arrays, array)

    def forward(self, tables: Sequence[Floats]) -> Floats:
        """The residuals, as one vector, from `marginals`."""
        found = np.zeros(self.size)
        for part, table in zip(self._parts, tables, strict=True):
            if part.found.size:
                found[part.places] = part.transform.forward(table)[part.found]
        return found

    def backward(self, values: Floats, start: Sequence[Floats] | None = None) -> Array:
        """The transpose of both: a number for each cell, from numbers for the residuals, and from tables to start with."""
        tables = []
        for place, part in enumerate(self._parts):
            spread = np.zeros(part.transform.domain.size)
            if part.found.size:
                spread[part.found] = values[part.places]
                spread = part.transform.backward(spread)
            tables.append(spread if start is None else spread + start[place])
        return self._sums.spread(self.arrays, tables)

    def from_columns(self, columns: Sequence[Floats]) -> list[Floats]:
        """Functions of one column each as tables to start with: each column is in the first table that has it."""
        found, seen = [], set[int]()
        for part in self._parts:
            table = np.zeros(part.transform.domain.sizes)
            for axis, i in enumerate(part.columns):
                if i not in seen:
                    table += columns[i].reshape([-1 if k == axis else 1 for k in range(table.ndim)])
                    seen.add(i)
            found.append(table.reshape(-1))
        return found

    def shaped(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of numpy with one axis for each column of the domain, in its order; a view."""
        return array.reshape(self.domain.shape(self.order)).transpose(np.argsort(self.order))

    def named(self, tables: Sequence[Floats]) -> dict[Clique, Floats]:
        """Marginals by their columns, with one axis for each."""
        found = {}
        for part, table in zip(self._parts, tables, strict=True):
            axes = np.argsort(part.columns)
            found[tuple(sorted(part.columns))] = table.reshape(part.transform.domain.sizes).transpose(axes)
        return found


def _runs(groups: Sequence[Clique]) -> list[range]:
    """The places of each group's columns, one group after the other."""
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    return [range(a, b) for a, b in pairwise(ends)]


def squared_error_weights(workload: Workload) -> dict[Clique, float]:
    """The weight of each squared residual in the total squared error of a workload's marginals, by the residual's clique."""
    found: dict[Clique, float] = {}
    for clique in workload.cliques:
        for k in range(len(clique) + 1):
            for part in combinations(clique, k):
                rest = workload.domain.cells(i for i in clique if i not in part)
                found[part] = found.get(part, 0.0) + workload.weights[clique] / rest
    return found


class DenseFit(NamedTuple):
    """A distribution over the whole domain, with one axis for each column, and the marginals that were computed with it."""

    distribution: NDArray[Any]
    marginals: dict[Clique, Floats]


@final
class DenseResiduals:
    """Features of a log-linear model over the whole domain: the residuals of some cliques, beside independent columns with these logs."""

    def __init__(self, domain: Domain, cliques: Sequence[Clique], bits: int, logs: Sequence[Floats], arrays: Arrays) -> None:
        self._transform, self._arrays = DenseTransform(domain, cliques, bits, arrays), arrays
        self._start = self._transform.from_columns(logs)

    @property
    def size(self) -> int:
        """The number of features."""
        return self._transform.size

    @property
    def rounding(self) -> float:
        """A bound on the usual rounding error of the log of the total weight."""
        return 2.0**-22 if self._arrays.itemsize == 4 else 0.0

    def evaluate(self, potentials: Floats) -> tuple[float, Floats]:
        """The log of the total weight, and the mean of each residual."""
        cells, log_total, total = self._weights(potentials)
        tables = [table / total for table in self._transform.marginals(cells)]
        return log_total, self._transform.forward(tables)

    def of(self, potentials: Floats) -> DenseFit:
        """The distribution with these potentials."""
        cells, _, total = self._weights(potentials)
        tables = [table / total for table in self._transform.marginals(cells)]
        return DenseFit(self._transform.shaped(self._arrays.take(cells, 1 / total)), self._transform.named(tables))

    def _weights(self, potentials: Floats) -> tuple[Array, float, float]:
        cells = self._transform.backward(potentials, self._start)
        top, total = self._arrays.exponentiate(cells)
        return cells, top + float(np.log(total)), total
