"""The number of edges: its sensitivity on all graphs of five nodes, and its stated error."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.graphs.every import furthest
from mechanisms.shake import Shake

from discreet.algorithms.graphs.edges import EdgeCount
from discreet.mechanisms.laplace import Laplace

RING = [(i, (i + 1) % 500) for i in range(500)]
NODES = 5
BOUNDS = (1, 2, 3, 4)


@pytest.mark.parametrize("mechanism", [EdgeCount(epsilon="1/2"), EdgeCount(epsilon="1/2", protects="node", most=3)], ids=str)
def test_the_edges_are_within_the_error(mechanism: EdgeCount) -> None:
    t = mechanism.error(0.9)
    draws = np.array([mechanism.sample(RING, Shake(i)) for i in range(400)])
    assert (np.abs(draws - 500) > t).sum() <= 75
    assert mechanism.loss.epsilon_at(0) == 0.5
    assert mechanism.loss_at(5).epsilon_at(0) == 2.5


def moved(noise: Laplace) -> int:
    return int(noise.sensitivity)


def test_one_edge_moves_the_edges_by_one() -> None:
    mechanism = EdgeCount(epsilon=1)
    assert furthest(mechanism.exact, "edge", NODES) == 1 == moved(mechanism.noise)


@pytest.mark.parametrize("most", BOUNDS)
def test_one_node_moves_the_projected_edges_by_most(most: int) -> None:
    mechanism = EdgeCount(epsilon=1, protects="node", most=most)
    assert furthest(mechanism.exact, "node", NODES) == most == moved(mechanism.noise)


def test_no_projection_is_caught() -> None:
    assert furthest(lambda graph: graph.size, "node", NODES) > 2
