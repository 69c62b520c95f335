"""What a loss was charged when it was spent, so that a budget is replayed without asking any theorem again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.loss.filter import Filter
from discreet.loss.law import Laws
from discreet.loss.loss import Loss


@final
@frozen
class Charge(Loss):
    """The prices of a loss in each language that its budget speaks, and nothing else of it.

    They are sealed with the loss itself. Replaying them is quick, and a later version that prices some loss otherwise still finds
    what was charged; `Ledger.verify` counts the spends that it would price otherwise.

    >>> from discreet.loss.leaves import Pure
    >>> Charge.of(Pure(0.1), Filter(1)).to_json()
    {'basic': ['1/10', '0'], 'rho': None, 'mu_squared': None, 'delta': '0'}
    """

    basic: tuple[Fraction | None, Fraction]
    rho: Fraction | None
    mu_squared: Fraction | None
    delta: Fraction

    @classmethod
    def of(cls, loss: Loss, budget: Filter) -> Charge:
        """Ask a loss for the prices that a budget may charge; None, that is ∞, for a language it does not speak."""
        if budget.delta == 0:
            return cls(loss.basic, None, None, loss.delta)
        return cls(loss.basic, loss.rho, loss.mu_squared, loss.delta)

    @property
    def epsilon(self) -> Fraction | None:
        return None  # a filter asks for `basic`

    @property
    def laws(self) -> Laws | None:
        return None

    def to_json(self) -> dict[str, Any]:
        """Write the prices as text, None for ∞."""
        basic = [_written(price) for price in self.basic]
        return {"basic": basic, "rho": _written(self.rho), "mu_squared": _written(self.mu_squared), "delta": _written(self.delta)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Charge:
        """Read back what to_json wrote; anything else is Invalid."""
        try:
            epsilon, delta = record["basic"]
            basic = _read(epsilon), exact.non_negative(delta)
            return cls(basic, _read(record["rho"]), _read(record["mu_squared"]), exact.non_negative(record["delta"]))
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not the record of a charge") from None


def _written(price: Fraction | None) -> str | None:
    return None if price is None else str(price)


def _read(price: str | None) -> Fraction | None:
    return None if price is None else exact.non_negative(price)
