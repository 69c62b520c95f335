"""Degree histograms and sequences: sensitivity on all graphs of five nodes, stated errors, monotone counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from algorithms.graphs.every import furthest
from mechanisms.shake import Shake

from discreet.algorithms.graphs.degrees import DegreeHistogram, Degrees, DegreeSequence, nonincreasing
from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.projection import project
from discreet.mechanisms.laplace import Laplace

RING = [(i, (i + 1) % 500) for i in range(500)]
STAR = [("hub", i) for i in range(200)]
NODES = 5
BOUNDS = (1, 2, 3, 4)


def test_falling_is_the_nearest_monotone_sequence() -> None:
    """Against the formula by means, and: it never makes the largest error larger."""
    coins = np.random.default_rng(5)
    for _ in range(50):
        values = coins.integers(0, 9, 7)
        ends = [min(values[start : end + 1].mean() for start in range(i + 1)) for i in range(7) for end in range(i, 7)]
        means = iter(ends)
        formula = [max(next(means) for _ in range(i, 7)) for i in range(7)]
        assert nonincreasing(values.tolist()) == pytest.approx(formula)
        true = np.sort(coins.integers(0, 9, 7))[::-1]
        assert np.abs(np.array(nonincreasing(values.tolist())) - true).max() <= np.abs(values - true).max() + 1e-12


@pytest.mark.parametrize("protects", ["edge", "node"])
def test_the_degrees_are_within_the_error(protects: Any) -> None:
    mechanism = DegreeHistogram(epsilon=1, most=4, protects=protects)
    t = mechanism.error(0.9)
    true = np.array([500, 500, 0, 0])
    draws = [mechanism.sample(RING, Shake(i)) for i in range(400)]
    assert sum(np.abs(np.array(d.at_least) - true).max() > t for d in draws) <= 75
    histograms = np.array([list(d.histogram.values()) for d in draws])
    assert (np.abs(histograms - [0, 500, 0, 0]).max(axis=1) > 2 * t).sum() <= 75


def test_what_follows_from_the_counts() -> None:
    degrees = Degrees([10, 4, 5, -2])
    assert degrees.at_least == [10, 4.5, 4.5, 0]
    assert degrees.histogram == {1: 5.5, 2: 0, 3: 4.5, 4: 0}
    assert degrees.edges == 9.5


def test_pooling_makes_sorted_degrees_better() -> None:
    """500 nodes of degree 2: pooled degrees are on average far nearer than their noise, of mean about 2/ε."""
    mechanism = DegreeSequence(epsilon=1, nodes=500)
    draws = np.array([mechanism.sample(RING, Shake(i)) for i in range(20)])
    assert np.abs(draws - 2).mean() < 0.5
    assert (np.abs(draws - 2).max(axis=1) > mechanism.error(0.5)).sum() <= 19
    assert DegreeSequence(epsilon=100, nodes=2).release(STAR) == [1.0, 1.0]  # no degree is above nodes − 1
    assert DegreeSequence(epsilon=100, nodes=4).release([(1, 2)]) == [1.0, 1.0, 0.0, 0.0]


def direct(graph: Graph, most: int) -> list[int]:
    """The histogram itself, nodes without edges left out."""
    return np.bincount(np.minimum(graph.degrees, most), minlength=most + 1)[1:].tolist()


def moved(noise: Laplace) -> int:
    return int(noise.sensitivity)


@pytest.mark.parametrize("most", BOUNDS)
def test_one_edge_moves_the_counts_at_least_by_two_and_the_histogram_by_four(most: int) -> None:
    mechanism = DegreeHistogram(epsilon=1, most=most)
    assert furthest(mechanism.exact, "edge", NODES) == 2 == moved(mechanism.noise)
    assert furthest(lambda graph: direct(graph, most), "edge", NODES) == (2 if most == 1 else 4)


@pytest.mark.parametrize("most", BOUNDS)
def test_one_node_moves_the_counts_at_least_by_twice_most(most: int) -> None:
    mechanism = DegreeHistogram(epsilon=1, most=most, protects="node")
    assert furthest(mechanism.exact, "node", NODES) == 2 * most == moved(mechanism.noise)
    assert furthest(lambda graph: direct(project(graph, most), most), "node", NODES) <= 2 * most + 1


@pytest.mark.parametrize("nodes", [3, 5, 7])
def test_one_edge_moves_the_sorted_degrees_by_two(nodes: int) -> None:
    mechanism = DegreeSequence(epsilon=1, nodes=nodes)
    assert furthest(mechanism.exact, "edge", NODES) == 2 == moved(mechanism.noise)
