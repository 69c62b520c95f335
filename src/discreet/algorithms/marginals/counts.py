"""Sources of counts: exact whole numbers for each cell of a marginal, private until a mechanism releases them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.errors import Invalid
from discreet.private import Private

Integers = NDArray[np.int64]
Marginals = Mapping[Clique, Integers]  # row-major, in units of 1/one


def distance(counts: Integers, estimate: Integers) -> int:
    """Σ |counts − estimate|, exactly for any size; clamped to 2⁶², and clamping is 1-Lipschitz."""
    apart = np.abs(counts - estimate).astype(np.uint64)
    low = np.uint64(2**32 - 1)
    return min((int((apart >> np.uint64(32)).sum()) << 32) + int((apart & low).sum()), 2**62)


def to_counts(records: NDArray[np.float64], one: int) -> Integers:
    """A public estimate in the units of counts."""
    return np.rint(np.clip(records.ravel() * one, -(2.0**60), 2.0**60)).astype(np.int64)


class Counts(Protocol):
    """A private table, seen through its marginals."""

    @property
    def domain(self) -> Domain:
        """The columns and their codes."""

    @property
    def one(self) -> int:
        """The weight of one record: counts are fixed-point numbers with this denominator."""

    @property
    def l1_sensitivity(self) -> int:
        """The ℓ₁ sensitivity of any marginal."""

    @property
    def l2_sensitivity(self) -> Fraction:
        """The ℓ₂ sensitivity of any marginal."""

    @property
    def one_sided_sensitivity(self) -> int:
        """The largest total increase of a marginal's cells, or decrease: replacing a unit removes one and adds another."""

    def marginals(self, cliques: Sequence[Clique]) -> Private[Marginals]:
        """Count the cells of each clique."""


@final
class CodedTable:
    """A table of codes in memory, one row per protected unit.

    Adding or removing a unit changes each marginal by 1; replacing one by 2 in ℓ₁ and √2 in ℓ₂.
    """

    def __init__(self, domain: Domain, columns: Mapping[str, Any], replace_one: bool = False) -> None:
        self.domain, self.one = domain, 1
        self.l1_sensitivity, self.one_sided_sensitivity = 2 if replace_one else 1, 1
        self.l2_sensitivity = Fraction(14143, 10000) if replace_one else Fraction(1)
        if missing := [name for name in domain.names if name not in columns]:
            raise Invalid(f"columns are missing: add {', '.join(missing)}, or leave them out of the domain")
        codes = [np.asarray(columns[name]) for name in domain.names]
        if any(column.ndim != 1 or column.dtype.kind not in "iu" or len(column) != len(codes[0]) for column in codes):
            raise Invalid("a coded table needs columns of whole numbers, all of the same length")
        clipped = [np.clip(column, 0, size - 1) for column, size in zip(codes, domain.sizes, strict=True)]
        self._codes: Private[list[Integers]] = Private([column.astype(np.int64) for column in clipped])

    def marginals(self, cliques: Sequence[Clique]) -> Private[Marginals]:
        return self._codes.map(lambda codes: {clique: self._counted(codes, clique) for clique in cliques})

    def _counted(self, codes: list[Integers], clique: Clique) -> Integers:
        place = np.zeros(len(codes[0]), np.int64)
        for i in clique:
            place *= self.domain.sizes[i]
            place += codes[i]
        return np.bincount(place, minlength=self.domain.cells(clique)).astype(np.int64)
