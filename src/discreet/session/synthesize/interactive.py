"""Questions on the fly: each is answered from what is known if that is enough, and paid for only if it is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, final

from attrs import evolve, frozen

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.interactive import Interactive, InteractiveAnswer, InteractiveRun
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.ledger.payment import Payments
from discreet.loss.convert import gaussian_epsilon
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss, compose
from discreet.loss.promise import Promised
from discreet.noise.bits import SystemBits
from discreet.session.synthesize.codes import Binned, Coding
from discreet.session.synthesize.counted import EngineCounts
from discreet.session.synthesize.discover import Discovered, codings_of
from discreet.session.synthesize.request import Order
from discreet.session.synthesize.run import code_names, with_codes
from discreet.tables.catalog import Catalog

PARTS = 1024  # of δ for one payment, where a single (ε, δ) is named for it


@final
@frozen
class Payment:
    """One step of a conversation, with an (ε, δ) of its own."""

    loss: Loss
    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, loss: Loss, delta: Fraction) -> Payment:
        """A pure loss as it is; Gaussian noise with the ε that it has at a part of δ."""
        if loss.epsilon is not None:
            return cls(loss, loss.epsilon, Fraction(0))
        assert loss.mu_squared is not None
        mass = delta / PARTS
        epsilon = Fraction(math.ceil(gaussian_epsilon(loss.mu_squared, mass) * 10**9), 10**9)
        return cls(Promised(loss, epsilon, mass), epsilon, mass)


@final
class Conversation:
    """A stream of counts and means over some columns of one table. Answers agree with each other; the same question has the same answer.

    >>> import discreet, polars
    >>> ids = range(4000)
    >>> people = polars.DataFrame({"id": ids, "age": [20 + i % 60 for i in ids], "smokes": [i % 3 == 0 for i in ids]})
    >>> db = discreet.connect({"people": people}, unit="id", epsilon=2, delta=1e-6, ledger=":memory:", bounds={"age": (0, 99)},
    ...     one_row_per_unit=True)
    >>> talk = db.interactive(["age", "smokes"], epsilon=1, accuracy=300)
    >>> talk.ask({"age": (40, 49), "smokes": True}).source
    'paid'
    >>> talk.ask({"smokes": True, "age": (40, 49)}).source
    'cached'
    """

    def __init__(self, order: Order, catalog: Catalog, engine: Engine, payments: Payments, rules: Interactive) -> None:
        if order.open.questions:
            named = ", ".join([*order.open.values, *order.open.bounds])
            raise Refused(
                "an interactive session finds nothing on the way: declare "
                + (f"keys or bounds of {named}" if named else "contributions={'rows': …}")
            )
        self.codings = codings_of(order.columns, Discovered(), order.bins)
        self.domain = Domain(tuple(coding.name for coding in self.codings), tuple(coding.size for coding in self.codings))
        names = code_names(order.relation, len(self.codings))
        counts = EngineCounts(engine, with_codes(order.table, self.codings), names, self.domain, order.rows or 1, catalog.adjacency)
        epsilon, self._delta = order.price
        self._filter, self._payments, self._name = Filter(epsilon, self._delta), payments, order.name
        self._mark, self._paid_steps = f"interactive {SystemBits().word():016x}", 0
        self.asked = 0
        self._run: InteractiveRun = rules.open(counts, self._pay)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, where: Mapping[str, Any] | None = None, mean: str | None = None) -> InteractiveAnswer:
        """How many records meet a condition, or the mean of a number over them.

        `where={"dept": "er", "age": (30, 39)}`: a value, several in a list, a pair of ends for a number, None for what is missing.
        """
        if where is not None and not isinstance(where, Mapping):
            raise Invalid('conditions are a dict, such as {"dept": "er", "age": (30, 39)}')
        self.asked += 1
        conditions = {name: self._coding(name).codes(wanted) for name, wanted in (where or {}).items()}
        count = LinearQuery.where(self.domain, conditions)
        return self._run.ask(count) if mean is None else self._mean(mean, conditions)

    def _mean(self, name: str, conditions: dict[str, list[int]]) -> InteractiveAnswer:
        """A sum over its count; both are asked."""
        coding = self._coding(name)
        if not isinstance(coding, Binned):
            raise Invalid(f"{name} is no number between bounds: a mean needs one")
        there = [code for code in conditions.get(name, range(coding.bins)) if code < coding.bins]
        if not there:
            raise Invalid(f"the condition leaves no number of {name} to take the mean of")
        known = {**conditions, name: there}
        middles = [(Fraction(min(code, coding.bins - 1)) + Fraction(1, 2)) / coding.bins for code in range(coding.size)]
        asked = LinearQuery.where(self.domain, known), LinearQuery.average(self.domain, name, middles, known)
        count, total = (self._run.ask(one) for one in asked)
        size, width, bin_ = max(count.value, 1.0), float(coding.high - coding.low), float(coding.width)
        share = min(max(total.value / size, float(middles[0])), float(middles[coding.bins - 1]))
        room = size - count.error
        blur = 0.0 if coding.whole_numbers else bin_ / 2  # values may all be at one end of their bins
        error = width * (total.error + share * count.error) / room + blur if room > 0 else math.inf
        paid = [one for one in (count, total) if one.source == "paid"]
        return evolve(
            total,
            value=float(coding.low) + width * share - (0.5 if coding.whole_numbers else 0.0),
            share=math.nan,
            source="paid" if paid else total.source,
            error=error,
            cost=compose([count.cost, total.cost]),
            note=count.note or total.note,
        )

    def _coding(self, name: str) -> Coding:
        return self.codings[self.domain.clique([name])[0]]

    # ── paying ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _pay(self, what: str, loss: Loss) -> None:
        """Charge the conversation's own budget and the ledger before the step is taken."""
        if not self._filter.admits(loss):
            raise BudgetExceeded("this conversation's budget is used up: open another, or go on with what is known")
        payment = Payment.of(loss, self._delta)
        self._paid_steps += 1
        _, fresh = self._payments.claim(payment, self._mark, f"{self._mark}#{self._paid_steps}", f"interactive {self._name}: {what}")
        if not fresh:
            raise Invalid("this conversation was copied into another process: open one there")
        self._filter = self._filter.spend(loss)

    @property
    def losses(self) -> list[tuple[str, Loss]]:
        """Every step that was paid for, in order."""
        return list(self._run.losses)

    @property
    def spent(self) -> float:
        """The ε that all steps so far cost together, at this conversation's δ."""
        return compose(loss for _, loss in self._run.losses).epsilon_at(self._delta)

    @property
    def accuracy(self) -> float:
        """How far off an answer may be, in records."""
        return self._run.accuracy

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a conversation cannot be copied or pickled, for its steps are paid one by one: open one where it is needed")

    def __repr__(self) -> str:
        columns = ", ".join(f"{coding.name} ({coding.size})" for coding in self.codings)
        return (
            f"Conversation({self._name}: {columns}; within {self.accuracy:,.4g} records; {self.asked:,} questions asked, "
            f"{self._paid_steps} steps paid, ε = {self.spent:.3g} so far)"
        )


def rules_for(accuracy: Any, questions: int, beta: Any) -> Interactive:
    """An accuracy of 1 or more is in records, below 1 a share of all records."""
    if not isinstance(accuracy, int | float | Fraction) or isinstance(accuracy, bool) or not accuracy > 0 or not math.isfinite(accuracy):
        raise Invalid("accuracy must be a number above 0: of records, or below 1 a share of all records")
    in_records = accuracy >= 1
    chosen: Callable[..., Interactive] = Interactive
    return chosen(**({"accuracy": accuracy} if in_records else {"share": accuracy}), questions=questions, beta=beta)
