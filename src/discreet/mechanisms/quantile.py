"""Private quantiles, one or many."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.exponential import exponential_error
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.sensitivity import Adjacency, interval, is_replacement
from discreet.noise import choice
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniform

_POINTS = 20  # the default grid has between 2²⁰ and 2²¹ points


_FURTHEST = 10**300
_FINEST = 10**6  # scores of 10¹² records fit 64 bits


def _level(value: Number, name: str) -> Fraction:
    q = exact.confidence_level(value, name)
    if q.denominator > _FINEST:
        raise Invalid(f"{name} must have at most six decimals: round it")
    return q


class Places(NamedTuple):
    """Occupied grid points in ascending order, and the number of records at each."""

    points: Integers
    counts: Integers

    def part(self, records: slice) -> Places:
        """The points in a range of positions."""
        return Places(self.points[records], self.counts[records])


@final
@frozen
class ValueGrid:
    """A public grid of equal steps from lower to upper; the default step is a power of two."""

    lower: Fraction = field(repr=str)
    upper: Fraction = field(repr=str)
    step: Fraction = field(repr=str)

    @classmethod
    def of(cls, lower: Number, upper: Number, step: Number | None) -> ValueGrid:
        """Read the bounds and the step."""
        low, high = interval(lower, upper)
        if max(abs(low), abs(high)) > _FURTHEST or high - low < 1 / Fraction(_FURTHEST):
            raise Invalid("lower and upper must lie within ±10^300, and at least 10^-300 apart")
        if step is None:
            width = high - low
            size = Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length() - _POINTS)
            return cls(low, high, size)
        grid = cls(low, high, parameter.step(step))
        if grid.points > 2**40:
            raise Invalid("the grid has more than 2^40 points: choose a larger step")
        return grid

    @property
    def points(self) -> int:
        """The number of points."""
        return (self.upper - self.lower) // self.step + 1

    def tidy(self, places: Places) -> Places:
        """Normalise points that an engine returns in any order: clamp them to the ends, set negative weights to 0, merge equal points."""
        points = np.clip(np.asarray(places.points, np.int64), 0, self.points - 1)
        weights = np.clip(np.asarray(places.counts, np.int64), 0, answers.LIMIT // _FINEST)
        found, which = np.unique(points, return_inverse=True)
        total = np.zeros(len(found), np.int64)
        np.add.at(total, which, weights)
        return Places(found, total)

    def place(self, values: Any) -> Places:
        """The number of values at each grid point, rounded down and clamped to the bounds; a missing value is the lower bound."""
        clean = answers.floats(values, self.lower, self.upper)
        low = float(self.lower)
        # a float division: a fixed rule maps each value to one point, which is all that privacy needs
        points = np.clip(np.floor((clean - low) / float(self.step)), 0, self.points - 1).astype(np.int64)
        if self.points > 8 * len(points) + 2**16:
            return Places(*np.unique(points, return_counts=True))
        counts = np.bincount(points, minlength=1)
        occupied = np.flatnonzero(counts)
        return Places(occupied, counts[occupied])


@final
@frozen(kw_only=True, init=False)
class Quantile(Mechanism[float]):
    """Release a point below which about a fraction `q` of the values lie.

    Values are clamped to [lower, upper] and rounded to a fixed grid; NaN is the lower bound. The release is a grid point, not a value. The
    input is one value for each unit; or `Places`, grid points with integer weights as an engine computes them, where one unit has at most
    `weight` in total over all quantiles released at this ε (those of disjoint groups, for example). Under replace-one adjacency a unit's
    weight may leave some groups and enter others: give twice the weight, under add/remove.

    Theorem (Smith 2011; Asi & Duchi 2020).
        The exponential mechanism with the score u(z) = −|(1 − q)·#{x < z} − q·#{x > z}|. Adding or removing a record changes u by at most
        max(q, 1 − q), so R = 2·max(q, 1 − q), for the median R = 1; replacing one changes it by at most 1, so R = 2. It is ε-DP with range
        at most ε. A unit of weight w changes u by w times as much, so R grows with the weight; and if it has weight w_g in group g, the
        groups' releases have ranges ε·w_g/weight, which add up to at most ε.

    Accuracy.
        `error` is in ranks: with this confidence, u(answer) ≥ max u − error, whatever the data (all grid points as candidates).

    >>> median = Quantile(epsilon=1, q=0.5, lower=0, upper=100)
    >>> 45 < median.release(list(range(101)) * 10) < 55
    True
    >>> round(median.error(0.95), 1)
    17.3
    """

    epsilon: Fraction = field(repr=str)
    q: Fraction = field(repr=str)
    grid: ValueGrid
    adjacency: Adjacency
    weight: int

    def __init__(
        self,
        *,
        epsilon: Number,
        q: Number = 0.5,
        lower: Number,
        upper: Number,
        step: Number | None = None,
        adjacency: Adjacency = "add/remove",
        weight: int = 1,
    ) -> None:
        if is_replacement(adjacency) and weight != 1:
            raise Invalid("a weight may leave one group and enter another under replace-one: give twice the weight and leave adjacency out")
        self.__attrs_init__(
            epsilon=parameter.some_epsilon(epsilon),
            q=_level(q, "q"),
            grid=ValueGrid.of(lower, upper, step),
            adjacency=adjacency,
            weight=exact.whole(weight, "weight"),
        )

    @property
    def rate(self) -> Fraction:
        """ε/R per unit of score."""
        return self.epsilon / (self.weight * (2 if is_replacement(self.adjacency) else 2 * max(self.q, 1 - self.q)))

    @property
    def loss(self) -> Loss:
        return leaves.BoundedRange(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return exponential_error(self.rate, exact.confidence_level(confidence), self.grid.points)

    def check(self, answer: Any) -> None:
        if not isinstance(answer, Places):
            answers.check_records(answer)

    def sample(self, answer: Any, bits: Bits) -> float:
        places = self.grid.tidy(answer) if isinstance(answer, Places) else self.grid.place(answer)
        return float(self.grid.lower + self.grid.step * _choose(places, 0, self.grid.points, self.q, self.rate, bits))


def _choose(records: Places, start: int, stop: int, q: Fraction, rate: Fraction, bits: Bits) -> int:
    """The exponential mechanism over the grid points start … stop − 1."""
    places, counts = records
    less = np.concatenate([[0], np.cumsum(counts)])  # records before the gap that precedes each occupied point
    # pieces: gap, point, gap, point, …, gap; the score of a gap counts all records, that of a point leaves out its own
    edges = np.empty(2 * len(places) + 2, np.int64)
    edges[0], edges[-1] = start, stop
    edges[1:-1:2], edges[2:-1:2] = places, places + 1
    below = np.empty(2 * len(places) + 1, np.int64)
    below[0::2], below[1::2] = less, less[:-1]
    above = np.empty_like(below)
    above[0::2], above[1::2] = less[-1] - less, less[-1] - less[1:]
    scores = -np.abs((q.denominator - q.numerator) * below - q.numerator * above)
    piece = choice.best(scores, rate / q.denominator, "gumbel", bits, weights=np.diff(edges))[0]
    return int(edges[piece]) + uniform(int(edges[piece + 1] - edges[piece]), bits)


def _levels(qs: Any) -> tuple[Fraction, ...]:
    read = tuple(_level(q, "each q") for q in qs)
    if not read or sorted(set(read)) != list(read):
        raise Invalid("qs must be distinct levels in ascending order, at least one")
    return read


@final
@frozen(kw_only=True, init=False)
class Quantiles(Mechanism[list[float]]):
    """Release several quantiles: the middle one first, then each side from the records on that side.

    Theorem (Kaplan, Schnapp & Stemmer 2022).
        Splitting m quantiles in halves takes ⌈log₂(m + 1)⌉ levels. The nodes of a level have disjoint records, so one record is in one
        exponential mechanism per level: with ε/levels each, the whole is ε-DP. Replacing a record is a removal in one node and an
        addition in one node of each level, so each mechanism runs at half of that.

    Accuracy.
        `error` is in ranks and holds for all quantiles together: a rank may be off by the errors of all levels above it.

    >>> quartiles = Quantiles(epsilon=4, qs=[0.25, 0.5, 0.75], lower=0, upper=100)
    >>> [abs(z - true) < 5 for z, true in zip(quartiles.release(list(range(101)) * 20), [25, 50, 75])]
    [True, True, True]
    """

    epsilon: Fraction = field(repr=str)
    qs: tuple[Fraction, ...] = field(converter=_levels, repr=lambda qs: ", ".join(map(str, qs)))
    grid: ValueGrid
    adjacency: Adjacency

    def __init__(
        self,
        *,
        epsilon: Number,
        qs: Any,
        lower: Number,
        upper: Number,
        step: Number | None = None,
        adjacency: Adjacency = "add/remove",
    ) -> None:
        is_replacement(adjacency)
        self.__attrs_init__(epsilon=parameter.some_epsilon(epsilon), qs=qs, grid=ValueGrid.of(lower, upper, step), adjacency=adjacency)

    @property
    def levels(self) -> int:
        """The number of exponential mechanisms that one record is in."""
        return len(self.qs).bit_length()

    @property
    def each(self) -> Fraction:
        """The ε of one exponential mechanism."""
        return self.epsilon / (self.levels * (2 if is_replacement(self.adjacency) else 1))

    @property
    def loss(self) -> Loss:
        # a replaced record changes one node twice, or two nodes once: either way the log-ratios of the level have range 2·each
        return self.levels * leaves.BoundedRange(self.epsilon / self.levels)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level = 1 - (1 - exact.confidence_level(confidence)) / len(self.qs)
        return self.levels * exponential_error(self.each / 2, level, self.grid.points)

    def check(self, answer: Any) -> None:
        answers.check_records(answer)

    def sample(self, answer: Any, bits: Bits) -> list[float]:
        found = self._split(self.grid.place(answer), 0, self.grid.points, list(self.qs), Fraction(0), Fraction(1), bits)
        return [float(self.grid.lower + self.grid.step * z) for z in found]

    def _split(self, places: Places, start: int, stop: int, qs: list[Fraction], low: Fraction, high: Fraction, bits: Bits) -> list[int]:
        if not qs:
            return []
        middle = len(qs) // 2
        share = ((qs[middle] - low) / (high - low)).limit_denominator(_FINEST)
        share = min(max(share, Fraction(1, _FINEST)), 1 - Fraction(1, _FINEST))
        z = _choose(places, start, stop, share, self.each / (2 * max(share, 1 - share)), bits)
        cut = int(np.searchsorted(places.points, z, side="right"))
        left = self._split(places.part(slice(cut)), start, z + 1, qs[:middle], low, qs[middle], bits)
        right = self._split(places.part(slice(cut, None)), min(z + 1, stop - 1), stop, qs[middle + 1 :], qs[middle], high, bits)
        return [*left, z, *right]
