"""The staircase mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import additive
from discreet.mechanisms.additive import Numbers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import staircase
from discreet.noise.bits import Bits


@final
@frozen(kw_only=True)
class Staircase(Mechanism[Numbers]):
    """Add staircase noise to integers; a unit changes only one of them, by at most Δ.

    In a `Private` answer reals are rounded down, missing values are replaced by 0, and vectors are clamped to ±2⁶².

    It is best for one release at a large ε and Δ > 1: the expected error falls like e^(−ε/2), that of Laplace noise like 1/ε. For Δ = 1 it
    is discrete Laplace noise. At a small ε, and under composition, `Laplace` is as good or better. A vector of which one unit changes
    several entries needs `Laplace`: two entries that change by 1 may change by two steps.

    Theorem (Geng & Viswanath 2016, on the integers).
        Let P[Z = z] ∝ e^(−ε·level(|z|)) where level grows by 1 over every Δ integers. If one entry changes by at most Δ, |z| changes by at
        most Δ and its level by at most 1: so f + Z is ε-DP. Of all ε-DP laws of noise, one of these has the least expected |Z|; `noise`
        is the best of them, or nearly so.

    Accuracy.
        `error` is the exact quantile of the largest of `size` independent errors.

    >>> steep = Staircase(epsilon=8, sensitivity=100)
    >>> from discreet.mechanisms.laplace import Laplace
    >>> round(steep.noise.mean_size(), 1), round(float(Laplace(epsilon=8, sensitivity=100).scale), 1)  # the expected error of each
    (1.8, 12.5)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: int = field(default=1, converter=parameter.whole_sensitivity, repr=str)

    def __attrs_post_init__(self) -> None:
        self.noise  # noqa: B018  (raises Invalid where the noise does not fit)

    @property
    def noise(self) -> staircase.Staircase:
        """The law of the noise."""
        return staircase.Staircase.best(self.epsilon, self.sensitivity)

    @property
    def loss(self) -> Loss:
        return leaves.Pure(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return float(self.noise.quantile(exact.confidence_level(confidence), exact.whole(size, "size")))

    def check(self, answer: Any) -> None:
        additive.check_answer(answer, whole=True)

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        law = self.noise
        return additive.add_whole(answer, lambda source: int(law.sample(1, source)[0]), law.sample, bits)
