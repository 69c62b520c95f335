"""A weighted sum of squares over tables, Σ w_t ‖sums of table t‖², as a matrix W that is quickly inverted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Floats, Layout, Table

Spectrum = NDArray[Any]


@final
@frozen(eq=False, slots=False)
class Metric:
    """The matrix W = Σ w_t A_tᵀA_t, where A_t sums the cells of the finest table, which has a weight too, to table t.

    A Fourier transform along the flat keys splits W into one tree for each frequency, because a table sees a frequency in full or not at
    all. A tree is solved in one pass up and one pass down.

    >>> two = Metric(Layout((), (2,)), {Table(0, (0,)): 1.0, Table(0, ()): 1.0})  # W = ((2, 1), (1, 2))
    >>> two.inverse(np.array([[3.0, 0.0]])).round(9)
    array([[ 2., -1.]])
    """

    layout: Layout
    weights: Mapping[Table, float]

    def inverse(self, force: Floats) -> Floats:
        """W⁻¹ times a vector of all cells."""
        layout, (own, below) = self.layout, self._tree
        axes = tuple(range(1, len(layout.sizes) + 1))
        last = len(layout.parents)
        up: list[Spectrum] = [np.zeros(0)] * (last + 1)
        sums: list[Spectrum] = [np.zeros(0)] * last
        up[last] = own[last] * (np.fft.rfftn(force, axes=axes) if axes else force)
        for level in reversed(range(last)):
            sums[level] = layout.up(up[level + 1], layout.edges[level], layout.nodes(level))
            up[level] = own[level] / below[level] * sums[level]
        found = up[0]
        for level, edges in enumerate(layout.edges):
            found = up[level + 1] + own[level + 1] * ((found - sums[level]) / below[level])[edges]
        return np.fft.irfftn(found, s=layout.sizes, axes=axes) if axes else np.asarray(found)

    @cached_property
    def _tree(self) -> tuple[list[Floats], list[Floats]]:
        """For each level, one over the weight of a node given all that lies at or below it, and that of its children's sum."""
        layout = self.layout
        last = len(layout.parents)
        own, below = [np.zeros(0)] * (last + 1), [np.zeros(0)] * last
        own[last] = np.repeat(1 / self._spectrum(last), layout.nodes(last), axis=0)
        for level in reversed(range(last)):
            below[level] = layout.up(own[level + 1], layout.edges[level], layout.nodes(level))
            own[level] = 1 / (self._spectrum(level) + 1 / below[level])
        return own, below

    def _spectrum(self, level: int) -> Floats:
        """The weight of each frequency in the tables of a level."""
        sizes = self.layout.sizes
        found = np.zeros((1, *sizes[:-1], sizes[-1] // 2 + 1) if sizes else (1,))
        for table, weight in self.weights.items():
            if table.level == level:
                seen = tuple(slice(None) if i in table.flat else 0 for i in range(len(sizes)))
                found[:, *seen] += weight * self.layout.beside(table)
        return found
