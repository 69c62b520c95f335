"""The Laplace mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import lattice
from discreet.noise.bits import Bits
from discreet.noise.laplace import DiscreteLaplace, RoundedLaplace

Numbers = int | float | NDArray[Any]


@final
@frozen(kw_only=True)
class Laplace(Mechanism[Numbers]):
    """Add Laplace noise to a number or a vector.

    Whole numbers stay whole when the sensitivity is whole (discrete Laplace noise); every other answer is real and leaves on a
    power-of-two grid of about scale/2¹⁶ (continuous Laplace noise, rounded exactly). In a `Private` answer what is missing counts as 0,
    and in a vector of whole numbers what lies beyond ±2⁶² counts as that edge.

    Theorem (Dwork, McSherry, Nissim & Smith 2006; Ghosh, Roughgarden & Sundararajan 2009).
        If ‖f(x) − f(x′)‖₁ ≤ Δ for all neighbours x, x′, then f(x) + Z is ε-DP, where the Zᵢ are independent Laplace noise of scale Δ/ε.

    Accuracy.
        Integers: P[|Z| ≥ k] = 2qᵏ/(1 + q) with q = e^(−ε/Δ). Reals: P[|Z| ≥ t] = e^(−tε/Δ). `error` is the exact quantile of the
        largest of `size` independent errors, of whole answers with `real=False`, of real ones with `real=True`, else the larger.

    >>> count = Laplace(epsilon=0.5)
    >>> count.loss.epsilon_at(0), count.error(0.95), count.error(0.95, real=True)
    (0.5, 6.0, 5.99...)
    >>> isinstance(count.release(42), int), isinstance(count.release(42.0), float)
    (True, True)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)

    @classmethod
    def of_scale(cls, scale: Number, sensitivity: Number = 1) -> Laplace:
        """Fix the noise; a query that moves by at most c costs c/scale.

        >>> Laplace.of_scale(2, sensitivity=3).epsilon
        Fraction(3, 2)
        """
        moved = parameter.sensitivity(sensitivity)
        return cls(epsilon=moved / parameter.scale(scale), sensitivity=moved)

    @property
    def scale(self) -> Fraction:
        """Δ/ε."""
        return self.sensitivity / self.epsilon

    @property
    def loss(self) -> Loss:
        # on whole numbers the lattice law is the dearer one, and it dominates the continuous law (see the leaf's lemma)
        if self.sensitivity.denominator == 1:
            return leaves.DiscreteLaplace(self.scale, self.sensitivity.numerator)
        return leaves.Laplace(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1, *, real: bool | None = None) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        if self.sensitivity.denominator > 1 or real:
            # P[max |Zᵢ| ≤ t] = (1 − e^(−t/b))ᴷ, and rounding adds at most half a step
            spread = -math.log(-math.expm1(math.log1p(-exact.miss(level)) / count))
            return float(self.scale) * spread + float(lattice.step(self.scale)) / 2
        whole = float(DiscreteLaplace(self.scale).quantile(level, count))
        return whole if real is False else max(whole, self.error(confidence, size, real=True))

    def check(self, answer: Any) -> None:
        answers.check_numbers(answer)

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        integral = self.sensitivity.denominator == 1
        if integral and answers.is_whole(answer):
            return int(answer) + DiscreteLaplace(self.scale).draw(bits)
        if type(answer) is float:
            return lattice.noisy_one(answer, RoundedLaplace, self.scale, bits)
        values, single = answers.vector(answer)
        if integral and values.dtype == np.int64:
            return values + DiscreteLaplace(self.scale).sample(len(values), bits)
        noisy = lattice.noisy(values, RoundedLaplace, self.scale, bits)
        return float(noisy[0]) if single else noisy
