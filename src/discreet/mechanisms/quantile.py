"""Private quantiles, one or many."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

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
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.value_grid import FINEST, Places, PointGrid, ValueGrid
from discreet.noise import choice
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniform

_LONG = 2**62  # scores of this size or more are computed with whole numbers of any length


def _offset(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid("offset must be a whole number of ranks, in units of weight")
    return value


def level(value: Number, name: str) -> Fraction:
    """Read the level of a quantile."""
    q = exact.confidence_level(value, name)
    if q.denominator > FINEST:
        raise Invalid(f"{name} must have at most six decimals: round it")
    return q


@final
@frozen(kw_only=True, init=False)
class Quantile(Mechanism[float]):
    """Release a point below which about a fraction `q` of the values lie.

    Values are clamped to [lower, upper] and rounded down to a fixed grid; NaN is the lower bound. The release is a grid point, not a value.
    The input is one value for each unit; or `Places`, grid points with integer weights as an engine computes them, where one unit has at
    most `weight` in total over all quantiles released at this ε (those of disjoint groups, for example). Under replace-one adjacency a
    unit's weight may leave some groups and enter others: give twice the weight, under add/remove. With an `offset` the target is the rank
    q·n + offset, in units of weight; a target before the first record or after the last is met at that end of the grid.

    Theorem (Smith 2011; Asi & Duchi 2020).
        The exponential mechanism with the score u(z) = −(the distance of q·n + offset from the ranks of z), where n is the number of
        records and z has the ranks from #{x < z} to #{x ≤ z}; those of the first point have no lower end, those of the last no upper
        end. u = min(t − a, b − t, 0) with t − a = q·n + offset − #{x < z} and b − t = #{x ≤ z} − q·n − offset. Adding or removing a
        record changes each of these by q or 1 − q, for `offset` is a constant: so u by at most max(q, 1 − q), and R = 2·max(q, 1 − q), for
        the median R = 1. Replacing one changes n by nothing and u by at most 1, so R = 2. It is ε-DP with range at most ε. A unit of
        weight w changes u by w times as much, so R grows with the weight; and if it has weight w_g in group g, the groups' releases have
        ranges ε·w_g/weight, which add up to at most ε.

    Accuracy.
        `error` is in ranks: with this confidence the ranks of the answer lie within `error` of the target, whatever the data (all grid
        points as candidates; the best of them has score 0).

    >>> median = Quantile(epsilon=1, q=0.5, lower=0, upper=100)
    >>> 45 < median.release(list(range(101)) * 10) < 55
    True
    >>> round(median.error(0.95), 1)
    17.3
    """

    epsilon: Fraction = field(repr=str)
    q: Fraction = field(repr=str)
    grid: PointGrid
    adjacency: Adjacency
    weight: int
    offset: int

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
        offset: int = 0,
    ) -> None:
        if is_replacement(adjacency) and weight != 1:
            raise Invalid("a weight may leave one group and enter another under replace-one: give twice the weight and leave adjacency out")
        self.__attrs_init__(
            epsilon=parameter.some_epsilon(epsilon),
            q=level(q, "q"),
            grid=ValueGrid.of(lower, upper, step),
            adjacency=adjacency,
            weight=exact.whole(weight, "weight"),
            offset=_offset(offset),
        )

    @classmethod
    def on(cls, grid: PointGrid, *, epsilon: Fraction, q: Fraction, weight: int = 1, offset: int = 0) -> Quantile:
        """The same on a grid of any kind, under add/remove adjacency."""
        made = cls.__new__(cls)
        made.__attrs_init__(epsilon=epsilon, q=q, grid=grid, adjacency="add/remove", weight=weight, offset=offset)
        return made

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
        return float(self.grid.value(self.choose(places, bits)))

    def choose(self, places: Places, bits: Bits) -> int:
        """The position of the released point on the grid."""
        return _choose(places, 0, self.grid.points, self.q, self.rate, bits, self.offset)


def _choose(records: Places, start: int, stop: int, q: Fraction, rate: Fraction, bits: Bits, offset: int = 0) -> int:
    """The exponential mechanism over the grid points start … stop − 1."""
    places, counts = _with_ends(records, start, stop)
    # pieces: gap, point, gap, point, …, gap; all points of a gap have one rank, an occupied point has those of its records
    edges = np.empty(2 * len(places) + 2, np.int64)
    edges[0], edges[-1] = start, stop
    edges[1:-1:2], edges[2:-1:2] = places, places + 1
    many = sum(counts.tolist()) + abs(offset)
    ranks = np.concatenate([[0], np.cumsum(counts)]).astype(object if many * q.denominator >= _LONG else np.int64)
    beyond = q.denominator * (ranks - offset) - q.numerator * ranks[-1]  # the rank of each gap less the target, times q's denominator
    first, last = beyond[:-1].copy(), beyond[1:].copy()
    first[0], last[-1] = min(first[0], 0), max(last[-1], 0)
    scores = np.empty(len(edges) - 1, ranks.dtype)
    scores[0::2] = -np.abs(beyond)
    scores[1::2] = -np.maximum(np.maximum(first, -last), 0)
    piece = choice.best(scores, rate / q.denominator, "gumbel", bits, weights=np.diff(edges))[0]
    return int(edges[piece]) + uniform(int(edges[piece + 1] - edges[piece]), bits)


def _with_ends(records: Places, start: int, stop: int) -> Places:
    """The records, with both end points of the grid among the points."""
    points, counts = records
    before = [start] if not len(points) or points[0] != start else []
    after = [stop - 1] if stop - 1 != (points[-1] if len(points) else start) else []
    joined = np.concatenate([before, points, after]).astype(np.int64)
    return Places(joined, np.concatenate([[0] * len(before), counts, [0] * len(after)]).astype(np.int64))


def levels_of(qs: Any) -> tuple[Fraction, ...]:
    """Read the levels of several quantiles."""
    read = tuple(level(q, "each q") for q in qs)
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
    qs: tuple[Fraction, ...] = field(converter=levels_of, repr=lambda qs: ", ".join(map(str, qs)))
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
        share = ((qs[middle] - low) / (high - low)).limit_denominator(FINEST)
        share = min(max(share, Fraction(1, FINEST)), 1 - Fraction(1, FINEST))
        z = _choose(places, start, stop, share, self.each / (2 * max(share, 1 - share)), bits)
        cut = int(np.searchsorted(places.points, z, side="right"))
        left = self._split(places.part(slice(cut)), start, z + 1, qs[:middle], low, qs[middle], bits)
        right = self._split(places.part(slice(cut, None)), min(z + 1, stop - 1), stop, qs[middle + 1 :], qs[middle], high, bits)
        return [*left, z, *right]
