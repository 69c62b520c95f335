"""How many triangles a graph has."""

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
    """Count the triangles, with noise as wide as the graph at hand needs; where nodes are protected, among nodes of at most `most` edges.

    Theorem (Nissim, Raskhodnikova & Smith 2007; Zhang et al. 2015; for nodes after Kasiviswanathan, Nissim, Raskhodnikova & Smith 2013).
        Edges: let c be the largest number of common neighbours of two nodes, or `least` = 2/ε if that is more. One edge moves the
        triangles by at most c, and c by at most 1; so Iₜ = c + t is a `LadderDistribution`, and its rate may be `steepest`.
        Nodes: let m be `most`, T = m(m − 1)/2, and n(t) the sum of l(l − 1)/2 over all nodes with m − t … m + t + 1 edges, where l, at most
        m, is how many neighbours have at most m + t + 1. Iₜ = T + n(t) + t(T + m² − 1) + (m − 1)t(t − 1)/2 is a `LadderDistribution` for the triangles
        that count.

    Proof for nodes.
        Let y be the graph x with one node v more, so no degree of x falls and none rises by more than 1. It brings at most T triangles, if
        it counts; and takes away those of its neighbours that had m edges, which are between neighbours that count: at most n(0) of
        either graph. n(t) of x is at most n(t + 1) of y, as whoever is looked at still is. n(t) of y is at most n(t + 1) of x and T for v
        itself and m − 1 for each neighbour that v was counted for; then v has at most m + t + 1 edges: T + (m − 1)(m + t + 1) in all.

    Accuracy.
        Edges: `error(confidence, size=c)` is the exact quantile for a graph where c is `size`; it grows with c (checked, not proven).
        Nodes: `error(confidence, size=n)` holds for every graph of n nodes, and is far too large if few have about `most` edges.
        Triangles that do not count are a bias, which is not known.

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
            raise Invalid("say how many edges a node may have that counts, at least 2: most=…")
        if self.protects == "edge" and self.most is not None:
            raise Invalid("where edges are protected every triangle counts: leave most out")

    @property
    def loss(self) -> Loss:
        return leaves.Pure(self.epsilon) if self.protects == "edge" else leaves.BoundedRange(self.epsilon)

    @property
    def least(self) -> int:
        """Where edges are protected, steps are not narrower than this: then they can be taken faster."""
        return math.ceil(2 / self.epsilon)

    @property
    def rate(self) -> Fraction:
        """By how much ln of the chances falls from rung to rung."""
        return steepest(self.epsilon, self.least) if self.protects == "edge" else self.epsilon / 2

    @property
    def _each(self) -> int:
        """The most triangles that a node which counts can be in."""
        most = self.most or 0
        return most * (most - 1) // 2

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size", least=0)
        if self.protects == "edge":
            return float(LadderDistribution((Piece(0, max(count, self.least), 1),), self.rate).quantile(level))
        # all steps between those with nobody and with everybody near `most`: the far ones large and the near ones small is worst
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
        """The count without noise, which is private."""
        if self.most is None or not graph.size:
            return graph.triangles()
        low = graph.degrees <= self.most
        return graph.keep(low[graph.ends[:, 0]] & low[graph.ends[:, 1]]).triangles()

    def ladder(self, graph: Graph) -> LadderDistribution:
        """The noise that a graph needs, which is private."""
        if self.most is None:
            return LadderDistribution((Piece(0, max(graph.most_common_neighbours(), self.least), 1),), self.rate)
        near = dict(zip(*(part.tolist() for part in self._near(graph)), strict=True))
        return LadderDistribution(tuple(self._piece(t, n) for t, n in ({0: 0} | near).items()), self.rate)

    def _near(self, graph: Graph) -> tuple[Integers, Integers]:
        """The t at which n(t) grows, in order, and what it grows to.

        The neighbours of a node are ranked by when they are looked at: the j-th adds j − 1 pairs, as soon as the node is looked at too.
        """
        most, degrees = self.most or 0, graph.degrees
        high = np.maximum(degrees - most - 1, 0)  # the t from which on a node is low enough
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
    """At most this is the chance of a rung above k, when each step is between those of two ladders."""
    whole = 1 + 2 * widest.weights()[0]
    above = widest.beyond(k) * whole
    below = 2 * fewest.weights()[0] - fewest.beyond(k) * (1 + 2 * fewest.weights()[0])
    return above / (1 + below + above)
