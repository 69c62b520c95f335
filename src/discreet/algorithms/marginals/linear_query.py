"""Linear queries: a number from 0 to 1 for each combination of codes of a few columns, summed over all records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import reduce
from math import gcd, isqrt, lcm, prod
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.algorithms.marginals.counts import Counts

Integers = NDArray[np.int64]
Codes = int | Collection[int]
MOST_CELLS = 2**20  # combinations of codes of one query's columns
_FINEST, _ROUNDED = 2**20, 10**6  # the largest `top`, and the `top` of values with too many digits


@final
@frozen
class LinearQuery:
    """Sum weight/top over all records, where a record's codes in a few columns determine its weight, a whole number from 0 to top.

    With top = 1 it counts the records of a predicate; otherwise it sums a value between 0 and 1. Queries are kept in canonical form,
    without irrelevant columns and common factors, so that the same question is the same value however it was written.

    Lemma (sensitivity). Between neighbours let the cells of the clique's marginal gain at most Δ together, lose at most Δ together, and
    change by at most Δ₂ in ℓ₂. Then Σ weight·count changes by at most min(max weight·Δ, ‖weights‖₂·Δ₂), by a whole number if counts are
    whole. Proof. Weights are non-negative, so gains raise the sum by at most max weight·Δ, losses lower it by at most as much, and the two
    offset each other: under replace-one the sum changes no more than when a unit is added. The rest is Cauchy–Schwarz.

    >>> domain = Domain.of({"age": 10, "sex": 2})
    >>> LinearQuery.where(domain, {"age": range(3), "sex": [0, 1]}) == LinearQuery.where(domain, {"age": [2, 1, 0]})
    True
    >>> LinearQuery.average(domain, "age", [Fraction(code, 9) for code in range(10)]).top
    9
    """

    clique: Clique
    shape: tuple[int, ...]
    weights: tuple[int, ...]
    top: int

    @classmethod
    def of(cls, domain: Domain, columns: Iterable[str], weights: Any, top: int = 1) -> LinearQuery:
        """Build from an array of whole weights with one axis per column, in the order given."""
        names = [columns] if isinstance(columns, str) else list(columns)
        clique, top = domain.clique(names), exact.whole(top, "top")
        if len(clique) != len(names):
            raise Invalid("a column is repeated: name each column of a query once")
        _check_size(domain, clique)
        array = np.asarray(weights)
        if array.shape != tuple(domain.sizes[domain.names.index(name)] for name in names) or array.dtype.kind not in "biu":
            raise Invalid("weights must be an array of whole numbers with one axis per column, as long as its number of codes")
        if int(array.min()) < 0 or int(array.max()) > top or top > _FINEST:
            raise Invalid(f"weights must lie between 0 and top, and top must be at most {_FINEST:,}: scale them down")
        order = [names.index(domain.names[i]) for i in clique]
        return cls._canonical(clique, array.astype(np.int64).transpose(order), top)

    @classmethod
    def where(cls, domain: Domain, conditions: Mapping[str, Codes]) -> LinearQuery:
        """Count the records whose columns each have one of the given codes; without conditions, all records."""
        clique = domain.clique(list(conditions))
        _check_size(domain, clique)
        chosen = [_chosen(domain.names[i], domain.sizes[i], conditions[domain.names[i]]) for i in clique]
        return cls._canonical(clique, _product(chosen), 1)

    @classmethod
    def average(cls, domain: Domain, column: str, values: Iterable[exact.Number], where: Mapping[str, Codes] | None = None) -> LinearQuery:
        """Sum a value from 0 to 1 for each code of a column, over the records of a condition; as a share, the average over all.

        Values with too many digits for a common denominator are rounded to six.
        """
        conditions = dict(where or {})
        clique = domain.clique([column, *conditions])
        _check_size(domain, clique)
        place = domain.names.index(column)
        read = [exact.rational(value, "a value to average") for value in values]
        if len(read) != domain.sizes[place] or any(not 0 <= value <= 1 for value in read):
            raise Invalid(f"give a value between 0 and 1 for each of the {domain.sizes[place]} codes of {column!r:.80}")
        if (top := lcm(*(value.denominator for value in read))) > _FINEST:
            top, read = _ROUNDED, [Fraction(round(value * _ROUNDED), _ROUNDED) for value in read]
        factors = []
        for i in clique:
            name = domain.names[i]
            chosen = _chosen(name, domain.sizes[i], conditions.get(name, range(domain.sizes[i])))
            factors.append(chosen * np.array([int(value * top) for value in read], np.int64) if i == place else chosen)
        return cls._canonical(clique, _product(factors), top)

    @classmethod
    def _canonical(cls, clique: Clique, array: Integers, top: int) -> LinearQuery:
        if not array.any():
            raise Invalid("the query is 0 for every record: choose at least one code, and a value above 0")
        kept = [axis for axis in range(array.ndim) if (array != array.take([0], axis)).any()]
        array = array[tuple(slice(None) if axis in kept else 0 for axis in range(array.ndim))]
        common = reduce(gcd, map(int, np.unique(array)), top)
        return cls(tuple(clique[axis] for axis in kept), array.shape, tuple((array // common).ravel().tolist()), top // common)

    @property
    def array(self) -> Integers:
        """The weights, with one axis per column."""
        return np.array(self.weights, np.int64).reshape(self.shape)

    def check(self, domain: Domain) -> None:
        """Reject a query that was made for another domain."""
        if any(i not in domain.columns for i in self.clique) or domain.shape(self.clique) != self.shape:
            raise Invalid("the query was made for another domain: make it with the domain of this run")

    def of_marginal(self, marginal: Integers) -> int:
        """Σ weight·count, exactly, of a marginal's counts as one vector."""
        if self.top * int(np.abs(marginal).sum()) >= 2**62:
            marginal = marginal.astype(object)  # the same numbers, slower
        return int(np.dot(np.array(self.weights, marginal.dtype), marginal))

    def sensitivity(self, counts: Counts) -> int:
        """The sensitivity of Σ weight·count, in units of the counts."""
        squares = sum(weight * weight for weight in self.weights) * Fraction(counts.l2_sensitivity) ** 2
        return min(max(self.weights) * counts.one_sided_sensitivity, isqrt(squares.numerator // squares.denominator))

    def shown(self, domain: Domain) -> str:
        """The query in readable form."""
        return f"{'count' if self.top == 1 else 'sum'} by {domain.shown(self.clique)}"


def _check_size(domain: Domain, clique: Clique) -> None:
    if prod(domain.shape(clique)) > MOST_CELLS:
        raise Invalid(f"the columns of one query may have at most {MOST_CELLS:,} combinations: use fewer columns")


def _chosen(name: str, size: int, codes: Codes) -> Integers:
    """1 for each chosen code of a column."""
    found = np.zeros(size, np.int64)
    listed: list[Any] = list(codes) if isinstance(codes, Collection | np.ndarray) and not isinstance(codes, str | bytes) else [codes]
    if not listed:
        raise Invalid(f"the condition on {name!r:.80} is empty: name at least one code")
    for code in listed:
        if exact.whole(code, f"a code of {name!r:.80}", least=0) >= size:
            raise Invalid(f"a code of {name!r:.80} is out of range: use 0 to {size - 1}")
        found[int(code)] = 1
    return found


def _product(factors: list[Integers]) -> Integers:
    found = np.ones((), np.int64)
    for factor in factors:
        found = np.multiply.outer(found, factor)
    return np.asarray(found)
