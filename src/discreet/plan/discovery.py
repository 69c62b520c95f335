"""What was not declared and is found privately first: bounds, contribution limits, and which groups there are.

Each find pays with its share of the question's own budget; what it finds is public from then on, and the plan goes on as if it had been
declared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from discreet import exact
from discreet.engines.dialect import Dialect
from discreet.engines.engine import Columns
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised
from discreet.mechanisms.partition_selection import PartitionSelection, WeightedGaussianSelection
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.streams.sparse_vector import SparseVector, ThresholdAnswer
from discreet.query.relation.expr import Expr
from discreet.query.relation.field import Interval
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.write import write_capped, write_per_unit
from discreet.tables.kind import Kind
from discreet.tables.table import MOST_CONTRIBUTED

_OCTAVE = 2  # grid points for each doubling
# few places to choose from, so that a small ε finds a good one even among a thousand units
_LADDER = (10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768)
LIMITS: tuple[int, ...] = (*range(1, 9), *_LADDER, MOST_CONTRIBUTED)
_LOWEST, _HIGHEST = -10, 40  # powers of two: smaller values count as 0, larger ones as the largest
_TOP = _OCTAVE * (_HIGHEST - _LOWEST)
_PLACES = 2 * _TOP + 1
_SURE = Fraction(95, 100)


def first_spare(epsilon: Fraction, places: int, adjacency: Adjacency) -> SparseVector:
    """Go through places from the inside out, and stop at the first beyond which few units lie.

    How many units lie beyond a place moves by at most 1 with one unit. A limit is good where as many units are beyond it as the noise
    weighs, whatever their number in all: one more step adds 1/ε to the noise and takes these units' excess from the bias. (A percentile
    would cut the tail of a large table for nothing.) So few is what the technique itself may err by: then it does not run past them all.
    """
    monotone = not is_replacement(adjacency)
    plain = SparseVector(epsilon=epsilon, threshold=0, monotone=monotone)
    return SparseVector(epsilon=epsilon, threshold=-math.ceil(plain.error(_SURE, size=places)), monotone=monotone)


def beyond(columns: Columns, places: int, outwards: int) -> list[int]:
    """Minus how many units lie beyond each place, from the inside out, from how many are at each."""
    at = np.zeros(places, np.int64)
    np.add.at(at, np.clip(columns["v"].astype(np.int64), 0, places - 1), np.maximum(columns["w"].astype(np.int64), 0))
    upto = np.cumsum(at[::outwards])
    return [int(count) for count in upto - upto[-1]]


def stopped(outcomes: Sequence[ThresholdAnswer], places: int) -> int:
    """The place at which the search stopped, counted from the inside; the last if it never did."""
    return len(outcomes) - 1 if outcomes and outcomes[-1].above else places - 1


@final
@frozen
class FindLimit:
    """Find how many rows (or groups, or rows in one group) of a unit count: one of 29 limits, beyond which few units lie."""

    what: str  # "rows", "groups" or "per_group"
    epsilon: Fraction
    adjacency: Adjacency

    @property
    def mechanism(self) -> SparseVector:
        return first_spare(self.epsilon, len(LIMITS), self.adjacency)

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss

    def write(self, source: Source) -> Statement:
        """How many units have each limit as their least; one number for each unit."""
        match self.what:
            case "rows":
                value = "COUNT(*)"
            case "groups":
                value = f"COUNT(DISTINCT ({', '.join(source.key_names)}))"
            case _:
                value = "MAX(c)"
        ladder = " ".join(f"WHEN {value} <= {limit} THEN {place}" for place, limit in enumerate(LIMITS[:-1]))
        return write_per_unit(source, f"CASE {ladder} ELSE {len(LIMITS) - 1} END", pairs=self.what == "per_group")

    def beyond(self, columns: Columns) -> list[int]:
        """Minus how many units have more than each limit."""
        return beyond(columns, len(LIMITS), outwards=1)

    def read(self, outcomes: Sequence[ThresholdAnswer]) -> int:
        """The limit at which the search stopped."""
        return LIMITS[stopped(outcomes, len(LIMITS))]

    def __str__(self) -> str:
        words = {"rows": "rows of a unit count", "groups": "groups of a unit count", "per_group": "rows of a unit count in one group"}
        return (
            f"find how many {words[self.what]}: privately, so that few units have more (about {-int(self.mechanism.threshold):,} at most)"
        )


@final
@frozen
class FindBound:
    """Find one end of an expression's range on a log grid, beyond which few units have any value."""

    expr: Expr
    name: str
    end: str  # "low" or "high"
    epsilon: Fraction
    adjacency: Adjacency

    @property
    def mechanism(self) -> SparseVector:
        return first_spare(self.epsilon, _PLACES, self.adjacency)

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss

    def write(self, source: Source) -> Statement:
        """How many units have their largest (smallest) value at each grid point."""
        word = "MAX" if self.end == "high" else "MIN"
        return write_per_unit(source, f"{word}(x)", self.expr, f"{log_place('__e0', source.dialect)} + {_TOP}")

    def beyond(self, columns: Columns) -> list[int]:
        """Minus how many units have a value beyond each grid point, from the other end on."""
        return beyond(columns, _PLACES, outwards=1 if self.end == "high" else -1)

    def read(self, outcomes: Sequence[ThresholdAnswer]) -> Fraction:
        """The bound at which the search stopped, rounded away from the middle to two digits."""
        place = stopped(outcomes, _PLACES)
        step = place - _TOP if self.end == "high" else _TOP - place
        outward = (step > 0) == (self.end == "high")
        if step == 0:
            return Fraction(0)
        size = 2.0 ** ((abs(step) + (0 if outward else -1)) / _OCTAVE + _LOWEST)
        return _two_digits(size, up=outward) * (1 if step > 0 else -1)

    def __str__(self) -> str:
        which = "an upper bound" if self.end == "high" else "a lower bound"
        few = f"{-int(self.mechanism.threshold):,}"
        return f"find {which} of {self.name}: privately, so that few units have values beyond it (about {few} at most)"


