"""Names of nodes: one node if and only if Python holds the names equal."""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas
import pytest

from discreet.algorithms.graphs.arguments import check_edges
from discreet.algorithms.graphs.graph import Graph
from discreet.errors import Invalid

EAST = datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)


class Word(str, enum.Enum):  # noqa: UP042 - a StrEnum would be written as it is
    """A text that is written otherwise than it is."""

    ANN = "ann"


EQUAL: list[list[Any]] = [
    [7, 7.0, Decimal("7.00"), Fraction(7)],
    [7, 7.0, np.int8(7), np.float32(7)],
    ["ann", np.str_("ann"), Word.ANN],
    [b"ann", bytearray(b"ann")],
    [datetime.datetime(2024, 1, 1), pandas.Timestamp("2024-01-01")],
    [NOON, datetime.datetime(2024, 1, 1, 14, tzinfo=EAST), pandas.Timestamp("2024-01-01 12:00", tz="UTC")],
    [(1, "a"), (1.0, np.str_("a")), (True, "a")],
    [UUID(int=7), UUID("00000000-0000-0000-0000-000000000007")],
]  # fmt: skip
APART: list[Any] = [
    7, "7", b"7", 7.5, (7,), (7, 7), ("7",), "ann", datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1), NOON, UUID(int=7),
    pandas.Timestamp("2024-01-01 00:00:00.000000001"),
]  # fmt: skip


@pytest.mark.parametrize("names", EQUAL, ids=str)
def test_names_that_python_holds_equal_are_one_node(names: list[Any]) -> None:
    """One person under several spellings would be several nodes, each with edges of its own."""
    assert all(a == b for a in names for b in names)
    graph = Graph.of([(name, "centre") for name in names])
    assert (graph.nodes, graph.size) == (2, 1)


def test_names_that_python_tells_apart_are_several_nodes() -> None:
    assert all(a != b for i, a in enumerate(APART) for b in APART[:i])
    assert Graph.of([(name, "centre") for name in APART]).nodes == len(APART) + 1


def test_names_of_which_equality_cannot_be_told_are_dropped_and_reported() -> None:
    for name in (frozenset({1}), 1j, (1, None), (1, frozenset()), np.datetime64("2024-01-01"), object()):
        assert Graph.of([(name, "centre")]).nodes == 0
        with pytest.raises(Invalid, match="pair of names"):
            check_edges([(name, "centre")])
