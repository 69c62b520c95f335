"""Any marginal of a calibrated junction tree, including columns that no clique holds together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.junction_tree import JunctionTree
from discreet.algorithms.marginals.nesting import axes_without, summed

Floats = NDArray[np.float64]
_TINY = 1e-290  # smaller probabilities are treated as 0
_LARGE = 2**15  # multiplications from which matrix products are worth their preparation


@final
class Calibrated:
    """The cliques' marginals, and a cache of conditional distributions.

    A marginal is gathered at the clique nearest to its columns. Each missing column lies beyond one edge, and its distribution given the
    edge's separator is computed once and cached.
    """

    def __init__(self, tree: JunctionTree, beliefs: Sequence[Floats]) -> None:
        self.tree, self.beliefs = tree, tuple(beliefs)
        self._near: list[list[tuple[int, Clique]]] = [[] for _ in tree.cliques]
        for edge in tree.edges:
            self._near[edge.parent].append((edge.child, edge.separator))
            self._near[edge.child].append((edge.parent, edge.separator))
        self._far = np.array([self._distances(i) for i in tree.domain.columns], np.float64)
        order = np.argsort([belief.size for belief in self.beliefs], kind="stable")
        self._small = np.empty(len(order))  # less than a distance of 1: among equally near cliques the smallest
        self._small[order] = np.arange(len(order)) / len(order)
        self._beyond: dict[tuple[int, int], frozenset[int]] = {}
        self._parts: dict[tuple[int, Clique], Floats] = {}
        self._given: dict[tuple[int, int, Clique], tuple[Floats, Clique]] = {}

    def marginal(self, clique: Clique) -> Floats:
        """The distribution of a clique's columns."""
        root = int(np.argmin(self._far[list(clique)].sum(axis=0) + self._small))
        found, order = self._gathered(root, clique, None, ())
        return np.asarray(found.transpose([order.index(i) for i in clique]), order="C")

    def _distances(self, column: int) -> list[int]:
        """The distance of each clique, in edges, from the nearest clique that holds a column."""
        far = [0 if column in clique else -1 for clique in self.tree.cliques]
        ring = [i for i, d in enumerate(far) if d == 0]
        while ring:
            around = []
            for i in ring:
                for j, _ in self._near[i]:
                    if far[j] < 0:
                        far[j] = far[i] + 1
                        around.append(j)
            ring = around
        return far

    def _columns_beyond(self, here: int, there: int) -> frozenset[int]:
        """The columns in the part of the tree that begins with `there`, seen from `here`."""
        if (here, there) not in self._beyond:
            below = [self._columns_beyond(there, j) for j, _ in self._near[there] if j != here]
            self._beyond[here, there] = frozenset(self.tree.cliques[there]).union(*below)
        return self._beyond[here, there]

    def _part(self, home: int, part: Clique) -> Floats:
        if (home, part) not in self._parts:
            self._parts[home, part] = summed(self.beliefs[home], axes_without(part, self.tree.cliques[home]))
        return self._parts[home, part]

    def _gathered(self, home: int, wanted: Clique, behind: int | None, given: Clique) -> tuple[Floats, Clique]:
        """The joint distribution of `given` and the wanted columns of this part of the tree, and the order of its axes."""
        clique = self.tree.cliques[home]
        missing = [i for i in wanted if i not in clique]
        branches = []
        for j, separator in self._near[home]:
            there = tuple(i for i in missing if i in self._columns_beyond(home, j)) if j != behind and missing else ()
            if there:
                branches.append((j, separator, there))
        kept = {*given, *(i for i in wanted if i in clique)}
        order = tuple(sorted(kept.union(*(separator for _, separator, _ in branches))))
        found: Floats = self._part(home, order)
        for place, (j, separator, there) in enumerate(branches):
            message, message_order = self._message(home, j, separator, there)
            later = set().union(*(s for _, s, _ in branches[place + 1 :]))
            result = tuple(i for i in order if i in kept or i in later) + tuple(i for i in order if i not in clique) + there
            result = tuple(dict.fromkeys(result))
            found = _product(found, order, message, message_order, result)
            order = result
        return found, order

    def _message(self, here: int, there: int, separator: Clique, wanted: Clique) -> tuple[Floats, Clique]:
        """The distribution of the wanted columns beyond an edge, given its separator."""
        key = (here, there, wanted)
        if key not in self._given:
            joint, order = self._gathered(there, wanted, here, separator)
            given = self._part(there, separator)
            shape = [self.tree.domain.sizes[i] if i in separator else 1 for i in order]
            axes = sorted(range(len(separator)), key=lambda place: order.index(separator[place]))
            spread = given.transpose(axes).reshape(shape)
            self._given[key] = np.divide(joint, spread, out=np.zeros_like(joint), where=spread > _TINY), order
        return self._given[key]


def _product(a: Floats, a_order: Clique, b: Floats, b_order: Clique, out: Clique) -> Floats:
    """The product of two arrays over named axes, summed to `out`."""
    names = {i: place for place, i in enumerate(dict.fromkeys((*a_order, *b_order)))}
    arguments: list[Any] = [a, [names[i] for i in a_order], b, [names[i] for i in b_order], [names[i] for i in out]]
    return np.asarray(np.einsum(*arguments, optimize=a.size * b.size > _LARGE))  # planning it takes longer than a small product
