"""Report noisy max: the best candidate, or the k best."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.exponential import exponential_error, selection_rate
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import choice, lattice
from discreet.noise.bits import Bits
from discreet.noise.laplace import Geometric

Noise = Literal["exponential", "laplace", "gumbel", "geometric"]


def _noise(value: Noise) -> Noise:
    if value not in ("exponential", "laplace", "gumbel", "geometric"):
        raise Invalid("noise must be exponential, laplace, gumbel or geometric")
    return value


@final
@frozen(kw_only=True)
class NoisyMax(Mechanism[int]):
    """Add noise to every score and release the position of the largest, not its value.

    exponential: the most accurate at a pure ε; it is permute-and-flip. gumbel: the exponential mechanism, with a smaller loss under
    composition. laplace: the version of textbooks. geometric: integer scores with integer noise, where the first candidate wins ties. In
    `Private` scores NaN and −∞ are replaced by the lowest float, +∞ by the highest.

    Theorem (Dwork & Roth 2014, sec. 3.3; McKenna & Sheldon 2020; Ding et al. 2021).
        Let scores change by at most Δ, and R = 2Δ (R = Δ if all change in the same direction). With noise of scale R/ε of any of these
        kinds the winner is ε-DP.

    Proof for integer noise with ties to the first candidate.
        Fix the others' noise: i wins if and only if its noise is at least an integer threshold m. Between neighbours m changes by at most
        R, an integer, and P[G ≥ m + R] ≥ e^(−ε)·P[G ≥ m] for a geometric law with q = e^(−ε/R). Summing over the others' noise gives ε-DP.

    Accuracy.
        x = εt/R, q = e^(−x). exponential: P[u(chosen) ≤ max u − t] ≤ 1 − (1 − (1−q)ᵈ)/(dq), attained. gumbel: as `Exponential`.
        laplace: ≤ (d−1)(2 + x)q/4. geometric: that of exponential at t − 1. `error(confidence, size=d)` inverts these.

    >>> NoisyMax(epsilon=1).release([3, 1, 400, 5])
    2
    >>> round(NoisyMax(epsilon=1).error(0.95, size=10), 2), round(NoisyMax(epsilon=1, noise="gumbel").error(0.95, size=10), 2)
    (8.94, 10.28)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    noise: Noise = field(default="exponential", converter=_noise)
    monotone: bool = field(default=False, converter=parameter.monotone)

    def __attrs_post_init__(self) -> None:
        selection_rate(self.epsilon, self.sensitivity, self.monotone)
        if self.noise == "geometric" and self.sensitivity.denominator > 1:
            raise Invalid("geometric noise needs whole scores and a whole sensitivity: give one, or choose another noise")

    @property
    def rate(self) -> Fraction:
        """ε/R."""
        return selection_rate(self.epsilon, self.sensitivity, self.monotone)

    @property
    def loss(self) -> Loss:
        return leaves.BoundedRange(self.epsilon) if self.noise == "gumbel" else leaves.Pure(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        if count == 1:
            return 0.0
        if self.noise == "gumbel":
            return exponential_error(self.rate, level, count)
        miss = _laplace_miss if self.noise == "laplace" else _exponential_miss
        behind = _solve(lambda x: miss(x, count), exact.miss(level)) / float(self.rate)
        return behind + 1 if self.noise == "geometric" else behind

    def check(self, answer: Any) -> None:
        answers.check_scores(answer)
        if self.noise == "geometric":
            answers.check_whole(answer, "the scores")

    def sample(self, answer: Any, bits: Bits) -> int:
        if self.noise != "geometric":
            return choice.best(answers.scores(answer), self.rate, self.noise, bits)[0]
        scores, _ = answers.wholes(answer, "the scores", missing=-answers.LIMIT)
        return int(np.argmax(scores + Geometric(1 / self.rate).sample(len(scores), bits)))  # argmax: the first of equals


def _exponential_miss(x: float, d: int) -> float:
    q = math.exp(-x)
    if q == 1:
        return 1 - 1 / d
    first_order = (d - 1) * q / 2  # an upper bound (Bonferroni), and the better formula where the exact one cancels
    return 1 + math.expm1(d * math.log1p(-q)) / (d * q) if first_order > 1e-6 else first_order


def _laplace_miss(x: float, d: int) -> float:
    return (d - 1) * (2 + x) * math.exp(-x) / 4


def _solve(miss: Callable[[float], float], beta: float) -> float:
    """The x at which a falling function equals β, rounded up."""
    low, high = 0.0, 1.0
    while miss(high) > beta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if miss(middle) > beta else (low, middle)
    return high


def _gap_noise(value: Literal["exponential", "laplace"]) -> Literal["exponential", "laplace"]:
    if value not in ("exponential", "laplace"):
        raise Invalid("noise must be exponential or laplace")
    return value


@final
@frozen(kw_only=True)
class NoisyMaxGap(Mechanism[tuple[int, float]]):
    """Release the position of the largest noisy score and, at no further loss, its lead over the second largest.

    The lead is rounded down to a power-of-two grid of about scale/2¹⁶. In `Private` scores NaN and −∞ are replaced by the lowest float,
    +∞ by the highest, and a lead above 2⁶² steps of the grid by that.

    Theorem (Ding, Wang, Zhang & Kifer 2019 for Laplace noise; for exponential noise by the proof below).
        Let scores change by at most Δ, and R = 2Δ (R = Δ if all change in the same direction). With continuous noise of scale R/ε of
        either kind the winner together with its lead over the second is ε-DP.

    Proof. Rounding is a post-processing. Let m be the largest noisy score of the others: i wins by g just when its noise is m − uᵢ + g.
        laplace: fix the others' noise. Between neighbours m − uᵢ changes by at most R, and the density of the noise there by at most e^ε.
        exponential, of rate λ = ε/R: with c = uᵢ − g the density of (i, g) is p = Σⱼ ψⱼ, where ψⱼ = ∫ fⱼ(m)·λe^(−λ(m−c)) dm over m ≥ c and
        fⱼ is the part of m's density in which j ≠ i is the second. Integrating by parts, ∂p/∂uⱼ = λ·fⱼ(c) − λ·ψⱼ. As fⱼ(m)·e^{λm} does
        not fall, ψⱼ ≥ fⱼ(c)/2: so |∂p/∂uⱼ| ≤ λ·ψⱼ. Moving all scores together changes nothing, so along the straight line between
        neighbours, of speeds s, |p′| = |Σⱼ (sⱼ − sᵢ)·∂p/∂uⱼ| ≤ R·λ·Σⱼ ψⱼ = ε·p.

    Accuracy.
        As `NoisyMax` for the winner. The lead is on average too large where scores are close, because the winner was chosen for its noise.

    >>> winner, lead = NoisyMaxGap(epsilon=1).release([3, 1, 400, 5])
    >>> winner, abs(lead - 395) < 100
    (2, True)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    noise: Literal["exponential", "laplace"] = field(default="exponential", converter=_gap_noise)
    monotone: bool = field(default=False, converter=parameter.monotone)

    def __attrs_post_init__(self) -> None:
        selection_rate(self.epsilon, self.sensitivity, self.monotone)

    @property
    def rate(self) -> Fraction:
        """ε/R."""
        return selection_rate(self.epsilon, self.sensitivity, self.monotone)

    @property
    def step(self) -> Fraction:
        """The step of the grid on which leads are released."""
        return lattice.step(1 / self.rate)

    @property
    def loss(self) -> Loss:
        return leaves.Pure(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return NoisyMax(epsilon=self.epsilon, sensitivity=self.sensitivity, noise=self.noise, monotone=self.monotone).error(
            confidence, size
        )

    def check(self, answer: Any) -> None:
        answers.check_scores(answer)

    def sample(self, answer: Any, bits: Bits) -> tuple[int, float]:
        scores = answers.scores(answer)
        if len(scores) < 2:
            raise Invalid("a lead needs a second candidate: give at least two scores")
        winner, steps = choice.best_with_gap(scores, self.rate, self.noise, bits, self.step)
        return winner, float(steps * self.step)


@final
@frozen(kw_only=True)
class TopK(Mechanism[list[int]]):
    """Release the positions of the k best candidates, best first, by one round of Gumbel noise.

    Theorem (Durfee & Rogers 2019).
        The k largest of u + Gumbel(kR/ε) are distributed as k exponential mechanisms of ε/k, each on the candidates left. So the loss is
        k times that of one: ε pure, and about ε²/(8k) in zCDP.

    Accuracy.
        With probability `confidence`, for all i ≤ k the i-th chosen score is at most `error` below the i-th best; by a union bound over
        the k rounds.

    >>> TopK(epsilon=10, k=2).release([1, 900, 20, 700])
    [1, 3]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    k: int = field(converter=parameter.k, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    monotone: bool = field(default=False, converter=parameter.monotone)

    def __attrs_post_init__(self) -> None:
        selection_rate(self.epsilon / self.k, self.sensitivity, self.monotone)

    @property
    def loss(self) -> Loss:
        return self.k * leaves.BoundedRange(self.epsilon / self.k)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        rate = selection_rate(self.epsilon / self.k, self.sensitivity, self.monotone)
        return exponential_error(rate, 1 - (1 - level) / self.k, count)

    def check(self, answer: Any) -> None:
        answers.check_scores(answer)

    def sample(self, answer: Any, bits: Bits) -> list[int]:
        scores = answers.scores(answer)
        if len(scores) < self.k:
            raise Invalid("there are fewer candidates than k: give a smaller k")
        rate = selection_rate(self.epsilon / self.k, self.sensitivity, self.monotone)
        return choice.best(scores, rate, "gumbel", bits, count=self.k)
