"""Sensitivity of queries to the change of one unit, under both adjacencies.

add/remove: one unit's record is added or removed. replace-one: one unit's record is replaced by another; the number of units is public.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number

Adjacency = Literal["add/remove", "replace-one"]


def is_replacement(adjacency: Adjacency) -> bool:
    """Whether neighbours differ by replacing one unit."""
    if adjacency not in ("add/remove", "replace-one"):
        raise Invalid('adjacency must be "add/remove" or "replace-one"')
    return adjacency == "replace-one"


@final
@frozen
class QuerySensitivity:
    """The largest change of a vector query in three norms; the Euclidean one is rounded up where it is irrational."""

    l1: Fraction
    l2: Fraction
    linf: Fraction


def _sqrt_up(value: Fraction) -> Fraction:
    return exact.rational_up(lambda: exact.ball(value).sqrt())


def counting(adjacency: Adjacency = "add/remove") -> QuerySensitivity:
    """The number of units that satisfy a predicate changes by 1 under both adjacencies.

    >>> counting().l1, counting("replace-one").l1
    (Fraction(1, 1), Fraction(1, 1))
    """
    is_replacement(adjacency)
    one = Fraction(1)
    return QuerySensitivity(one, one, one)


def histogram(adjacency: Adjacency = "add/remove") -> QuerySensitivity:
    """Counts of disjoint cells, each unit in one: one cell changes by 1, or under replace-one two cells do.

    >>> histogram().l1, histogram("replace-one").l1
    (Fraction(1, 1), Fraction(2, 1))
    """
    change = 2 if is_replacement(adjacency) else 1
    return QuerySensitivity(Fraction(change), _sqrt_up(Fraction(change)) if change > 1 else Fraction(1), Fraction(1))


def cells(groups: int, per_group: Number = 1, adjacency: Adjacency = "add/remove", *, signed: bool = True) -> QuerySensitivity:
    """A vector to which one unit contributes at most `groups` entries, each at most `per_group` in absolute value.

    Under replace-one an entry may change from −per_group to +per_group; with `signed=False` no contribution is negative, so it cannot.

    >>> cells(groups=4, per_group=3)
    QuerySensitivity(l1=Fraction(12, 1), l2=Fraction(6, 1), linf=Fraction(3, 1))
    """
    count, most = exact.whole(groups, "groups"), exact.positive(per_group, "per_group")
    if not is_replacement(adjacency):
        return QuerySensitivity(count * most, _sqrt_up(count * most**2), most)
    if signed:  # the worst case: the same entries with opposite signs
        return QuerySensitivity(2 * count * most, _sqrt_up(4 * count * most**2), 2 * most)
    return QuerySensitivity(2 * count * most, _sqrt_up(2 * count * most**2), most)


def total(lower: Number, upper: Number, adjacency: Adjacency = "add/remove") -> QuerySensitivity:
    """A sum of one value per unit in [lower, upper]: max(|lower|, |upper|), or under replace-one upper − lower.

    >>> total(0, 500).l1, total(-1, 1).l1, total(-1, 1, "replace-one").l1
    (Fraction(500, 1), Fraction(1, 1), Fraction(2, 1))
    """
    low, high = interval(lower, upper)
    change = high - low if is_replacement(adjacency) else max(abs(low), abs(high))
    return QuerySensitivity(change, change, change)


def mean(lower: Number, upper: Number, size: int, adjacency: Adjacency = "replace-one") -> QuerySensitivity:
    """A mean of one value per unit in [lower, upper] over `size` units: (upper − lower)/size under replace-one.

    Under add/remove, `size` is a public lower bound on the number of units, and the mean changes by at most (upper − lower)/(size + 1).
    If neither is public there is no bound: release a noisy sum and a noisy count instead.

    >>> mean(0, 100, size=50).l1, mean(-1, 1, size=200).l1
    (Fraction(2, 1), Fraction(1, 100))
    """
    low, high = interval(lower, upper)
    change = (high - low) / (exact.whole(size, "size") + (0 if is_replacement(adjacency) else 1))
    return QuerySensitivity(change, change, change)


def averaging(size: int, adjacency: Adjacency = "replace-one") -> QuerySensitivity:
    """An averaging query: the mean over `size` units of a function with values in [0, 1].

    >>> averaging(100).l1
    Fraction(1, 100)
    """
    return mean(0, 1, size, adjacency)


def interval(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    """Read the two ends of an interval of positive length."""
    low, high = exact.rational(lower, "lower"), exact.rational(upper, "upper")
    if not low < high:
        raise Invalid("lower must be below upper")
    return low, high
