"""More of a question that was answered: another draw of its totals, and intervals of another confidence."""

from __future__ import annotations

from typing import Any, final

from attrs import evolve, field, frozen

from discreet import parameter
from discreet.errors import Refused
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.chain import Entry
from discreet.ledger.price import price
from discreet.ledger.receipt import PricedRequest
from discreet.plan.refine import refining_plan
from discreet.plan.steps import Steps
from discreet.query.canonical import plain
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.results import PlanResults
from discreet.run.totals import ReleasedTotals, combine
from discreet.session.pipeline import Pipeline
from discreet.session.release import Release


@final
@frozen(eq=False)
class Asked:
    """A question that was answered, on the session that asked it; `steps` is its plan before anything was discovered."""

    steps: Steps
    pipeline: Pipeline = field(repr=False)
    note: str = ""

    @property
    def said(self) -> str:
        """How it was asked, as the ledger notes it."""
        return self.note

    def refine(self, first: Release, epsilon: Number, delta: Number | None = None) -> Release:
        """Buy another draw of the totals, and combine it with the first; the same again is free."""
        before, plan, priced = self._refinement(first, epsilon, delta)
        asked, told, confidence = self.steps, first.receipt, priced.confidence
        said = f"combined with an earlier answer, which cost {price(told.epsilon, told.delta)} more"

        def run(paid: Entry) -> Release:
            answers = combine(before, execute(plan, self.pipeline.engine))
            receipt = priced.receipt(paid, discovered=told.discovered, notes=(*told.notes, said))
            return Release(tuple(outcome(answers, float(confidence))), receipt, totals=ReleasedTotals.of(answers, asked))

        found = self.pipeline.payments.pay_once(plan, priced.question, f"refined: {self.note}", run, Release.from_text)
        return evolve(found, question=self)

    def has_refined(self, first: Release, epsilon: Number, delta: Number | None = None) -> bool:
        """Whether this refinement was bought before, so that it is free now."""
        return self.pipeline.payments.knows(self._refinement(first, epsilon, delta)[2].question)

    def _refinement(self, first: Release, epsilon: Number, delta: Number | None) -> tuple[PlanResults, Steps, PricedRequest]:
        """The first answer as results, the plan of another draw, and that at its price."""
        if self.steps.question.sample is not None:
            raise Refused("an answer from a sample is not refined: ask again at another epsilon, or without sample=, to read all units")
        self._require_totals(first, "averaged with another choice: ask anew at a larger epsilon, or refine a question without it")
        before, asked, usual = self._results(first), self.steps, self.pipeline.default_delta
        plan = refining_plan(before.plan, parameter.price_epsilon(epsilon), usual if delta is None else parameter.price_delta(delta))
        # without ledger entries, which some accounts see and others do not: a refinement has one name, whoever asks for it
        request = plain(asked.question) | {"refines": first.receipt.without_entries().to_json()["hash"]}
        names = (asked.protected, asked.adjacency, asked.policy, asked.version)
        return before, plan, PricedRequest("question", request, plan.epsilon, plan.delta, *names, first.receipt.priced.confidence)

    def at_confidence(self, first: Release, confidence: Number) -> Release:
        """The same answers with intervals of another confidence; free."""
        level = confidence_of(confidence)
        self._require_totals(first, "given another interval, for what it shows was fixed when it was paid for: ask without it")
        columns = tuple(outcome(self._results(first), float(level)))
        return evolve(first, columns=columns, stored=first.stored or first.columns, level=level)

    def __reduce_ex__(self, _: Any) -> Any:
        return _forgotten, ()  # a session is not copied: a release that is copied or pickled is as one that was read from a file

    def _require_totals(self, first: Release, cannot: str) -> None:
        selected = self.steps.question.selected
        if selected:
            raise Refused(f"{', '.join(selected)}: a value that was chosen (MEDIAN, QUANTILE, MIN, MAX, MODE) cannot be {cannot}")
        if first.totals is None:
            raise Refused(
                "the ledger stored this answer before totals were kept: ask the question at another epsilon, and go on from there"
            )

    def _results(self, first: Release) -> PlanResults:
        assert first.totals is not None
        return first.totals.results(self.steps)


def _forgotten() -> None:
    return None
