"""Bound one unit's contribution by weights, which keep the expectation and need neither an order of rows nor sampling.

Weights are fixed-point numbers with denominator `one`. `sensitivity` bounds what one unit adds to a vector of cells when each row adds 1,
in ℓ₁ and ℓ₂, in units of 1/`one`. Weights are rounded down, so the bounds are exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, TypeAlias, final

from attrs import frozen

from discreet import exact
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.tables.table import MOST_CONTRIBUTED

ONE = 2**20


class Sensitivity(NamedTuple):
    """The most one unit adds to a vector of cells, in units of 1/one."""

    l1: int
    l2: Fraction


@final
@frozen
class Single:
    """Each unit has one row at most: nothing to bound."""

    one: int = 1

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(1, Fraction(1))

    @property
    def heaviest(self) -> int:
        """The largest weight of a summand: of a row, or of all of a unit's rows in one group."""
        return 1

    @property
    def groups(self) -> int:
        """The most groups a unit may contribute to."""
        return 1

    @property
    def values(self) -> int:
        """The most distinct values of an expression a unit may contribute, over all groups."""
        return 1

    def __str__(self) -> str:
        return "each unit has one row, so nothing is bounded"


@final
@frozen
class Rows:
    """Each row of a unit with n > `rows` rows has weight rows/n.

    Lemma. Σ over its rows of ⌊one·rows/n⌋ ≤ one·rows, however they are spread over cells; and ℓ₂ ≤ ℓ₁.
    """

    rows: int
    one: int = ONE

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.rows * self.one, Fraction(self.rows * self.one))

    @property
    def heaviest(self) -> int:
        return self.one

    @property
    def groups(self) -> int:
        return self.rows

    @property
    def values(self) -> int:
        return self.rows

    def __str__(self) -> str:
        return f"each row of a unit with n > {self.rows} rows has weight {self.rows}/n"


@final
@frozen
class Groups:
    """Each row of a unit with c > `per_group` rows in a group has weight per_group/c, times groups/m for a unit in m > `groups` groups.

    With `euclidean` the second factor is √(groups/m).

    Lemma. In one group a unit's weights add up to at most per_group. Over m groups: ℓ₁ ≤ m·per_group·groups/max(m, groups) ≤
    groups·per_group, and with the root ℓ₂ ≤ √m·per_group·√(groups/max(m, groups)) ≤ √groups·per_group. Without it,
    ℓ₂ ≤ √m·per_group·groups/max(m, groups) ≤ the same.
    """

    limit: int
    per_group: int
    euclidean: bool = False
    one: int = ONE

    @property
    def sensitivity(self) -> Sensitivity:
        length = exact.rational_up(lambda: exact.ball(self.limit).sqrt()) * self.per_group * self.one
        # with roots the ℓ₁ norm grows with m, so Laplace noise must not be used: plans never combine them
        return Sensitivity(self.limit * self.per_group * self.one, length)

    @property
    def heaviest(self) -> int:
        return self.per_group * self.one

    @property
    def groups(self) -> int:
        return self.limit

    @property
    def values(self) -> int:
        return min(self.limit * self.per_group, MOST_CONTRIBUTED)

    def __str__(self) -> str:
        share = f"√({self.limit}/m)" if self.euclidean else f"{self.limit}/m"
        return (
            f"each row of a unit with c > {self.per_group} rows in a group has weight {self.per_group}/c, "
            f"times {share} for a unit in m > {self.limit} groups"
        )


Bounding: TypeAlias = Single | Rows | Groups


@final
@frozen
class Votes:
    """How units choose the most popular value: each votes once in a group for each of its different values there.

    A unit that votes in m > `limit` groups has limit/m of a vote in each. The number of its rows and values does not matter: a unit
    with forty rows in one group votes 1 for each of their values.

    Lemma. A unit's votes are all 0 or w = ⌊one·limit/max(m, limit)⌋, in m groups; so its largest votes in all groups together are
    m·w ≤ one·limit.

    Theorem (one group: Dwork & Roth 2014, sec. 3.3; McKenna & Sheldon 2020; all groups: basic composition).
        Let the winner of every group be chosen with fresh noise at the rate λ, so that scores which all move the same way by at most r
        make it e^(λr) times as likely at most. Then the winners of all groups together are ε-DP for λ = ε/(one·limit) where units are
        added or removed, and for half of that where one is replaced: in a group a unit's largest vote matters, not their sum.

    Proof.
        Let the scores of group g move by d, and r(g) = max d − min d. The winner depends on differences of scores alone, so min d may be
        taken from all of them: what is left moves one way by at most r(g), and the winner of g becomes e^(λ·r(g)) times as likely at most.
        The noise is independent, so for all winners it is e^(λ·Σ r(g)). A unit that is added has d ≥ 0, and votes of others do not depend
        on it: r(g) is at most its largest vote w(g), and Σ w(g) ≤ one·limit by the lemma; removing it is the same with d ≤ 0. If unit a is
        replaced by b, then d = (votes of b) − (votes of a) lies between −wₐ(g) and w_b(g), so Σ r(g) ≤ Σ wₐ(g) + Σ w_b(g) ≤ 2·one·limit.
        `NoisyMax` with the sensitivity one·limit has just these rates, as it is monotone or not.
    """

    limit: int
    one: int

    @property
    def weight(self) -> int:
        """The most that one unit's largest votes in all groups add up to, in units of 1/one."""
        return self.limit * self.one

    def __str__(self) -> str:
        said = "units are counted, not rows: each votes once for each of its distinct values"
        return said if self.one == 1 else f"{said} in a group, with weight {self.limit}/m for a unit in m > {self.limit} groups"


def between_neighbours(sensitivity: Sensitivity, adjacency: Adjacency, signed: bool) -> Sensitivity:
    """The sensitivity of a vector of cells between neighbouring tables.

    Replacing a unit takes one vector away and adds another: ℓ₁ and ℓ₂ double at most; vectors without negative entries are at most a right
    angle apart, so their ℓ₂ grows by √2 only.
    """
    if not is_replacement(adjacency):
        return sensitivity
    return Sensitivity(2 * sensitivity.l1, sensitivity.l2 * (2 if signed else Fraction(14143, 10000)))
