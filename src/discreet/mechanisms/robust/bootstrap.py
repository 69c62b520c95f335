"""Standard errors of private estimates: the parametric bootstrap, which costs no privacy, and the bag of little bootstraps, which does."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.robust.sample_and_aggregate import SampleAndAggregate, as_number, block_count, into_blocks
from discreet.mechanisms.sensitivity import interval
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniforms

_SHARE = Fraction(1, 4)  # of ε, for the standard error


class BootstrapInterval(NamedTuple):
    """A confidence interval of the estimated parameter, valid as far as the model is, and the standard error."""

    low: float
    high: float
    standard_error: float


def parametric_bootstrap(
    released: float, simulate: Callable[[], Any], release: Callable[[Any], Any], *, rounds: int = 400, confidence: Number = 0.95
) -> BootstrapInterval:
    """Simulate data from released parameters, repeat the release on each, and measure its spread: sampling and noise together.

    `simulate()` creates one data set from the released parameters; `release` repeats what was done to the real one (a mechanism's
    `release`). Rounds that return None are left out.

    Theorem (post-processing).
        Only released values are used, never the data: no budget is spent.

    Accuracy.
        The interval is that of the basic bootstrap, [2θ − q(1 − β/2), 2θ − q(β/2)]: valid as far as the simulated data resemble the real
        ones. Resampling the *real* records instead costs more than one release for each: a record may occur many times in a resample.

    >>> from discreet.mechanisms.laplace import Laplace
    >>> noise = Laplace(epsilon=1)
    >>> found = parametric_bootstrap(100.0, simulate=lambda: 100.0, release=noise.release, rounds=200)
    >>> 90 < found.low < 100 < found.high < 110
    True
    """
    level, count = exact.confidence_level(confidence), exact.whole(rounds, "rounds", least=20)
    released_again = [release(simulate()) for _ in range(count)]
    known = np.array([float(one) for one in released_again if one is not None])
    if len(known) < 20:
        raise Invalid("fewer than 20 rounds returned an answer: release with a larger epsilon, or simulate more records")
    low, high = np.quantile(known, [float(1 - level) / 2, float(1 + level) / 2])
    return BootstrapInterval(float(2 * released - high), float(2 * released - low), float(known.std(ddof=1)))


class BootstrapEstimate(NamedTuple):
    """An estimate and its standard error from sample to sample."""

    value: float
    standard_error: float


@final
@frozen(kw_only=True, init=False)
class LittleBootstraps(Mechanism[BootstrapEstimate]):
    """Estimate by sample and aggregate, and release the standard error of the estimate from one sample of people to the next.

    In each block the estimator runs on the block's records, and again on `rounds` resamples of them. The blocks' estimates and their
    standard errors (divided by √blocks, for a block has a fraction 1/blocks of the people) are aggregated by private medians.

    Theorem (Kleiner, Talwalkar, Sarkar & Jordan 2014, with sample and aggregate).
        All resampling happens within a block, so a record still affects one block only, however often it is drawn there: the two medians
        have their two losses, ¾ and ¼ of ε. (A bootstrap over all records would put a record into most resamples, often twice or more.)

    Accuracy.
        `error` is that of the estimate, in blocks. The standard error is that of the estimator on all records where its error falls with
        the root of their number, relatively within about 1/√(2·rounds) by resampling; it excludes the noise of the medians.

    >>> people = np.arange(4000) % 100
    >>> found = LittleBootstraps(epsilon=16, estimator=np.mean, blocks=60, lower=0, upper=100).release(people)
    >>> 45 < found.value < 54, 0.2 < found.standard_error < 0.8      # truly 28.9/√4000 = 0.46
    (True, True)
    """

    epsilon: Fraction = field(repr=str)
    estimator: Callable[[Any], Any] = field(repr=False)
    blocks: int
    lower: Fraction = field(repr=str)
    upper: Fraction = field(repr=str)
    rounds: int
    blocks_per_unit: int

    def __init__(
        self,
        *,
        epsilon: Number,
        estimator: Callable[[Any], Any],
        blocks: int,
        lower: Number,
        upper: Number,
        rounds: int = 50,
        blocks_per_unit: int = 1,
    ) -> None:
        low, high = interval(lower, upper)
        self.__attrs_init__(
            epsilon=parameter.some_epsilon(epsilon),
            estimator=estimator,
            blocks=block_count(blocks),
            lower=low,
            upper=high,
            rounds=exact.whole(rounds, "rounds", least=2),
            blocks_per_unit=exact.whole(blocks_per_unit, "blocks_per_unit"),
        )
        self.value.error()  # raises Invalid here if a parameter is out of range

    @property
    def value(self) -> SampleAndAggregate:
        """The aggregator of the estimates."""
        return self._median(self.epsilon * (1 - _SHARE), self.estimator, self.lower, self.upper)

    @property
    def spread(self) -> SampleAndAggregate:
        """The aggregator of the blocks' standard errors, with the largest possible one as its upper bound."""
        return self._median(self.epsilon * _SHARE, _no_estimate, Fraction(0), (self.upper - self.lower) * largest_deviation(self.rounds))

    def _median(self, epsilon: Fraction, estimator: Callable[[Any], Any], lower: Fraction, upper: Fraction) -> SampleAndAggregate:
        return SampleAndAggregate(
            epsilon=epsilon, estimator=estimator, blocks=self.blocks, lower=lower, upper=upper, blocks_per_unit=self.blocks_per_unit
        )

    @property
    def loss(self) -> Loss:
        return self.value.loss + self.spread.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.value.error(confidence)

    def check(self, answer: Any) -> None:
        self.value.check(answer)

    def sample(self, answer: Any, bits: Bits) -> BootstrapEstimate:
        parts = into_blocks(answer, self.blocks, bits)
        value = self.value.combine([self.value.estimate(part) for part in parts], bits)
        spread = self.spread.combine([self._resampled(part, bits) for part in parts], bits)
        return BootstrapEstimate(value, spread / math.sqrt(self.blocks))

    def _resampled(self, part: Any, bits: Bits) -> float:
        """The standard deviation of the estimates on resamples; estimates are clamped, and a failure is the lower bound."""
        size = len(part)
        if not size:
            return 0.0
        low, high = float(self.lower), float(self.upper)
        drawn = [self.value.estimate(_taken(part, uniforms(size, size, bits))) for _ in range(self.rounds)]
        shares = [_within(one, low, high) / 2 - low / 2 for one in drawn]  # halves, then fractions of the range: no overflow
        return float(np.std([share / (high / 2 - low / 2) for share in shares], ddof=1)) * (high - low)


