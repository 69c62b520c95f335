"""Questions on the fly: each is answered from what is known if that is enough, and paid for only if it is not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from attrs import evolve

from discreet.algorithms.marginals.interactive import InteractiveAnswer, InteractiveRun
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger.ledger import Ledger
from discreet.ledger.receipt import Receipt
from discreet.loss.loss import Loss, compose
from discreet.plots.page import html_lines
from discreet.run.output_column import OutputColumn
from discreet.session.interactive.plan import ConversationPlan, Step
from discreet.session.pipeline import Pipeline
from discreet.session.stateful import StepPayments
from discreet.session.synthesize.codes import Binned
from discreet.session.synthesize.counted import EngineCounts
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.run import code_names, with_codes
from discreet.session.transcript import Transcript


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

    def __init__(self, plan: ConversationPlan, pipeline: Pipeline) -> None:
        self.plan, self.codings, self.domain = plan, plan.codings, plan.domain
        table, names = plan.spec.table, code_names(plan.spec.relation, len(self.codings))
        counts = EngineCounts(
            pipeline.engine, with_codes(table, self.codings), names, self.domain, plan.spec.rows or 1, pipeline.catalog.adjacency
        )
        self._filter = plan.ceiling
        self._charged = Fraction(0)
        self._steps = StepPayments(plan.priced, pipeline.payments, "conversation")
        self._transcript: list[tuple[str, InteractiveAnswer]] = []
        self.asked = 0
        self._run: InteractiveRun = plan.rules.open(counts, self._pay)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, where: Mapping[str, Any] | None = None, mean: str | None = None) -> InteractiveAnswer:
        """How many records meet a condition, or the mean of a number over them.

        `where={"dept": "er", "age": (30, 39)}`: a value, several in a list, a pair of ends for a number, None for what is missing.
        """
        if where is not None and not isinstance(where, Mapping):
            raise Invalid('conditions are a dict, such as {"dept": "er", "age": (30, 39)}')
        self._steps.require_own_process()
        self.asked += 1
        conditions = {name: self._coding(name).codes(wanted) for name, wanted in (where or {}).items()}
        count = LinearQuery.where(self.domain, conditions)
        told = self._run.ask(count) if mean is None else self._mean(mean, conditions)
        self._transcript.append((_text(where or {}, mean), told))
        return told

    def _mean(self, name: str, conditions: dict[str, list[int]]) -> InteractiveAnswer:
        """A sum over its count; both are asked."""
        coding = self._coding(name)
        if not isinstance(coding, Binned):
            raise Invalid(f"the mean needs a numeric column with bounds, and {name} is not one: name another")
        there = [code for code in conditions.get(name, range(coding.bins)) if code < coding.bins]
        if not there:
            raise Invalid(f"no value of {name} meets the condition: widen the condition")
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
            raise BudgetExceeded(
                "this conversation's budget is used up: open another, or ask what follows from its earlier answers, which stays free"
            )
        step = Step.of(loss, len(self._steps.paid) + 1, self._charged, self.plan)
        self._steps.pay(step, f"interactive {self.plan.spec.name}: {what}")
        self._filter, self._charged = self._filter.spend(loss), self._charged + step.epsilon

    @property
    def losses(self) -> list[tuple[str, Loss]]:
        """Every step that was paid for, in order."""
        return list(self._run.losses)

    @property
    def spent(self) -> float:
        """The ε that all steps so far cost together, at this conversation's δ."""
        return compose(loss for _, loss in self._run.losses).epsilon_at(self.plan.delta)

    @property
    def accuracy(self) -> float:
        """How far off an answer may be, in records."""
        return self._run.accuracy

    @property
    def receipt(self) -> Receipt:
        """What was paid so far, step by step."""
        return self._steps.receipt

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check that receipt, and with a ledger that every step was paid there; raise Invalid or LedgerError if not."""
        self.receipt.verify(ledger)

    def release(self) -> Transcript:
        """Everything that was asked and answered so far, with the receipt; free."""
        asked, told = [text for text, _ in self._transcript], [one for _, one in self._transcript]
        widths = [one.error if math.isfinite(one.error) else None for one in told]
        values = [one.value if math.isfinite(one.value) else None for one in told]
        columns = (
            OutputColumn("asked", asked),
            OutputColumn("value", values, None, widths),
            OutputColumn("source", [one.source for one in told]),
        )
        return Transcript(columns, self.receipt)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a conversation cannot be copied or pickled, for its steps are paid one by one: open one where it is needed")

    def __repr__(self) -> str:
        columns = ", ".join(f"{coding.name} ({coding.size})" for coding in self.codings)
        return (
            f"Conversation({self.plan.spec.name}: {columns}; within {self.accuracy:,.4g} records; {self.asked:,} questions asked, "
            f"{len(self._steps.paid)} steps paid, ε = {self.spent:.3g} so far)"
        )

    def _repr_html_(self) -> str:
        return html_lines(repr(self), self.plan.explain().splitlines())


def _text(where: Mapping[str, Any], mean: str | None) -> str:
    """A question as it was asked."""
    what = "count" if mean is None else f"mean of {mean}"
    return what + (" where " + ", ".join(f"{name} = {wanted!r}" for name, wanted in where.items()) if where else "")
