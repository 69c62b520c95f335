"""The exponential mechanism, over finite sets and over intervals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import choice
from discreet.noise.bits import Bits
from discreet.noise.choice import Scores
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniform


def selection_rate(epsilon: Fraction, sensitivity: Fraction, monotone: bool) -> Fraction:
    """ε/R, where R is the range of score changes: 2Δ, or Δ if all scores change in the same direction."""
    rate = epsilon / (sensitivity if monotone else 2 * sensitivity)
    if not Fraction(1, 2**500) <= rate <= 2**500:
        raise Invalid("epsilon/sensitivity is out of range: choose another unit for the scores")
    return rate


def exponential_error(rate: Fraction, confidence: Fraction, size: int) -> float:
    """A bound on the gap of the chosen score to the best of `size`: the t at which (d−1)e^(−x)/(1+(d−1)e^(−x)) = β, x = rate·t."""
    if size == 1:
        return 0.0
    beta = exact.miss(confidence)
    return max(0.0, (math.log(size - 1) + math.log1p(-beta) - math.log(beta)) / float(rate))


@final
@frozen(kw_only=True)
class Exponential(Mechanism[int]):
    """Choose one of finitely many candidates, with a probability that grows with its score; return its position.

    In `Private` scores NaN and −∞ are replaced by the lowest float, +∞ by the highest.

    Theorem (McSherry & Talwar 2007; Durfee & Rogers 2019).
        Let every score change by at most Δ between neighbours, and R = 2Δ (R = Δ if all change in the same direction). Choosing r with
        probability ∝ e^(ε·u(r)/R) is ε-DP, and its log-ratios have range at most ε (bounded range), which composes better.

    Accuracy.
        With d candidates P[u(chosen) ≤ max u − t] ≤ (d−1)e^(−x)/(1 + (d−1)e^(−x)), x = εt/R, attained when all others are t below;
        `error(confidence, size=d)` is the t at which this bound is 1 − confidence.

    >>> price = Exponential(epsilon=0.2, sensitivity=2)   # selling pumpkins: prices up to $2, so one bidder changes revenue by $2
    >>> price.probabilities([3, 2]).round(2).tolist()         # two bid $1 and one $2: $3 at price $1, $2 at price $2
    [0.51, 0.49]
    >>> price.probabilities([100, 20]).round(3).tolist()      # 90 bid $1 and 10 bid $2
    [0.982, 0.018]
    >>> Exponential(epsilon=1).release([0, 500, 3])
    1
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    monotone: bool = field(default=False, converter=parameter.monotone)

    def __attrs_post_init__(self) -> None:
        selection_rate(self.epsilon, self.sensitivity, self.monotone)

    @property
    def loss(self) -> Loss:
        return leaves.BoundedRange(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotone)
        return exponential_error(rate, exact.confidence_level(confidence), exact.whole(size, "size"))

    def probabilities(self, scores: Any) -> NDArray[np.float64]:
        """The probability of each candidate, to float accuracy. It reveals the scores, so use it with public or synthetic ones only."""
        values = answers.scores(scores)
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotone)
        exactly = [Fraction(v) for v in values.tolist()]
        behind = [float(max(rate * (v - max(exactly)), Fraction(-(10**6)))) for v in exactly]
        weights = np.exp(behind)
        return np.asarray(weights / weights.sum(), np.float64)

    def check(self, answer: Any) -> None:
        answers.check_scores(answer)

    def sample(self, answer: Any, bits: Bits) -> int:
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotone)
        return choice.best(answers.scores(answer), rate, "gumbel", bits)[0]


@final
@frozen(kw_only=True)
class IntervalExponential(Mechanism[Fraction]):
    """Choose a point of an interval by a score that is constant on each of finitely many pieces.

    The interval is a grid of equal steps from `lower`, and its base measure is the number of grid points. A piece is given by its start,
    in steps from `lower`. The pieces may depend on the data; the grid may not. In a `Private` answer a piece that starts before its
    predecessor, or outside the grid, is empty.

    Theorem (McSherry & Talwar 2007).
        The exponential mechanism over the grid points: a piece is chosen with probability ∝ (its number of points)·e^(ε·u/R), then a
        point of it uniformly. Loss and proof are those of `Exponential`.

    Accuracy.
        `error` is that of `Exponential` with all grid points as candidates: a bound on the gap to the best score.

    >>> price = IntervalExponential(epsilon=5, sensitivity=1, lower=0, upper=10, step="0.01")
    >>> revenue = [-100, 100, -100]                          # best between $3 and $4
    >>> 3 <= price.release(([0, 300, 400], revenue)) < 4
    True
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    lower: Fraction = field(converter=parameter.lower, repr=str)
    upper: Fraction = field(converter=parameter.upper, repr=str)
    step: Fraction = field(converter=parameter.step, repr=str)
    monotone: bool = field(default=False, converter=parameter.monotone)

    def __attrs_post_init__(self) -> None:
        selection_rate(self.epsilon, self.sensitivity, self.monotone)
        if not self.lower < self.upper:
            raise Invalid("lower must be below upper")
        if self.points > 2**62:
            raise Invalid("the grid has more than 2^62 points: choose a larger step")

    @property
    def points(self) -> int:
        """The number of grid points, both ends included."""
        return (self.upper - self.lower) // self.step + 1

    @property
    def loss(self) -> Loss:
        return leaves.BoundedRange(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotone)
        return exponential_error(rate, exact.confidence_level(confidence), self.points)

    def check(self, answer: Any) -> None:
        _pieces(answer)
        answers.check_whole(answer[0], "the pieces")
        starts, _ = answers.wholes(answer[0], "the pieces")
        answers.check_scores(answer[1])
        if starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > self.points:
            raise Invalid("the pieces must start at 0 and ascend inside the grid, with one score each")

    def sample(self, answer: tuple[Any, Any], bits: Bits) -> Fraction:
        starts, scores = _pieces(answer)
        starts = np.clip(np.maximum.accumulate(starts), 0, self.points)
        starts[0] = 0
        ends = np.append(starts[1:], self.points)
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotone)
        piece = choice.best(scores, rate, "gumbel", bits, weights=ends - starts)[0]
        point = int(starts[piece]) + uniform(int(ends[piece] - starts[piece]), bits)
        return self.lower + self.step * point


def _pieces(answer: Any) -> tuple[Integers, Scores]:
    if not isinstance(answer, list | tuple) or len(answer) != 2:
        raise Invalid("give a pair of lists: the start of each piece, and its score")
    starts, scores = answers.sizes(answer[0]), answers.scores(answer[1])
    if len(starts) != len(scores):
        raise Invalid("give one score for each piece")
    return starts, scores
