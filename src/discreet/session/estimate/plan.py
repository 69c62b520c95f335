"""The plan of an estimate: what, by which mechanism and for how much; decided before anything is read, and free to look at."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet.engines.engine import Columns
from discreet.exact import Number
from discreet.ledger.receipt import PricedRequest
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised
from discreet.mechanisms.mechanism import Mechanism
from discreet.run.statement import Statement
from discreet.session.priced_plan import PricedPlan
from discreet.tables.catalog import Catalog


@final
@frozen(eq=False, repr=False, slots=False)
class EstimatePlan(PricedPlan):
    """A mechanism, the statement whose rows it will be given, and its price."""

    what: str
    how: str
    mechanism: Mechanism[Any]
    statement: Statement
    prepare: Callable[[Columns], Any] = field()  # the rows of the statement as the mechanism takes them
    asked_epsilon: Fraction
    asked_delta: Fraction
    catalog: Catalog
    asked: dict[str, Any]
    notes: tuple[str, ...] = ()

    @cached_property
    def priced(self) -> PricedRequest:
        """The estimate at its price."""
        catalog = self.catalog
        declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
        return PricedRequest("estimate", self.asked, self.asked_epsilon, self.asked_delta, *declared)

    @property
    def loss(self) -> Loss:
        """The price as a term."""
        loss = self.mechanism.loss
        return Promised(loss, self.epsilon, self.delta) if loss.within(Approx(self.epsilon, self.delta)) else loss

    @property
    def title(self) -> str:
        """What is estimated, and how."""
        return f"{self.what}; {self.how}"

    def error(self, confidence: Number = 0.95) -> float:
        """The error of the mechanism in its own units: ranks, blocks or units, as `how` states."""
        return self.mechanism.error(confidence)

    def explain(self) -> str:
        """Who is protected, what will be done and what it will cost, also for several units together."""
        return "\n".join([self.what, self.how, f"protects {self.priced.protected}", *self.notes, *self._price_lines])
