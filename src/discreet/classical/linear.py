"""Linear queries over a finite domain: the language of the classical algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb, prod
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import whole

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

    >>> thresholds = Queries.thresholds(4)
    >>> thresholds.answers([3, 0, 2, 1]).tolist()
    [3, 3, 5, 6]
    >>> Queries.marginals((2, 3), 1).matrix.tolist()
    [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]]
    """

    matrix: NDArray[np.int64] = field(converter=_matrix, repr=False)
    top: int = field(default=1, converter=_top)

    def __attrs_post_init__(self) -> None:
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

    def answers(self, histogram: Any) -> NDArray[np.int64]:
        """Each query's count, times `top`."""
        return np.asarray(self.matrix @ np.asarray(histogram, np.int64))

    def means(self, distribution: Any) -> NDArray[np.float64]:
        """Each query's average over a distribution, or over anything proportional to one."""
        weights = np.asarray(distribution, np.float64)
        return np.asarray(self.matrix @ (weights / weights.sum()) / self.top)

    # ── classes ──────────────────────────────────────────────────────────────────────────────────────────────────────

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
