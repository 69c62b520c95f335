"""The Gaussian mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import calibrate, certify, leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import additive
from discreet.mechanisms import answer as answers
from discreet.mechanisms.additive import Numbers
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import lattice
from discreet.noise.bits import Bits
from discreet.noise.gaussian import RoundedGaussian


@final
@frozen(kw_only=True, init=False)
class Gaussian(Mechanism[Numbers]):
    """Add Gaussian noise to a number or a vector.

    Set epsilon and delta for the least noise that is (ε, δ)-DP, or rho for ρ-zCDP, or the scale itself. With `whole=True` answers are
    integers and stay integers; with `whole=False` they are real and released on a power-of-two grid of about scale/2¹⁶. Either way the
    release is the continuous mechanism, rounded exactly. By default a plain answer is read by its type, and a `Private` one as real. In a
    `Private` answer missing values are replaced by 0; vectors of integers are clamped to ±2⁶².

    Assumes. With `whole=True` every possible answer is an integer. (One that is not is rounded down rather than refused.)

    Theorem (Balle & Wang 2018; Dong, Roth & Su 2022; Bun & Steinke 2016).
        If ‖f(x) − f(x′)‖₂ ≤ Δ for all neighbours, then f(x) + N(0, σ²I) is μ-GDP with μ = Δ/σ, that is (ε, δ)-DP exactly for
        δ ≥ Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), and μ²/2-zCDP. The loss is one-dimensional, along f(x) − f(x′), in every dimension.

    Accuracy.
        P[maxᵢ |Zᵢ| ≤ t] = (2Φ(t/σ) − 1)ᴷ; `error` is its exact quantile, for integers that of the rounded noise, and if `whole` is not
        set, the larger of both.

    >>> Gaussian(rho=0.5).scale, Gaussian(epsilon=1, delta=1e-6, whole=True).error()
    (Fraction(1, 1), 8.0)
    >>> float(Gaussian(epsilon=1, delta=1e-6, sensitivity=2).scale)
    8.449...
    """

    scale: Fraction = field(repr=lambda scale: f"{float(scale):.6g}")
    sensitivity: Fraction = field(repr=str)
    whole: bool | None = field(converter=parameter.whole_or_not)

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number = 1,
        whole: bool | None = None,
    ) -> None:
        change = parameter.sensitivity(sensitivity)
        match epsilon, delta, rho, scale:
            case (e, d, None, None) if e is not None and d is not None:
                sigma = calibrate.gaussian_scale(parameter.some_epsilon(e), parameter.some_delta(d), change)
            case (None, None, r, None) if r is not None:
                sigma = calibrate.gaussian_scale_zcdp(exact.positive(r, "rho"), change)
            case (None, None, None, s) if s is not None:
                sigma = parameter.scale(s)
            case _:
                raise Invalid("set epsilon and delta, or rho, or scale")
        self.__attrs_init__(scale=parameter.scale(sigma), sensitivity=change, whole=whole)

    @classmethod
    def classic(cls, *, epsilon: Number, delta: Number, sensitivity: Number = 1, constant: Literal["1.25", "2"] = "1.25") -> Gaussian:
        """The textbook's scale √(2 ln(constant/δ))·Δ/ε, where it is proven: 0 < ε < 1.

        >>> float(Gaussian.classic(epsilon=0.5, delta=1e-5).scale)
        9.689...
        """
        change = parameter.sensitivity(sensitivity)
        sigma = calibrate.classic_gaussian_scale(
            parameter.some_epsilon(epsilon), parameter.some_delta(delta), change, exact.rational(constant)
        )
        return cls(scale=sigma, sensitivity=change)

    @property
    def loss(self) -> Loss:
        return leaves.GaussianLoss((self.sensitivity / self.scale) ** 2)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level, count = exact.confidence_level(confidence), exact.whole(size, "size")
        far = certify.float_above(lambda: certify.upper_quantile(-((exact.ball(level).log() / count).expm1()) / 2))
        real = float(self.scale) * far + float(lattice.step(self.scale)) / 2
        if self.whole is False:
            return real
        whole = float(RoundedGaussian(self.scale).quantile(level, count))
        return whole if self.whole else max(whole, real)

    def sealed(self) -> Gaussian:
        return self if self.whole is not None else evolve(self, whole=False)

    def check(self, answer: Any) -> None:
        additive.check_answer(answer, self._is_whole(answer))

    def sample(self, answer: Any, bits: Bits) -> Numbers:
        if not self._is_whole(answer):
            return additive.add_real(answer, RoundedGaussian, self.scale, bits)
        law = RoundedGaussian(self.scale)
        return additive.add_whole(answer, lambda source: law.draw(0.0, Fraction, source), law.sample, bits)

    def _is_whole(self, answer: Any) -> bool:
        return answers.looks_whole(answer) if self.whole is None else self.whole
