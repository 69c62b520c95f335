"""Graphs as they are read, and releases of edges and degrees: stated errors, monotone counts, bounds found, bad input."""

from __future__ import annotations

import datetime
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from mechanisms.shake import Shake

from discreet.algorithms.graphs.degrees import DegreeHistogram, Degrees, DegreeSequence, nonincreasing
from discreet.algorithms.graphs.edges import EdgeCount
from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.projection import DegreeBound, project
from discreet.errors import Error, Invalid
from discreet.private import Private

RING = [(i, (i + 1) % 500) for i in range(500)]
STAR = [("hub", i) for i in range(200)]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_loops_doubles_and_directions_do_not_count() -> None:
    graph = Graph.of([(1, 2), (2, 1), (1, 2), (2, 2), (2, 3)])
    assert (graph.size, graph.nodes, graph.degrees.tolist()) == (2, 3, [1, 2, 1])


def test_names_of_any_kind() -> None:
    """Whole numbers are the same name whatever their type; other values by their text; missing names drop the pair."""
    same = [(1, 2.0), (True, np.int64(2)), (Fraction(1), Decimal(2)), (np.uint8(1), np.float32(2))]
    assert Graph.of(same).size == 1
    day = datetime.date(2026, 11, 15)
    mixed = Graph.of([(1, "1"), ("a", day), ((1, 2), "a"), (10**30, 1), (0.5, Fraction(1, 2)), (math.inf, 1), (b"x", "x")])
    assert mixed.size == 6
    missing = [(None, 1), (math.nan, 1), (Decimal("nan"), 1), (1, np.float64("nan"))]
    assert Graph.of(missing).size == 0
    assert Graph.of(np.array([[1, 2], [2, 3]], np.uint8)).size == Graph.of(np.array([[1, 2], [2, 3]])).size == 2


def test_a_graph_shows_nothing() -> None:
    assert repr(Graph.of(STAR)) == "Graph(…)"


def test_triangles_and_common_neighbours_against_matrices() -> None:
    coins = np.random.default_rng(3)
    for nodes, chance in itertools.product((6, 25, 60), (0.1, 0.5, 0.9)):
        there = np.triu(coins.random((nodes, nodes)) < chance, 1)
        full = (there | there.T).astype(np.int64)
        graph = Graph.of(np.argwhere(there))
        assert graph.triangles() == np.trace(full @ full @ full) // 6
        common = full @ full
        np.fill_diagonal(common, 0)
        assert graph.most_common_neighbours() == common.max()


# ── edges ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mechanism", [EdgeCount(epsilon="1/2"), EdgeCount(epsilon="1/2", protects="node", most=3)], ids=str)
def test_the_edges_are_within_the_error(mechanism: EdgeCount) -> None:
    t = mechanism.error(0.9)
    draws = np.array([mechanism.sample(RING, Shake(i)) for i in range(400)])
    assert (np.abs(draws - 500) > t).sum() <= 75
    assert mechanism.loss.epsilon_at(0) == 0.5
    assert mechanism.loss_at(5).epsilon_at(0) == 2.5


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


# ── degrees ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────────

EVERY: list[Any] = [
    EdgeCount(epsilon=1),
    EdgeCount(epsilon=1, protects="node", most=2),
    DegreeHistogram(epsilon=1, most=3),
    DegreeHistogram(epsilon=1, most=3, protects="node"),
    DegreeSequence(epsilon=1, nodes=3),
    DegreeBound(epsilon=1, count_epsilon=1),
]


@pytest.mark.parametrize("mechanism", EVERY, ids=str)
def test_plain_slips_are_reported_and_private_ones_are_not(mechanism: Any) -> None:
    for wrong in ([(1, 2, 3)], [(1, None)], ["ab"], 5, "ab", {1: 2}, [{1}], [(1, math.nan)], iter([(1, 2)]), [(1, 2), None]):
        with pytest.raises(Error):
            mechanism.release(wrong)
    for strange in ([(1, 2, 3)], [(1, None)], [], [(1, 1)], ["ab", 3, None], [([], {}), (object(), 1)], [(1, 2), ("a", 2.5)]):
        mechanism.release(Private(strange))