def log_place(text: str, dialect: Dialect) -> str:
    """Where a number lies on the log grid: 0 for numbers near 0, then a step for each half of a doubling, with its sign."""
    real, near = f"CAST({text} AS {dialect.type_name(Kind.REAL)})", dialect.real(Fraction(2) ** _LOWEST)
    far = dialect.real(Fraction(2) ** (_HIGHEST + 1))
    # whatever the number is, and whatever branch is computed: its logarithm is there, and a whole number of steps
    size = f"LEAST(CASE WHEN ABS({real}) > {near} THEN ABS({real}) ELSE {near} END, {far})"
    steps = f"{dialect.floor(f'LN({size}) * {_OCTAVE / math.log(2)!r} + 1e-9')} + {1 - _OCTAVE * _LOWEST}"
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

    def write(self, source: Source) -> Statement:
        """How many units (or how much weight) each group has."""
        mechanism = self.mechanism
        root = mechanism.unit if isinstance(mechanism, WeightedGaussianSelection) else None
        return write_capped(source, None, self.limit or 1, self.salt, root)

    def __str__(self) -> str:
        what = "groups there are" if self.measure is None else f"values {self.measure} may have"
        most = "as many as are found" if self.limit is None else str(self.limit)
        return f"find which {what}: partition selection over units, each in at most {most}"


_FEW, _TINY = 8, Fraction(1, 10**4)
_TYPICAL_SPREAD = 1.5  # units are usually in a few groups, where each gets less than the full weight

Find: TypeAlias = FindLimit | FindBound | FindKeys


def open_ends(expr: Expr, name: str, interval: Interval, epsilon: Fraction, adjacency: Adjacency) -> list[FindBound]:
    """What has to be found of an expression's range, if anything."""
    ends = [end for end, known in (("low", interval.low_known), ("high", interval.high_known)) if not known]
    return [FindBound(expr, name, end, epsilon / len(ends), adjacency) for end in ends]


def settled(interval: Interval, found: dict[str, Fraction]) -> Interval:
    """The range with its open ends as they were found; never empty.

    Ends that are the wrong way round mean that there were too few units to find any: then the range is a short one, at a known end or at 0.
    """
    low, high = found.get("low", interval.low), found.get("high", interval.high)
    if low >= high:
        low, high = (Fraction(0), Fraction(1)) if len(found) == 2 else (low, low + 1) if "high" in found else (high - 1, high)
    least = max(abs(low), abs(high), Fraction(1)) / 2**20  # so that floats tell its ends apart
    if high - low < least:
        low, high = (low, low + least) if "high" in found else (high - least, high)
    return Interval(low, high)
