"""Linear queries over a finite domain: the language of the classical algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.algorithms.classical.universe import Predicate, Universe
from discreet.errors import Invalid
from discreet.exact import whole
from discreet.private import Private

MOST_CELLS = 10**8  # entries of a matrix of queries


def _matrix(entries: Any) -> NDArray[np.int64]:
    matrix = np.asarray(entries)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "biu":
        raise Invalid("queries are a matrix of whole numbers, one row for each query and one column for each value of the domain")
    out = matrix.astype(np.int64)
    out.setflags(write=False)
    return out


def _top(top: int) -> int:
    return whole(top, "top")


@final
@frozen(eq=False)
class Queries:
    """Counting and averaging queries: a record with value v adds q(v)/top, where q(v) is a whole number from 0 to top.

    A data set is a histogram: how often each of the domain's values occurs. One record more or less moves each answer by at most 1.
    Queries made of predicates know their universe, so that a data set may be given as rows of it.

    >>> thresholds = Queries.thresholds(4)
    >>> thresholds.answers([3, 0, 2, 1]).tolist()
    [3, 3, 5, 6]
    >>> Queries.marginals((2, 3), 1).matrix.tolist()
    [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]]
    >>> adults = Queries.of(["child", "adult", "senior"], [lambda who: who != "child", lambda who: who == "senior"])
    >>> adults.answers(rows=["adult", "senior", "child", "senior"]).tolist()
    [3, 2]
    """

    matrix: NDArray[np.int64] = field(converter=_matrix, repr=False)
    top: int = field(default=1, converter=_top)
    universe: Universe | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.universe is not None and len(self.universe) != self.domain:
            raise Invalid("the matrix of queries must have one column for each value of the universe")
        if self.matrix.min() < 0 or self.matrix.max() > self.top:
            raise Invalid("a query's values lie between 0 and top")

    @property
    def size(self) -> int:
        """How many queries there are, |Q|."""
        return len(self.matrix)

    @property
    def domain(self) -> int:
        """How many values a record may have, |D|."""
        return int(self.matrix.shape[1])

    def answers(self, histogram: Any = None, *, rows: Any = None) -> NDArray[np.int64]:
        """Each query's count, times `top`; of a histogram, or of rows of the universe."""
        return np.asarray(self.matrix @ np.asarray(self._counts(histogram, rows), np.int64))

    def means(self, distribution: Any = None, *, rows: Any = None) -> NDArray[np.float64]:
        """Each query's average over a distribution, or over anything proportional to one; or over rows of the universe."""
        weights = np.asarray(self._counts(distribution, rows), np.float64)
        return np.asarray(self.matrix @ (weights / weights.sum()) / self.top)

    def _counts(self, counted: Any, rows: Any) -> Any:
        if (counted is None) == (rows is None):
            raise Invalid("give either a histogram or rows=, the rows of the universe")
        return counted if rows is None else self.histogram(rows)

    # ── databases as rows of the universe ────────────────────────────────────────────────────────────────────────────

    def histogram(self, rows: Private[Any] | Iterable[Any]) -> Any:
        """A database given as rows, as the algorithms take it; private rows give a private histogram (see `Universe.histogram`)."""
        return self._known().histogram(rows)

    def rows(self, histogram: Any) -> list[Any]:
        """The rows of the universe that a public histogram stands for, such as that of a small database."""
        return self._known().rows(histogram)

    def _known(self) -> Universe:
        if self.universe is None:
            raise Invalid("these queries have no universe of rows: make them with Queries.of(universe, predicates), or give a histogram")
        return self.universe

    # ── classes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of(cls, universe: Universe | Iterable[Any], predicates: Iterable[Predicate], *, top: int = 1) -> Queries:
        """Counting queries written as predicates over a universe, the list of values that a record may have.

        With `top`, a predicate may say a whole number from 0 to top instead: an averaging query with values in steps of 1/top.
        """
        known = universe if isinstance(universe, Universe) else Universe(universe)
        asked = list(predicates)
        if not asked:
            raise Invalid("give at least one predicate, as in [lambda row: row > 40]")
        _fitting(len(known), len(asked))
        return cls(np.array([known.query(predicate, top) for predicate in asked]), top, universe=known)

    @classmethod
    def points(cls, domain: int) -> Queries:
        """How many records have each value."""
        return cls(np.eye(_fitting(domain, domain), dtype=np.int64))

    @classmethod
    def thresholds(cls, domain: int) -> Queries:
        """How many records are at most v, for each v of an ordered domain."""
        return cls(np.tril(np.ones((_fitting(domain, domain), domain), np.int64)))

    @classmethod
    def intervals(cls, domain: int) -> Queries:
        """How many records lie between two values of an ordered domain, for each pair."""
        _fitting(domain, domain * (domain + 1) // 2)
        ends = [(a, b) for a in range(domain) for b in range(a, domain)]
        place = np.arange(domain)
        return cls(np.array([(a <= place) & (place <= b) for a, b in ends]).astype(np.int64))

    @classmethod
    def marginals(cls, sizes: Sequence[int], k: int) -> Queries:
        """All conjunctions of k columns, where a record's value is the row-major place of its columns' values."""
        shape = tuple(whole(size, "a column's size") for size in sizes)
        if not 0 <= k <= len(shape):
            raise Invalid("k must lie between 0 and the number of columns")
        domain = prod(shape)
        chosen = list(combinations(range(len(shape)), k))
        _fitting(domain, sum(prod(shape[i] for i in clique) for clique in chosen))
        values = np.indices(shape).reshape(len(shape), domain)
        rows = []
        for clique in chosen:
            for cell in product(*(range(shape[i]) for i in clique)):
                rows.append(np.logical_and.reduce([np.ones(domain, bool), *(values[i] == v for i, v in zip(clique, cell, strict=True))]))
        return cls(np.array(rows).astype(np.int64))


def _fitting(domain: int, queries: int) -> int:
    if whole(domain, "domain") * queries > MOST_CELLS:
        raise Invalid(f"{queries:,} queries over {domain:,} values are too many for a matrix: use db.synthesize, which counts marginals")
    return domain


def small_databases(domain: int, rows: int) -> int:
    """How many multisets of so many rows there are over a domain."""
    return comb(whole(domain, "domain") + whole(rows, "rows") - 1, rows)
