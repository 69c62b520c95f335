"""Plans of graph questions: what is measured, what it costs, what must be said first."""

from __future__ import annotations

from fractions import Fraction

import pytest
from algorithms.graphs.caught import Caught
from algorithms.graphs.every import Pairs, graphs, neighbours

from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.plan import GraphPlan
from discreet.algorithms.graphs.triangles import TriangleCount
from discreet.private import Private

NODES = 5


@pytest.mark.parametrize("epsilon", [1, 5])
def test_the_width_that_is_told_is_that_of_common_neighbours(epsilon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of triangles gives its one Laplace noise what moves by 1 at most, for a tenth of ε, and the count costs the rest."""
    counted: list[TriangleCount] = []
    caught, plan = Caught(monkeypatch), GraphPlan(what="triangles", protects="edge", epsilon=epsilon)
    monkeypatch.setattr(TriangleCount, "sample", lambda self, answer, bits: counted.append(self) or 0)
    monkeypatch.setattr(TriangleCount, "error", lambda self, confidence, size: float(size))
    told: dict[Pairs, int] = {}
    for pairs in graphs(NODES):
        graph = Graph.of(pairs)
        _, half_width, _ = plan.release(Private(graph), Fraction(19, 20))
        ((noise, answer),) = caught.given
        caught.given.clear()
        told[pairs] = int(answer[0])
        assert told[pairs] == graph.most_common_neighbours()
        assert noise == plan.width
        assert noise.sensitivity == 1
        assert noise.loss.epsilon + counted.pop().epsilon == epsilon
        assert half_width == told[pairs] + noise.error(1 - Fraction(1, 40))
    assert max(abs(told[pairs] - told[other]) for pairs in told for other in neighbours(pairs, "edge")) == 1
