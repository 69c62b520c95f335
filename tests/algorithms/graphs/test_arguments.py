"""Arguments of graph mechanisms: which edges are read, which are rejected, and wrong parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from discreet.algorithms.graphs.degrees import DegreeHistogram, DegreeSequence
from discreet.algorithms.graphs.edges import EdgeCount
from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.projection import DegreeBound
from discreet.errors import Error, Invalid
from discreet.private import Private

EVERY: list[Any] = [
    EdgeCount(epsilon=1),
    EdgeCount(epsilon=1, protects="node", most=2),
    DegreeHistogram(epsilon=1, most=3),
    DegreeHistogram(epsilon=1, most=3, protects="node"),
    DegreeSequence(epsilon=1, nodes=3),
    DegreeBound(epsilon=1, count_epsilon=1),
]
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


@pytest.mark.parametrize("mechanism", EVERY, ids=str)
def test_plain_slips_are_reported_and_private_ones_are_not(mechanism: Any) -> None:
    for wrong in ([(1, 2, 3)], [(1, None)], ["ab"], 5, "ab", {1: 2}, [{1}], [(1, math.nan)], iter([(1, 2)]), [(1, 2), None]):
        with pytest.raises(Error):
            mechanism.release(wrong)
    for strange in ([(1, 2, 3)], [(1, None)], [], [(1, 1)], ["ab", 3, None], [([], {}), (object(), 1)], [(1, 2), ("a", 2.5)]):
        mechanism.release(Private(strange))


@pytest.mark.parametrize("plain", READ, ids=lambda plain: type(plain).__name__)
def test_plain_pairs_of_all_kinds_are_read(plain: Any) -> None:
    assert EdgeCount(epsilon=1000).release(plain) == 3


@pytest.mark.parametrize("plain", REFUSED, ids=lambda plain: type(plain).__name__)
def test_plain_edges_are_never_dropped_in_silence(plain: Any) -> None:
    """Whoever gives them hears if they cannot be read."""
    with pytest.raises(Invalid, match=r"pair|data frame"):
        EdgeCount(epsilon=1000).release(plain)


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
