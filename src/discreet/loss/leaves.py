"""Losses of single mechanisms. With the losses of notions.py, they are the leaves of every loss term."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.exact import Ball, ball
from discreet.loss import convert
from discreet.loss.certify import float_above, float_up_or_infinite, rational_above, upper_quantile
from discreet.loss.law import BoundedLaw, Floats, LatticeLaw, Laws, LossLaw, NormalLaw, curve
from discreet.loss.loss import ZERO, Loss
from discreet.loss.notions import Approx, Gdp, Pure, Revealed, Zcdp
from discreet.loss.response import RandomizedResponseLoss, Response

__all__ = [
    "Approx", "BoundedRange", "DiscreteLaplaceLoss", "GaussianLoss", "GaussianThreshold", "Gdp", "LaplaceLoss", "Pure",
    "RandomizedResponseLoss", "Response", "Revealed", "Zcdp",
]  # fmt: skip


@final
@frozen
class LaplaceLoss(Loss):
    """The loss of continuous Laplace noise of scale b on a vector of ℓ₁ sensitivity Δ; ε = Δ/b.

    Theorem (Dwork, McSherry, Nissim & Smith 2006; Mironov 2017; Dong, Roth & Su 2022).
        It is ε-DP, (ε + e^−ε − 1)-zCDP, and μ-GDP for μ = 2Φ⁻¹(1 − e^(−ε/2)/2).

    Proof. ρ: with u = α − 1/2, E_P[e^{(α−1)L}] = e^(−ε/2)·(cosh(uε) + sinh(uε)/(2u)). As a function of v = u² it is entire of order 1/2 and
        its zeros are minus the eigenvalues of −y″ on [0, ε] with 2y′(0) = y(0), y(ε) = 0, all real and negative; so its logarithm
        is concave in v and D_α/α, its slope from v = 1/4, is largest at α = 1, where it is the mean of L.
        μ: in the coordinate z the two families are flows of speed I(y) = min(y, 1 − y) and φ(Φ⁻¹(y)); their ratio is a Mills ratio,
        largest in the middle, so the middle stretch of length ε decides. Vectors in ℓ₁: see DiscreteLaplaceLoss.

    >>> float(LaplaceLoss(1).rho)
    0.36787944117144...
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)

    @property
    def rho(self) -> Fraction:
        if not 0 < self.epsilon < convert.HUGE:
            return self.epsilon
        return rational_above(lambda: ball(self.epsilon) + (-ball(self.epsilon)).expm1())

    @property
    def mu_squared(self) -> Fraction:
        if not 0 < self.epsilon < convert.HUGE:
            return convert.pure_to_gdp(self.epsilon)
        return rational_above(lambda: (2 * upper_quantile((-ball(self.epsilon) / 2).exp() / 2)) ** 2)

    @property
    def _law(self) -> LossLaw:
        return BoundedLaw(float_up_or_infinite(self.epsilon), 0.5, 0.0, 0.25)

    @property
    def laws(self) -> Laws:
        return ((self._law, 1),) if self.epsilon else ()

    def renyi(self, orders: Floats) -> Floats:
        return curve(self._law, orders, Loss.renyi(self, orders))

    def group(self, k: int) -> Loss:
        return LaplaceLoss(exact.whole(k, "k", least=0) * self.epsilon)

    def below(self, other: Loss) -> bool:
        return isinstance(other, LaplaceLoss) and self.epsilon <= other.epsilon


