"""Linear queries over a finite domain: the input of the classical algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import whole_matrix
from discreet.algorithms.classical.universe import Predicate, Universe
from discreet.errors import Invalid
from discreet.exact import whole
from discreet.private import Private

MOST_CELLS = 10**8  # entries of a matrix of queries


def _matrix(entries: Any) -> NDArray[np.int64]:
    return whole_matrix(entries, "queries must be a matrix of whole numbers, with one row per query and one column per value of the domain")


@final
@frozen(eq=False)
class Queries:
    """Counting and averaging queries: a record with value v adds q(v)/top, where q(v) is a whole number from 0 to top.

    A data set is a histogram: how often each of the domain's values occurs. Adding or removing one record changes each answer by at most 1.
    Queries made from predicates know their universe, so that a data set may be given as rows of it.

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
    top: int = field(default=1, converter=arguments.top)
    universe: Universe | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.universe is not None and len(self.universe) != self.domain:
            raise Invalid("queries must have one column for each value of the universe: make them with Queries.of(universe, predicates)")
        if self.matrix.min() < 0 or self.matrix.max() > self.top:
            raise Invalid("a query's values must lie between 0 and top: pass a larger top=")

    @property
    def size(self) -> int:
        """The number of queries, |Q|."""
        return len(self.matrix)

    @property
    def domain(self) -> int:
        """The number of values a record may have, |D|."""
        return int(self.matrix.shape[1])

    def answers(self, histogram: Any = None, *, rows: Any = None) -> NDArray[np.int64]:
        """Each query's count, times `top`; of a histogram, or of rows of the universe."""
        return np.asarray(self.matrix @ np.asarray(self._counts(histogram, rows), np.int64))

    def means(self, distribution: Any = None, *, rows: Any = None) -> NDArray[np.float64]:
        """Each query's average over a distribution, or anything proportional to one; or over rows of the universe."""
        weights = np.asarray(self._counts(distribution, rows), np.float64)
        return np.asarray(self.matrix @ (weights / weights.sum()) / self.top)

    def _counts(self, counted: Any, rows: Any) -> Any:
        if (counted is None) == (rows is None):
            raise Invalid("give either a histogram or rows=, a list of values of the universe")
        return counted if rows is None else self.histogram(rows)

    # ── databases as rows of the universe ────────────────────────────────────────────────────────────────────────────

    def histogram(self, rows: Private[Any] | Iterable[Any]) -> Any:
        """The histogram of a database given as rows; private rows give a private histogram (see `Universe.histogram`)."""
        return self._known().histogram(rows)

    def rows(self, histogram: Any) -> list[Any]:
        """The rows of the universe that a public histogram represents, such as that of a small database."""
        return self._known().rows(histogram)

    def _known(self) -> Universe:
        if self.universe is None:
            raise Invalid("these queries have no universe: make them with Queries.of(universe, predicates), or give a histogram")
        return self.universe

    # ── classes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of(cls, universe: Universe | Iterable[Any], predicates: Iterable[Predicate], *, top: int = 1) -> Queries:
        """Counting queries written as predicates over a universe, the list of values a record may have.

        With `top`, a predicate may return a whole number from 0 to top: an averaging query with values in steps of 1/top.
        """
        known = universe if isinstance(universe, Universe) else Universe(universe)
        asked = list(predicates)
        if not asked:
            raise Invalid("give at least one predicate, as in [lambda row: row > 40]")
        _fitting(len(known), len(asked))
        return cls(np.array([known.query(predicate, top) for predicate in asked]), top, universe=known)

    @classmethod
    def points(cls, domain: int) -> Queries:
        """The number of records with each value."""
        return cls(np.eye(_fitting(domain, domain), dtype=np.int64))

    @classmethod
    def thresholds(cls, domain: int) -> Queries:
        """The number of records at most v, for each v of an ordered domain."""
        return cls(np.tril(np.ones((_fitting(domain, domain), domain), np.int64)))

    @classmethod
    def intervals(cls, domain: int) -> Queries:
        """The number of records between two values of an ordered domain, for each pair."""
        _fitting(domain, domain * (domain + 1) // 2)
        ends = [(a, b) for a in range(domain) for b in range(a, domain)]
        place = np.arange(domain)
        return cls(np.array([(a <= place) & (place <= b) for a, b in ends]).astype(np.int64))

    @classmethod
    def marginals(cls, sizes: Sequence[int], k: int) -> Queries:
        """All conjunctions of k columns, where a record's value is the row-major index of its columns' values."""
        shape = tuple(whole(size, "a column's size") for size in sizes)
        if not 0 <= k <= len(shape):
            raise Invalid("k must lie between 0 and the number of columns, such as k=2")
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
        raise Invalid(f"{queries:,} queries over {domain:,} values are too large for a matrix: use db.synthesize, which works on marginals")
    return domain


def small_databases(domain: int, rows: int) -> int:
    """The number of multisets of this many rows over a domain."""
    return comb(whole(domain, "domain") + whole(rows, "rows") - 1, rows)
