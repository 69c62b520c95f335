"""Discover privately what was not declared: bounds, contribution limits, and groups.

Each discovery pays with its share of the question's own budget. Its outcome is public from then on, and the plan treats it as declared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, final

from attrs import field, frozen

from discreet import exact
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised
from discreet.mechanisms.partition_selection import PartitionSelection, WeightedGaussianSelection
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.streams.sparse_vector import SparseVector, ThresholdAnswer
from discreet.plan.key_values import KeyValues
from discreet.plan.range_discovery import RangeDiscovery
from discreet.query.relation.expr import Expr
from discreet.query.relation.field import Interval
from discreet.tables.kind import Value
from discreet.tables.table import MOST_CONTRIBUTED

# few candidates, so that a small ε selects a good one even with a thousand units
_LIMITS_ABOVE_8 = (10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768)
LIMITS: tuple[int, ...] = (*range(1, 9), *_LIMITS_ABOVE_8, MOST_CONTRIBUTED)
_SURE = Fraction(95, 100)


def search(epsilon: Fraction, places: int, adjacency: Adjacency) -> SparseVector:
    """Search limits from below, and stop at the first beyond which few units lie.

    The number of units beyond a candidate has sensitivity 1. A limit is good where about as many units lie beyond it as the noise has
    scale, whatever the number of units: one more step adds 1/ε to the noise and removes these units' excess from the bias. (A percentile
    would cut the tail of a large table without need.) The cutoff is the search's own error bound, so that it does not run past all units.
    """
    monotone = not is_replacement(adjacency)
    plain = SparseVector(epsilon=epsilon, threshold=0, monotone=monotone)
    return SparseVector(epsilon=epsilon, threshold=-math.ceil(plain.error(_SURE, size=places)), monotone=monotone)


def stopped(outcomes: Sequence[ThresholdAnswer], places: int) -> int:
    """The candidate at which the search stopped, counted from the inside; the last if it never did."""
    return len(outcomes) - 1 if outcomes and outcomes[-1].above else places - 1


@final
@frozen
class LimitDiscovery:
    """Discover a contribution limit, of rows, groups, or rows per group: one of 29, beyond which few units lie."""

    what: str  # "rows", "groups" or "per_group"
    epsilon: Fraction
    adjacency: Adjacency
    delta: Fraction = Fraction(0)

    @property
    def mechanism(self) -> SparseVector:
        return search(self.epsilon, len(LIMITS), self.adjacency)

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss

    def read(self, outcomes: Sequence[ThresholdAnswer]) -> int:
        """The limit at which the search stopped."""
        return LIMITS[stopped(outcomes, len(LIMITS))]

    def __str__(self) -> str:
        words = {"rows": "rows per unit", "groups": "groups per unit", "per_group": "rows per unit and group"}
        return f"discover a limit of {words[self.what]}: the least that few units exceed (about {-int(self.mechanism.threshold):,})"


@final
@frozen
class KeyDiscovery:
    """Discover which groups there are (or with `statistic`, which values its expression has; with `places`, which groups of some keys).

    Each unit contributes to at most `limit` of them, the first in a keyed order; partition selection decides by the number of units. The
    limit may itself have to be discovered first; the price does not depend on it.
    """

    epsilon: Fraction
    delta: Fraction
    limit: int | None
    salt: str
    statistic: str | None = None
    adjacency: Adjacency = "add/remove"
    places: tuple[int, ...] = ()  # of the keys of a question with grouping sets; the groups of all but the last are known by then
    keys: tuple[str, ...] = ()  # their names

    @property
    def mechanism(self) -> PartitionSelection | WeightedGaussianSelection:
        """The mechanism that shows smaller groups.

        Replacing a unit is a removal and an addition, so then it is (ε/2, δ/(1 + e^(ε/2)))-DP for each of these.
        """
        limit = 1 if self.limit is None else self.limit
        epsilon, delta = self.epsilon, self.delta
        if is_replacement(self.adjacency):
            epsilon = self.epsilon / 2
            delta = exact.rational_down(lambda: exact.ball(self.delta) / (1 + exact.ball(epsilon).exp()))
        single = PartitionSelection(epsilon=epsilon, delta=delta, partitions=limit)
        if limit == 1:
            return single
        spread = WeightedGaussianSelection(epsilon=epsilon, delta=delta, partitions=limit)
        if limit > _FEW or epsilon / limit < _TINY:  # its curve would be long, and it is never the better one
            return spread
        return single if single.error(0.5) <= spread.error(0.5) * _TYPICAL_SPREAD else spread

    @property
    def loss(self) -> Loss:
        if self.limit is None or is_replacement(self.adjacency):
            return Approx(self.epsilon, self.delta)
        loss = self.mechanism.loss
        return loss if loss.epsilon is not None else Promised(loss, self.epsilon, self.delta)

    def __str__(self) -> str:
        what = "groups there are" if self.statistic is None else f"values {self.statistic} may have"
        if self.keys:
            *above, last = self.keys
            what = f"values {last} has" + (f" within each {', '.join(above)} that is known" if above else "")
        most = "as many as the discovered limit" if self.limit is None else str(self.limit)
        return f"discover which {what}: partition selection over units, each in at most {most}"


_FEW, _TINY = 8, Fraction(1, 10**4)
_TYPICAL_SPREAD = 1.5  # units are usually in a few groups, so each group has less than the full weight

Discovery: TypeAlias = LimitDiscovery | RangeDiscovery | KeyDiscovery


@final
@frozen
class Discovered:
    """What was discovered; public."""

    limits: Mapping[str, int] = field(factory=dict)
    bounds: Mapping[tuple[Expr, str], Fraction] = field(factory=dict)
    groups: KeyValues | None = None
    candidates: Mapping[str, tuple[Value, ...]] = field(factory=dict)
    not_found: tuple[str, ...] = ()  # numbers whose range no count was clear enough for
    found: Mapping[tuple[int, ...], KeyValues] = field(factory=dict)  # groups of some keys, by the places of these

    def ends(self, expr: Expr) -> dict[str, Fraction]:
        """The bounds of an expression that were discovered."""
        return {end: value for (of, end), value in self.bounds.items() if of == expr}


def resolved_range(interval: Interval, found: dict[str, Fraction]) -> Interval:
    """The range with its open ends as they were discovered; never empty.

    A known end may lie beyond the discovered one: the range is then a short one at the known end.
    """
    low, high = found.get("low", interval.low), found.get("high", interval.high)
    if low >= high:
        low, high = (Fraction(0), Fraction(1)) if len(found) == 2 else (low, low + 1) if "high" in found else (high - 1, high)
    least = max(abs(low), abs(high), Fraction(1)) / 2**20  # so that its ends differ as floats
    if high - low < least:  # numbers that are never negative stay so, for which totals a sum needs depends on it
        low, high = (low, low + least) if "high" in found or (not found and low >= 0) else (high - least, high)
    return Interval(low, high)
