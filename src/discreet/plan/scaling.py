"""The sensitivity of totals as they leave the engine: shifted down so that they fit 64 bits, with the shift charged as sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bounding import Bounding, Groups, Sensitivity, Single, between_neighbours
from discreet.query.totals import Total

_KEPT = 31  # bits of a sensitivity that are kept when totals are shifted down


@final
@frozen
class Scaled:
    """A total as it leaves the engine: divided by 2^bits, with its sensitivity then."""

    bits: int
    l1: int
    l2: Fraction

    @classmethod
    def of(cls, total: Total, bounding: Bounding, adjacency: Adjacency, cells: int, summed: bool = False) -> Scaled:
        """Shift so that sensitivities keep 31 bits; a table that is `summed` over these cells has only its ℓ₁ bound.

        Lemma. |⌊a/s⌋ − ⌊b/s⌋| ≤ |a − b|/s + 1, so each of the cells that change adds at most 1, in ℓ₂ together √cells. Sums over disjoint
        sets of cells change by no more in ℓ₁ than the cells do, and ℓ₂ ≤ ℓ₁.
        """
        found = between_neighbours(_sensitivity(total, bounding), adjacency, total.signed)
        l1, l2 = found.l1 * total.most, found.l2 * total.most
        bits = max(0, l1.bit_length() - _KEPT)
        if bits:
            l1, l2 = -(-l1 // 2**bits) + cells, l2 / 2**bits + math.isqrt(cells) + 1
        return cls(bits, l1, Fraction(l1) if summed else l2)


def _sensitivity(total: Total, bounding: Bounding) -> Sensitivity:
    if total.form == "distinct":  # values are capped, not weighted
        most = bounding.sensitivity.l1 // bounding.one
        return Sensitivity(most, Fraction(most))
    return bounding.sensitivity  # of `bounding_for`, where units are counted


def bounding_for(total: Total, bounding: Bounding, keyed: bool) -> Bounding:
    """Units are counted once in each group, so they are bounded by groups: at most as many as there may be rows."""
    if total.form != "units" or isinstance(bounding, Single):
        return bounding
    if not keyed:
        return Groups(1, 1, one=1)  # each unit once in all
    return Groups(bounding.groups, 1, isinstance(bounding, Groups) and bounding.euclidean)
