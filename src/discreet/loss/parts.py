"""The loss of units that are in some of many parts, each released by its own mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.loss import convert
from discreet.loss.law import Floats, Laws, pure_law
from discreet.loss.loss import NOTHING, Loss
from discreet.loss.notions import Approx, Pure, Revealed


def _units(units: int) -> int:
    return exact.whole(units, "units")


@final
@frozen
class SomeParts(Loss):
    """The loss of (ε, δ)-DP releases of many parts, where each of `units` units is in any `parts` of them at most.

    For one unit this is `parts` releases. For several it is *not* `parts` releases that each see all of them: three units in {A, B},
    {B, C} and {A, C} are two units in each of three parts. A `LossSum` would assume three units in each of two.

    Theorem (for groups; after Vadhan 2017 and Kairouz, Oh & Viswanath 2015).
        Let each unit be in at most p parts, and let k units change. The whole reveals with probability at most pδ·g(k), where
        g(c) = (e^{cε} − 1)/(e^ε − 1); the rest is pkε-DP, and its Rényi divergences are at most p times those of randomised response at kε.

    Proof. Part i holds cᵢ ≤ k of the k units, and Σcᵢ ≤ pk. By group privacy it is (cᵢε, δ·g(cᵢ))-DP, so it is a post-processing of: reveal
        with probability δ·g(cᵢ), else randomised response at cᵢε. If f(c)/c does not fall then Σf(cᵢ) ≤ Σcᵢ·f(k)/k ≤ p·f(k). This
        holds for f = g, which is convex with g(0) = 0; for f(c) = cε; and for the divergence D of order α of randomised response
        at x = cε, for (α − 1)·D/x = (α − 1) − ∫ ds/(1 + e^{sx}), where s runs from 1 to 2α − 1, and the integral falls as x grows.
        So it holds for zCDP's ρ = sup D/α too. Masses add up to at least the chance that anything is revealed.
        Laws of privacy loss do not obey this rule (3 releases at 2ε have a larger total variation than 2 at 3ε), so for several
        units the law is that of pkε-DP.

    >>> SomeParts(Approx("1/2", "1e-6"), 2).group(3).epsilon
    Fraction(3, 1)
    """

    part: Approx
    parts: int = field(converter=parameter.partitions, repr=str)
    units: int = field(default=1, converter=_units, repr=str)

    @property
    def delta(self) -> Fraction:
        return min(Fraction(1), self.parts * convert.group_delta(self.part.epsilon, self.part.delta, self.units))

    @property
    def epsilon(self) -> Fraction:
        return self.parts * self.units * self.part.epsilon

    @property
    def rho(self) -> Fraction:
        return self.parts * convert.pure_to_zcdp(self.units * self.part.epsilon)

    @property
    def mu_squared(self) -> Fraction:
        return self.parts * self.part.mu_squared if self.units == 1 else convert.pure_to_gdp(self.epsilon)

    @property
    def laws(self) -> Laws:
        if not self.epsilon:
            return ()
        return ((pure_law(self.part.epsilon), self.parts),) if self.units == 1 else ((pure_law(self.epsilon), 1),)

    def renyi(self, orders: Floats) -> Floats:
        return self.parts * Pure(self.units * self.part.epsilon).renyi(orders) * (1 + 4e-16)

    def group(self, k: int) -> Loss:
        units = self.units * exact.whole(k, "k", least=0)
        if not units:
            return NOTHING
        together = evolve(self, units=units)
        return together if together.delta < 1 else Revealed()
