"""Geometric noise that never exceeds a bound."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import additive
from discreet.mechanisms.additive import Numbers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits
from discreet.noise.laplace import DiscreteLaplace, Geometric
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniforms


@final
@frozen(kw_only=True)
class TruncatedGeometric(Mechanism[Numbers]):
    """Add two-sided geometric noise truncated at ±bound to integers, of which one unit changes one by at most Δ.

    In a `Private` answer reals are rounded down, missing values are replaced by 0, and vectors are clamped to ±2⁶².

    It is best where the error must never exceed a bound, and to test whether a group may be released. Under composition the δ of every
    release adds up, so `Gaussian` is better for many releases.

    Theorem (Geng, Ding, Guo & Kumar 2020, on the integers).
        Let P[Z = z] ∝ e^(−|z|ε/Δ) on −k … k. For one entry that changes by at most Δ ≤ k, f + Z is (ε, δ)-DP for
        δ = q^(k−Δ+1)(1 − q^Δ)/(1 + q − 2q^(k+1)), q = e^(−ε/Δ): the mass of the Δ largest values, which the neighbour cannot have;
        elsewhere the ratio is at most e^ε. `bound` is the least k for which this is at most the given δ.

    Accuracy.
        |error| ≤ bound always; `error` is the exact quantile, at most that.

    >>> noise = TruncatedGeometric(epsilon=1, delta=1e-6)
    >>> noise.bound, noise.error(0.95), noise.loss.epsilon_at(1e-6)
    (14, 3.0, 1.0)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    sensitivity: int = field(default=1, converter=parameter.whole_sensitivity, repr=str)

    def __attrs_post_init__(self) -> None:
        if self.bound > 2**60:
            raise Invalid("the noise does not fit 64-bit numbers: give a larger epsilon or delta")

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
        additive.check_answer(answer, whole=True)

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        return additive.add_whole(answer, lambda source: int(self.noise(1, source)[0]), self.noise, bits)

    def noise(self, size: int, bits: Bits) -> Integers:
        """Draw the noise alone: the discrete Laplace law, conditioned on the bound."""
        out: Integers = np.empty(size, np.int64)
        left = np.arange(size)
        while len(left):
            drawn, accepted = self._propose(len(left), bits)
            out[left[accepted]] = drawn[accepted]
            left = left[~accepted]
        return out

    def _propose(self, size: int, bits: Bits) -> tuple[Integers, NDArray[np.bool_]]:
        """Candidates, and which of them are accepted: more than a third, whatever the bound."""
        scale, bound = self.sensitivity / self.epsilon, self.bound
        if bound >= scale:
            drawn = DiscreteLaplace(scale).sample(size, bits)
            return drawn, np.abs(drawn) <= bound
        # a bound inside one scale: nearly uniform; keep z with probability e^(−|z|/scale) = P[G ≥ |z|]
        drawn = uniforms(2 * bound + 1, size, bits) - bound
        return drawn, Geometric(scale).sample(size, bits) >= np.abs(drawn)


@lru_cache(maxsize=1024)
def _bound(epsilon: Fraction, delta: Fraction, change: int) -> int:
    def leaks(k: int) -> Ball:
        rate = exact.ball(epsilon / change)
        q = (-rate).exp()
        return (-rate * (k - change + 1)).exp() * -((-rate * change).expm1()) / (1 + q - 2 * (-rate * (k + 1)).exp())

    def fits(k: int) -> bool:
        with exact.precision(192):
            return bool(leaks(k) <= exact.ball(delta))

    high = change
    while not fits(high):
        high *= 2
    low = change - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
