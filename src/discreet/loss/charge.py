"""Charges: the amount of a loss under each notion of privacy that a budget uses, in multiples of 10⁻⁴⁰."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.loss.law import Laws
from discreet.loss.loss import ZERO, Loss

MOST = Fraction(10**40)  # a larger amount is ∞


@final
@frozen
class Charge(Loss):
    """The amounts that a loss, or several together, is charged; None is ∞.

    Every amount is a multiple of 10⁻⁴⁰, rounded up, so a sum of charges needs no more digits than one charge. Decimals that people
    type are such multiples and stay exact: ten charges of 0.1 make 1.

    A ledger seals charges together with their losses. Replaying charges is fast, and a later version that charges a loss differently
    still reads what was charged; `Ledger.verify` counts the spends that it would charge differently.

    >>> from discreet.loss.notions import Pure
    >>> Charge.of(Pure(0.1)).plus(Charge.of(Pure("1/3"))).basic[0] - Fraction(13, 30) < Fraction(1, 10**40)
    True
    >>> Charge.of(Pure(0.1)).to_json()
    {'basic': ['0.1', '0'], 'rho': None, 'mu_squared': None, 'delta': '0'}
    """

    basic: tuple[Fraction | None, Fraction]
    rho: Fraction | None
    mu_squared: Fraction | None
    delta: Fraction

    @classmethod
    def of(cls, loss: Loss, *, pure: bool = True) -> Charge:
        """The charge of a loss; a budget without δ uses basic composition alone, so no other amount is computed (`pure`)."""
        epsilon, delta = loss.charged
        rho, mu_squared = (None, None) if pure else (loss.rho, loss.mu_squared)
        return cls((_up(epsilon), exact.grid_up(delta)), _up(rho), _up(mu_squared), exact.grid_up(loss.delta))

    @classmethod
    def either(cls, losses: Iterable[Loss]) -> Charge:
        """A charge that covers any one of several losses: the largest amount under each notion."""
        charges = [cls.of(loss, pure=False) for loss in losses]
        epsilons, deltas = zip(*(charge.basic for charge in charges), strict=True)
        rho, mu_squared = _most([charge.rho for charge in charges]), _most([charge.mu_squared for charge in charges])
        return cls((_most(epsilons), max(deltas)), rho, mu_squared, max(charge.delta for charge in charges))

    def plus(self, other: Charge) -> Charge:
        """The sum of two charges."""
        basic = _sum(self.basic[0], other.basic[0]), self.basic[1] + other.basic[1]
        return Charge(basic, _sum(self.rho, other.rho), _sum(self.mu_squared, other.mu_squared), self.delta + other.delta)

    def minus(self, other: Charge) -> Charge:
        """The remainder of this charge after another; ∞ stays ∞."""
        basic = _left(self.basic[0], other.basic[0]), max(self.basic[1] - other.basic[1], ZERO)
        return Charge(basic, _left(self.rho, other.rho), _left(self.mu_squared, other.mu_squared), max(self.delta - other.delta, ZERO))

    @property
    def epsilon(self) -> Fraction | None:
        return None  # a filter reads `basic`

    @property
    def laws(self) -> Laws | None:
        return None

    def to_json(self) -> dict[str, Any]:
        """Write the amounts as text, None for ∞."""
        basic = [_written(price) for price in self.basic]
        return {"basic": basic, "rho": _written(self.rho), "mu_squared": _written(self.mu_squared), "delta": _written(self.delta)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Charge:
        """Read back what to_json wrote; anything else is Invalid."""
        try:
            epsilon, delta = record["basic"]
            basic = _read(epsilon), _needed(delta)
            return cls(basic, _read(record["rho"]), _read(record["mu_squared"]), _needed(record["delta"]))
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not the record of a charge: pass what Charge.to_json wrote") from None


NOTHING = Charge((ZERO, ZERO), ZERO, ZERO, ZERO)


def _up(price: Fraction | None) -> Fraction | None:
    """Round up to the grid; amounts beyond every budget become ∞, so that a sum stays short."""
    return None if price is None or price > MOST else exact.grid_up(price)


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _most(prices: Sequence[Fraction | None]) -> Fraction | None:
    known = [price for price in prices if price is not None]
    return max(known) if len(known) == len(prices) else None


def _left(whole: Fraction | None, part: Fraction | None) -> Fraction | None:
    return None if whole is None else max(whole - (part or ZERO), ZERO)


def _written(price: Fraction | None) -> str | None:
    return None if price is None else exact.short(price)


def _needed(price: str) -> Fraction:
    read = exact.non_negative(price)
    if exact.GRID % read.denominator:
        raise Invalid("this is not the record of a charge: pass what Charge.to_json wrote")
    return read


def _read(price: str | None) -> Fraction | None:
    return None if price is None else _needed(price)
