"""Losses of mechanisms of which only the privacy guarantee is known: pure, approximate, zero-concentrated and Gaussian DP."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.loss import convert
from discreet.loss.law import Floats, Laws, NormalLaw, curve, pure_law
from discreet.loss.loss import NOTHING, ZERO, Loss


@final
@frozen
class Pure(Loss):
    """The loss of any ε-DP mechanism.

    Theorem (Dwork, McSherry, Nissim & Smith 2006; Kairouz, Oh & Viswanath 2015).
        Every ε-DP mechanism is a post-processing of randomised response at ε, so its loss is no larger under any notion.

    >>> float(Pure(1).rho) <= 0.4621171573, Pure("1/3").group(3) == Pure(1)
    (True, True)
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)

    @property
    def rho(self) -> Fraction:
        return convert.pure_to_zcdp(self.epsilon)

    @property
    def mu_squared(self) -> Fraction:
        return convert.pure_to_gdp(self.epsilon)

    @property
    def laws(self) -> Laws:
        return ((pure_law(self.epsilon), 1),) if self.epsilon else ()

    def renyi(self, orders: Floats) -> Floats:
        return curve(pure_law(self.epsilon), orders, Loss.renyi(self, orders))

    def group(self, k: int) -> Loss:
        return Pure(exact.whole(k, "k", least=0) * self.epsilon)

    def covers(self, loss: Loss) -> bool:
        return loss.delta == 0 and loss.epsilon is not None and loss.epsilon <= self.epsilon

    def below(self, other: Loss) -> bool:
        return isinstance(other, Pure) and self.epsilon <= other.epsilon


@final
@frozen
class Approx(Loss):
    """The loss of any (ε, δ)-DP mechanism.

    Theorem (Kairouz, Oh & Viswanath 2015).
        Every (ε, δ)-DP mechanism is a post-processing of: reveal with probability δ, else randomised response at ε.

    >>> (3 * Approx(1, 1e-9)).epsilon_at(3e-9)
    3.0
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.any_delta, repr=str)

    @property
    def _rest(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def rho(self) -> Fraction:
        return self._rest.rho

    @property
    def mu_squared(self) -> Fraction:
        return self._rest.mu_squared

    @property
    def laws(self) -> Laws:
        return self._rest.laws

    def renyi(self, orders: Floats) -> Floats:
        return self._rest.renyi(orders)

    def group(self, k: int) -> Loss:
        k = exact.whole(k, "k", least=0)
        mass = convert.group_delta(self.epsilon, self.delta, k)
        return Approx(k * self.epsilon, mass) if mass < 1 else Revealed()

    def covers(self, loss: Loss) -> bool:
        if loss.delta > self.delta:
            return False
        if loss.epsilon is not None and loss.epsilon <= self.epsilon:
            return True
        price, mass = loss.basic
        if price is not None and price <= self.epsilon and mass <= self.delta:
            return True
        rest, square = convert.left_after(loss.delta, self.delta), loss.mu_squared
        if square is not None and rest > 0 and convert.gaussian_within(square, self.epsilon, rest):
            return True  # decided in balls, so that noise calibrated to this same ceiling is within it
        return loss.delta_at(self.epsilon) <= self.delta

    def below(self, other: Loss) -> bool:
        return isinstance(other, Approx) and self.epsilon <= other.epsilon and self.delta <= other.delta


@final
@frozen
class Zcdp(Loss):
    """The loss of any ρ-zCDP mechanism.

    Theorem (Bun & Steinke 2016).
        ρ-zCDP means D_α ≤ αρ for every α > 1; it adds up under composition and becomes k²ρ for groups of k.

    >>> round((4 * Zcdp("1/8")).epsilon_at(1e-6), 3)
    5.222
    """

    rho: Fraction = field(converter=parameter.rho, repr=str)

    @property
    def epsilon(self) -> Fraction | None:
        return None if self.rho else ZERO

    @property
    def mu_squared(self) -> Fraction | None:
        return None if self.rho else ZERO

    @property
    def laws(self) -> Laws | None:
        return None if self.rho else ()

    def group(self, k: int) -> Loss:
        return Zcdp(exact.whole(k, "k", least=0) ** 2 * self.rho)

    def covers(self, loss: Loss) -> bool:
        return loss.delta == 0 and loss.rho is not None and loss.rho <= self.rho

    def below(self, other: Loss) -> bool:
        return isinstance(other, Zcdp) and self.rho <= other.rho


@final
@frozen
class Gdp(Loss):
    """The loss of any μ-GDP mechanism.

    Theorem (Dong, Roth & Su 2022).
        μ-GDP means: neighbours are no easier to distinguish than N(0, 1) from N(μ, 1). Then D_α ≤ αμ²/2, μ² adds up under composition, and
        μ becomes kμ for groups of k.

    >>> round(Gdp(1).epsilon_at(1e-6), 6)
    4.886554
    """

    mu: Fraction = field(converter=parameter.mu, repr=str)

    @property
    def epsilon(self) -> Fraction | None:
        return None if self.mu else ZERO

    @property
    def rho(self) -> Fraction:
        return self.mu**2 / 2

    @property
    def mu_squared(self) -> Fraction:
        return self.mu**2

    @property
    def laws(self) -> Laws:
        return ((NormalLaw(self.mu_squared), 1),) if self.mu else ()

    def group(self, k: int) -> Loss:
        return Gdp(exact.whole(k, "k", least=0) * self.mu)

    def covers(self, loss: Loss) -> bool:
        return loss.delta == 0 and loss.mu_squared is not None and loss.mu_squared <= self.mu_squared

    def below(self, other: Loss) -> bool:
        return isinstance(other, Gdp) and self.mu <= other.mu


@final
@frozen
class Revealed(Loss):
    """The loss of revealing the data: without noise the loss is infinite, never zero.

    >>> Revealed().epsilon_at(0.5), Revealed().delta_at(100)
    (inf, 1.0)
    """

    @property
    def delta(self) -> Fraction:
        return Fraction(1)

    @property
    def epsilon(self) -> None:
        return None

    @property
    def rho(self) -> None:
        return None

    @property
    def mu_squared(self) -> None:
        return None

    @property
    def laws(self) -> None:
        return None

    def group(self, k: int) -> Loss:
        return self if exact.whole(k, "k", least=0) else NOTHING
