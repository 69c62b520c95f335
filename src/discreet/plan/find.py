"""What was not declared and is found privately first: bounds, contribution limits, and which groups there are.

Each find pays with its share of the question's own budget; what it finds is public from then on, and the plan goes on as if it had been
declared.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias, final

from attrs import frozen

from discreet import exact
from discreet.engines.dialect import Dialect
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised
from discreet.mechanisms.partition_selection import PartitionSelection, WeightedGaussianSelection
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.plan.write import Source, write_capped, write_per_unit
from discreet.relation.expr import Expr
from discreet.relation.field import Interval
from discreet.relation.write import write_expr
from discreet.tables.kind import Kind
from discreet.tables.table import MOST_CONTRIBUTED

_SHARE = Fraction(95, 100)  # limits cover about this share of the units
_SHARE_OF_LARGEST = Fraction(90, 100)
_OCTAVE = 2  # grid points for each doubling
# few places to choose from, so that a small ε finds a good one even among a thousand units
_LADDER = (10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768)
LIMITS: tuple[int, ...] = (*range(1, 9), *_LADDER, MOST_CONTRIBUTED)
_LOWEST, _HIGHEST = -10, 40  # powers of two: smaller values count as 0, larger ones as the largest
_TOP = _OCTAVE * (_HIGHEST - _LOWEST)


@final
@frozen
class FindLimit:
    """Find how many rows (or groups, or rows in one group) a unit has: about the 95th percentile, one of 29 limits up to 1024."""

    what: str  # "rows", "groups" or "per_group"
    epsilon: Fraction
    adjacency: Adjacency

    @property
    def mechanism(self) -> Quantile:
        return Quantile(epsilon=self.epsilon, q=_SHARE, lower=0, upper=len(LIMITS) - 1, step=1, adjacency=self.adjacency)

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss

    def write(self, source: Source) -> str:
        """How many units have each limit as their least; one number for each unit."""
        match self.what:
            case "rows":
                value = "COUNT(*)"
            case "groups":
                value = f"COUNT(DISTINCT ({', '.join(source.key_names)}))"
            case _:
                value = "MAX(c)"
        ladder = " ".join(f"WHEN {value} <= {limit} THEN {place}" for place, limit in enumerate(LIMITS[:-1]))
        return write_per_unit(source, [], f"CASE {ladder} ELSE {len(LIMITS) - 1} END", pairs=self.what == "per_group")

    def read(self, place: float) -> int:
        """The limit at a place."""
        return LIMITS[int(place)]

    def __str__(self) -> str:
        words = {"rows": "rows a unit has", "groups": "groups a unit is in", "per_group": "rows a unit has in one group"}[self.what]
        return f"find how many {words}: a private 95th percentile over units; sure from about {enough(self.mechanism):,} units"


@final
@frozen
class FindBound:
    """Find one end of an expression's range on a log grid: about the 95th percentile of each unit's largest value (5th of its least)."""

    expr: Expr
    name: str
    end: str  # "low" or "high"
    epsilon: Fraction
    adjacency: Adjacency
    share: Fraction = _SHARE

    @property
    def mechanism(self) -> Quantile:
        q = self.share if self.end == "high" else 1 - self.share
        return Quantile(epsilon=self.epsilon, q=q, lower=-_TOP, upper=_TOP, step=1, adjacency=self.adjacency)

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss

    def write(self, source: Source) -> str:
        """How many units have their largest (smallest) value at each grid point."""
        text = write_expr(self.expr, source.relation.schema, source.dialect)
        word = "MAX" if self.end == "high" else "MIN"
        return write_per_unit(source, [("x", log_place(text, source.dialect))], f"{word}(x)")

    def read(self, place: float) -> Fraction:
        """The bound that a grid point stands for, rounded away from the middle to two digits."""
        outward = (place > 0) == (self.end == "high")
        if place == 0:
            return Fraction(0)
        size = 2.0 ** ((abs(place) + (0 if outward else -1)) / _OCTAVE + _LOWEST)
        return _two_digits(size, up=outward) * (1 if place > 0 else -1)

    def __str__(self) -> str:
        which, at = ("an upper bound", self.share) if self.end == "high" else ("a lower bound", 1 - self.share)
        where = f"a private {float(100 * at):g}th percentile over units, on a log grid"
        return f"find {which} of {self.name}: {where}; sure from about {enough(self.mechanism):,} units"


def log_place(text: str, dialect: Dialect) -> str:
    """Where a number lies on the log grid: 0 for numbers near 0, then a step for each quarter of a doubling, with its sign."""
    real, near = f"CAST({text} AS {dialect.type_name(Kind.REAL)})", dialect.real(Fraction(2) ** _LOWEST)
    size = f"CASE WHEN ABS({real}) > {near} THEN ABS({real}) ELSE {near} END"  # whatever branch is computed, its logarithm is there
    steps = f"FLOOR(LN({size}) * {_OCTAVE / math.log(2)!r} + 1e-9) + {1 - _OCTAVE * _LOWEST}"
    whole = f"CAST({steps} AS {dialect.type_name(Kind.INTEGER)})"
    sized = f"CASE WHEN {whole} > {_TOP} THEN {_TOP} ELSE {whole} END"
    return f"CASE WHEN ABS({real}) < {near} THEN 0 WHEN {real} > 0 THEN {sized} WHEN {real} < 0 THEN -({sized}) END"


def _two_digits(size: float, up: bool) -> Fraction:
    scale = Fraction(10) ** (math.floor(math.log10(size)) - 1)
    count = Fraction(size) / scale
    return (math.ceil(count) if up else math.floor(count)) * scale


@final
@frozen
class FindKeys:
    """Find which groups there are (or with `measure`, which values its expression has).

    Each unit counts in at most `limit` of them, the first in a keyed order, and a group is shown by its units. The limit may itself have to
    be found first; the price does not depend on it.
    """

    epsilon: Fraction
    delta: Fraction
    limit: int | None
    salt: str
    measure: str | None = None
    adjacency: Adjacency = "add/remove"

    @property
    def mechanism(self) -> PartitionSelection | WeightedGaussianSelection:
        """The one that shows smaller groups.

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
        if limit > _FEW or epsilon / limit < _TINY:  # its curve would be long, and is never the better one
            return spread
        return single if single.error(0.5) <= spread.error(0.5) * _TYPICAL_SPREAD else spread

    @property
    def loss(self) -> Loss:
        if self.limit is None or is_replacement(self.adjacency):
            return Approx(self.epsilon, self.delta)
        loss = self.mechanism.loss
        return loss if loss.epsilon is not None else Promised(loss, self.epsilon, self.delta)

    def write(self, source: Source) -> str:
        """How many units (or how much weight) each group has."""
        mechanism = self.mechanism
        root = mechanism.unit if isinstance(mechanism, WeightedGaussianSelection) else None
        return write_capped(source, None, self.limit or 1, self.salt, root)

    def __str__(self) -> str:
        what = "groups there are" if self.measure is None else f"values {self.measure} may have"
        most = "as many as are found" if self.limit is None else str(self.limit)
        return f"find which {what}: partition selection over units, each in at most {most}"


