"""What has been spent: the account of the data set, and one for each analyst who was granted a part of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import evolve, field, frozen

from discreet import exact
from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger import chain
from discreet.ledger.periods import Period
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss

OWNER = "owner"  # limited only by the budget of the data set
_LONGEST_NAME = 100


def _shortly(digits: int) -> Callable[[Fraction | None], str]:
    """Format an amount as a short decimal; the field keeps the exact one."""
    return lambda amount: "∞" if amount is None else f"{float(amount):.{digits}g}"


@final
@frozen
class Amount:
    """An exact ε and δ; an ε of None is infinite. Printed, it says what it means, if that is known.

    >>> Amount(Fraction(62227, 125), Fraction(23, 64_000_000)), Amount(None, Fraction(0))
    (Amount(epsilon=497.816, delta=3.6e-07), Amount(epsilon=∞, delta=0))
    """

    epsilon: Fraction | None = field(repr=_shortly(6))
    delta: Fraction = field(repr=_shortly(2))
    meaning: str = field(default="", eq=False, repr=False)

    def __str__(self) -> str:
        return f"{self!r}: {self.meaning}" if self.meaning else repr(self)

    @property
    def written(self) -> str:
        """Both, exactly, as tools show them: epsilon=0.5, delta=0."""
        return f"epsilon={'∞' if self.epsilon is None else exact.short(self.epsilon)}, delta={exact.short(self.delta)}"


@final
@frozen(slots=False)
class Account:
    """The state of one budget: its filter with the sums of all prices, and the first request, for which δ is split under another limit.

    Its size does not depend on the number of questions.
    """

    filter: Filter
    first: Charge | None = None
    period: Period | None = None  # of a budget that renews: the newest that was recorded

    @property
    def spent(self) -> Amount:
        """The amount spent; never more than the budget (see `Filter.used`)."""
        return Amount(*self.filter.used)

    def after(self, charge: Charge, whole: Charge | None = None) -> Account:
        """The account after one more charge, which may be the first step of a larger request (`whole`); or BudgetExceeded."""
        return Account(self.filter.spend(charge, whole), self.first or whole or charge, self.period)

    def regranted(self, budget: Filter, period: Period | None = None) -> Account:
        """The same spends under another limit, as if it had applied from the beginning; BudgetExceeded if they do not fit.

        In a later period than the recorded one, the account begins anew: what was spent before does not count, what was not has lapsed.
        """
        if period is not None and self.period is not None and period.every == self.period.every:
            if period.index < self.period.index:
                raise Invalid("a period that was recorded is never followed by an earlier one")
            if period.index > self.period.index:
                return Account(budget, None, period)
        if self.first is None:
            return Account(budget, None, period)
        return Account(self.filter.limited(budget.epsilon, budget.delta, self.first), self.first, period)

    def due(self, seconds: float) -> Period | None:
        """The period of this time, if it is later than the recorded one, so that the budget renews; None otherwise.

        A clock that is set forward brings one renewal, and none more until the time has passed the period that it recorded.
        """
        if self.period is None:
            return None
        now = Period.at(self.period.every, seconds)
        return now if now.index > self.period.index else None

    def at(self, seconds: float) -> Account:
        """The account as a spend at this time would find it."""
        due = self.due(seconds)
        return self if due is None else self.regranted(Filter(self.filter.epsilon, self.filter.delta), due)

    def to_json(self) -> dict[str, Any]:
        """Write the account as plain values."""
        return dict(self._json)

    @cached_property
    def _json(self) -> dict[str, Any]:
        renews = {} if self.period is None else self.period.to_json()
        return {"filter": self.filter.to_json(), "first": None if self.first is None else self.first.to_json()} | renews

    @cached_property
    def text(self) -> str:
        """The account as text; of many accounts, one spend changes two."""
        return chain.write(self._json)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Account:
        """Read back what to_json wrote."""
        first = record["first"]
        account = cls(Filter.from_json(record["filter"]), None if first is None else Charge.from_json(first), Period.from_json(record))
        if (account.first is None) != account.filter.fresh or record != account.to_json():
            raise Invalid("this is not the record of an account")
        return account


@final
@frozen(slots=False)
class Standing:
    """The accounts after some entry: that of the data set and those of the analysts.

    A spend is charged to the data set and to the analyst who asks, and admitted only if both accounts admit it. So the sum over analysts
    stays within the budget of the data set whatever was granted, and each analyst within her own. After the first grant, every spend names
    its analyst. An analyst who receives what somebody else paid for is charged alone: the data set has paid for it. An account that was
    taken back admits nothing; what was spent from it is kept, and counts if another budget is granted.
    """

    whole: Account
    analysts: Mapping[str, Account] = field(factory=dict)
    taken_back: Mapping[str, Account] = field(factory=dict)

    def to_json(self) -> dict[str, Any]:
        """All accounts as plain values."""
        analysts = [[name, account.to_json()] for name, account in self.analysts.items()]  # in the order of first grants
        taken = [[name, account.to_json()] for name, account in self.taken_back.items()]
        return {"whole": self.whole.to_json(), "analysts": analysts} | ({"taken_back": taken} if taken else {})

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Standing:
        """Read back what to_json wrote; anything else is Invalid."""
        try:
            both = ({analyst_name(name): Account.from_json(account) for name, account in listed} for listed in _accounts(record))
            return cls(Account.from_json(record["whole"]), *both)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Invalid("this is not the record of a standing") from None

    @cached_property
    def text(self) -> str:
        """All accounts as text, as the state row stores them; every look at the ledger compares it."""
        taken = f'"taken_back":{_listed(self.taken_back)},' if self.taken_back else ""
        return f'{{"analysts":{_listed(self.analysts)},{taken}"whole":{self.whole.text}}}'  # as chain.write writes to_json()

    def require(self, analyst: str | None) -> None:
        """Raise unless this analyst has an account."""
        if analyst is None and (self.analysts or self.taken_back):
            raise Invalid(f'this budget is shared: name the analyst who asks, one with a budget or "{OWNER}"')
        if analyst not in (None, OWNER) and analyst not in self.analysts:
            raise BudgetExceeded(f"{analyst} has no budget here: ask the data owner to grant one. Nothing was charged.")

    def after(self, charge: Charge, analyst: str | None, whole: Charge | None = None) -> Standing:
        """The accounts after one more charge, which may be the first step of a larger request (`whole`); or BudgetExceeded."""
        self.require(analyst)
        own = self.analysts.get(analyst) if analyst is not None else None
        if own is None:
            return evolve(self, whole=self.whole.after(charge, whole))
        short = {f"{analyst}'s own": own, "the data set's": self.whole}
        short = {whose: account for whose, account in short.items() if not account.filter.admits(charge, whole)}
        if short:
            refused = (_too_much(whose, account.filter, account.period) for whose, account in short.items())
            raise BudgetExceeded("; and ".join(refused) + ". Nothing was charged.")
        return evolve(self, whole=self.whole.after(charge, whole), analysts={**self.analysts, str(analyst): own.after(charge, whole)})

    def after_receiving(self, charge: Charge, analyst: str | None) -> Standing:
        """The accounts after an analyst received a release that somebody else paid for; or BudgetExceeded, about her own budget alone."""
        self.require(analyst)
        if analyst in (None, OWNER):
            raise Invalid("only an analyst with a budget is charged for what somebody else paid for")
        own = self.analysts[str(analyst)]
        if not own.filter.admits(charge):
            raise BudgetExceeded(_too_much(f"{analyst}'s own", own.filter, own.period) + ". Nothing was charged.")
        return evolve(self, analysts={**self.analysts, str(analyst): own.after(charge)})

    def granted(self, analyst: str, budget: Filter, period: Period | None = None) -> Standing:
        """The accounts with another limit for an analyst, or with that of a new period; BudgetExceeded if more was spent."""
        account = (self.analysts.get(analyst) or self.taken_back.get(analyst) or Account(budget)).regranted(budget, period)
        taken = {name: kept for name, kept in self.taken_back.items() if name != analyst}
        return evolve(self, analysts={**self.analysts, analyst: account}, taken_back=taken)

    def revoked(self, analyst: str) -> Standing:
        """The accounts after that of an analyst was taken back; Invalid if she has none."""
        if analyst not in self.analysts:
            raise Invalid(f"{analyst} has no budget that could be taken back")
        left = {name: account for name, account in self.analysts.items() if name != analyst}
        return evolve(self, analysts=left, taken_back={**self.taken_back, analyst: self.analysts[analyst]})

    @property
    def renews(self) -> bool:
        """Whether the budget of any analyst renews."""
        return any(account.period is not None for account in self.analysts.values())

    def at(self, seconds: float) -> Standing:
        """The accounts as spends at this time would find them."""
        return evolve(self, analysts={name: account.at(seconds) for name, account in self.analysts.items()})

    def allowance(self, analyst: str | None) -> Allowance:
        """What an analyst was granted, has spent and may still spend."""
        if analyst in (None, OWNER):
            return _allowance(self.whole)
        self.require(analyst)
        return _allowance(self.analysts[str(analyst)], self.whole)


@final
@frozen(slots=False)
class Allowance:
    """What an analyst was granted and has spent; what remains is admitted by both her own filter and that of the data set."""

    granted: Amount
    filters: tuple[Filter, ...] = field(repr=False)  # her own first
    period: Period | None = None  # of a budget that renews; `spent` is what was spent in it

    @cached_property
    def spent(self) -> Amount:
        """The amount spent; computed when it is asked for, which takes milliseconds."""
        return Amount(*self.filters[0].used)

    @property
    def limit(self) -> str:
        """What was granted, in words."""
        granted = self.granted
        often = "" if self.period is None else f" each {self.period.every}"
        return f"epsilon {_shortly(6)(granted.epsilon)}, delta {_shortly(2)(granted.delta)}{often}"

    @property
    def own(self) -> Allowance:
        """The same, limited by her own filter alone: what others spend does not change it."""
        return evolve(self, filters=self.filters[:1])

    @property
    def refusal(self) -> str:
        """The message for a price that is not admitted, with the numbers of her own account alone."""
        return f"{_too_much('the', self.filters[0], self.period)}. Nothing was charged."

    def admits(self, loss: Loss) -> bool:
        """Whether this loss may still be spent."""
        return all(budget.admits(loss) for budget in self.filters)

    def most(self, loss_of: Callable[[Fraction], Loss]) -> Fraction:
        """The largest parameter whose loss is still admitted; the loss must increase with the parameter."""
        return min(budget.most(loss_of) for budget in self.filters)

    @property
    def remaining(self) -> Amount:
        """The largest single further question that is still admitted; printed, it says why its δ is less than what was not charged."""
        epsilons, deltas = zip(*(budget.remaining for budget in self.filters), strict=True)
        least = self.filters[deltas.index(min(deltas))]
        return Amount(min(epsilons), min(deltas), f"the largest single further question{_share_of_delta(least)}")


def _allowance(account: Account, *above: Account) -> Allowance:
    budget = account.filter
    return Allowance(Amount(budget.epsilon, budget.delta), (budget, *(one.filter for one in above)), account.period)


def _share_of_delta(budget: Filter) -> str:
    """How the δ of a budget is divided once a first question has been asked; empty where all of it is for questions."""
    gate = max(budget.gates, key=lambda one: one.mass_room(budget.spent), default=None)
    if gate is None or gate.mass_limit == budget.delta or not gate.alive:
        return ""
    whole, share, charged = (_shortly(2)(one) for one in (budget.delta, gate.mass_limit, gate.mass_limit - gate.mass_room(budget.spent)))
    return (
        f"; of δ = {whole} in all, {share} is for the questions' own δ ({charged} charged), the rest for adding up many questions tightly"
    )


def _listed(accounts: Mapping[str, Account]) -> str:
    return "[" + ",".join(f"[{chain.write(name)},{account.text}]" for name, account in accounts.items()) + "]"


def _accounts(record: dict[str, Any]) -> tuple[Any, Any]:
    return record["analysts"], record.get("taken_back", [])


def _too_much(whose: str, budget: Filter, period: Period | None) -> str:
    epsilon, delta = (exact.float_down(amount) for amount in budget.remaining)
    renews = "" if period is None else f", and renews on {period.next.start} (UTC)"
    return f"{whose} budget does not admit this; it still admits one question of ε ≤ {epsilon:.6g} and δ ≤ {delta:.6g}{renews}"


def analyst_name(name: object) -> str:
    """A valid analyst name, or Invalid."""
    if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not 0 < len(name) <= _LONGEST_NAME:
        raise Invalid(f"an analyst name has at most {_LONGEST_NAME} printable characters and no spaces around it: choose another name")
    if name.casefold() == OWNER:
        raise Invalid(f'"{OWNER}" is the data owner, limited only by the budget of the data set: choose another name for the analyst')
    return name
