"""The Gaussian mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import calibrate, certify, leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.laplace import Numbers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import lattice
from discreet.noise.bits import Bits
from discreet.noise.gaussian import RoundedGaussian


@final
@frozen(kw_only=True, init=False)
class Gaussian(Mechanism[Numbers]):
    """Add Gaussian noise to a number or a vector.

    Give (epsilon, delta) for the least noise that is (ε, δ)-DP, or rho for ρ-zCDP, or the scale itself. Whole numbers stay whole;
    reals leave on a power-of-two grid of about scale/2¹⁶. Either way the release is the continuous mechanism, rounded exactly. In a
    `Private` answer what is missing counts as 0, and in a vector of whole numbers what lies beyond ±2⁶² counts as that edge.

    Theorem (Balle & Wang 2018; Dong, Roth & Su 2022; Bun & Steinke 2016).
        If ‖f(x) − f(x′)‖₂ ≤ Δ for all neighbours, then f(x) + N(0, σ²I) is μ-GDP with μ = Δ/σ, that is (ε, δ)-DP exactly for
        δ ≥ Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), and μ²/2-zCDP. The loss is one-dimensional, along f(x) − f(x′), in every dimension.

    Accuracy.
        P[maxᵢ |Zᵢ| ≤ t] = (2Φ(t/σ) − 1)ᴷ; `error` is its exact quantile with `real=True`, that of the rounded noise of whole answers
        with `real=False`, else the larger.

    >>> Gaussian(rho=0.5).scale, Gaussian(epsilon=1, delta=1e-6).error(real=False)
    (Fraction(1, 1), 8.0)
    >>> float(Gaussian(epsilon=1, delta=1e-6, sensitivity=2).scale)
    8.449...
    """

    scale: Fraction = field(repr=lambda scale: f"{float(scale):.6g}")
    sensitivity: Fraction = field(repr=str)

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number = 1,
    ) -> None:
        moved = parameter.sensitivity(sensitivity)
        match epsilon, delta, rho, scale:
            case (e, d, None, None) if e is not None and d is not None:
                sigma = calibrate.gaussian_scale(parameter.some_epsilon(e), parameter.some_delta(d), moved)
            case (None, None, r, None) if r is not None:
                sigma = calibrate.gaussian_scale_zcdp(exact.positive(r, "rho"), moved)
            case (None, None, None, s) if s is not None:
                sigma = parameter.scale(s)
            case _:
                raise Invalid("give epsilon and delta, or rho, or scale")
        self.__attrs_init__(scale=sigma, sensitivity=moved)

    @classmethod
    def classic(cls, *, epsilon: Number, delta: Number, sensitivity: Number = 1, constant: Literal["1.25", "2"] = "1.25") -> Gaussian:
        """The textbook's scale √(2 ln(constant/δ))·Δ/ε, where it is proven: 0 < ε < 1.

        >>> float(Gaussian.classic(epsilon=0.5, delta=1e-5).scale)
        9.689...
        """
        moved = parameter.sensitivity(sensitivity)
        sigma = calibrate.classic_gaussian_scale(
            parameter.some_epsilon(epsilon), parameter.some_delta(delta), moved, exact.rational(constant)
        )
        return cls(scale=sigma, sensitivity=moved)

    @property
    def loss(self) -> Loss:
        return leaves.Gaussian((self.sensitivity / self.scale) ** 2)

    def error(self, confidence: Number = 0.95, size: int = 1, *, real: bool | None = None) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        if not real:
            whole = float(RoundedGaussian(self.scale).quantile(level, count))
            return whole if real is False else max(whole, self.error(confidence, size, real=True))
        far = certify.float_above(lambda: certify.upper_quantile(-((exact.ball(level).log() / count).expm1()) / 2))
        return float(self.scale) * far + float(lattice.step(self.scale)) / 2

    def check(self, answer: Any) -> None:
        answers.check_numbers(answer)

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        if answers.is_whole(answer):
            return int(answer) + RoundedGaussian(self.scale).draw(0.0, lambda: Fraction(0), bits)
        if type(answer) is float:
            return lattice.noisy_one(answer, RoundedGaussian, self.scale, bits)
        values, single = answers.vector(answer)
        if values.dtype == np.int64:
            return values + RoundedGaussian(self.scale).sample(len(values), bits)
        noisy = lattice.noisy(values, RoundedGaussian, self.scale, bits)
        return float(noisy[0]) if single else noisy
