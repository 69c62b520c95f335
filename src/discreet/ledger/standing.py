"""Who has spent what: the data set's account, and below it one for each analyst who was granted a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, final

from attrs import evolve, field, frozen

from discreet import exact
from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger import chain
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss

OWNER = "owner"  # whom the data set's ceiling alone binds
_LONGEST_NAME = 100


def _shortly(digits: int) -> Callable[[Fraction | None], str]:
    """Write an amount as a short decimal; the exact one stays in its field."""
    return lambda amount: "∞" if amount is None else f"{float(amount):.{digits}g}"


@final
@frozen
class Amount:
    """An ε and a δ, exact; None is an ε that has no bound.

    >>> Amount(Fraction(62227, 125), Fraction(23, 64_000_000)), Amount(None, Fraction(0))
    (Amount(epsilon=497.816, delta=3.6e-07), Amount(epsilon=∞, delta=0))
    """

    epsilon: Fraction | None = field(repr=_shortly(6))
    delta: Fraction = field(repr=_shortly(2))


@final
@frozen
class Account:
    """One budget as it stands: the live filter with the sums of all prices, and the first request, which another limit would be split for.

    Its size does not depend on how much was asked.
    """

    filter: Filter
    first: Charge | None = None

    @property
    def spent(self) -> Amount:
        """What was spent; never more than the budget (see `Filter.used`)."""
        return Amount(*self.filter.used)

    def after(self, charge: Charge, whole: Charge | None = None) -> Account:
        """The account after one more charge, perhaps the first step of a larger order, or BudgetExceeded."""
        return Account(self.filter.spend(charge, whole), self.first or whole or charge)

    def regranted(self, budget: Filter) -> Account:
        """The same spends under another limit, as if it had been there from the beginning; BudgetExceeded if they do not fit."""
        if self.first is None:
            return Account(budget)
        return Account(self.filter.limited(budget.epsilon, budget.delta, self.first), self.first)

    def to_json(self) -> dict[str, Any]:
        """Write the account as plain values."""
        return {"filter": self.filter.to_json(), "first": None if self.first is None else self.first.to_json()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Account:
        """Read back what to_json wrote."""
        first = record["first"]
        account = cls(Filter.from_json(record["filter"]), None if first is None else Charge.from_json(first))
        if (account.first is None) != account.filter.fresh or record != account.to_json():
            raise Invalid("this is not the record of an account")
        return account


@final
@frozen
class Standing:
    """What has been spent after some entry, by all together and by each analyst.

    A spend is charged to the data set and to the analyst who asks, and admitted only if both admit it: so the sum over analysts stays
    within the ceiling whatever was granted, and each of them within hers. Once somebody was granted a budget, whoever asks has a name.
    """

    whole: Account
    analysts: Mapping[str, Account] = field(factory=dict)

    def to_json(self) -> dict[str, Any]:
        """All accounts as plain values."""
        analysts = [[name, account.to_json()] for name, account in self.analysts.items()]  # in the order of first grants
        return {"whole": self.whole.to_json(), "analysts": analysts}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Standing:
        """Read back what to_json wrote; anything else is Invalid."""
        try:
            analysts = {analyst_name(name): Account.from_json(account) for name, account in record["analysts"]}
            return cls(Account.from_json(record["whole"]), analysts)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Invalid("this is not the record of a standing") from None

    @property
    def text(self) -> str:
        """All accounts, as the state row keeps them."""
        return chain.write(self.to_json())

    def require(self, analyst: str | None) -> None:
        """Raise unless this analyst may ask at all."""
        if analyst is None and self.analysts:
            raise Invalid(f'this budget is shared: say who asks, an analyst with a budget of her own or "{OWNER}"')
        if analyst not in (None, OWNER) and analyst not in self.analysts:
            raise BudgetExceeded(f"{analyst} has no budget here: the data's owner can grant one. Nothing was charged.")

    def after(self, charge: Charge, analyst: str | None, whole: Charge | None = None) -> Standing:
        """The standing after one more charge, perhaps the first step of a larger order, or BudgetExceeded."""
        self.require(analyst)
        own = self.analysts.get(analyst) if analyst is not None else None
        if own is None:
            return evolve(self, whole=self.whole.after(charge, whole))
        short = {f"{analyst}'s own": own.filter, "the data set's": self.whole.filter}
        short = {whose: budget for whose, budget in short.items() if not budget.admits(charge, whole)}
        if short:
            raise BudgetExceeded("; and ".join(_too_much(whose, budget) for whose, budget in short.items()) + ". Nothing was charged.")
        return Standing(self.whole.after(charge, whole), {**self.analysts, str(analyst): own.after(charge, whole)})

    def granted(self, analyst: str, budget: Filter) -> Standing:
        """The standing with another limit for an analyst; BudgetExceeded if she has spent more."""
        account = self.analysts.get(analyst, Account(budget)).regranted(budget)
        return evolve(self, analysts={**self.analysts, analyst: account})

    def allowance(self, analyst: str | None) -> Allowance:
        """What one who asks has, has spent, and may still spend."""
        if analyst in (None, OWNER):
            return _allowance(self.whole)
        self.require(analyst)
        return _allowance(self.analysts[str(analyst)], self.whole)


@final
@frozen
class Allowance:
    """What one who asks was granted and has spent; what remains is what her own filter and the data set's both admit."""

    granted: Amount
    spent: Amount
    filters: tuple[Filter, ...] = field(repr=False)

    def admits(self, loss: Loss) -> bool:
        """Whether this may still be spent."""
        return all(budget.admits(loss) for budget in self.filters)

    def most(self, loss_of: Callable[[Fraction], Loss]) -> Fraction:
        """The largest parameter whose loss is still admitted; loss must grow with it."""
        return min(budget.most(loss_of) for budget in self.filters)

    @property
    def remaining(self) -> Amount:
        """The largest single further question that is still admitted."""
        epsilons, deltas = zip(*(budget.remaining for budget in self.filters), strict=True)
        return Amount(min(epsilons), min(deltas))


def _allowance(account: Account, *above: Account) -> Allowance:
    budget = account.filter
    return Allowance(Amount(budget.epsilon, budget.delta), account.spent, (budget, *(one.filter for one in above)))


def _too_much(whose: str, budget: Filter) -> str:
    epsilon, delta = (exact.float_down(amount) for amount in budget.remaining)
    return f"{whose} budget does not admit this; it still admits one question of ε ≤ {epsilon:.6g} and δ ≤ {delta:.6g}"


def analyst_name(name: object) -> str:
    """A name for whom a budget is kept, or Invalid."""
    if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not 0 < len(name) <= _LONGEST_NAME:
        raise Invalid(f"an analyst's name is text of at most {_LONGEST_NAME} letters, without blanks around it")
    if name.casefold() == OWNER:
        raise Invalid(f'"{OWNER}" is the owner, whom the data set\'s budget alone binds: name the analyst otherwise')
    return name
