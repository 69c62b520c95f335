"""How one unit's rows are bounded: by weights in fixed point, which keep the expectation and need neither order nor chance.

A weight is a whole number of 1/`one`. `reach` is what one unit can add to a vector of cells when each row counts 1: in all (ℓ₁) and in
length (ℓ₂), in units of 1/`one`. Weights are rounded down, so the bounds are exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, TypeAlias, final

from attrs import frozen

from discreet import exact
from discreet.mechanisms.sensitivity import Adjacency, is_replacement

ONE = 2**20


class Reach(NamedTuple):
    """The most one unit adds, in units of 1/one."""

    l1: int
    l2: Fraction


@final
@frozen
class Single:
    """Each unit has one row at most: nothing to bound."""

    one: int = 1

    @property
    def reach(self) -> Reach:
        return Reach(1, Fraction(1))

    @property
    def heaviest(self) -> int:
        """The most that what is summed in the end may weigh: a row, or all of a unit's rows in one group."""
        return 1

    @property
    def groups(self) -> int:
        """In how many groups a unit may be."""
        return 1

    def __str__(self) -> str:
        return "each unit has one row, so nothing is bounded"


@final
@frozen
class Rows:
    """A unit with n > `rows` rows counts rows/n for each.

    Lemma. Σ over its rows of ⌊one·rows/n⌋ ≤ one·rows, however they are spread over cells; and ℓ₂ ≤ ℓ₁.
    """

    rows: int
    one: int = ONE

    @property
    def reach(self) -> Reach:
        return Reach(self.rows * self.one, Fraction(self.rows * self.one))

    @property
    def heaviest(self) -> int:
        return self.one

    @property
    def groups(self) -> int:
        return self.rows

    def __str__(self) -> str:
        return f"a unit with n > {self.rows} rows counts {self.rows}/n for each of them"


@final
@frozen
class Groups:
    """A unit with c > `per_group` rows in a group counts per_group/c for each, and one in m > `groups` groups counts groups/m of that.

    With `euclidean` the second factor is √(groups/m).

    Lemma. In one group a unit counts at most per_group. Over m groups: ℓ₁ ≤ m·per_group·groups/max(m, groups) ≤ groups·per_group, and with
    the root ℓ₂ ≤ √m·per_group·√(groups/max(m, groups)) ≤ √groups·per_group. Without it, ℓ₂ ≤ √m·per_group·groups/max(m, groups) ≤ the same.
    """

    limit: int
    per_group: int
    euclidean: bool = False
    one: int = ONE

    @property
    def reach(self) -> Reach:
        length = exact.rational_up(lambda: exact.ball(self.limit).sqrt()) * self.per_group * self.one
        # with roots the ℓ₁ norm grows with m, so Laplace noise must not be used: no such plan is made
        return Reach(self.limit * self.per_group * self.one, length)

    @property
    def heaviest(self) -> int:
        return self.per_group * self.one

    @property
    def groups(self) -> int:
        return self.limit

    def __str__(self) -> str:
        share = f"√({self.limit}/m)" if self.euclidean else f"{self.limit}/m"
        return (
            f"a unit with c > {self.per_group} rows in a group counts {self.per_group}/c for each of them, "
            f"and one in m > {self.limit} groups counts {share} of that"
        )


Bounding: TypeAlias = Single | Rows | Groups


def moved(reach: Reach, adjacency: Adjacency, signed: bool) -> Reach:
    """How far a vector of cells moves between neighbours.

    Replacing a unit takes one vector away and adds another: ℓ₁ and ℓ₂ double at most; vectors without negative entries are at most a right
    angle apart, so their ℓ₂ grows by √2 only.
    """
    if not is_replacement(adjacency):
        return reach
    return Reach(2 * reach.l1, reach.l2 * (2 if signed else Fraction(14143, 10000)))
