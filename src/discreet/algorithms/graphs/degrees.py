"""Degree histograms and degree sequences, made monotone by post-processing."""

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
    """The nearest nonincreasing sequence (in ℓ₂): adjacent values that increase are pooled to their mean.

    Theorem (Barlow, Bartholomew, Bremner & Brunk 1972; for privacy Hay, Rastogi, Miklau & Suciu 2010).
        The result is max over ends of min over starts of means, so it changes by no more than the largest change of a value; a
        nonincreasing sequence is left as it is. So no error exceeds the largest error of the values, and the sum of squares never grows.

    >>> nonincreasing([5, 3, 4, 1])
    [5.0, 3.5, 3.5, 1.0]
    """
    pools: list[tuple[float, int]] = []  # (sum, length) of each
    for value in values:
        total, length = float(value), 1
        while pools and pools[-1][0] * length < total * pools[-1][1]:
            previous, count = pools.pop()
            total, length = total + previous, length + count
        pools.append((total, length))
    return [total / length for total, length in pools for _ in range(length)]


@final
@frozen
class Degrees:
    """The release: noisy numbers of nodes with at least 1, 2, … edges; everything else is computed from them."""

    noisy: tuple[int, ...] = field(converter=tuple, repr=False)

    @property
    def at_least(self) -> list[float]:
        """The number of nodes with at least 1, 2, …, `most` edges: nonincreasing and non-negative."""
        return [max(value, 0.0) for value in nonincreasing(self.noisy)]

    @property
    def histogram(self) -> dict[int, float]:
        """The number of nodes of each degree; the last entry includes all higher degrees."""
        counts = [*self.at_least, 0.0]
        return {i + 1: counts[i] - counts[i + 1] for i in range(len(self.noisy))}

    @property
    def edges(self) -> float:
        """Half the sum of the degrees, each cut off at `most`."""
        return sum(self.at_least) / 2


@final
@frozen(kw_only=True)
class DegreeHistogram(Mechanism[Degrees]):
    """Release how many nodes have 1, 2, …, `most` edges.

    If edges are protected, a node with more than `most` edges is counted at `most`. If nodes are protected, at most `most` edges of each
    node are used. Nodes without edges do not appear in a list of edges, and are not counted.

    Theorem (Hay, Li, Miklau & Jensen 2009; Day, Li & Lyu 2016; the counts "at least" are ours).
        Let N(d) be the number of nodes with at least d edges, d = 1 … most. One edge changes two degrees by 1, and each change by 1 changes
        one N(d) by 1: N changes by at most 2 in ℓ₁. One node, after `project`, changes the others' degrees by k ≤ most in total and adds
        its own degree k: at most 2·most. (The histogram itself would change by 4, or 2 if most = 1; and by 2·most + 1.) The rest is
        `Laplace`.

    Accuracy.
        With probability `confidence` all values of `at_least` have an error of at most `error`, and all of `histogram` at most twice that;
        making them monotone never increases this bound, and often improves the values much.

    >>> degrees = DegreeHistogram(epsilon=50, most=4).release([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2)])
    >>> [round(count) for count in degrees.at_least]           # six nodes: 5, 2, 2, 1, 1, 1 edges
    [6, 3, 1, 1]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    most: int = field(converter=arguments.most)
    protects: Protects = field(default="edge", converter=arguments.protects)

    @property
    def noise(self) -> Laplace:
        """The noise added to each count."""
        return Laplace(epsilon=self.epsilon, sensitivity=2 if self.protects == "edge" else 2 * self.most, whole=True)

    @property
    def loss(self) -> Loss:
        return self.noise.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The largest error of any count; `size` is ignored, because the number of counts is `most`."""
        return self.noise.error(confidence, self.most)

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> Degrees:
        noisy: Any = self.noise.sample(self.exact(Graph.of(answer)), bits)
        return Degrees(noisy.tolist())

    def exact(self, graph: Graph) -> Integers:
        """The counts without noise; they are private."""
        return (graph if self.protects == "edge" else project(graph, self.most)).at_least(self.most)


@final
@frozen(kw_only=True)
class DegreeSequence(Mechanism[list[float]]):
    """Release the sorted degrees of a graph with a public number of nodes, largest first; edges are protected.

    If the graph has more than `nodes` nodes, those with the fewest edges are left out; if it has fewer, the missing ones have degree 0.

    Theorem (Hay, Li, Miklau & Jensen 2009).
        One edge changes two degrees by 1; sorting does not increase the ℓ₁ distance of two sequences, nor does leaving out: at most 2. The
        rest is `Laplace`, and `nonincreasing`, which is post-processing.

    Accuracy.
        With probability `confidence` all degrees have an error of at most `error`. Where many nodes have the same degree, pooling makes the
        error of most of them far smaller.

    >>> DegreeSequence(epsilon=100, nodes=4).release([(0, 1), (0, 2), (0, 3)])
    [3.0, 1.0, 1.0, 1.0]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    nodes: int = field(converter=arguments.nodes)

    @property
    def noise(self) -> Laplace:
        """The noise added to each degree."""
        return Laplace(epsilon=self.epsilon, sensitivity=2, whole=True)

    @property
    def loss(self) -> Loss:
        return self.noise.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The largest error of any degree; `size` is ignored, because the number of degrees is `nodes`."""
        return self.noise.error(confidence, self.nodes)

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> list[float]:
        noisy: Any = self.noise.sample(self.exact(Graph.of(answer)), bits)
        return [min(max(value, 0.0), self.nodes - 1.0) for value in nonincreasing(noisy.tolist())]

    def exact(self, graph: Graph) -> Integers:
        """The degrees without noise; they are private."""
        ours = np.sort(graph.degrees)[::-1][: self.nodes]
        return np.concatenate([ours, np.zeros(self.nodes - len(ours), np.int64)])
