"""Belief propagation: the marginals of a log-linear model over a junction tree, computed exactly.

The columns of every clique are in ascending order, so a smaller clique's array broadcasts to a larger one's by inserting axes of length 1.
In the upward pass each clique is exponentiated once, after subtracting its largest entries. In the downward pass beliefs are corrected by
the quotient of the separators' marginals (Lauritzen & Spiegelhalter 1988, Jensen et al. 1990), without another exponential.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.junction_tree import JunctionTree
from discreet.algorithms.marginals.nesting import Nesting, axes_without, fitting, summed

Floats = NDArray[np.float64]
_RANGE = 300.0  # exp of minus twice this is still a float


def _tops(logs: Floats, out: tuple[int, ...]) -> Floats:
    """What is subtracted before exponentiation, so that no value of the separator underflows: the largest entry, of each if need be."""
    top = logs.max(keepdims=True)
    return np.asarray(top if top.item() - float(logs.min()) < _RANGE else logs.max(axis=out, keepdims=True))


@final
class Beliefs:
    """The marginals of all maximal cliques for given potentials; the shapes are computed once."""

    def __init__(self, tree: JunctionTree, cliques: Sequence[Clique]) -> None:
        domain = tree.domain
        self.tree, self.cliques = tree, tuple(cliques)
        self.homes = [tree.home(clique) for clique in cliques]
        self._at = [[place for place, other in enumerate(self.homes) if other == home] for home in range(len(tree.cliques))]
        self._nested = [
            Nesting(domain, clique, [cliques[place] for place in at]) for clique, at in zip(tree.cliques, self._at, strict=True)
        ]
        self._shapes = [domain.shape(clique) for clique in cliques]
        self._ends = np.cumsum([0, *(domain.cells(clique) for clique in cliques)])
        self._steps = [
            (edge.parent, edge.child, axes_without(edge.separator, tree.cliques[edge.child]),
             fitting(domain, edge.separator, tree.cliques[edge.child]), axes_without(edge.separator, tree.cliques[edge.parent]),
             fitting(domain, edge.separator, tree.cliques[edge.parent]))
            for edge in tree.edges
        ]  # fmt: skip

    @property
    def size(self) -> int:
        """The number of potentials."""
        return int(self._ends[-1])

    def split(self, flat: Floats) -> list[Floats]:
        """Split all potentials, as one vector, into one array per clique."""
        return [flat[a:b].reshape(shape) for a, b, shape in zip(self._ends, self._ends[1:], self._shapes, strict=False)]

    def of(self, potentials: Floats) -> tuple[float, list[Floats]]:
        """The log of the total weight, and the marginal of each maximal clique."""
        thetas = self.split(potentials)
        logs = [nested.spread([thetas[place] for place in at]) for nested, at in zip(self._nested, self._at, strict=True)]
        up: dict[int, Floats] = {}
        weights: list[Floats] = [np.empty(0)] * len(logs)
        for parent, child, out, _, _, fit in reversed(self._steps):
            top = _tops(logs[child], out)
            weights[child] = np.exp(np.subtract(logs[child], top, out=logs[child]), out=logs[child])
            up[child] = summed(weights[child], out)
            logs[parent] += np.log(up[child]).reshape(fit) + (top.reshape(fit) if top.size > 1 else top.ravel())
        highest = float(logs[0].max())
        weights[0] = np.exp(np.subtract(logs[0], highest, out=logs[0]), out=logs[0])
        total = float(weights[0].sum())
        weights[0] /= total
        for parent, child, _, fit, out, _ in self._steps:
            above = summed(weights[parent], out)
            weights[child] *= (above / up[child]).reshape(fit)  # the denominator is at least exp(−_RANGE)
        return highest + float(np.log(total)), weights

    def evaluate(self, potentials: Floats) -> tuple[float, Floats]:
        """The log of the total weight, and the marginals of the cliques as one vector."""
        log_total, beliefs = self.of(potentials)
        found: list[Floats] = [np.empty(0)] * len(self.cliques)
        for nested, at, belief in zip(self._nested, self._at, beliefs, strict=True):
            for place, marginal in zip(at, nested.sums(belief), strict=True):
                found[place] = marginal.ravel()
        return log_total, np.concatenate(found)