def largest_deviation(n: int) -> Fraction:
    """The largest standard deviation (over n − 1) that n numbers from 0 to 1 can have, rounded up.

    Lemma. It is √(⌊n/2⌋·⌈n/2⌉/(n(n − 1))): 0.707 for two numbers, 0.577 for three, falling to 1/2.
    Proof. The sum of squares about the mean is convex in each number, so all lie at the ends; with j of them at 1 it is j(n − j)/n.

    >>> round(float(largest_deviation(2)), 3), round(float(largest_deviation(51)), 3)
    (0.707, 0.505)
    """
    square = Fraction((n // 2) * ((n + 1) // 2), n * (n - 1))
    return exact.rational_up(lambda: exact.ball(square).sqrt(), 40)  # coarser than a float, so that a float rounded up stays below


def _no_estimate(_: Any) -> None:
    return None


def _taken(part: Any, which: Any) -> Any:
    if isinstance(part, list):
        return [part[i] for i in which]
    return part.take(which, axis=0) if isinstance(part, np.ndarray) else part.take(which)


def _within(estimate: Any, low: float, high: float) -> float:
    found = answers.exactly(as_number(estimate))  # a value that is not a number becomes the lower bound
    if found is None:
        return low
    value = float(min(max(found, Fraction(low)), Fraction(high)))
    return min(max(value, low), high)
