"""Triangles: the ladder's conditions and its privacy on all graphs of five nodes, and the stated error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.graphs.every import Pairs, graphs, law, neighbours
from mechanisms.shake import Shake

from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.ladder import LadderDistribution, Piece, steepest
from discreet.algorithms.graphs.triangles import TriangleCount
from discreet.errors import Invalid
from discreet.private import Private

NODES = 5
Counted = Callable[[Graph], tuple[int, LadderDistribution]]
MECHANISMS = [TriangleCount(epsilon=1), *(TriangleCount(epsilon=1, protects="node", most=m) for m in (2, 3, 4))]


@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_the_error_grows_with_the_common_neighbours(epsilon: str) -> None:
    errors = [TriangleCount(epsilon=epsilon).error(0.95, size=c) for c in range(80)]
    assert errors == sorted(errors)


def of(mechanism: TriangleCount) -> Counted:
    return lambda graph: (mechanism.exact(graph), mechanism.ladder(graph))


def climbs(counted: Counted, protects: str, far: int = 12) -> bool:
    """Whether the two conditions of the ladder hold for all neighbours."""
    known = {pairs: counted(Graph.of(pairs)) for pairs in graphs(NODES)}
    steps = {pairs: [ladder.width(t) for t in range(far + 1)] for pairs, (_, ladder) in known.items()}
    for pairs in known:
        for other in neighbours(pairs, protects):
            if abs(known[pairs][0] - known[other][0]) > min(steps[pairs][0], steps[other][0]):
                return False
            for x, y in ((pairs, other), (other, pairs)):
                if any(steps[x][t] > steps[y][t + 1] for t in range(far)):
                    return False
    return True


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_steps_are_a_ladder(mechanism: TriangleCount) -> None:
    assert climbs(of(mechanism), mechanism.protects)


def test_the_steps_for_nodes_are_as_defined() -> None:
    """n(t) read off the definition, on random graphs."""
    coins = np.random.default_rng(9)
    for most in (2, 3, 5):
        full = np.triu(coins.random((16, 16)) < 0.4, 1)
        full = full | full.T
        degrees = full.sum(axis=1)
        ladder = TriangleCount(epsilon=1, protects="node", most=most).ladder(Graph.of(np.argwhere(np.triu(full))))
        for t in range(20):
            low = full[:, degrees <= most + t + 1].sum(axis=1).clip(max=most)
            window = (degrees >= max(most - t, 1)) & (degrees <= most + t + 1)
            near, each = int((low * (low - 1) // 2)[window].sum()), most * (most - 1) // 2
            assert ladder.width(t) == each + near + sum(each + (most - 1) * (most + s + 1) for s in range(t))


def test_one_edge_moves_as_many_triangles_as_the_first_step() -> None:
    """The first step is the local sensitivity itself: some neighbour attains it, unless two nodes have nothing in common."""
    mechanism = TriangleCount(epsilon=1)
    pairs = list(itertools.combinations(range(NODES), 2))
    for some in graphs(NODES):
        graph = Graph.of(some)
        moves = [abs(mechanism.exact(Graph.of(set(some) ^ {pair})) - mechanism.exact(graph)) for pair in pairs]
        assert max(moves) == graph.most_common_neighbours()


def climbs_hubs(counted: Counted) -> bool:
    """The same on larger graphs, in which whole crowds vanish with one node: stars, two hubs with shared leaves, cliques with a hub."""
    coins = np.random.default_rng(7)
    some: list[Pairs] = [tuple((0, i) for i in range(1, 31)), tuple((hub, i) for hub in (0, 1) for i in range(2, 20))]
    for _ in range(30):
        sparse = [pair for pair in itertools.combinations(range(14), 2) if coins.random() < 0.25]
        some.append(tuple({*sparse, *((0, i) for i in range(1, 14) if coins.random() < 0.8)}))
    for pairs in some:
        count, ladder = counted(Graph.of(pairs))
        for other in neighbours(pairs, "node"):
            less, lower = counted(Graph.of(other))
            if abs(count - less) > min(ladder.width(0), lower.width(0)):
                return False
            if any(ladder.width(t) > lower.width(t + 1) or lower.width(t) > ladder.width(t + 1) for t in range(40)):
                return False
    return True


@pytest.mark.parametrize("most", [2, 4])
def test_hubs_with_many_leaves_keep_the_ladder(most: int) -> None:
    assert climbs_hubs(of(TriangleCount(epsilon=1, protects="node", most=most)))


def forgets_whom_it_was_counted_for(graph: Graph) -> tuple[int, LadderDistribution]:
    """Only T for the node itself: its neighbours had it among those that count."""
    mechanism = TriangleCount(epsilon=1, protects="node", most=4)
    pieces = mechanism.ladder(graph).pieces
    return mechanism.exact(graph), LadderDistribution(tuple(Piece(one.start, one.level, 6) for one in pieces), Fraction(1, 2))


def test_a_node_that_is_forgotten_by_its_neighbours_is_caught() -> None:
    assert not climbs_hubs(forgets_whom_it_was_counted_for)


def forgets_the_isolated(graph: Graph) -> tuple[int, LadderDistribution]:
    """The published steps T·(1 + t + n(t)) where the list of nodes is not known: leaves of one hub vanish with it."""
    mechanism = TriangleCount(epsilon=1, protects="node", most=2)
    degrees = graph.degrees
    near = [int(((degrees >= 2 - t) & (degrees <= 3 + t)).sum()) for t in range(20)]
    return mechanism.exact(graph), LadderDistribution(tuple(Piece(t, 1 + near[t], 1) for t in range(20)), Fraction(1, 2))


def forgets_the_neighbourhood(graph: Graph) -> tuple[int, LadderDistribution]:
    """Noise for the local sensitivity alone."""
    return graph.triangles(), LadderDistribution((Piece(0, graph.most_common_neighbours(), 0),), Fraction(1, 2))


def forgets_who_is_near(graph: Graph) -> tuple[int, LadderDistribution]:
    return TriangleCount(epsilon=1, protects="node", most=3).exact(graph), LadderDistribution((Piece(0, 3, 11, 2),), Fraction(1, 2))


@pytest.mark.parametrize(
    ("broken", "protects"), [(forgets_the_isolated, "node"), (forgets_the_neighbourhood, "edge"), (forgets_who_is_near, "node")]
)
def test_a_broken_ladder_is_caught(broken: Counted, protects: str) -> None:
    assert not climbs(broken, protects)


def test_no_output_is_more_than_e_to_the_epsilon_likelier() -> None:
    """Nodes: the exact laws of neighbours, number by number; the losses of a pair stay within an interval of length ε."""
    mechanism, seen, worst = TriangleCount(epsilon=1, protects="node", most=3), set(), 0.0
    for pairs in graphs(4):
        for other in neighbours(pairs, "node"):
            one, two = (of(mechanism)(Graph.of(p)) for p in (pairs, other))
            if (key := (one, two)) in seen:
                continue
            seen.add(key)
            p, q = ({z + count: chance for z, chance in law(ladder, 14).items()} for count, ladder in (one, two))
            ratios = [math.log(p[z] / q[z]) for z in p.keys() & q.keys()]
            worst = max(worst, *map(abs, ratios))
            assert max(ratios) - min(ratios) <= 1 + 1e-2  # the law is cut far out, so its total is a little small
    assert 1 / 2 < worst <= 1 + 1e-2


@pytest.mark.parametrize("mechanism", [*MECHANISMS, TriangleCount(epsilon=3), TriangleCount(epsilon="1/4")], ids=str)
def test_what_is_sampled_is_the_count_with_its_ladder(mechanism: TriangleCount) -> None:
    """All graphs on four nodes, at fixed coins: the same number as from the count and the ladder of the definition."""
    for i, pairs in enumerate(graphs(4)):
        graph = Graph.of(pairs)
        ladder = mechanism.ladder(graph)
        if mechanism.protects == "edge":
            least = math.ceil(2 / mechanism.epsilon)
            ladder = LadderDistribution((Piece(0, max(graph.most_common_neighbours(), least), 1),), steepest(mechanism.epsilon, least))
        for seed in range(3):
            assert mechanism.sample(pairs, Shake((i, seed))) == mechanism.exact(graph) + ladder.sample(Shake((i, seed)))


def sampled_loss(mechanism: TriangleCount, monkeypatch: pytest.MonkeyPatch) -> float:
    """The largest loss of two neighbours on five nodes, of the laws that `sample` draws from: caught as it draws."""
    caught: list[LadderDistribution] = []

    def caught_one(self: LadderDistribution, bits: Any) -> int:
        caught.append(self)
        return 0

    laws: dict[Pairs, tuple[int, LadderDistribution]] = {}
    with monkeypatch.context() as patch:
        patch.setattr(LadderDistribution, "sample", caught_one)
        for pairs in graphs(NODES):
            laws[pairs] = mechanism.sample(pairs, Shake(0)), caught[-1]
    chances = {ladder: law(ladder, 70) for ladder in {ladder for _, ladder in laws.values()}}
    seen, worst = set(), 0.0
    for pairs, (count, ladder) in laws.items():
        for other in neighbours(pairs, "edge"):
            apart, lower = count - laws[other][0], laws[other][1]
            if (key := (ladder, lower, apart)) not in seen:
                seen.add(key)
                p, q = chances[ladder], chances[lower]
                worst = max(worst, *(abs(math.log(p[z] / q[z + apart])) for z in range(-80, 81)))
    return worst


@pytest.mark.parametrize("epsilon", ["1/2", 1, 3])
def test_what_is_sampled_costs_no_more_than_epsilon(epsilon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = TriangleCount(epsilon=epsilon)
    worst = sampled_loss(mechanism, monkeypatch)
    assert float(mechanism.epsilon) / 2 < worst <= float(mechanism.epsilon) + 1e-6


def test_a_ladder_without_its_least_step_or_too_steep_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, true = TriangleCount(epsilon=1), TriangleCount.ladder
    narrow = lambda self, graph: LadderDistribution((Piece(0, graph.most_common_neighbours(), 1),), self.rate)  # noqa: E731
    steep = lambda self, graph: LadderDistribution(true(self, graph).pieces, self.epsilon)  # noqa: E731
    for broken in (narrow, steep):
        monkeypatch.setattr(TriangleCount, "ladder", broken)
        assert sampled_loss(mechanism, monkeypatch) > 1 + 1e-3


@pytest.mark.parametrize("nodes", [8, 20])
def test_the_stated_error_holds(nodes: int) -> None:
    """A complete graph, where two nodes have all others in common; 400 draws, of which a tenth may miss."""
    complete: Pairs = tuple(itertools.combinations(range(nodes), 2))
    mechanism, true = TriangleCount(epsilon=1), math.comb(nodes, 3)
    t = mechanism.error(0.9, size=nodes - 2)
    draws = np.array([mechanism.sample(complete, Shake(("edge", i))) for i in range(400)])
    assert (np.abs(draws - true) > t).sum() <= 75  # binomial(400, 0.1) is above this with probability below 1e-6
    by_node = TriangleCount(epsilon=1, protects="node", most=nodes)
    far = by_node.error(0.9, size=nodes)
    draws = np.array([by_node.sample(complete, Shake(("node", i))) for i in range(100)])
    assert (np.abs(draws - true) > far).sum() <= 28


def test_nodes_of_more_edges_do_not_count() -> None:
    wheel = [(0, i) for i in range(1, 9)] + [(i, i % 8 + 1) for i in range(1, 9)]
    assert TriangleCount(epsilon=1, protects="node", most=8).exact(Graph.of(wheel)) == 8
    assert TriangleCount(epsilon=1, protects="node", most=7).exact(Graph.of(wheel)) == 0


def test_empty_private_graphs_are_answered() -> None:
    for mechanism in MECHANISMS:
        for nothing in ([], [(1, 1)], [(None, 2)], [(1, 2, 3)]):
            assert isinstance(mechanism.release(Private(nothing)), int)


def test_group_loss() -> None:
    assert TriangleCount(epsilon="1/2").loss_at(10).epsilon_at(0) == 5


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"protects": "node"}, {"protects": "node", "most": 1}, {"most": 3}, {"protects": "person"}], ids=str
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        TriangleCount(**({"epsilon": 1} | wrong))
