"""The number of triangles of a graph."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.arguments import Protects
from discreet.algorithms.graphs.graph import Graph, Integers
from discreet.algorithms.graphs.ladder import LadderDistribution, Piece, steepest
from discreet.errors import Invalid
from discreet.exact import Number, ball
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits


@final
@frozen(kw_only=True)
class TriangleCount(Mechanism[int]):
    """Count the triangles, with noise scaled to the graph; if nodes are protected, only triangles among nodes of degree at most `most`.

    Theorem (Nissim, Raskhodnikova & Smith 2007; Zhang et al. 2015; for nodes after Kasiviswanathan, Nissim, Raskhodnikova & Smith 2013).
        Edges: let c be the largest number of common neighbours of two nodes, or `least` = 2/ε if that is more. One edge changes the number
        of triangles by at most c, and c by at most 1; so Iₜ = c + t meets the conditions of `LadderDistribution`, and its rate may be
        `steepest`.
        Nodes: let m be `most`, T = m(m − 1)/2, and n(t) the sum of l(l − 1)/2 over all nodes with m − t … m + t + 1 edges, where l, at most
        m, is the number of neighbours with at most m + t + 1 edges. Iₜ = T + n(t) + t(T + m² − 1) + (m − 1)t(t − 1)/2 meets them for the
        triangles that are counted.

    Proof for nodes.
        Let y be the graph x with one additional node v, so no degree of x falls and none rises by more than 1. The node v adds at most T
        triangles, if it is within the limit; and it removes those of its neighbours that had m edges, which are between neighbours within
        the limit: at most n(0) of either graph. n(t) of x is at most n(t + 1) of y, because every node that is included still is. n(t) of y
        is at most n(t + 1) of x plus T for v itself plus m − 1 for each neighbour for which v was counted; then v has at most m + t + 1
        edges: T + (m − 1)(m + t + 1) in total.

    Accuracy.
        Edges: `error(confidence, size=c)` is the exact quantile for a graph where c is `size`; it grows with c (checked, not proven).
        Nodes: `error(confidence, size=n)` holds for every graph of n nodes, and is far too large if few have about `most` edges. Triangles
        beyond the limit are a bias of unknown size.

    >>> friends = [(a, b) for a in range(40) for b in range(a)]                     # all of 40 people: 9880 triangles
    >>> abs(TriangleCount(epsilon=5).release(friends) - 9880) < 400
    True
    >>> TriangleCount(epsilon=1).error(0.95, size=38)
    166.0
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    protects: Protects = field(default="edge", converter=arguments.protects)
    most: int | None = field(default=None, converter=arguments.any_most)

    def __attrs_post_init__(self) -> None:
        if self.protects == "node" and (self.most is None or self.most < 2):
            raise Invalid("node protection needs a degree limit of at least 2: pass most=10")
        if self.protects == "edge" and self.most is not None:
            raise Invalid("edge protection needs no degree limit: leave most out")

    @property
    def loss(self) -> Loss:
        return leaves.Pure(self.epsilon) if self.protects == "edge" else leaves.BoundedRange(self.epsilon)

    @property
    def least(self) -> int:
        """The least step width if edges are protected; wider steps allow a steeper rate."""
        return math.ceil(2 / self.epsilon)

    @property
    def rate(self) -> Fraction:
        """The decrease of the log-probability from rung to rung."""
        return steepest(self.epsilon, self.least) if self.protects == "edge" else self.epsilon / 2

    @property
    def _each(self) -> int:
        """The largest number of triangles of a node within the limit."""
        most = self.most or 0
        return most * (most - 1) // 2

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size", least=0)
        if self.protects == "edge":
            return float(LadderDistribution((Piece(0, max(count, self.least), 1),), self.rate).quantile(level))
        # steps lie between those with no node and with all nodes near `most`; the worst case has wide far steps and narrow near ones
        fewest, widest = (LadderDistribution((self._piece(0, near),), self.rate) for near in (0, count * self._each))
        with exact.precision(192):
            k, miss = 1, ball(1 - level)
            while not _share(fewest, widest, k) <= miss:
                k *= 2
            low = k // 2
            while k - low > 1:
                middle = (low + k) // 2
                low, k = (low, middle) if _share(fewest, widest, middle) <= miss else (middle, k)
            return float(widest.span(k))

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> int:
        graph = Graph.of(answer)
        return self.exact(graph) + self.ladder(graph).sample(bits)

    def exact(self, graph: Graph) -> int:
        """The count without noise; it is private."""
        if self.most is None or not graph.size:
            return graph.triangles()
        low = graph.degrees <= self.most
        return graph.keep(low[graph.ends[:, 0]] & low[graph.ends[:, 1]]).triangles()

    def ladder(self, graph: Graph) -> LadderDistribution:
        """The noise distribution for a graph; it is private."""
        if self.most is None:
            return LadderDistribution((Piece(0, max(graph.most_common_neighbours(), self.least), 1),), self.rate)
        near = dict(zip(*(part.tolist() for part in self._near(graph)), strict=True))
        return LadderDistribution(tuple(self._piece(t, n) for t, n in ({0: 0} | near).items()), self.rate)

    def _near(self, graph: Graph) -> tuple[Integers, Integers]:
        """The t at which n(t) grows, in increasing order, and n(t) at each.

        The neighbours of a node are ranked by the t at which they are included: the j-th adds j − 1 pairs, once the node itself is
        included.
        """
        most, degrees = self.most or 0, graph.degrees
        high = np.maximum(degrees - most - 1, 0)  # the least t at which a node's degree is low enough
        node, other = np.concatenate([graph.ends, graph.ends[:, ::-1]]).T
        order = np.lexsort((high[other], node))
        node, since = node[order], high[other][order]
        rank = np.arange(len(node)) - np.searchsorted(node, node)
        since = np.maximum(since, np.maximum(high, most - degrees)[node])
        times, place = np.unique(since[rank < most], return_inverse=True)
        grows = np.zeros(len(times), np.int64)
        np.add.at(grows, place, rank[rank < most])
        return times, np.cumsum(grows)

    def _piece(self, start: int, near: int) -> Piece:
        each, most = self._each, self.most or 0
        return Piece(start, each + near, each + most**2 - 1, most - 1)


def _share(fewest: LadderDistribution, widest: LadderDistribution, k: int) -> Any:
    """An upper bound on the probability of a rung above k, if each step lies between those of the two distributions."""
    whole = 1 + 2 * widest.weights()[0]
    above = widest.beyond(k) * whole
    below = 2 * fewest.weights()[0] - fewest.beyond(k) * (1 + 2 * fewest.weights()[0])
    return above / (1 + below + above)
