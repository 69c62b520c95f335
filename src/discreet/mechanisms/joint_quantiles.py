"""Several quantiles in one draw: the exponential mechanism over all of them together.

How the draw is exact. Pieces are the grid points between two neighbouring records; a piece has one rank. Floats give, by dynamic
programming from the first quantile to the last, the weight of each way to choose pieces; a way is drawn with whole-number weights made from
them, so that its chance g is an exact fraction. It is accepted with probability f/(e·Z·g), decided by refining, where f is its
exact weight and Z the total in floats; otherwise all is drawn again. So the law is ∝ f, whatever the floats are, as long as f ≤ e·Z·g.
That leaves a factor e for their errors. All terms are positive and logarithms stay below 10⁴ (scores are capped, see `_CAP`), so each of at
most n·m additions is off by no more than 2⁻³⁷, four units in the last place: together less than 1/10 for n·m ≤ 2²⁸. Whole-number weights
add at most the n·m weights of 1 to a total of 2³² or more, in each of m steps: together less than ¾.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.exponential import exponential_error
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.quantile import levels_of
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.value_grid import ValueGrid
from discreet.noise.bernoulli import resolve_below
from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers
from discreet.noise.uniform import uniform, uniforms

_FINE = 2**16  # places inside a grid point, for records with the same value
_CAP = 700  # a bin counts no more than this, in units of 1/rate: e^−700 is nothing, and floats stay in range
_MOST = 12  # quantiles
_NEVER = -math.inf


@final
@frozen(kw_only=True, init=False)
class JointQuantiles(Mechanism[list[float]]):
    """Release several quantiles, in ascending order, by one exponential mechanism over all of them.

    Values are clamped to [lower, upper] and rounded down to a fixed grid; NaN is the lower bound. A record lies at a random one of 2¹⁶
    places inside its grid point, so that many records of one value are not one jump. The release is grid points, not values.

    Assumes. There are at most 2²⁸/m records, for which the draw is exact (see the module).

    Theorem (Gillenwater, Joseph & Kulesza 2021).
        The exponential mechanism with the score u = −Σⱼ |nⱼ − wⱼ·n|, where nⱼ of the n records lie between the released quantiles j − 1 and
        j, and wⱼ is the share that should. A record that is added to bin k changes its term by at most 1 − w_k and the others by wⱼ: u by
        at most 2(1 − w_k), so R = 4(1 − min w). One that is replaced changes two terms by at most 1, so R = 4. It is ε-DP; for any places
        inside grid points its log-ratios have range at most ε, so the loss is that of a mechanism with this range. (Terms are capped
        at 700·R/ε, which changes them by no more.)

    Accuracy.
        `error` is in ranks and holds for all quantiles together, whatever the data, as long as no two records lie at one place (which is
        rare unless thousands have one value): with all outputs as candidates, of which the best then has a score of at least −(m + 1). A
        quantile that is off by r ranks costs a score of at least 2r.

    >>> quartiles = JointQuantiles(epsilon=4, qs=[0.25, 0.5, 0.75], lower=0, upper=100)
    >>> [abs(z - true) < 5 for z, true in zip(quartiles.release(list(range(101)) * 20), [25, 50, 75])]
    [True, True, True]
    """

    epsilon: Fraction = field(repr=str)
    qs: tuple[Fraction, ...] = field(repr=lambda qs: ", ".join(map(str, qs)))
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
        read, grid = levels_of(qs), ValueGrid.of(lower, upper, step)
        if len(read) > _MOST:
            raise Invalid(f"give at most {_MOST} quantiles: for more, Quantiles is better")
        if grid.points > 2**45:
            raise Invalid("the grid has more than 2^45 points: choose a larger step")
        if parameter.some_epsilon(epsilon) > 2**20:
            raise Invalid("epsilon must not be above 2^20 here")
        self.__attrs_init__(epsilon=parameter.some_epsilon(epsilon), qs=read, grid=grid, adjacency=adjacency)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The share of the records that should lie in each bin."""
        return tuple(b - a for a, b in zip((Fraction(0), *self.qs), (*self.qs, Fraction(1)), strict=True))

    @property
    def rate(self) -> Fraction:
        """ε/R per unit of score."""
        return self.epsilon / (4 if is_replacement(self.adjacency) else 4 * (1 - min(self.shares)))

    @property
    def loss(self) -> Loss:
        return leaves.BoundedRange(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        m = len(self.qs)
        outputs = math.comb(self.grid.points + m - 1, m)
        return (exponential_error(self.rate, exact.confidence_level(confidence), outputs) + m + 1) / 2

    def check(self, answer: Any) -> None:
        answers.check_records(answer)

    def sample(self, answer: Any, bits: Bits) -> list[float]:
        places = self.grid.place(answer)
        records = np.repeat(places.points, places.counts) * _FINE
        records = np.sort(records + uniforms(_FINE, len(records), bits)) if len(records) else records
        edges = np.concatenate([[0], records, [self.grid.points * _FINE]]).astype(np.int64)
        found = _Draw(np.diff(edges), self.shares, self.rate).sample(bits)
        return [float(self.grid.value((int(edges[i]) + within) // _FINE)) for i, within in found]


@final
class _Draw:
    """Ways to choose one piece for each quantile: piece i has rank i and `lengths[i]` places."""

    def __init__(self, lengths: Integers, shares: tuple[Fraction, ...], rate: Fraction) -> None:
        self.lengths, self.rate, self.n = lengths, rate, len(lengths) - 1
        self.targets = [share * self.n for share in shares]
        self.cap = Fraction(_CAP) / rate
        m, size = len(shares) - 1, len(lengths)
        with np.errstate(divide="ignore"):
            logs = np.log(lengths.astype(np.float64))
        # weights[j][k]: quantile j is in piece i, with k earlier ones in the same piece; s quantiles in L places have C(L + s − 1, s) ways
        self.weights: list[Floats] = []
        for j in range(m):
            table = np.full((j + 1, size), _NEVER)
            if j == 0:
                table[0] = logs + self._terms(0, np.arange(size))
            else:
                before = np.logaddexp.reduce(self.weights[-1], axis=0)
                table[0] = logs + self._moved(before, j)
                stay = float(self._terms(j, np.zeros(1))[0])
                for k in range(1, j + 1):
                    table[k] = self.weights[-1][k - 1] + stay + np.log(lengths + float(k)) - math.log(k + 1)
            table[:, lengths == 0] = _NEVER
            self.weights.append(table)
        self.last = self.weights[-1] + self._terms(m, self.n - np.arange(size))
        self.log_total = Fraction(float(np.logaddexp.reduce(self.last.ravel()))) + 1

    def _terms(self, j: int, inside: NDArray[Any]) -> Floats:
        """The logarithm of a bin's factor, for so many records in it; the difference is taken in whole numbers and a rest below 1."""
        whole = math.floor(self.targets[j])
        return -np.minimum(float(self.rate) * np.abs((inside - whole) - float(self.targets[j] - whole)), _CAP)

    def _moved(self, before: Floats, j: int) -> Floats:
        """ln Σ over earlier pieces, by their weights and the factor of the bin between; sums in windows around the target."""
        rate, target, n = float(self.rate), self.targets[j], self.n
        middle, low, high = math.ceil(target), max(1, math.ceil(target - self.cap)), min(n, math.floor(target + self.cap))
        offset = rate * float(middle - target)
        after = windows(before, max(low, middle), high, -rate, middle) - offset
        ahead = windows(before, low, min(middle - 1, high), rate, middle) + offset
        far = windows(before, max(low, high + 1), n, 0.0, 0) - _CAP
        near = windows(before, 1, low - 1, 0.0, 0) - _CAP
        return np.asarray(np.logaddexp(np.logaddexp(after, ahead), np.logaddexp(far, near)), dtype=np.float64)

    def sample(self, bits: Bits) -> list[tuple[int, int]]:
        """A piece for each quantile and a place inside it, in ascending order."""
        while True:
            ways, chance = self._propose(bits)
            weight, exponent = self._exactly(ways)
            ratio = weight / chance
            log = -exponent - self.log_total

            def accepted(log: Fraction = log, ratio: Fraction = ratio) -> Ball:
                return exact.ball(log).exp() * exact.ball(ratio)

            if resolve_below(accepted, bits.word(), 64, bits):
                return [(i, at) for i, count in reversed(ways) for at in _multiset(int(self.lengths[i]), count, bits)]

    def _propose(self, bits: Bits) -> tuple[list[tuple[int, int]], Fraction]:
        """Pieces from the last to the first, with how many quantiles are in each, and the exact chance of this way."""
        ways: list[tuple[int, int]] = []
        table, chance = self.last, Fraction(1)
        j = len(self.weights)
        while True:
            flat = table.ravel()
            scale = 2.0 ** (61 - len(flat).bit_length())
            whole = np.where(flat > _NEVER, np.floor(np.exp(flat - flat.max()) * scale) + 1, 0.0).astype(np.int64)
            sums = np.cumsum(whole)
            at = int(np.searchsorted(sums, uniform(int(sums[-1]), bits), side="right"))
            chance *= Fraction(int(whole[at]), int(sums[-1]))
            more, piece = divmod(at, table.shape[1])
            ways.append((piece, more + 1))
            j -= more + 1
            if not j:
                return ways, chance
            table = self.weights[j - 1][:, :piece] + self._terms(j, piece - np.arange(piece))

    def _exactly(self, ways: list[tuple[int, int]]) -> tuple[Fraction, Fraction]:
        """The number of places of a way, and rate·(its capped score, negated)."""
        ranks = [i for i, count in reversed(ways) for _ in range(count)]
        bins = [b - a for a, b in zip([0, *ranks], [*ranks, self.n], strict=True)]
        score = sum((min(abs(inside - target), self.cap) for inside, target in zip(bins, self.targets, strict=True)), Fraction(0))
        return Fraction(math.prod(math.comb(int(self.lengths[i]) + count - 1, count) for i, count in ways)), self.rate * score


def windows(logs: Floats, low: int, high: int, slope: float, origin: int) -> Floats:
    """ln Σ exp(logs[i − d] + slope·(d − origin)) over d = low … high, for each i; without cancellation.

    In blocks as long as a window, every window is the end of one block and the beginning of the next: sums from both ends of each block
    are enough.
    """
    size, length = len(logs), high - low + 1
    if length <= 0 or low >= size:
        return np.full(size, _NEVER)
    length = min(length, size)
    high = low + length - 1  # there are no earlier records
    blocks = -(-(size + 2 * length) // length)
    padded = np.full(blocks * length, _NEVER)
    padded[length : length + size] = logs  # position p is at p + length
    inside = padded.reshape(blocks, length) - slope * np.arange(length)
    heads = np.logaddexp.accumulate(inside, axis=1).ravel()
    tails = np.logaddexp.accumulate(inside[:, ::-1], axis=1)[:, ::-1].ravel()
    i = np.arange(size)
    first = i - high + length  # of the window, as a position in `padded`
    out = np.full(size, _NEVER)
    known = np.flatnonzero(first + length > length)  # windows that reach position 0
    first = np.maximum(first[known], 0)
    block, within = np.divmod(first, length)
    end = heads[np.minimum(first + length - 1, len(heads) - 1)] - slope * length
    whole = np.where(within == 0, tails[first], np.logaddexp(tails[first], end))
    out[known] = whole + slope * (i[known] + length - block * length - origin)
    return out


def _multiset(places: int, count: int, bits: Bits) -> list[int]:
    """`count` of the places 0 … places − 1 in ascending order, repeats allowed, all such lists equally likely (Floyd's subsets)."""
    chosen: set[int] = set()
    for top in range(places - 1, places + count - 1):
        drawn = uniform(top + 1, bits)
        chosen.add(top if drawn in chosen else drawn)
    return [place - i for i, place in enumerate(sorted(chosen))]
