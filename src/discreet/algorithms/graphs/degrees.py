"""How the edges are spread over the nodes: degree histograms and sorted degrees, made monotone for free."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import parameter
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.arguments import Protects
from discreet.algorithms.graphs.graph import Graph, Integers
from discreet.algorithms.graphs.projection import project
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits


def nonincreasing(values: Sequence[float]) -> list[float]:
    """The nearest sequence (in ℓ₂) that never rises: neighbours that rise are pooled to their mean.

    Theorem (Barlow, Bartholomew, Bremner & Brunk 1972; for privacy Hay, Rastogi, Miklau & Suciu 2010).
        The result is max over ends of min over starts of means, so it moves by no more than the largest move of a value; a sequence that
        never rises stays as it is. So no error grows beyond the largest one of the values, and the sum of squares never grows.

    >>> nonincreasing([5, 3, 4, 1])
    [5.0, 3.5, 3.5, 1.0]
    """
    pools: list[tuple[float, int]] = []  # sum and length of each
    for value in values:
        total, length = float(value), 1
        while pools and pools[-1][0] * length < total * pools[-1][1]:
            before, much = pools.pop()
            total, length = total + before, length + much
        pools.append((total, length))
    return [total / length for total, length in pools for _ in range(length)]


@final
@frozen
class Degrees:
    """What was released: how many nodes have at least 1, 2, … edges, as the noise left it; everything else is a function of that."""

    noisy: tuple[int, ...] = field(converter=tuple, repr=False)

    @property
    def at_least(self) -> list[float]:
        """How many nodes have at least 1, 2, …, most edges: never rising, never negative."""
        return [max(value, 0.0) for value in nonincreasing(self.noisy)]

    @property
    def histogram(self) -> dict[int, float]:
        """How many nodes have just so many edges; the last number stands for itself and all above."""
        counts = [*self.at_least, 0.0]
        return {i + 1: counts[i] - counts[i + 1] for i in range(len(self.noisy))}

    @property
    def edges(self) -> float:
        """Half the sum of the degrees, so far as they count."""
        return sum(self.at_least) / 2


@final
@frozen(kw_only=True)
class DegreeHistogram(Mechanism[Degrees]):
    """Tell how many nodes have 1, 2, …, `most` edges.

    Where edges are protected, a node with more edges counts in the last place; where nodes are, only as many of its edges count. Nodes
    without edges are in no table of edges, and are not counted.

    Theorem (Hay, Li, Miklau & Jensen 2009; Day, Li & Lyu 2016; the counts "at least" are ours).
        Let N(d) be how many nodes have at least d edges, d = 1 … most. One edge moves two degrees by 1, and each move by 1 changes one N(d)
        by 1: ‖N‖₁ moves by at most 2. One node, after `project`, moves the others' degrees by k ≤ most in all and brings k itself: at most
        2·most. (The histogram itself would move by 4, or 2 if most = 1; and by 2·most + 1.) The rest is `Laplace`.

    Accuracy.
        With probability `confidence` all values of `at_least` are off by no more than `error`, and all of `histogram` by twice that;
        making them monotone never makes this worse, and often much better.

    >>> degrees = DegreeHistogram(epsilon=50, most=4).release([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2)])
    >>> [round(count) for count in degrees.at_least]           # six nodes: 5, 2, 2, 1, 1, 1 edges
    [6, 3, 1, 1]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    most: int = field(converter=arguments.most)
    protects: Protects = field(default="edge", converter=arguments.protects)

    @property
    def noise(self) -> Laplace:
        """What is added to each count."""
        return Laplace(epsilon=self.epsilon, sensitivity=2 if self.protects == "edge" else 2 * self.most, whole=True)

    @property
    def loss(self) -> Loss:
        return self.noise.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """How far off any of the counts may be; `size` is not asked for, for there are `most` counts."""
        return self.noise.error(confidence, self.most)

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> Degrees:
        noisy: Any = self.noise.sample(self.exact(Graph.of(answer)), bits)
        return Degrees(noisy.tolist())

    def exact(self, graph: Graph) -> Integers:
        """The counts without noise, which are private."""
        return (graph if self.protects == "edge" else project(graph, self.most)).at_least(self.most)


@final
@frozen(kw_only=True)
class DegreeSequence(Mechanism[list[float]]):
    """Tell the sorted degrees of a graph with a public number of nodes, largest first, where edges are protected.

    Further nodes than `nodes` are left out, those with the fewest edges; missing ones have no edges.

    Theorem (Hay, Li, Miklau & Jensen 2009).
        One edge moves two degrees by 1, and sorting brings two sequences no further apart (ℓ₁), nor does leaving out: at most 2. The rest
        is `Laplace`, and `nonincreasing`, which is free.

    Accuracy.
        With probability `confidence` all degrees are off by no more than `error`. Where many nodes have the same degree, pooling makes the
        error of most of them far smaller.

    >>> DegreeSequence(epsilon=100, nodes=4).release([(0, 1), (0, 2), (0, 3)])
    [3.0, 1.0, 1.0, 1.0]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    nodes: int = field(converter=arguments.nodes)

    @property
    def noise(self) -> Laplace:
        """What is added to each degree."""
        return Laplace(epsilon=self.epsilon, sensitivity=2, whole=True)

    @property
    def loss(self) -> Loss:
        return self.noise.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """How far off any of the degrees may be; `size` is not asked for, for there are `nodes` of them."""
        return self.noise.error(confidence, self.nodes)

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> list[float]:
        noisy: Any = self.noise.sample(self.exact(Graph.of(answer)), bits)
        return [min(max(value, 0.0), self.nodes - 1.0) for value in nonincreasing(noisy.tolist())]

    def exact(self, graph: Graph) -> Integers:
        """The degrees without noise, which are private."""
        ours = np.sort(graph.degrees)[::-1][: self.nodes]
        return np.concatenate([ours, np.zeros(self.nodes - len(ours), np.int64)])
