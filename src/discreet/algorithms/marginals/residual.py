"""Residuals: what a marginal adds to its smaller marginals, in whole numbers.

A column with n codes has n − 1 contrasts (Helmert's, orthonormal, rounded to whole multiples of 2^−bits). The residual of a clique is its
marginal with each axis replaced by contrasts; a marginal is the sum of the residuals of all its subsets, which are orthogonal up to
rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain

Floats = NDArray[np.float64]
BITS = 10  # fractional bits of the contrasts: rounding makes them about a thousandth longer


@cache
def contrasts(size: int, bits: int) -> NDArray[np.int64]:
    """The contrasts of a column: contrast j compares the first j codes with the next one."""
    rows = np.zeros((size - 1, size))
    for j in range(1, size):
        rows[j - 1, :j] = 1
        rows[j - 1, j] = -j
        rows[j - 1] *= 2**bits / np.sqrt(j * (j + 1))
    found = np.rint(rows).astype(np.int64)
    found.setflags(write=False)
    return found


@cache
def _stretch(size: int, bits: int) -> int:
    """A bound on the square of the contrasts' largest singular value, in whole numbers."""
    rows = contrasts(size, bits)
    return int(np.abs(rows @ rows.T).sum(axis=1).max()) if size > 1 else 0


@final
@frozen
class Residual:
    """The residual of one clique.

    Lemma. A record with codes v adds ⊗ᵢ bᵢ(vᵢ) to it, where bᵢ(v) is a column of the contrasts, so one record changes it by at most ∏ᵢ maxᵥ
    |bᵢ(v)| in ℓ₂, which is 2^(bits·k)·∏ √(1 − 1/nᵢ) up to rounding.
    """

    domain: Domain
    clique: Clique
    bits: int

    @property
    def unit(self) -> int:
        """The whole number that represents 1."""
        return int(2 ** (self.bits * len(self.clique)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of contrasts of each column."""
        return tuple(size - 1 for size in self.domain.shape(self.clique))

    @property
    def size(self) -> int:
        """The number of entries."""
        return prod(self.shape)

    @property
    def length_squared(self) -> int:
        """The squared ℓ₂ contribution of one record, at most, in whole numbers."""
        return prod(int((contrasts(size, self.bits) ** 2).sum(axis=0).max()) if size > 1 else 0 for size in self.domain.shape(self.clique))

    def sensitivity_squared(self, l1: int, l2: Fraction) -> Fraction:
        """The squared ℓ₂ sensitivity, if one unit changes the marginal by at most `l1` in ℓ₁ and `l2` in ℓ₂.

        Lemma. It is at most min(c²·l1², s²·l2²), where c is the largest length of a column of the contrasts R, and s bounds their largest
        singular value: ‖RΔ‖₂ ≤ Σᵥ |Δᵥ|·‖R eᵥ‖₂, and ‖RΔ‖₂ ≤ s·‖Δ‖₂. Both norms of a tensor product are products, and s² is at most the
        largest sum of absolute entries in a row of RRᵀ (Gershgorin).
        """
        stretch = prod(_stretch(size, self.bits) for size in self.domain.shape(self.clique))
        return min(Fraction(self.length_squared * l1**2), stretch * Fraction(l2) ** 2)

    @property
    def share(self) -> float:
        """The squared ℓ₂ contribution of one record, if it changes the whole marginal by 1."""
        return self.length_squared / self.unit**2

    def of(self, counts: NDArray[np.int64]) -> NDArray[Any]:
        """The residual of a marginal's counts, exactly, as one vector."""
        array = counts.reshape(self.domain.shape(self.clique))
        if int(np.abs(array).sum()) >= 2 ** (62 - self.bits * len(self.clique)):
            array = array.astype(object)  # the same numbers, slower
        for axis, size in enumerate(self.domain.shape(self.clique)):
            array = np.moveaxis(np.tensordot(contrasts(size, self.bits).astype(array.dtype), array, (1, axis)), 0, axis)
        return array.ravel()


def marginal_from(domain: Domain, clique: Clique, residuals: Mapping[Clique, Floats]) -> Floats:
    """A marginal from its residuals: each is spread evenly over its absent columns, and missing residuals are 0."""
    found = np.zeros(domain.shape(clique))
    for k in range(len(clique) + 1):
        for part in combinations(clique, k):
            if part not in residuals:
                continue
            array = np.asarray(residuals[part], np.float64).reshape([domain.sizes[i] - 1 if i in part else 1 for i in clique])
            for axis, i in enumerate(clique):
                size = domain.sizes[i]
                matrix = contrasts(size, BITS).T / 2**BITS if i in part else np.full((size, 1), 1 / size)
                array = np.moveaxis(np.tensordot(matrix, array, (1, axis)), 0, axis)
            found += array
    return found
