"""A question's plan: what will happen, what it costs and how far off it will be; printable before paying, and without data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet.engines.dialect import Dialect
from discreet.exact import Number
from discreet.explain.forecast import Forecast, forecast
from discreet.explain.text import Explanation, explain
from discreet.ledger.receipt import CONFIDENCE, PricedRequest
from discreet.loss.loss import Loss
from discreet.plan.steps import Steps
from discreet.query.canonical import plain
from discreet.session.priced_plan import PricedPlan


@final
@frozen(repr=False, slots=False)
class Plan(PricedPlan):
    """Everything decided about a question at a price."""

    steps: Steps = field()
    dialect: Dialect = field(repr=False)  # of the SQL that explanations show

    @cached_property
    def priced(self) -> PricedRequest:
        """The question at its price, with intervals of the usual confidence."""
        return self.priced_at(CONFIDENCE)

    def priced_at(self, confidence: Fraction) -> PricedRequest:
        """The question at its price, with intervals of this confidence."""
        steps = self.steps
        return PricedRequest(
            "question", plain(steps.question), steps.epsilon, steps.delta, steps.protected, steps.adjacency, steps.policy, steps.version,
            confidence,
        )  # fmt: skip

    @property
    def epsilon(self) -> Fraction:
        """What the whole question costs."""
        return self.steps.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ that it costs; 0 where the plan needs none."""
        return self.steps.delta

    @property
    def loss(self) -> Loss:
        """The price as a term: what is done, from which each theorem computes its ε."""
        return self.steps.loss

    @property
    def title(self) -> str:
        """The outputs, and what is discovered first."""
        names = ", ".join(name for name, _ in self.steps.question.outputs)
        first = len(self.steps.discoveries)
        return f"{names if len(names) <= 100 else names[:99] + '…'}{f'; {first} discovered first' if first else ''}"

    def error(
        self,
        confidence: Number = 0.95,
        size: int | None = None,
        *,
        at: Mapping[str, float] | None = None,
        assume: Mapping[str, Any] | None = None,
    ) -> Forecast:
        """How far each output will be off at most, with this confidence, in a group of `size`; nothing is read or spent.

        `at` says where statistics will lie ({"mean_cost": 120}), `assume` what open bounds and limits will be ({"cost": (0, 500),
        "rows": 5}).
        """
        return forecast(self.steps, confidence, size, at, assume)

    def shown(self, size: int) -> float:
        """The chance that a group of so many units is shown."""
        return self.steps.shown(size)

    def explain(self) -> Explanation:
        """Who is protected, what is done, what it costs and why; printed as text, `to_json()` as values, a page in a notebook."""
        return explain(self.steps, self.dialect)

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()
