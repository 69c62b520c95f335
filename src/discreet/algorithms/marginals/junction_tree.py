"""Junction trees: cliques of columns joined so that inference over them is exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple, final

from attrs import frozen

from discreet.algorithms.marginals.domain import Clique, Domain


class TreeEdge(NamedTuple):
    """A parent clique, a child clique, and the columns they share."""

    parent: int
    child: int
    separator: Clique


@final
@frozen
class JunctionTree:
    """Maximal cliques, and edges from the first clique downwards, parents before children.

    The columns that two cliques share are in every clique between them (running intersection). Cliques without a common column are joined
    by an empty separator, so there is always one tree.
    """

    domain: Domain
    cliques: tuple[Clique, ...]
    edges: tuple[TreeEdge, ...]

    @property
    def cells(self) -> int:
        """The number of cells of a model over this tree."""
        return sum(map(self.domain.cells, self.cliques))

    def home(self, clique: Clique) -> int:
        """The smallest maximal clique that contains a clique."""
        homes = [i for i, one in enumerate(self.cliques) if set(clique) <= set(one)]
        return min(homes, key=lambda i: self.domain.cells(self.cliques[i]))


def tree_cells(domain: Domain, cliques: Iterable[Clique]) -> int:
    """The number of cells of the junction tree of these cliques."""
    return sum(domain.cells(clique) for clique in _maximal(domain, cliques))


def junction_tree(domain: Domain, cliques: Iterable[Clique]) -> JunctionTree:
    """The junction tree of cliques; a column in none of them is a clique of its own."""
    maximal = sorted(_maximal(domain, cliques), key=lambda clique: (-domain.cells(clique), clique))
    return JunctionTree(domain, tuple(maximal), tuple(_edges(domain, maximal)))


def _maximal(domain: Domain, cliques: Iterable[Clique]) -> list[Clique]:
    """Eliminate columns one by one, the one with the smallest clique first; keep the cliques that no other contains."""
    near = [1 << i for i in domain.columns]
    for clique in cliques:
        mask = sum(1 << i for i in clique)
        for i in clique:
            near[i] |= mask
    left, found = set(domain.columns), list[int]()
    while left:
        chosen = min(left, key=lambda i: (domain.cells(_places(near[i])), i))
        mask = near[chosen]
        if not any(mask & ~other == 0 for other in found):
            found.append(mask)
        left.remove(chosen)
        for i in _places(mask):
            near[i] = (near[i] | mask) & ~(1 << chosen)
    return [_places(mask) for mask in found]


def _places(mask: int) -> Clique:
    places = []
    while mask:
        low = mask & -mask
        places.append(low.bit_length() - 1)
        mask ^= low
    return tuple(places)


def _edges(domain: Domain, cliques: Sequence[Clique]) -> list[TreeEdge]:
    """A spanning tree with the largest separators (Prim), started at the first clique."""
    shared = {(a, b): tuple(sorted(set(cliques[a]) & set(cliques[b]))) for a, b in combinations(range(len(cliques)), 2)}
    inside, edges = [0], []
    outside = set(range(1, len(cliques)))
    while outside:
        pairs = ((a, b) for a in inside for b in outside)
        parent, child = max(pairs, key=lambda ab: (len(shared[min(ab), max(ab)]), -ab[1], -ab[0]))
        edges.append(TreeEdge(parent, child, shared[min(parent, child), max(parent, child)]))
        inside.append(child)
        outside.remove(child)
    return edges
