"""Limit the degrees of a graph, so that one node has bounded influence; and choose a good limit privately."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import parameter
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.graph import Graph
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.noise.bits import Bits


def project(graph: Graph, most: int) -> Graph:
    """Add the edges one by one in the canonical order, each only if both ends have fewer than `most` edges at that point.

    Theorem (Day, Li & Lyu 2016; the proof is ours).
        Remove a node v that had k ≤ most edges in the projection. The degrees of all other nodes in the projection change by at most k in
        total (ℓ₁), and the number of edges decreases by 0, 1, … or k.

    Proof.
        Project with v and without it, side by side: the order is the same for the edges that both have. Let s(u) be the degree of u with v
        minus that without v. An edge of v that is added changes one s(u) by 1, and there are k of these. Another edge that both or neither
        add changes no s. If only one of the two adds it, then in the other one end is already full: there the sign of s is opposite to the
        change, so s moves towards 0 by 1, while the other end's s changes by 1. So Σ|s| ≤ k. Twice the difference in edges is k + Σs,
        which lies in 0 … 2k.
    """
    return graph.keep(kept_by(graph, most)) if (graph.degrees > most).any() else graph


def kept_by(graph: Graph, most: int) -> NDArray[np.bool_]:
    """Which edges the projection keeps."""
    degrees = graph.degrees
    full = degrees > most  # only these nodes can reach the limit
    kept = np.ones(graph.size, np.bool_)
    doubtful = np.flatnonzero(full[graph.ends].any(axis=1))
    room = np.where(full, most, degrees).tolist()
    for edge, (a, b) in zip(doubtful.tolist(), graph.ends[doubtful].tolist(), strict=True):
        if room[a] and room[b]:
            room[a] -= 1
            room[b] -= 1
        else:
            kept[edge] = False
    return kept


@final
@frozen(kw_only=True)
class DegreeBound(Mechanism[int]):
    """Choose a degree limit privately, among 1, 2, 4, … up to the largest power of two that is at most `largest`.

    The search takes the first limit t for which 2t would add fewer than t/count_epsilon + 2t·margin edges. With count_epsilon the ε of a
    later count, t/count_epsilon is the growth of that count's noise. The margin, twice the scale of the search's own noise, makes it rare
    that the search continues without need, which would double the noise again and again.

    Theorem (Dwork & Roth 2014, sec. 3.6, on the theorem of `project`).
        Let e(t) be the number of edges left by the limit t. One node changes e(t) by 0 … t and e(2t) by 0 … 2t, in the same direction, so
        (e(t) − e(2t))/2t by at most 1. `SparseVector` finds the first of these above −1/(2·count_epsilon) − margin, for ε.

    Accuracy.
        With probability `confidence`, for the chosen limit t doubling adds at most t/count_epsilon + 2t·(margin + `error`) edges, and for
        every smaller t at least t/count_epsilon + 2t·(margin − `error`). The number of limits tried is known, so `size` is ignored.

    >>> star = Graph.of([(0, i) for i in range(1, 60)] + [(100 + i, 101 + i) for i in range(3000)])
    >>> DegreeBound(epsilon=50, count_epsilon="1/10").release(star)
    2
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    count_epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    largest: int = field(default=2**16, converter=arguments.most)

    @property
    def bounds(self) -> tuple[int, ...]:
        """The candidate limits."""
        return tuple(2**i for i in range(self.largest.bit_length()))

    @property
    def margin(self) -> Fraction:
        """The edges given up, as a share of 2t, so that the search does not continue without need."""
        return 2 * SparseVector(epsilon=self.epsilon, threshold=0).scales[1]

    @property
    def _search(self) -> SparseVector:
        return SparseVector(epsilon=self.epsilon, threshold=-1 / (2 * self.count_epsilon) - self.margin)

    @property
    def loss(self) -> Loss:
        return self._search.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self._search.error(confidence, max(len(self.bounds) - 1, 1))

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> int:
        graph = Graph.of(answer)

        def gains() -> Iterator[Fraction]:
            left = project(graph, 1).size
            for bound in self.bounds[:-1]:
                more = project(graph, 2 * bound).size
                yield Fraction(left - more, 2 * bound)
                left = more

        tried = self._search.sample(gains(), bits)
        return self.bounds[len(tried) - 1 if tried and tried[-1].above else -1]
