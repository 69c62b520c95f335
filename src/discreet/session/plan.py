"""A plan: what will happen, what it costs and how far off it will be; printable before paying, and without data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet.engines.dialect import Dialect
from discreet.exact import Number
from discreet.explain.forecast import Forecast, forecast
from discreet.explain.text import Explanation, explain
from discreet.loss.loss import Loss
from discreet.plan.steps import Steps


@final
@frozen(repr=False)
class Plan:
    """Everything decided about a question at a price."""

    steps: Steps = field()
    dialect: Dialect = field(repr=False)  # of the SQL that explanations show

    @property
    def epsilon(self) -> Fraction:
        """What the whole question costs."""
        return self.steps.epsilon

    @property
    def delta(self) -> Fraction:
        """The chance that goes with it; 0 where the plan needs none."""
        return self.steps.delta

    @property
    def loss(self) -> Loss:
        """The price as a term: what is done, from which each theorem computes its ε."""
        return self.steps.loss

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

    def __repr__(self) -> str:
        price = f"ε = {float(self.epsilon):.4g}" + (f", δ = {float(self.delta):.2g}" if self.delta else "")
        names = ", ".join(name for name, _ in self.steps.question.outputs)
        finds = f", {len(self.steps.discoveries)} discoveries first" if self.steps.discoveries else ""
        return f"Plan({names}; {price}; protects {self.steps.protected}{finds})\n{self.error()!r}"

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()