MASKED = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])  # type: ignore[no-untyped-call]
FRAME = {"a": [1, 2, 3], "b": [2, 3, 4]}
READ: list[Any] = [
    [{1, 2}, {2, 3}, {3, 4}],
    [frozenset((1, 2)), frozenset((2, 3)), frozenset((3, 4))],
    {(1, 2), (2, 3), (3, 4)},
    frozenset({(1, 2), (2, 3), (3, 4)}),
    ((1, 2), [2, 3], np.array([3, 4])),
    np.array([[1, 2], [2, 3], [3, 4]], object),
]
REFUSED: list[Any] = [
    polars.DataFrame(FRAME),
    polars.DataFrame(FRAME).lazy(),
    polars.Series([[1, 2], [2, 3], [3, 4]]),
    pandas.DataFrame(FRAME),
    pandas.Series([(1, 2), (2, 3), (3, 4)]),
    pyarrow.table(FRAME),
    [polars.Series([1, 2]), polars.Series([2, 3]), polars.Series([3, 4])],
    [range(1, 3), range(2, 4), range(3, 5)],
    [iter((1, 2))],
    [{1: 0, 2: 0}, {2: 0, 3: 0}],
    [np.zeros((2, 2))],
    [(1, 2), (2, 3), (3, 4), (5, np.ma.masked)],
    [(1, 2), (2, 3), (3, 4), (5, pandas.NA)],
    [(1, 2), (2, 3), (3, 4), (5, pandas.NaT)],
    [(1, 2), (2, 3), (3, 4), (5, np.datetime64("NaT"))],
    MASKED,
]


@pytest.mark.parametrize("plain", READ, ids=lambda plain: type(plain).__name__)
def test_plain_pairs_of_all_kinds_are_read(plain: Any) -> None:
    assert EdgeCount(epsilon=1000).release(plain) == 3


@pytest.mark.parametrize("plain", REFUSED, ids=lambda plain: type(plain).__name__)
def test_plain_edges_are_never_dropped_in_silence(plain: Any) -> None:
    """Whoever gives them hears if they cannot be read."""
    with pytest.raises(Invalid, match=r"pair|data frame"):
        EdgeCount(epsilon=1000).release(plain)


def test_what_a_mask_hides_is_missing() -> None:
    assert Graph.of(MASKED).size == 1
    assert Graph.of(MASKED.astype(object)).size == 1
    assert Graph.of([(1, 2), MASKED[1]]).size == 1
    assert Graph.of_columns(MASKED[:, 0], MASKED[:, 1]).size == 1
    for missing in (pandas.NA, pandas.NaT, np.datetime64("NaT"), np.ma.masked):
        assert Graph.of([(1, 2), (missing, 3), (missing, 4)]).size == 1
    assert EdgeCount(epsilon=1000).release(Private(MASKED)) == 1


def test_private_frames_are_an_error_of_type_whatever_is_in_them() -> None:
    for frame in (FRAME, {"a": [], "b": []}):
        with pytest.raises(Invalid, match="data frame"):
            EdgeCount(epsilon=1).release(Private(polars.DataFrame(frame)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: EdgeCount(epsilon=1, protects="node"),
        lambda: EdgeCount(epsilon=1, most=3),
        lambda: EdgeCount(epsilon=1, protects="people"),
        lambda: DegreeHistogram(epsilon=1, most=0),
        lambda: DegreeHistogram(epsilon=1, most=2**30),
        lambda: DegreeSequence(epsilon=1, nodes=0),
        lambda: DegreeSequence(epsilon=1, nodes=10**13),
        lambda: EdgeCount(epsilon=-1),
        lambda: Graph.of("ab"),
        lambda: Graph.of(np.zeros((2, 3))),
    ],
)
def test_wrong_parameters(wrong: Any) -> None:
    with pytest.raises(Invalid):
        wrong()