def enough(mechanism: Quantile) -> int:
    """With so many units the quantile is found among their values, 95 % of the time, and not beyond them."""
    slack = min(mechanism.q, 1 - mechanism.q)
    return math.ceil(mechanism.error(Fraction(95, 100)) / float(slack))


_FEW, _TINY = 8, Fraction(1, 10**4)
_TYPICAL_SPREAD = 1.5  # units are usually in a few groups, where each gets less than the full weight

Find: TypeAlias = FindLimit | FindBound | FindKeys


def open_ends(expr: Expr, name: str, interval: Interval, epsilon: Fraction, adjacency: Adjacency, one_row: bool) -> list[FindBound]:
    """What has to be found of an expression's range, if anything.

    A unit with many rows brings the largest of them, so that a lower percentile of units clips as few rows.
    """
    ends = [end for end, known in (("low", interval.low_known), ("high", interval.high_known)) if not known]
    return [FindBound(expr, name, end, epsilon / len(ends), adjacency, _SHARE if one_row else _SHARE_OF_LARGEST) for end in ends]


def settled(interval: Interval, found: dict[str, Fraction]) -> Interval:
    """The range with its open ends as they were found; never empty."""
    low, high = sorted((found.get("low", interval.low), found.get("high", interval.high)))
    least = max(abs(low), abs(high), Fraction(1)) / 2**20  # so that floats tell its ends apart
    if high - low < least:
        low, high = (low, low + least) if "high" in found else (high - least, high)
    return Interval(low, high)
