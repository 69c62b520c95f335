"""The number of edges of a graph."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet import parameter
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.arguments import Protects
from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.projection import project
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits


@final
@frozen(kw_only=True)
class EdgeCount(Mechanism[int]):
    """Count the edges; if nodes are protected, after limiting each node to `most` edges.

    Theorem (Dwork, McSherry, Nissim & Smith 2006; Day, Li & Lyu 2016).
        One edge changes the count by 1. One node changes the count after `project` by at most `most`. The rest is `Laplace`.

    Accuracy.
        `error` is the exact quantile of the noise around the number of edges within the limit. Edges beyond the limit are a downward bias
        of unknown size; there is none if no node has more than `most` edges.

    >>> star = [("hub", i) for i in range(100)]
    >>> abs(EdgeCount(epsilon=20).release(star) - 100) < 3, abs(EdgeCount(epsilon=20, protects="node", most=5).release(star) - 5) < 9
    (True, True)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    protects: Protects = field(default="edge", converter=arguments.protects)
    most: int | None = field(default=None, converter=arguments.any_most)

    def __attrs_post_init__(self) -> None:
        if self.protects == "node" and self.most is None:
            raise Invalid("node protection needs a limit on the edges of one node: pass most=10, or choose it privately with DegreeBound")
        if self.protects == "edge" and self.most is not None:
            raise Invalid("edge protection needs no limit on the edges of one node: leave most out")

    @property
    def noise(self) -> Laplace:
        """The noise added to the count."""
        return Laplace(epsilon=self.epsilon, sensitivity=(self.most or 1) if self.protects == "node" else 1, whole=True)

    @property
    def loss(self) -> Loss:
        return self.noise.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.noise.error(confidence, size)

    def check(self, answer: Any) -> None:
        arguments.check_edges(answer)

    def sample(self, answer: Any, bits: Bits) -> int:
        return int(self.noise.sample(self.exact(Graph.of(answer)), bits))

    def exact(self, graph: Graph) -> int:
        """The count without noise; it is private."""
        return (graph if self.most is None else project(graph, self.most)).size
