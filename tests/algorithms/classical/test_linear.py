"""Linear queries: predicates, classes of queries, and their answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.errors import Invalid

BITS = list(itertools.product((0, 1), repeat=3))
PREDICATES = [lambda r: r[0] == 1, lambda r: sum(r) >= 2, lambda r: r[1] and not r[2]]
ROWS = [(1, 0, 1)] * 5 + [(0, 1, 0)] * 3 + [(1, 1, 1)]


def test_predicates_are_the_rows_of_a_matrix() -> None:
    queries = Queries.of(BITS, [lambda r, i=i, v=v: r[i] == v for i in range(3) for v in (0, 1)])
    assert np.array_equal(queries.matrix, Queries.marginals((2, 2, 2), 1).matrix)
    thresholds = Queries.of(range(7), [lambda x, v=v: x <= v for v in range(7)])
    assert np.array_equal(thresholds.matrix, Queries.thresholds(7).matrix)


def test_answers_of_rows_are_counts_of_rows_that_satisfy() -> None:
    queries = Queries.of(BITS, PREDICATES)
    told = [sum(bool(p(row)) for row in ROWS) for p in PREDICATES]
    assert queries.answers(rows=ROWS).tolist() == told == queries.answers(queries.histogram(ROWS)).tolist()
    assert queries.means(rows=ROWS) == pytest.approx(np.array(told) / len(ROWS))


def test_averaging_queries_have_steps() -> None:
    queries = Queries.of(range(5), [lambda x: x, lambda x: x > 2], top=4)
    assert queries.matrix.tolist() == [[0, 1, 2, 3, 4], [0, 0, 0, 4, 4]]
    assert queries.means(rows=[4, 2, 3]).tolist() == [0.75, pytest.approx(2 / 3)]


def test_classes_of_queries_against_their_definitions() -> None:
    data = [3, 0, 2, 1]
    assert Queries.points(4).answers(data).tolist() == data
    assert Queries.thresholds(4).answers(data).tolist() == [sum(data[: v + 1]) for v in range(4)]
    intervals = [sum(data[a : b + 1]) for a in range(4) for b in range(a, 4)]
    assert Queries.intervals(4).answers(data).tolist() == intervals
    table = np.arange(12).reshape(2, 3, 2)
    pairs = [table.sum(axis=axis).ravel() for axis in (2, 1, 0)]
    assert Queries.marginals((2, 3, 2), 2).answers(table.ravel()).tolist() == np.concatenate(pairs).tolist()
    assert Queries.marginals((2, 3, 2), 0).answers(table.ravel()).tolist() == [66]


def test_means_are_answers_of_one_record() -> None:
    queries = Queries([[0, 3, 1], [2, 2, 0]], top=4)
    np.testing.assert_allclose(queries.means([5, 3, 2]), queries.answers([5, 3, 2]) / 40)
    np.testing.assert_allclose(queries.means([0.5, 0.3, 0.2]), queries.means([5, 3, 2]))


def test_wrong_queries() -> None:
    for wrong in ([1, 0], [[0.5, 1]], [], [["a"]]):
        with pytest.raises(Invalid, match="matrix of whole numbers"):
            Queries(wrong)
    for values in ([[0, 2]], [[0, -1]]):
        with pytest.raises(Invalid, match="between 0 and top"):
            Queries(values)
    with pytest.raises(Invalid, match=r"db\.synthesize"):
        Queries.intervals(10**4)
    with pytest.raises(Invalid, match="k must lie"):
        Queries.marginals((2, 2), 3)
    with pytest.raises(ValueError, match="read-only"):
        Queries.points(2).matrix[0, 0] = 2


def test_the_number_of_small_databases() -> None:
    for domain, rows in ((1, 4), (3, 2), (4, 5)):
        assert small_databases(domain, rows) == len(list(itertools.combinations_with_replacement(range(domain), rows)))
