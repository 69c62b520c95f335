"""Predicates over a universe, and databases as its rows: the same numbers as with matrices and index counts."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.classical.blr import BLR
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.mwem import MWEM
from discreet.algorithms.classical.pmw import PMW
from discreet.algorithms.classical.universe import Universe
from discreet.errors import Error, Invalid
from discreet.private import Private, reveal

BITS = list(itertools.product((0, 1), repeat=3))
PREDICATES = [lambda r: r[0] == 1, lambda r: sum(r) >= 2, lambda r: r[1] and not r[2]]
ROWS = [(1, 0, 1)] * 5 + [(0, 1, 0)] * 3 + [(1, 1, 1)]


@pytest.mark.parametrize("rows", [ROWS, [list(r) for r in ROWS], np.array(ROWS), iter(ROWS)], ids=["tuples", "lists", "array", "iterator"])
def test_rows_of_every_spelling(rows: Any) -> None:
    universe = Universe(BITS)
    counts = universe.histogram(rows)
    assert counts.tolist() == [Counter(ROWS)[value] for value in BITS]
    assert Counter(universe.rows(counts)) == Counter(ROWS)


def test_the_algorithms_take_rows() -> None:
    """MWEM, BLR and PMW on private rows; what BLR chose is rows of the universe again."""
    queries = Queries.of(BITS, PREDICATES)
    data = queries.histogram(Private(ROWS * 100))
    told = MWEM(queries=queries, rounds=4, epsilon=50).release(data)
    assert abs(told.total - 900) < 20
    small = BLR(queries=queries, rows=3, epsilon=50).release(data)
    chosen = queries.rows(small.histogram)
    assert len(chosen) == 3
    assert set(chosen) <= set(BITS)
    run = PMW(domain=8, accuracy="1/4", queries_expected=10, epsilon=100).open(data)
    assert abs(run.ask(Universe(BITS).query(PREDICATES[0])).value - 600) < 300


class Hostile:
    def __hash__(self) -> int:
        raise RuntimeError("secret")


def test_private_rows_outside_the_universe_are_left_out() -> None:
    universe = Universe(BITS)
    odd = [(2, 0, 0), None, "x", {1}, [[1]], Hostile(), np.array(3), (1, 0)]
    assert reveal(universe.histogram(Private([*odd, *ROWS]))).tolist() == universe.histogram(ROWS).tolist()
    for row in odd:
        with pytest.raises(Invalid, match="row 1 is not a value of the universe") as caught:
            universe.histogram([(0, 0, 0), row])
        assert "secret" not in str(caught.value)


def test_one_row_moves_one_count_by_one() -> None:
    universe = Universe("abc")
    values = ["a", "b", "z", None]
    for rows in itertools.product(values, repeat=3):
        before = reveal(universe.histogram(Private(rows[:2])))
        assert np.abs(reveal(universe.histogram(Private(rows))) - before).sum() <= 1


def test_slips_are_reported() -> None:
    for universe in ([], ["a", "a"], [{1}], 7):
        with pytest.raises(Invalid, match="universe"):
            Universe(universe)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="at least one predicate"):
        Queries.of("ab", [])
    for predicate in (3, lambda _: "yes", lambda _: 2, lambda _: -1, lambda _: None, lambda _: 0.5):
        with pytest.raises(Invalid, match="predicate"):
            Queries.of("ab", [predicate])  # type: ignore[list-item]
    with pytest.raises(ZeroDivisionError):  # the universe is public: the predicate's own error is the report
        Queries.of([0, 1], [lambda x: 1 / x > 1])
    queries = Queries.of("ab", [lambda x: x == "a"])
    for wrong in ({}, {"histogram": [1, 2], "rows": "ab"}):
        with pytest.raises(Invalid, match="either a histogram or rows"):
            queries.answers(**wrong)
    with pytest.raises(Error, match="this value is private"):
        queries.answers(rows=Private("ab"))
    for counts in ([1], [1.5, 2], [-1, 1]):
        with pytest.raises(Invalid, match="must have one count, a whole number"):
            queries.rows(counts)
    with pytest.raises(Invalid, match=r"Queries\.of"):
        Queries.points(2).histogram("ab")
    with pytest.raises(Invalid, match="one column for each value"):
        Queries([[1, 0, 1]], universe=Universe("ab"))
