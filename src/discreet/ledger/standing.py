"""Who has spent what: the data set's account, and below it one for each analyst who was granted a part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import final

from attrs import evolve, field, frozen

from discreet import exact
from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger import chain
from discreet.ledger.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.loss import ZERO, Loss

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

    def plus(self, epsilon: Fraction | None, delta: Fraction) -> Amount:
        """Both together."""
        return Amount(None if self.epsilon is None or epsilon is None else self.epsilon + epsilon, self.delta + delta)


NOTHING = Amount(ZERO, ZERO)


@final
@frozen
class Account:
    """One budget as it stands: the live filter, and the sum of the basic prices."""

    filter: Filter
    spent: Amount = NOTHING

    def after(self, charge: Charge) -> Account:
        """The account after one more charge, or BudgetExceeded."""
        return Account(self.filter.spend(charge), self.spent.plus(*charge.basic))

    def regranted(self, budget: Filter, charges: Iterable[Charge]) -> Account:
        """The same spends under another limit, as if it had been there from the beginning; BudgetExceeded if they do not fit."""
        for charge in charges:
            budget = budget.spend(charge)
        return Account(budget, self.spent)


@final
@frozen
class Standing:
    """What has been spent after some entry, by all together and by each analyst.

    A spend is charged to the data set and to the analyst who asks, and admitted only if both admit it: so the sum over analysts stays
    within the ceiling whatever was granted, and each of them within hers. Once somebody was granted a budget, whoever asks has a name.
    """

    whole: Account
    analysts: Mapping[str, Account] = field(factory=dict)

    @property
    def text(self) -> str:
        """All filters, as the state row keeps them."""
        filters = {name: account.filter.to_json() for name, account in self.analysts.items()}
        return chain.write({"filter": self.whole.filter.to_json(), "analysts": filters})

    def require(self, analyst: str | None) -> None:
        """Raise unless this analyst may ask at all."""
        if analyst is None and self.analysts:
            raise Invalid(f'this budget is shared: say who asks, an analyst with a budget of her own or "{OWNER}"')
        if analyst not in (None, OWNER) and analyst not in self.analysts:
            raise BudgetExceeded(f"{analyst} has no budget here: the data's owner can grant one. Nothing was charged.")

    def after(self, charge: Charge, analyst: str | None) -> Standing:
        """The standing after one more charge, or BudgetExceeded."""
        self.require(analyst)
        own = self.analysts.get(analyst) if analyst is not None else None
        if own is None:
            return evolve(self, whole=self.whole.after(charge))
        short = {f"{analyst}'s own": own.filter, "the data set's": self.whole.filter}
        short = {whose: budget for whose, budget in short.items() if not budget.admits(charge)}
        if short:
            raise BudgetExceeded("; and ".join(_too_much(whose, budget) for whose, budget in short.items()) + ". Nothing was charged.")
        return Standing(self.whole.after(charge), {**self.analysts, str(analyst): own.after(charge)})

    def granted(self, analyst: str, budget: Filter, charges: Iterable[Charge]) -> Standing:
        """The standing with another limit for an analyst; BudgetExceeded if she has spent more."""
        account = self.analysts.get(analyst, Account(budget)).regranted(budget, charges)
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
