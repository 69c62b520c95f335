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

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.junction_tree import JunctionTree

Floats = NDArray[np.float64]


def fitting(domain: Domain, part: Clique, whole: Clique) -> tuple[int, ...]:
    """The shape with which the part's array broadcasts to the whole's."""
    return tuple(domain.sizes[i] if i in part else 1 for i in whole)


def axes_without(part: Clique, whole: Clique) -> tuple[int, ...]:
    """The axes of the whole that are summed out for the part."""
    return tuple(axis for axis, i in enumerate(whole) if i not in part)


@final
class Beliefs:
    """The marginals of all maximal cliques for given potentials; the shapes are computed once."""

    def __init__(self, tree: JunctionTree, cliques: Sequence[Clique]) -> None:
        domain = tree.domain
        self.tree, self.cliques = tree, tuple(cliques)
        self.homes = [tree.home(clique) for clique in cliques]
        self._fits = [fitting(domain, clique, tree.cliques[home]) for clique, home in zip(cliques, self.homes, strict=True)]
        self._sums = [axes_without(clique, tree.cliques[home]) for clique, home in zip(cliques, self.homes, strict=True)]
        self._shapes = [domain.shape(clique) for clique in cliques]
        self._whole = [domain.shape(clique) for clique in tree.cliques]
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
        logs = [np.zeros(shape) for shape in self._whole]
        for theta, home, fit in zip(self.split(potentials), self.homes, self._fits, strict=True):
            logs[home] += theta.reshape(fit)
        up: dict[int, Floats] = {}
        weights: list[Floats] = [np.empty(0)] * len(logs)
        for parent, child, out, _, _, fit in reversed(self._steps):
            top = logs[child].max(axis=out, keepdims=True)  # separately for each value of the separator, so that none underflows
            weights[child] = np.exp(logs[child] - top)
            up[child] = weights[child].sum(axis=out)
            logs[parent] += np.log(up[child]).reshape(fit) + top.reshape(fit)
        highest = float(logs[0].max())
        weights[0] = np.exp(logs[0] - highest)
        total = float(weights[0].sum())
        weights[0] /= total
        for parent, child, _, fit, out, _ in self._steps:
            above = weights[parent].sum(axis=out)
            weights[child] *= (above / up[child]).reshape(fit)  # the denominator is at least 1
        return highest + float(np.log(total)), weights

    def evaluate(self, potentials: Floats) -> tuple[float, Floats]:
        """The log of the total weight, and the marginals of the cliques as one vector."""
        log_total, beliefs = self.of(potentials)
        return log_total, np.concatenate([beliefs[home].sum(axis=out).ravel() for home, out in zip(self.homes, self._sums, strict=True)])
