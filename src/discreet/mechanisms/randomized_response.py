"""Randomised response: each person randomises their own answer."""

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
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bernoulli import below, threshold
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniforms


@final
@frozen(kw_only=True)
class RandomizedResponse(Mechanism[Any]):
    """Tell the true choice with probability e^ε/(e^ε + k − 1), otherwise one of the other k − 1 at random.

    Answers are choices numbered from 0, one or a vector of them, one for each person; a private answer that is no choice counts as 0.

    Theorem (Warner 1965; Kairouz, Bonawitz & Ramage 2016).
        Each response is ε-DP for its person, whoever else sees it. Two fair coins (truth on heads, else a random yes or no) are ε = ln 3.

    Accuracy.
        `estimate` is unbiased. `error(confidence, size=n)` bounds its error for one choice's frequency, by Hoeffding's inequality:
        √(ln(2/β)/(2n)) · (e^ε + k − 1)/(e^ε − 1).

    >>> RandomizedResponse.with_truth("3/4").loss.epsilon_at(0)          # two fair coins: ln 3
    1.098612288668...
    >>> RandomizedResponse(epsilon=1).estimate([0] * 60 + [1] * 40).round(2).tolist()
    [0.72, 0.28]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    choices: int = field(default=2, converter=parameter.choices, repr=str)
    truth: Fraction | None = None

    @classmethod
    def with_truth(cls, probability: Number, choices: int = 2) -> RandomizedResponse:
        """Fix the probability of the truth; ε = ln(p(k − 1)/(1 − p)) is rounded up."""
        p = exact.rational(probability, "probability")
        if not Fraction(1, exact.whole(choices, "choices")) < p < 1:
            raise Invalid("the truth must be more likely than any other choice, and not certain")
        epsilon = exact.rational_up(lambda: exact.ball(p * (choices - 1) / (1 - p)).log())
        return cls(epsilon=epsilon, choices=choices, truth=p)

    def _truth(self) -> Ball:
        if self.truth is not None:
            return exact.ball(self.truth)
        return 1 / (1 + (self.choices - 1) * (-exact.ball(self.epsilon)).exp())

    @property
    def loss(self) -> Loss:
        return leaves.RandomizedResponse(self.epsilon, self.choices)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        beta, people = 1 - float(exact.confidence_level(confidence)), exact.whole(size, "size")
        tell, other = self._chances()
        return math.sqrt(math.log(2 / beta) / (2 * people)) / (tell - other)

    def _chances(self) -> tuple[float, float]:
        tell = exact.bounds(self._truth)[0]
        return tell, (1 - tell) / (self.choices - 1)

    def estimate(self, responses: Any) -> NDArray[np.float64]:
        """Unbiased frequencies of the true choices, from public responses; single ones may lie outside [0, 1]."""
        counts = np.bincount(np.asarray(responses, np.int64), minlength=self.choices)
        tell, other = self._chances()
        return np.asarray((counts / counts.sum() - other) / (tell - other), np.float64)

    def check(self, answer: Any) -> None:
        values = np.asarray(answer)
        if values.dtype.kind not in "iub" or values.size == 0 or (values < 0).any() or (values >= self.choices).any():
            raise Invalid(f"answers must be whole numbers from 0 to {self.choices - 1}")

    def sample(self, answer: Any, bits: Bits) -> Any:
        values = np.atleast_1d(np.asarray(answer))
        known = np.isin(values, np.arange(self.choices)) if self.choices < 2**20 else (values >= 0) & (values < self.choices)
        true = np.where(known, values, 0).astype(np.int64)
        floor = np.full(len(true), threshold(self._truth), np.uint64)
        tell = below(bits.words(len(true)), floor, lambda _: self._truth(), bits)
        shift = 1 + uniforms(self.choices - 1, len(true), bits)
        out = np.where(tell, true, (true + shift) % self.choices)
        return int(out[0]) if np.ndim(answer) == 0 else out
