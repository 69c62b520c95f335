"""Workloads: which marginals a synthetic table should get right, and how much each matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import final

from attrs import field, frozen

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.errors import Invalid
from discreet.exact import whole

MOST_CELLS = 3 * 10**7  # cells of all marginals of a workload together
MOST_WEIGHT = 10**7
USUAL = 3  # columns of the usual workload's marginals


def _weights(weights: Mapping[Clique, int]) -> dict[Clique, int]:
    read = {clique: whole(weight, "a marginal's weight") for clique, weight in weights.items()}
    if sum(read.values()) > MOST_WEIGHT:
        raise Invalid(f"the weights of all marginals together are at most {MOST_WEIGHT:,}: divide them by what they have in common")
    return read


@final
@frozen(eq=False)
class Workload:
    """Marginals with weights, whole numbers.

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
        """All marginals of k columns (of all, if there are fewer)."""
        return cls(domain, dict.fromkeys(combinations(domain.columns, min(whole(k, "k"), len(domain.names))), 1))

    @classmethod
    def of(cls, domain: Domain, marginals: Iterable[Sequence[str]] | Mapping[Sequence[str], int]) -> Workload:
        """Marginals by the names of their columns; with a mapping, each with a weight."""
        weights: dict[Clique, int] = {}
        for names in marginals:
            weight = marginals[names] if isinstance(marginals, Mapping) else 1
            if isinstance(names, str) or not isinstance(names, Iterable):
                raise Invalid('a marginal is a tuple of columns: ("age", "sex"), or ("age",) for one')
            clique = domain.clique(names)
            weights[clique] = weights.get(clique, 0) + weight
        if not weights:
            raise Invalid("a workload needs at least one marginal")
        return cls(domain, weights)

    @classmethod
    def usual(cls, domain: Domain) -> Workload:
        """All marginals of three columns, or of two where three would have too many cells."""
        for k in range(USUAL, 1, -1):
            if comb(len(domain.names), k) < 10**5 and (found := cls.all_of(domain, k)).cells <= MOST_CELLS:
                return found
        found = cls.all_of(domain, 1)
        if found.cells > MOST_CELLS:
            raise Invalid("these columns have too many codes: use fewer bins or columns")
        return found

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The marginals."""
        return tuple(self.weights)

    @property
    def cells(self) -> int:
        """The cells of all marginals together."""
        return sum(map(self.domain.cells, self.weights))

    def closure(self) -> dict[Clique, int]:
        """Every part of a marginal, with how much it shares with the workload: Σ weight·|columns in common|."""
        parts = {part for clique in self.weights for k in range(1, len(clique) + 1) for part in combinations(clique, k)}
        columns = {i: sum(weight for clique, weight in self.weights.items() if i in clique) for i in self.domain.columns}
        return {part: sum(columns[i] for i in part) for part in sorted(parts, key=lambda part: (len(part), part))}
