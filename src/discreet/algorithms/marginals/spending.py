"""The budget of a run: an amount of ρ (zero-concentrated DP) or of μ² (Gaussian DP), spent step by step.

Theorem (Rogers, Roth, Ullman & Vadhan 2016; Whitehouse et al. 2023; Smith & Thakurta 2022; Koskela et al. 2023).
    Mechanisms chosen adaptively, by what earlier ones released, whose ρ always add up to at most B, are together B-zCDP; if their μ² do,
    √B-GDP.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.mechanism import Mechanism

Notion = Literal["zcdp", "gdp"]
_FINE = 10**12


@final
@frozen
class MeasurementBudget:
    """An amount in one of two notions of privacy."""

    notion: Notion
    amount: Fraction

    @classmethod
    def zcdp(cls, rho: exact.Number) -> MeasurementBudget:
        """This much ρ."""
        return cls("zcdp", exact.positive(rho, "rho"))

    @classmethod
    def gdp(cls, mu_squared: exact.Number) -> MeasurementBudget:
        """This much μ²."""
        return cls("gdp", exact.positive(mu_squared, "mu_squared"))

    @property
    def loss(self) -> Loss:
        """The loss claimed for the whole run."""
        return leaves.Zcdp(self.amount) if self.notion == "zcdp" else leaves.GaussianLoss(self.amount)

    def price(self, loss: Loss) -> Fraction:
        """The price of one step."""
        price = loss.rho if self.notion == "zcdp" else loss.mu_squared
        if price is None:
            raise Invalid(f"this mechanism has no price in {self.notion}: use a Gaussian or an exponential mechanism")
        return price


@final
class Spending:
    """The account of one run: every mechanism is paid for before it is used, and its loss is recorded."""

    def __init__(self, budget: MeasurementBudget) -> None:
        self.budget = budget
        self.left = budget.amount
        self.losses: list[tuple[str, Loss]] = []

    @property
    def used(self) -> float:
        """The share of the budget that is spent."""
        return 1 - float(self.left / self.budget.amount)

    def gaussian(self, price: Fraction, sensitivity: Fraction) -> Gaussian:
        """Gaussian noise for whole numbers of this ℓ₂ sensitivity, for a price."""
        ratio_squared = 2 * price if self.budget.notion == "zcdp" else price
        scale = exact.rational_up(lambda: exact.ball(sensitivity) / exact.ball(ratio_squared).sqrt())
        return Gaussian(scale=_coarse(scale), sensitivity=sensitivity, whole=True)

    def selection(self, price: Fraction, sensitivity: int) -> Exponential:
        """An exponential mechanism for scores of this sensitivity, for a price: at most ε²/8 of ρ, or (ε√(2π)/4)² of μ²."""
        # √8 = 2.82842…, 4/√(2π) = 1.59576…
        root, factor = exact.ball(price).sqrt(), Fraction("2.8284") if self.budget.notion == "zcdp" else Fraction("1.5957")
        epsilon = Fraction(int(Fraction(exact.lower(root)) * factor * _FINE), _FINE)
        return Exponential(epsilon=epsilon, sensitivity=sensitivity)

    def release(self, what: str, mechanism: Mechanism[Any], answer: Any) -> Any:
        """Pay for a mechanism, then use it once."""
        price = self.budget.price(mechanism.loss)
        if price > self.left:
            raise Invalid("this step costs more than what is left of the run's budget: use a smaller price")
        self.left -= price
        self.losses.append((what, mechanism.loss))
        return mechanism.release(answer)


def _coarse(scale: Fraction) -> Fraction:
    """Rounded up to twelve decimals, so that sums of losses stay short."""
    return Fraction(-(-scale * _FINE // 1), _FINE)
