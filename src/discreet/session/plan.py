"""The plan of a question: its steps, its price and its expected error. It holds no data, so it can be shown before paying."""

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
from discreet.ledger.receipt import PricedRequest
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
        """The question at its price, with intervals of the confidence that it was planned for."""
        return self.priced_at(self.steps.confidence)

    def priced_at(self, confidence: Fraction) -> PricedRequest:
        """The question at its price, with intervals of this confidence."""
        steps = self.steps
        return PricedRequest(
            "question", plain(steps.question), steps.epsilon, steps.delta, steps.protected, steps.adjacency, steps.policy, steps.version,
            confidence,
        )  # fmt: skip

    @property
    def epsilon(self) -> Fraction:
        """The ε that the whole question costs, discoveries included."""
        return self.steps.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ that it costs; 0 where the plan needs none."""
        return self.steps.delta

    @property
    def loss(self) -> Loss:
        """The privacy loss as a term: what is done, from which each theorem computes its ε(δ)."""
        return self.steps.loss

    @property
    def title(self) -> str:
        """The outputs, and what is discovered first."""
        names = ", ".join(name for name, _ in self.steps.question.outputs)
        first, share = len(self.steps.discoveries), self.steps.question.sample
        more = f"; {first} discovered first" if first else "" if share is None else f"; on {100 * float(share):.6g} % of the units"
        return f"{names if len(names) <= 100 else names[:99] + '…'}{more}"

    def error(
        self,
        confidence: Number = 0.95,
        size: int | None = None,
        *,
        at: Mapping[str, float] | None = None,
        assume: Mapping[str, Any] | None = None,
    ) -> Forecast:
        """The half-width of each output's interval at this confidence, in a group of `size` rows; reads and spends nothing.

        The error of a mean or a variance depends on its true value. By default a typical value is assumed, and `.worst` of the result has
        the half-widths for the worst one; `at={"mean_cost": 120}` gives the values to assume. `assume={"cost": (0, 500), "rows": 5}` gives
        the bounds and limits to assume where they are still to be discovered.
        """
        return forecast(self.steps, confidence, size, at, assume)

    def shown(self, size: int) -> float:
        """The probability that a group of `size` units is shown; 1 where the groups are public."""
        return self.steps.shown(size)

    def explain(self) -> Explanation:
        """Who is protected, what is done, what it costs and why it is private: text, HTML in a notebook, or values with `to_json()`."""
        return explain(self.steps, self.dialect)

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()
