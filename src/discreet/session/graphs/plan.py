"""The plan of a graph question: mechanisms, price and error, decided before an edge is read."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

from attrs import asdict, frozen

from discreet.algorithms.graphs.plan import GraphPlan
from discreet.exact import Number
from discreet.ledger.receipt import PricedRequest
from discreet.loss.loss import Loss
from discreet.session.graphs.table import EdgeTable
from discreet.session.priced_plan import PricedPlan


@final
@frozen(eq=False, repr=False, slots=False)
class GraphQueryPlan(PricedPlan):
    """A graph question at its price, about one table of edges."""

    asked: GraphPlan
    table: EdgeTable

    @cached_property
    def priced(self) -> PricedRequest:
        """The question at its price."""
        request = asdict(self.asked) | {"is": "Graph", "table": asdict(self.table), "epsilon": str(self.asked.epsilon)}
        declared = (self.table.protected, "add/remove", self.table.digest, self.table.version)
        return PricedRequest("graph", request, self.asked.epsilon, self.asked.delta, *declared)  # type: ignore[arg-type]

    @property
    def loss(self) -> Loss:
        """What it costs one edge, or one node."""
        return self.asked.loss

    @property
    def title(self) -> str:
        """What is counted, in which table."""
        return f"{self.asked.what} of {self.table.name}"

    def error(self, confidence: Number = 0.95, **known: Any) -> float:
        """How far off the answer may be, with this confidence, before anything is read.

        For triangles say how many neighbours two nodes have in common at most (`common=20`), or how many nodes there are (`nodes=1000`).
        Where it is found how many edges of one node count, say `most=8` to see the error at that.
        """
        return self.asked.error(confidence, **known)

    def explain(self) -> str:
        """What will happen, in words."""
        return "\n".join([self.asked.explain(), *self._price_lines])
