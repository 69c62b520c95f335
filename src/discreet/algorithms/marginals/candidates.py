"""The marginals that may be selected next: those whose model is not too large, for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_TOGETHER = 2**24  # entries of the graphs that are looked at together
_DIGITS = 9  # of logarithms: products that are equal have equal ones


@final
class Candidates:
    """The marginals of a closure with the size of the model that each would lead to, given what is measured.

    Sizes hardly ever fall when more is measured, so one that is above the limit is not computed again before the limit reaches it.
    """

    def __init__(self, domain: Domain, closure: Mapping[Clique, int], most_cells: int) -> None:
        self._domain, self._closure, self._most = domain, closure, most_cells
        self._sizes: dict[Clique, float] = dict.fromkeys(closure, 0.0)

    def of(self, measured: Iterable[Clique], share: float) -> list[Clique]:
        """Marginals whose model has at most this share of the cells that it may have; measured ones always qualify."""
        known, limit = set(measured), self._most * share
        asked = [clique for clique in self._closure if clique not in known and self._sizes[clique] <= limit]
        self._sizes.update(zip(asked, trees_cells(self._domain, known, asked), strict=True))
        return [clique for clique in self._closure if clique in known or self._sizes[clique] <= limit]


def trees_cells(domain: Domain, cliques: Iterable[Clique], further: Sequence[Clique]) -> list[float]:
    """The cells of the junction tree of the cliques and one further clique, for each of these; rounded to a float.

    Columns are eliminated as in `junction_tree.tree_cells`, in all graphs at once.
    """
    graph = np.eye(len(domain.names), dtype=bool)
    for clique in cliques:
        graph[np.ix_(clique, clique)] = True
    chunk = max(1, _TOGETHER // graph.size)
    return [size for start in range(0, len(further), chunk) for size in _cells(domain, graph, further[start : start + chunk])]


def _cells(domain: Domain, graph: Bools, further: Sequence[Clique]) -> list[float]:
    columns, many = len(domain.names), np.arange(len(further))
    near = np.repeat(graph[None], len(further), axis=0)
    for place, clique in enumerate(further):
        near[place][np.ix_(clique, clique)] = True
    logs = np.log(np.array(domain.sizes, np.float64))
    gone = np.zeros((len(further), columns), bool)
    found: list[Bools] = []
    total = np.zeros(len(further))
    for _ in range(columns):
        chosen = np.argmin(np.where(gone, np.inf, np.round(near @ logs, _DIGITS)), axis=1)
        mask = near[many, chosen]
        inside = np.zeros(len(further), bool)
        for other in found:
            inside |= ~(mask & ~other).any(axis=1)
        total += np.where(inside, 0.0, np.exp(mask @ logs))
        found.append(mask)
        gone[many, chosen] = True
        near |= mask[:, :, None] & mask[:, None, :]
        near[many, :, chosen] = False
    return [float(size) for size in np.round(total)]
