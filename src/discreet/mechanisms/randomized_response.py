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
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bernoulli import below, threshold
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniforms

_STEEPEST = 1000


@final
@frozen(kw_only=True, init=False)
class RandomizedResponse(Mechanism[Any]):
    """Report the true choice with probability e^ε/(e^ε + k − 1), otherwise one of the other k − 1 uniformly at random.

    Answers are choices numbered from 0: a single one, or a vector with one for each person. A private answer that is no choice becomes 0.

    Theorem (Warner 1965; Kairouz, Bonawitz & Ramage 2016).
        Each response is ε-DP for its person, whoever else sees it (local DP). Two fair coins (truth on heads, else a random yes or no) have
        ε = ln 3.

    Accuracy.
        `estimate` is unbiased. `error(confidence, size=n)` bounds its error for one choice's frequency, by Hoeffding's inequality:
        √(ln(2/β)/(2n)) · (e^ε + k − 1)/(e^ε − 1).

    >>> RandomizedResponse.with_truth("3/4").loss.epsilon_at(0)          # two fair coins: ln 3
    1.098612288668...
    >>> RandomizedResponse(epsilon=1).estimate([0] * 60 + [1] * 40).round(2).tolist()
    [0.72, 0.28]
    """

    epsilon: Fraction = field(repr=str)
    choices: int
    truth: Fraction | None = field(repr=str)

    def __init__(self, *, epsilon: Number | None = None, truth: Number | None = None, choices: int = 2) -> None:
        count = parameter.choices(choices)
        if (epsilon is None) == (truth is None):
            raise Invalid("set epsilon, or truth, the probability of the true answer")
        if epsilon is not None:
            price, p = parameter.some_epsilon(epsilon), None
            if price > _STEEPEST:
                raise Invalid(f"epsilon must not exceed {_STEEPEST}, for beyond it every response is true: give a smaller one")
        else:
            p = exact.rational(truth or 0, "truth")
            if not Fraction(1, count) < p < 1:
                raise Invalid("truth must be larger than 1/choices and below 1, so that the true choice is the likeliest and not certain")
            price = exact.rational_up(lambda: exact.ball(p * (count - 1) / (1 - p)).log())
        self.__attrs_init__(epsilon=price, choices=count, truth=p)

    @classmethod
    def with_truth(cls, probability: Number, choices: int = 2) -> RandomizedResponse:
        """Set the probability p of the true choice; ε = ln(p(k − 1)/(1 − p)) is rounded up."""
        return cls(truth=probability, choices=choices)

    def _truth(self) -> Ball:
        if self.truth is not None:
            return exact.ball(self.truth)
        return 1 / (1 + (self.choices - 1) * (-exact.ball(self.epsilon)).exp())

    @property
    def loss(self) -> Loss:
        return leaves.RandomizedResponseLoss(self.epsilon, self.choices)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        beta, people = exact.miss(exact.confidence_level(confidence)), exact.whole(size, "size")
        true, other = self._chances()
        return math.sqrt((math.log(2) - math.log(beta)) / (2 * people)) / (true - other)

    def _chances(self) -> tuple[float, float]:
        true = exact.bounds(self._truth)[0]
        return true, (1 - true) / (self.choices - 1)

    def estimate(self, responses: Any) -> NDArray[np.float64]:
        """Unbiased frequencies of the true choices, from public responses; an estimate may lie outside [0, 1]."""
        released = np.asarray(responses)
        self.check(released)
        counts = np.bincount(released, minlength=self.choices)
        true, other = self._chances()
        return np.asarray((counts / counts.sum() - other) / (true - other), np.float64)

    def check(self, answer: Any) -> None:
        values = np.asarray(answer)
        if values.ndim > 1 or values.dtype.kind not in "iub" or values.size == 0 or (values < 0).any() or (values >= self.choices).any():
            raise Invalid(f"answers must be whole numbers from 0 to {self.choices - 1}: a single one, or a vector with one for each person")

    def sample(self, answer: Any, bits: Bits) -> Any:
        true = self._read(answer)
        floor = np.full(len(true), threshold(self._truth), np.uint64)
        truthful = below(bits.words(len(true)), floor, lambda _: self._truth(), bits)
        shift = 1 + uniforms(self.choices - 1, len(true), bits)
        out = np.where(truthful, true, (true + shift) % self.choices)
        return int(out[0]) if not isinstance(answer, list | tuple) and np.ndim(answer) == 0 else out

    def _read(self, answer: Any) -> Integers:
        answer = answers.unmasked(answer)
        if isinstance(answer, list | tuple):
            values = np.empty(len(answer), object)
            values[:] = answer
        else:
            values = np.atleast_1d(np.asarray(answer))
        if values.ndim > 1:
            raise Invalid("answers must be one choice, or a vector with one choice for each person")
        if values.dtype.kind not in "iu":
            values = np.array([x if _is_choice(x) else -1 for x in values.tolist()], object)
        return np.where((values >= 0) & (values < self.choices), values, 0).astype(np.int64)


def _is_choice(entry: Any) -> bool:
    return answers.is_whole(entry) or (isinstance(entry, float | np.floating) and float(entry).is_integer())
