"""Noise that never exceeds a bound."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.laplace import Numbers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.refine import Integers


@final
@frozen(kw_only=True)
class TruncatedGeometric(Mechanism[Numbers]):
    """Add two-sided geometric noise cut off at ±bound to whole numbers, of which one unit moves one by at most Δ.

    It wins where an answer must be surely right to within a bound, and as the test of whether a group may be shown; under composition
    the δ of every release adds up, so many releases are better served by `Gaussian`.

    Theorem (Geng, Ding, Guo & Kumar 2020, on the integers).
        Let P[Z = z] ∝ e^(−|z|ε/Δ) on −k … k. For one entry that moves by at most Δ ≤ k, f + Z is (ε, δ)-DP for
        δ = q^(k−Δ+1)(1 − q^Δ)/(1 + q − 2q^(k+1)), q = e^(−ε/Δ): the mass of the Δ largest values, which the neighbour cannot reach;
        elsewhere the ratio is at most e^ε. `bound` is the least k for which this is at most the δ asked for.

    Accuracy.
        |error| ≤ bound always; `error` is the exact quantile, at most that.

    >>> noise = TruncatedGeometric(epsilon=1, delta=1e-6)
    >>> noise.bound, noise.error(0.95), noise.loss.epsilon_at(1e-6)
    (14, 3.0, 1.0)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    sensitivity: int = field(default=1, converter=parameter.whole_sensitivity, repr=str)

    @property
    def bound(self) -> int:
        """The largest noise that can occur."""
        return _bound(self.epsilon, self.delta, self.sensitivity)

    @property
    def loss(self) -> Loss:
        return leaves.Approx(self.epsilon, self.delta)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        law, bound = DiscreteLaplace(self.sensitivity / self.epsilon), self.bound
        low, high = -1, bound
        while high - low > 1:
            k = (low + high) // 2
            with exact.precision(160):
                outside = law.beyond(bound + 1)
                inside = (1 - law.beyond(k + 1)) / (1 - outside)
                low, high = (low, k) if inside**count >= exact.ball(level) else (k, high)
        return float(high)

    def check(self, answer: Any) -> None:
        answers.check_numbers(answer)

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        values, single = answers.vector(answer)
        if values.dtype != np.int64:
            raise Invalid("truncated geometric noise is for whole numbers: round the answers first, or use Laplace")
        noise = self.noise(len(values), bits)
        return int(answer) + int(noise[0]) if single else values + noise

    def noise(self, size: int, bits: Bits) -> Integers:
        """Draw the noise alone: the discrete Laplace law, given that it is within the bound."""
        law, bound = DiscreteLaplace(self.sensitivity / self.epsilon), self.bound
        out = law.sample(size, bits)
        while len(far := np.flatnonzero(np.abs(out) > bound)):
            out[far] = law.sample(len(far), bits)
        return out


@lru_cache(maxsize=1024)
def _bound(epsilon: Fraction, delta: Fraction, moved: int) -> int:
    def leaks(k: int) -> Ball:
        rate = exact.ball(epsilon / moved)
        q = (-rate).exp()
        return (-rate * (k - moved + 1)).exp() * -((-rate * moved).expm1()) / (1 + q - 2 * (-rate * (k + 1)).exp())

    def fits(k: int) -> bool:
        with exact.precision(192):
            return bool(leaks(k) <= exact.ball(delta))

    high = moved
    while not fits(high):
        high *= 2
    low = moved - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
