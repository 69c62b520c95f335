"""The projection to bounded degrees: stability on all graphs of five nodes, broken orders, and the bound that is found."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.graphs.every import Pairs, furthest, graphs
from mechanisms.shake import Shake

from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.projection import DegreeBound, kept_by, project
from discreet.private import Private

RING = [(i, (i + 1) % 500) for i in range(500)]
STAR = [("hub", i) for i in range(200)]
NODES = 5
BOUNDS = (1, 2, 3, 4)


def test_a_bound_is_found() -> None:
    """A ring with one hub: two edges of a node are worth counting, the hub's two hundred are not."""
    graph = Graph.of([*RING, *STAR])
    mechanism = DegreeBound(epsilon=4, count_epsilon="1/4")
    found = [mechanism.sample(graph, Shake(i)) for i in range(200)]
    assert sum(bound in (2, 4, 8) for bound in found) >= 150
    t = mechanism.error(0.9)
    gains = {b: Fraction(project(graph, 2 * b).size - project(graph, b).size, 2 * b) for b in mechanism.bounds}
    bar = 1 / (2 * mechanism.count_epsilon) + mechanism.margin
    bad = sum(gains[bound] > bar + t or any(gains[b] < bar - t for b in mechanism.bounds if b < bound) for bound in found)
    assert bad <= 45  # binomial(200, 0.1) is above this with probability below 1e-6
    assert mechanism.loss.epsilon_at(0) == 4


def test_a_bound_where_there_is_nothing_or_only_one() -> None:
    assert DegreeBound(epsilon=100, count_epsilon=1).release(Private([])) == 1
    assert DegreeBound(epsilon=1, count_epsilon=1, largest=1).release(Private(STAR)) == 1
    complete = list(itertools.combinations(range(60), 2))
    assert DegreeBound(epsilon=1000, count_epsilon=1000, largest=32).release(complete) == 32


def test_the_gains_of_doubling_move_by_one() -> None:
    """What DegreeBound compares, in units of 1/2t."""
    for bound in DegreeBound(epsilon=1, count_epsilon=1, largest=4).bounds[:-1]:
        assert furthest(lambda graph, t=bound: project(graph, t).size - project(graph, 2 * t).size, "node", NODES) <= 2 * bound  # type: ignore[misc]


def test_a_projected_graph_has_no_more_edges_at_a_node() -> None:
    for pairs in graphs(NODES):
        graph = Graph.of(pairs)
        for most in BOUNDS:
            left = project(graph, most)
            assert left.degrees.max(initial=0) <= most
            assert most < graph.degrees.max(initial=0) or left.size == graph.size


def ours(pairs: Pairs, most: int) -> Pairs:
    """What the projection keeps, by name: nodes are numbered in the order of their names."""
    graph, names = Graph.of(pairs), sorted({end for pair in pairs for end in pair})
    return tuple((names[a], names[b]) for a, b in graph.ends[kept_by(graph, most)].tolist())


def greedy(pairs: Pairs, most: int, order: Callable[[tuple[int, int]], Any]) -> Pairs:
    """A projection in any order."""
    load: Counter[int] = Counter()
    kept = []
    for a, b in sorted(pairs, key=order):
        if load[a] < most and load[b] < most:
            load.update((a, b))
            kept.append((a, b))
    return tuple(kept)


def high_first(pairs: Pairs, most: int) -> Pairs:
    degree = Counter(end for pair in pairs for end in pair)
    return greedy(pairs, most, lambda edge: (-degree[edge[0]] - degree[edge[1]], edge))


def back_and_forth(pairs: Pairs, most: int) -> Pairs:
    return greedy(pairs, most, lambda edge: edge if len(pairs) % 2 else (-edge[0], -edge[1]))


def is_stable(projection: Callable[[Pairs, int], Pairs], most: int) -> bool:
    """Whether a node with k edges kept moves the others' degrees by at most k in all, and the edges by 0 … k, in all graphs."""
    kept = {pairs: projection(pairs, most) for pairs in graphs(NODES)}
    for pairs, mine in kept.items():
        degree = Counter(end for pair in mine for end in pair)
        for node in {end for pair in pairs for end in pair}:
            other = kept[tuple(pair for pair in pairs if node not in pair)]
            theirs = Counter(end for pair in other for end in pair)
            moves = sum(abs(degree[u] - theirs[u]) for u in range(NODES) if u != node)
            if moves > degree[node] or not 0 <= len(mine) - len(other) <= degree[node]:
                return False
    return True


@pytest.mark.parametrize("most", BOUNDS)
def test_the_projection_is_stable(most: int) -> None:
    assert is_stable(ours, most)
    assert is_stable(lambda pairs, most: greedy(pairs, most, lambda edge: edge), most)  # as in any order of the edges' own


def test_the_projection_is_stable_on_larger_graphs() -> None:
    """Long chains of edges that give way to each other need more nodes: random graphs of forty, every node taken away."""
    coins = np.random.default_rng(11)
    for chance, most in itertools.product((0.05, 0.15, 0.4), (1, 2, 5)):
        pairs = tuple(pair for pair in itertools.combinations(range(40), 2) if coins.random() < chance)
        mine = ours(pairs, most)
        degree = Counter(end for pair in mine for end in pair)
        longest = 0
        for node in range(40):
            other = ours(tuple(pair for pair in pairs if node not in pair), most)
            theirs = Counter(end for pair in other for end in pair)
            assert sum(abs(degree[u] - theirs[u]) for u in range(40) if u != node) <= degree[node]
            assert 0 <= len(mine) - len(other) <= degree[node]
            longest = max(longest, len(set(mine) ^ set(other)))
        assert most > 2 or longest > most  # more edges change than the node had: what is claimed is not trivial


@pytest.mark.parametrize("broken", [high_first, back_and_forth])
def test_an_order_that_looks_at_other_edges_is_caught(broken: Callable[[Pairs, int], Pairs]) -> None:
    assert not is_stable(broken, 2)


def test_the_order_of_two_edges_is_their_own() -> None:
    """All graphs on five nodes keep the order of the complete one, and so do names of other kinds beside."""

    def order(pairs: Pairs) -> list[tuple[int, int]]:
        return list(ours(pairs, NODES))

    whole = order(tuple(itertools.combinations(range(NODES), 2)))
    assert whole != sorted(whole)
    for pairs in graphs(NODES):
        assert order(pairs) == [pair for pair in whole if pair in pairs]
    beside = Graph.of([*whole, ("a", 0), (None, 1), (2.5, 3), ("a", "b")])
    among = beside.ends[(beside.ends < NODES).all(axis=1)]
    assert [tuple(pair) for pair in among.tolist()] == whole


def test_dropping_nodes_of_high_degree_is_caught() -> None:
    def truncated(graph: Graph) -> object:
        low = graph.degrees <= 2
        return graph.keep(low[graph.ends].all(axis=1) if graph.size else np.empty(0, np.bool_)).size

    assert furthest(truncated, "node", NODES) > 2
