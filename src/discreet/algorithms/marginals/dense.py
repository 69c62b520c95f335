"""The whole domain as one array: the residuals of all cliques at once, by one matrix per column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.residual import contrasts
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
MOST_CELLS = 2**22  # the largest domain that is held as one array


@final
class Transform:
    """Multiply each axis of an array over the whole domain by a matrix of sums and contrasts of its codes.

    The cost is (number of cells) × (sum of the columns' sizes), for any number of cliques.
    """

    def __init__(self, domain: Domain, bits: int) -> None:
        self.domain = domain
        self._matrices = [np.vstack([np.ones(size), contrasts(size, bits) / 2**bits]) for size in domain.sizes]

    def forward(self, array: Floats) -> Floats:
        """The residuals of all cliques from the cells, as one vector."""
        for size, matrix in zip(self.domain.sizes, self._matrices, strict=True):
            array = np.ascontiguousarray(array.reshape(size, -1).T @ matrix.T)  # the axes rotate through once
        return array.reshape(-1)

    def backward(self, array: Floats) -> Floats:
        """The transpose: a number for each cell from numbers for the residuals."""
        for size, matrix in zip(self.domain.sizes, self._matrices, strict=True):
            array = np.ascontiguousarray(array.reshape(size, -1).T @ matrix)
        return array.reshape(-1)

    def block(self, clique: Clique) -> NDArray[np.int64]:
        """The indices of a clique's residual."""
        places = np.arange(self.domain.size).reshape(self.domain.sizes)
        return places[tuple(slice(1, None) if i in clique else 0 for i in self.domain.columns)].ravel()

    def weights(self, workload: Workload) -> Floats:
        """The weight of each squared residual in the total squared error of a workload's marginals."""
        found = np.zeros(self.domain.size)
        for clique in workload.cliques:
            for k in range(len(clique) + 1):
                for part in combinations(clique, k):
                    rest = self.domain.cells(i for i in clique if i not in part)
                    found[self.block(part)] += workload.weights[clique] / rest
        return found


@final
class DenseResiduals:
    """Features of a log-linear model over the whole domain: the residuals of some cliques, as blocks of one transformed array."""

    def __init__(self, domain: Domain, cliques: Sequence[Clique], bits: int, base: Floats) -> None:
        self._base, self._transform = base, Transform(domain, bits)
        blocks = [self._transform.block(clique) for clique in cliques]
        self._index = np.concatenate(blocks) if blocks else np.zeros(0, np.int64)

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self._index)

    def evaluate(self, potentials: Floats) -> tuple[float, Floats]:
        """The log of the total weight, and the mean of each residual."""
        log_total, distribution = self.of(potentials)
        return log_total, self._transform.forward(distribution)[self._index]

    def of(self, potentials: Floats) -> tuple[float, Floats]:
        """The log of the total weight, and the distribution as one array."""
        spread = np.zeros(self._base.size)
        spread[self._index] = potentials
        logs = self._base + self._transform.backward(spread).reshape(self._base.shape)
        top = float(logs.max())
        weights = np.exp(logs - top)
        total = float(weights.sum())
        return top + float(np.log(total)), weights / total
