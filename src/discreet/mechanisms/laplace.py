"""The Laplace mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import additive
from discreet.mechanisms import answer as answers
from discreet.mechanisms.additive import Numbers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import lattice
from discreet.noise.bits import Bits
from discreet.noise.laplace import DiscreteLaplace, RoundedLaplace


@final
@frozen(kw_only=True)
class Laplace(Mechanism[Numbers]):
    """Add Laplace noise to a number or a vector.

    With `whole=True` answers are integers, get discrete Laplace noise and stay integers; the sensitivity must be an integer too. With
    `whole=False` answers are real and released on a power-of-two grid of about scale/2¹⁶: continuous Laplace noise, rounded exactly. By
    default a plain answer is read by its type, and a `Private` one as real, for its type could reveal something. In a `Private` answer
    missing values are replaced by 0; vectors of integers are clamped to ±2⁶².

    Assumes. With `whole=True` every possible answer is an integer. (One that is not is rounded down rather than refused.)

    Theorem (Dwork, McSherry, Nissim & Smith 2006; Ghosh, Roughgarden & Sundararajan 2009).
        If ‖f(x) − f(x′)‖₁ ≤ Δ for all neighbours x, x′, then f(x) + Z is ε-DP, where the Zᵢ are independent Laplace noise of scale Δ/ε.

    Accuracy.
        Whole: P[|Z| ≥ k] = 2qᵏ/(1 + q) with q = e^(−ε/Δ). Real: P[|Z| ≥ t] = e^(−tε/Δ). `error` is the exact quantile of the largest
        of `size` independent errors; if `whole` is not set, the larger of the two.

    >>> count = Laplace(epsilon=0.5, whole=True)
    >>> count.loss.epsilon_at(0), count.error(0.95), Laplace(epsilon=0.5, whole=False).error(0.95)
    (0.5, 6.0, 5.99...)
    >>> from discreet.private import Private
    >>> type(count.release(Private(42))), type(Laplace(epsilon=0.5).release(Private(42)))
    (<class 'int'>, <class 'float'>)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    whole: bool | None = field(default=None, converter=parameter.whole_or_not)

    def __attrs_post_init__(self) -> None:
        if self.whole and self.sensitivity.denominator > 1:
            raise Invalid("whole answers change by whole numbers: give a whole sensitivity, or whole=False")

    @classmethod
    def of_scale(cls, scale: Number, sensitivity: Number = 1, whole: bool | None = None) -> Laplace:
        """Set the scale of the noise; for sensitivity c, ε is c/scale.

        >>> Laplace.of_scale(2, sensitivity=3).epsilon
        Fraction(3, 2)
        """
        change = parameter.sensitivity(sensitivity)
        return cls(epsilon=change / parameter.scale(scale), sensitivity=change, whole=whole)

    @property
    def scale(self) -> Fraction:
        """Δ/ε."""
        return self.sensitivity / self.epsilon

    @property
    def loss(self) -> Loss:
        # on integers the discrete law has the larger loss, and it dominates the continuous law (see the lemma of DiscreteLaplaceLoss)
        if self.sensitivity.denominator == 1 and self.whole is not False:
            return leaves.DiscreteLaplaceLoss(self.scale, self.sensitivity.numerator)
        return leaves.LaplaceLoss(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        # P[max |Zᵢ| ≤ t] = (1 − e^(−t/b))ᴷ, and rounding adds at most half a step
        spread = -math.log(-math.expm1(math.log1p(-exact.miss(level)) / count))
        real = float(self.scale) * spread + float(lattice.step(self.scale)) / 2
        if self.whole is False or self.sensitivity.denominator > 1:
            return real
        whole = float(DiscreteLaplace(self.scale).quantile(level, count))
        return whole if self.whole else max(whole, real)

    def sealed(self) -> Laplace:
        return self if self.whole is not None else evolve(self, whole=False)

    def check(self, answer: Any) -> None:
        additive.check_answer(answer, self._is_whole(answer))

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        if not self._is_whole(answer):
            return additive.add_real(answer, RoundedLaplace, self.scale, bits)
        law = DiscreteLaplace(self.scale)
        return additive.add_whole(answer, law.draw, law.sample, bits)

    def _is_whole(self, answer: Any) -> bool:
        return self.sensitivity.denominator == 1 and answers.looks_whole(answer) if self.whole is None else self.whole