@final
@frozen
class DiscreteLaplaceLoss(Loss):
    """The loss of noise P[x] ∝ e^(−|x|/scale) on a vector of integers with ℓ₁ sensitivity `shift`.

    Theorem (Ghosh, Roughgarden & Sundararajan 2009; the rest by the proofs below).
        With a = 1/scale, Δ = shift, q = e^−a and ε = aΔ it is ε-DP, (ε − (1 − e^−ε)·a/sinh a)-zCDP, and μ-GDP for
        μ = g(⌊Δ/2⌋) + g(⌈Δ/2⌉ − 1), where g(j) = Φ⁻¹(1 − q^{j+1}/(1 + q)).

    Lemma (coarse dominates fine). DL(scale) is the difference of two geometric variables, and a geometric (or exponential)
        variable is m times a coarser geometric one plus an independent remainder: so DL(m·scale), and continuous Laplace noise,
        are m·DL(scale) plus independent noise, and DL(scale, Δ) dominates DL(m·scale, mΔ) and Laplace(Δ/scale).

    Lemma (ℓ₁ vectors). Change one coordinate at a time, by Δᵢ: each step has the trade-off curve f_Δᵢ, with value F(k − Δᵢ) at the knots
        1 − F(k), linear between. By group privacy in f-DP (Dong, Roth & Su 2022) the whole change has a curve above
        f_Δ₁(1 − f_Δ₂(·)); f_Δ₂ maps knots to knots, so this is f_{Δ₁+Δ₂}, the curve of one coordinate changed by the ℓ₁ norm.
        The same holds for continuous Laplace noise, F(F⁻¹(1 − x) − Δ) being a flow in Δ.

    Proof. ρ: with u = α − 1/2 and z = e^{2ua}, E_P[e^{(α−1)L}] is, up to a factor,
        z^(−Δ/2)·(z^{Δ+1} − q·z^Δ + q·z − 1)/(z − 1). Its zeros solve z^Δ·B(z) = 1 for the Blaschke factor
        B(z) = (z − q)/(1 − qz), so |z| = 1 and u is imaginary: in v = u² all are real and negative,
        the logarithm is concave, and D_α/α is largest at α = 1: the mean of L.
        μ: between the knots F(k) of the distribution function the curve is linear and the Gaussian's convex, so knots decide:
        the sup over k of Φ⁻¹(F(k)) − Φ⁻¹(F(k − Δ)), a window of Δ increments that fall away from the middle.

    >>> DiscreteLaplaceLoss(2, 1).epsilon, DiscreteLaplaceLoss(2, 1).rho == Pure("1/2").rho
    (Fraction(1, 2), True)
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)
    shift: int = field(converter=parameter.shift, repr=str)

    @property
    def epsilon(self) -> Fraction:
        return self.shift / self.scale

    @property
    def rho(self) -> Fraction:
        if self.shift <= 1 or self.epsilon > convert.HUGE:
            return convert.pure_to_zcdp(self.epsilon)

        def mean() -> Ball:
            e, a = ball(self.epsilon), 1 / ball(self.scale)
            return e + (-e).expm1() * a / a.sinh()

        return rational_above(mean)

    @property
    def mu_squared(self) -> Fraction:
        if self.shift <= 1 or self.epsilon > convert.HUGE:
            return convert.pure_to_gdp(self.epsilon)

        def middle(j: int) -> Ball:
            a = 1 / ball(self.scale)
            return upper_quantile((-a * (j + 1)).exp() / (1 + (-a).exp()))

        return rational_above(lambda: (middle(self.shift // 2) + middle((self.shift + 1) // 2 - 1)) ** 2)

    @property
    def laws(self) -> Laws:
        return ((LatticeLaw(self.scale, self.shift), 1),) if self.shift else ()

    def renyi(self, orders: Floats) -> Floats:
        plain = Loss.renyi(self, orders)
        return curve(LatticeLaw(self.scale, self.shift), orders, plain) if self.shift else plain

    def group(self, k: int) -> Loss:
        return DiscreteLaplaceLoss(self.scale, exact.whole(k, "k", least=0) * self.shift)

    def below(self, other: Loss) -> bool:
        return isinstance(other, DiscreteLaplaceLoss) and self.scale == other.scale and self.shift <= other.shift


@final
@frozen
class GaussianLoss(Loss):
    """The loss of Gaussian noise of variance σ² on a vector of ℓ₂ sensitivity Δ; `ratio_squared` is Δ²/σ².

    Theorem (Dong, Roth & Su 2022, theorem 2.7).
        Gaussian noise is exactly μ-GDP with μ = Δ/σ, in any dimension; also after rounding to a grid, a post-processing.

    >>> (1000 * GaussianLoss("1/1000")).mu_squared
    Fraction(1, 1)
    """

    ratio_squared: Fraction = field(converter=parameter.ratio_squared, repr=str)

    @property
    def epsilon(self) -> Fraction | None:
        return None if self.ratio_squared else ZERO

    @property
    def rho(self) -> Fraction:
        return self.ratio_squared / 2

    @property
    def mu_squared(self) -> Fraction:
        return self.ratio_squared

    @property
    def laws(self) -> Laws:
        return ((NormalLaw(self.ratio_squared), 1),) if self.ratio_squared else ()

    def group(self, k: int) -> Loss:
        return GaussianLoss(exact.whole(k, "k", least=0) ** 2 * self.ratio_squared)

    def below(self, other: Loss) -> bool:
        return isinstance(other, GaussianLoss) and self.ratio_squared <= other.ratio_squared


@final
@frozen
class GaussianThreshold(Loss):
    """The loss of Gaussian noise with a threshold: with probability at most δ the input is revealed, otherwise it is Gaussian noise.

    Theorem (Kairouz, Oh & Viswanath 2015; Dong, Roth & Su 2022).
        For one unit the loss is that of a Gaussian mechanism and a revelation of probability δ. The two are *one* mechanism: what k units
        together lift over the threshold is not k revelations. So groups use (ε, 2δ) for the ε at which Gaussian noise has δ.
    """

    ratio_squared: Fraction = field(converter=parameter.ratio_squared, repr=str)
    delta: Fraction = field(converter=parameter.any_delta, repr=str)

    @property
    def _noise(self) -> GaussianLoss:
        return GaussianLoss(self.ratio_squared)

    @property
    def epsilon(self) -> Fraction | None:
        return self._noise.epsilon

    @property
    def rho(self) -> Fraction:
        return self._noise.rho

    @property
    def mu_squared(self) -> Fraction:
        return self._noise.mu_squared

    @property
    def laws(self) -> Laws:
        return self._noise.laws

    def group(self, k: int) -> Loss:
        if exact.whole(k, "k", least=0) <= 1 or not self.delta:
            return self if k == 1 else self._noise.group(k)
        epsilon = convert.gaussian_epsilon(self.ratio_squared, self.delta)
        if 2 * self.delta >= 1 or math.isinf(epsilon):
            return Revealed()
        return Approx(Fraction(epsilon), 2 * self.delta).group(k)


@final
@frozen
class BoundedRange(Loss):
    """The loss of an ε-bounded-range mechanism, such as the exponential mechanism: its privacy losses lie in an interval of length ε.

    Theorem (Durfee & Rogers 2019; Dong, Durfee & Rogers 2020; Cesar & Rogers 2021, made tight).
        It is ε-DP; ρ-zCDP for ρ = ln((e^ε − 1)/ε) − 1 + ε/(e^ε − 1) ≤ ε²/8; μ-GDP for μ = 2Φ⁻¹(1/(1 + e^(−ε/2)));
        and its profile is at most (1 − e^{(e−ε)/2})²/(1 − e^−ε) for |e| ≤ ε, the law with density ∝ e^{ℓ/2} on [−ε, ε].

    Proof. Losses are t or t − ε for some t. ρ: K(α − 1)/(α(α − 1)) is a second divided difference of ln cosh(εx/2), the mean of
        g = (ε²/8)·sech² over −λ₁ + (α − 1)λ₃ + c with λ uniform on the simplex. Given U = λ₃/(1 − λ₁) it is the mean of
        g(w(c′ − λ₁)) with w = 1 + (α − 1)U ≥ 1, and g(wx) ≤ g(x): so α = 1 is worst, and the sup over t of the mean loss is ρ.
        μ: the loss t has the chances p and q = e^(−t)·p, so there is one knot and μ(t) = a − b for Φ(a) = p, Φ(b) = q. With Q = 1 − Φ
        and c = 1/(1 − e^−ε): Φ(b) = c(e^−t − e^−ε), Q(b) = c(1 − e^−t) and Q(a) = c·e^−ε·(e^t − 1), so Φ(a)/Φ(b) = e^t and
        Q(b)/Q(a) = e^{ε−t}. The derivatives of both logarithms give μ′ = (k(b) − k(a))/(Q(b) − Q(a)) for k = ΦQ/φ, an even function.
        It falls in |x|: φk′ is −N for N = φ(Φ − Q) − xΦQ, which is 0 at 0 and at ∞, and N′ = 2φ² − ΦQ changes its sign once, from
        + to −, because the hazard h = φ/Q has 0 < h′ < 1 (it is convex, Sampford 1953) and so the derivative of ln(φ²/ΦQ),
        h(x) − h(−x) − 2x, is negative for x > 0. Now b ≤ a, and −b ≤ a means e^{t−ε} ≤ e^−t: for t ≤ ε/2 it is |b| ≤ a and μ′ ≥ 0.
        Exchanging P and Q takes t to ε − t and leaves μ, so t = ε/2 is worst, where Q(a) = 1/(1 + e^{ε/2}) and b = −a.

    >>> float(BoundedRange(1).rho) < 1 / 8
    True
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)

    @property
    def rho(self) -> Fraction:
        def sup() -> Ball:
            e = ball(self.epsilon)
            return (e.expm1() / e).log() - 1 + e / e.expm1()

        return rational_above(sup) if 0 < self.epsilon < convert.HUGE else self.epsilon

    @property
    def mu_squared(self) -> Fraction:
        return convert.pure_to_gdp(self.epsilon / 2)

    @property
    def laws(self) -> Laws:
        if not self.epsilon:
            return ()
        density = float_above(lambda: -1 / (2 * (-ball(min(self.epsilon, convert.HUGE))).expm1()))
        return ((BoundedLaw(float_up_or_infinite(self.epsilon), 0.0, 0.0, density), 1),)

    def renyi(self, orders: Floats) -> Floats:
        """The sup over t in closed form: at y = e^t the moment is y^s·(A − yB)/(e^ε − 1), greatest at y = sA/((s + 1)B)."""
        plain = Loss.renyi(self, orders)
        e, s = float_up_or_infinite(self.epsilon), orders - 1
        if not 1e-3 < e < 500:
            return plain
        a, b = -np.expm1(-(s + 1) * e), -np.expm1(-s * e)  # A is e^ε·a
        moment = s * (e + np.log(s * a / ((s + 1) * b))) + np.log(a / (s + 1)) - math.log(-math.expm1(-e))
        return np.asarray(np.minimum(plain, (moment + 64 * 2.0**-53 * (1 + s * (1 + e))) / s), dtype=np.float64)

    @property
    def closed(self) -> bool:
        return False  # k units in k adaptively chosen parts need not have losses in one interval of length kε

    def group(self, k: int) -> Loss:
        return BoundedRange(exact.whole(k, "k", least=0) * self.epsilon)

    def below(self, other: Loss) -> bool:
        return isinstance(other, BoundedRange) and self.epsilon <= other.epsilon
