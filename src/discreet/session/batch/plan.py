"""The plan of several questions: what is measured together, the expected error of each, and one price."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet.exact import Number
from discreet.explain.forecast import Forecast, confidence_of, forecast, forecast_each
from discreet.ledger.receipt import PricedRequest
from discreet.loss.loss import Loss
from discreet.plan.batch import BatchSteps
from discreet.query.canonical import plain
from discreet.session.priced_plan import PricedPlan


@final
@frozen(eq=False, repr=False, slots=False)
class BatchPlan(PricedPlan):
    """Everything decided about several questions at a price."""

    steps: BatchSteps = field()
    confidence: Fraction

    @cached_property
    def priced(self) -> PricedRequest:
        """The questions at their price."""
        steps, first = self.steps, self.steps.components[0].steps
        request = {"questions": [[name, plain(question)] for name, question in steps.questions.items()], "shares": self._shares}
        declared = (first.protected, first.adjacency, first.policy, first.version)
        return PricedRequest("batch", request, steps.epsilon, steps.delta, *declared, self.confidence)

    @property
    def _shares(self) -> list[Any]:
        """How the budget is split, which is part of what is asked."""
        listed = []
        for one in self.steps.components:
            goal = None if one.steps.arrangement is None else one.steps.arrangement.goal
            weights, budget = () if goal is None else goal.errors, one.steps.budget
            said = [repr(error.times) for error in weights]
            listed.append([list(one.names), budget.noise, str(budget.share), str(one.steps.epsilon), said])
        return listed

    @property
    def loss(self) -> Loss:
        """The privacy loss of all questions, as a term."""
        return self.steps.loss

    @property
    def title(self) -> str:
        """How many questions, and in how many measurements."""
        count = len(self.steps.questions)
        parts = len(self.steps.components)
        return f"{count} {'question' if count == 1 else 'questions'} in {parts} {'measurement' if parts == 1 else 'measurements'}"

    def error(self, confidence: Number = 0.95, size: int | None = None) -> dict[str, Forecast]:
        """For each question the half-width of each output's interval, in a group of `size` rows; reads and spends nothing."""
        level = confidence_of(confidence)
        found: dict[str, Forecast] = {}
        for one in self.steps.components:
            if len(one.names) == 1:
                found[one.names[0]] = forecast(one.steps, level, size)
            else:
                asked = [self.steps.questions[name] for name in one.names]
                found |= zip(one.names, forecast_each(one.steps, asked, level, size), strict=True)
        return {name: found[name] for name in self.steps.questions}

    def explain(self) -> str:
        """Who is protected, what is measured together, what it costs and the expected error."""
        lines = [f"protects {self.priced.protected}"]
        for one in self.steps.components:
            alone = f"measured by itself: {one.names[0]}" + (f" ({one.alone})" if one.alone else "")
            lines.append(f"measured together: {', '.join(one.names)}" if len(one.names) > 1 else alone)
        for name, found in self.error(size=1000).items():
            lines += [f"{name}, in groups of 1,000:", *found.all_lines(), *(f"  {line}" for line in found.assumptions.values())]
        return "\n".join([*lines, *self._price_lines])
