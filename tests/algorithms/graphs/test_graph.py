"""Graphs as they are read, and their exact triangles and common neighbours."""

from __future__ import annotations

import datetime
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest

from discreet.algorithms.graphs.edges import EdgeCount
from discreet.algorithms.graphs.graph import Graph
from discreet.errors import Invalid
from discreet.private import Private

STAR = [("hub", i) for i in range(200)]
MASKED = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])  # type: ignore[no-untyped-call]
FRAME = {"a": [1, 2, 3], "b": [2, 3, 4]}


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
