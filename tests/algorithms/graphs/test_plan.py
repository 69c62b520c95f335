"""Plans of graph questions: what is measured, what it costs, what must be said first."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from algorithms.graphs.caught import Caught
from algorithms.graphs.every import Pairs, graphs, neighbours

from discreet.algorithms.graphs.degrees import DegreeHistogram, DegreeSequence
from discreet.algorithms.graphs.edges import EdgeCount
from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.plan import GraphPlan
from discreet.algorithms.graphs.projection import DegreeBound
from discreet.algorithms.graphs.triangles import TriangleCount
from discreet.errors import Invalid
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


@pytest.mark.parametrize(
    ("plan", "kind", "epsilon"),
    [
        ({"what": "edges", "protects": "edge"}, EdgeCount, 1),
        ({"what": "edges", "protects": "node", "most": 4}, EdgeCount, 1),
        ({"what": "edges", "protects": "node"}, EdgeCount, Fraction(1, 2)),
        ({"what": "degrees", "protects": "node", "most": 4}, DegreeHistogram, 1),
        ({"what": "degree sequence", "protects": "edge", "nodes": 9}, DegreeSequence, 1),
        ({"what": "triangles", "protects": "node", "most": 4}, TriangleCount, 1),
        ({"what": "triangles", "protects": "edge"}, TriangleCount, Fraction(9, 10)),
    ],
    ids=str,
)
def test_a_plan_costs_its_epsilon_whatever_its_parts(plan: dict[str, Any], kind: type, epsilon: Fraction) -> None:
    """The count gets what the choice of a limit or the width leaves, and all parts come to ε."""
    made = GraphPlan(epsilon=1, **plan)
    mechanism = made.mechanism(8)
    assert isinstance(mechanism, kind)
    assert mechanism.epsilon == epsilon
    assert made.loss.epsilon_at(0) == 1
    parts = [one.epsilon for one in (made.bound, made.width) if one is not None]
    assert mechanism.epsilon + sum(parts) == 1
    assert made.groups() == {2: 2, 5: 5, 10: 10}
    assert "ε = 1" in made.explain().splitlines()[0]


def test_a_limit_is_chosen_with_half_and_used_by_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, used = GraphPlan(what="edges", protects="node", epsilon=2), []
    monkeypatch.setattr(DegreeBound, "sample", lambda self, answer, bits: used.append(self.epsilon) or 4)
    monkeypatch.setattr(EdgeCount, "sample", lambda self, answer, bits: used.append((self.epsilon, self.most)) or 7)
    assert plan.release(Private(Graph.of([(1, 2)])), Fraction(19, 20)) == (7, EdgeCount(epsilon=1, protects="node", most=4).error(), 4)
    assert used == [1, (1, 4)]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"what": "nodes", "protects": "edge"}, "one of edges, degrees"),
        ({"what": "degrees", "protects": "edge"}, "most=20"),
        ({"what": "degree sequence", "protects": "node", "nodes": 5}, "use degrees instead"),
        ({"what": "degree sequence", "protects": "edge"}, "nodes=1000"),
        ({"what": "edges", "protects": "edge", "nodes": 5}, "do not take nodes"),
        ({"what": "edges", "protects": "edge", "most": 5}, "leave most out"),
        ({"what": "triangles", "protects": "node"}, "most=10"),
    ],
    ids=str,
)
def test_wrong_plans(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        GraphPlan(epsilon=1, **wrong)


def test_an_error_that_depends_on_the_graph_says_what_it_needs() -> None:
    for plan, known, says in (
        ({"what": "triangles", "protects": "edge"}, {"common": 20}, "common=20"),
        ({"what": "triangles", "protects": "node", "most": 4}, {"nodes": 100}, "nodes=1000"),
        ({"what": "edges", "protects": "node"}, {"most": 8}, "most=8"),
    ):
        made = GraphPlan(epsilon=1, **plan)
        with pytest.raises(Invalid, match=says):
            made.error()
        assert 0 < made.error(0.5, **known) < made.error(0.99, **known)
