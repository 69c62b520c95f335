"""Marginals of one large array, each summed from a smaller one where that is possible, so that the large one is read seldom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain

Floats = NDArray[np.float64]
_WORTH = 2**12  # cells that are read while a further array is begun


def fitting(domain: Domain, part: Clique, whole: Clique) -> tuple[int, ...]:
    """The shape with which the part's array broadcasts to the whole's."""
    return tuple(domain.sizes[i] if i in part else 1 for i in whole)


def axes_without(part: Clique, whole: Clique) -> tuple[int, ...]:
    """The axes of the whole that are summed out for the part."""
    return tuple(axis for axis, i in enumerate(whole) if i not in part)


def summed(array: Floats, axes: Sequence[int]) -> Floats:
    """The array with some axes summed out: `array.sum(axis)`, by products with ones, which are several times quicker on large arrays.

    >>> summed(np.arange(24.0).reshape(2, 3, 4), (1,))
    array([[12., 15., 18., 21.],
           [48., 51., 54., 57.]])
    """
    if array.size < _WORTH:
        return np.asarray(array.sum(axis=tuple(axes)))
    left = tuple(size for axis, size in enumerate(array.shape) if axis not in axes)
    runs = [(out, prod(array.shape[axis] for axis in run)) for out, run in _runs(array.ndim, axes)]
    while any(out for out, _ in runs):
        place = max((size, place) for place, (out, size) in enumerate(runs) if out)[1]  # the longest first
        size, before, after = runs[place][1], prod(n for _, n in runs[:place]), prod(n for _, n in runs[place + 1 :])
        ones = np.ones(size)
        array = array.reshape(before, size) @ ones if after == 1 else ones @ array.reshape(before, size, after)
        runs.pop(place)
    return np.asarray(array).reshape(left)


def _runs(many: int, axes: Sequence[int]) -> list[tuple[bool, list[int]]]:
    """Neighbouring axes that are all summed out, or all kept."""
    return [(out, list(run)) for out, run in groupby(range(many), key=lambda axis: axis in axes)]


@final
class Nesting:
    """Parts of a clique, and between them and it further cliques that several parts are summed from.

    >>> domain = Domain.of({"a": 10, "b": 10, "c": 10, "d": 100})
    >>> Nesting(domain, (0, 1, 2, 3), [(0,), (0, 1), (1, 2), (2, 3)]).nodes
    [(0, 1, 2), (2, 3), (0, 1), (1, 2), (0,)]
    """

    def __init__(self, domain: Domain, whole: Clique, parts: Sequence[Clique]) -> None:
        above = _parents(domain, whole, parts)
        self.nodes = sorted(above, key=lambda node: (-domain.cells(node), -len(node), node))  # parents before children
        places = {node: place for place, node in enumerate(self.nodes)}
        self._parents = [places.get(above[node], -1) for node in self.nodes]
        self._places = [places.get(part, -1) for part in parts]  # -1: the whole itself
        over = [whole if parent < 0 else self.nodes[parent] for parent in self._parents]
        self._shape, self._shapes = domain.shape(whole), [domain.shape(node) for node in self.nodes]
        self._axes = [axes_without(node, parent) for node, parent in zip(self.nodes, over, strict=True)]
        self._fits = [fitting(domain, node, parent) for node, parent in zip(self.nodes, over, strict=True)]

    def sums(self, array: Floats) -> list[Floats]:
        """The marginal of each part."""
        found: list[Floats] = []
        for parent, axes in zip(self._parents, self._axes, strict=True):
            found.append(summed(array if parent < 0 else found[parent], axes))
        return [array if place < 0 else found[place] for place in self._places]

    def spread(self, parts: Sequence[Floats]) -> Floats:
        """The transpose: each cell's sum of the parts' entries that it belongs to."""
        whole = np.zeros(self._shape)
        held = [np.zeros(shape) for shape in self._shapes]
        for place, part in zip(self._places, parts, strict=True):
            if place < 0:
                whole += part
            else:
                held[place] += part
        for node in range(len(self.nodes) - 1, -1, -1):
            into = whole if self._parents[node] < 0 else held[self._parents[node]]
            into += held[node].reshape(self._fits[node])
        return whole


def _parents(domain: Domain, whole: Clique, parts: Sequence[Clique]) -> dict[Clique, Clique]:
    """What each part, and each clique between, is summed from: the smallest that contains it."""
    above: dict[Clique, Clique] = {}
    nodes = [part for part in dict.fromkeys(parts) if part != whole]
    for node in nodes:
        larger = [other for other in nodes if set(node) < set(other)]
        above[node] = min(larger, key=lambda other: (domain.cells(other), other)) if larger else whole
    top = [node for node in nodes if above[node] == whole]
    while len(top) > 1:
        joined = min((tuple(sorted({*a, *b})) for a, b in combinations(top, 2)), key=lambda one: (domain.cells(one), one))
        if domain.cells(whole) - 2 * domain.cells(joined) < _WORTH:
            break
        inside = [node for node in top if set(node) <= set(joined)]
        above |= {**dict.fromkeys(inside, joined), joined: whole}
        top = [*(node for node in top if node not in inside), joined]
    return above
