"""Workloads: the marginals a synthetic table should preserve, and the weight of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import final

from attrs import field, frozen

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.errors import Invalid
from discreet.exact import whole

MOST_CELLS = 3 * 10**7  # total cells of a workload's marginals
MOST_WEIGHT = 10**7
USUAL = 3  # columns of the default workload's marginals


def _weights(weights: Mapping[Clique, int]) -> dict[Clique, int]:
    read = {clique: whole(weight, "a marginal's weight") for clique, weight in weights.items()}
    if sum(read.values()) > MOST_WEIGHT:
        raise Invalid(f"the weights of a workload must sum to at most {MOST_WEIGHT:,}: divide them by a common factor")
    return read


@final
@frozen(eq=False)
class Workload:
    """Marginals with weights, which are whole numbers.

    >>> domain = Domain.of({"age": 10, "sex": 2, "dept": 5})
    >>> Workload.all_of(domain, 2).cliques
    ((0, 1), (0, 2), (1, 2))
    >>> Workload.of(domain, [("age", "sex"), ("dept",)]).cells
    25
    """

    domain: Domain
    weights: Mapping[Clique, int] = field(converter=_weights)

    @classmethod
    def all_of(cls, domain: Domain, k: int) -> Workload:
        """All k-way marginals (of all columns, if there are fewer than k)."""
        return cls(domain, dict.fromkeys(combinations(domain.columns, min(whole(k, "k"), len(domain.names))), 1))

    @classmethod
    def of(cls, domain: Domain, marginals: Iterable[Sequence[str]] | Mapping[Sequence[str], int]) -> Workload:
        """Marginals by the names of their columns; a mapping gives each a weight."""
        weights: dict[Clique, int] = {}
        for names in marginals:
            weight = marginals[names] if isinstance(marginals, Mapping) else 1
            if isinstance(names, str) or not isinstance(names, Iterable):
                raise Invalid('a marginal must be a tuple of columns: write ("age", "sex"), or ("age",) for a single column')
            clique = domain.clique(names)
            weights[clique] = weights.get(clique, 0) + weight
        if not weights:
            raise Invalid('a workload needs at least one marginal, such as [("age", "sex")]')
        return cls(domain, weights)

    @classmethod
    def usual(cls, domain: Domain) -> Workload:
        """All 3-way marginals, or all 2-way ones if those have too many cells."""
        for k in range(USUAL, 1, -1):
            if comb(len(domain.names), k) < 10**5 and (found := cls.all_of(domain, k)).cells <= MOST_CELLS:
                return found
        found = cls.all_of(domain, 1)
        if found.cells > MOST_CELLS:
            raise Invalid(f"these columns have more than {MOST_CELLS:,} codes in total: use fewer bins or columns")
        return found

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The marginals."""
        return tuple(self.weights)

    @property
    def cells(self) -> int:
        """The total number of cells of all marginals."""
        return sum(map(self.domain.cells, self.weights))

    def closure(self) -> dict[Clique, int]:
        """Every subset of a marginal, with its overlap with the workload: Σ weight·|columns in common|."""
        parts = {part for clique in self.weights for k in range(1, len(clique) + 1) for part in combinations(clique, k)}
        columns = {i: sum(weight for clique, weight in self.weights.items() if i in clique) for i in self.domain.columns}
        return {part: sum(columns[i] for i in part) for part in sorted(parts, key=lambda part: (len(part), part))}
