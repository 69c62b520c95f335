"""A question about a graph: planned free of charge, released for a price."""

from __future__ import annotations

from typing import Any, final

from attrs import field, frozen

from discreet.algorithms.graphs.plan import GraphPlan, What
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.ledger.chain import Entry
from discreet.ledger.receipt import CONFIDENCE
from discreet.plots.page import html_lines
from discreet.session.graphs.edges import Edges
from discreet.session.graphs.plan import GraphQueryPlan
from discreet.session.graphs.release import GraphRelease


@final
@frozen(eq=False, repr=False)
class GraphQuery:
    """What is asked about a table of edges: `plan` shows its price and error, `release` pays."""

    edges: Edges = field()
    what: What
    most: int | None = None
    nodes: int | None = None

    def plan(self, epsilon: Number, delta: Number | None = None) -> GraphQueryPlan:
        """What would happen at this price; reads and spends nothing."""
        if delta:
            raise Invalid("questions about graphs need no δ: leave delta out")
        table = self.edges.table
        asked = GraphPlan(what=self.what, protects=table.protects, epsilon=epsilon, most=self.most, nodes=self.nodes)
        return GraphQueryPlan(asked, table)

    def release(self, epsilon: Number, delta: Number | None = None) -> GraphRelease:
        """Pay, and let the answer out; the same question at the same price again is free."""
        plan, payments = self.plan(epsilon, delta), self.edges.payments
        payments.require_open()

        def run(paid: Entry) -> GraphRelease:
            value, half_width, found = plan.asked.release(self.edges.read(), CONFIDENCE)
            receipt = plan.priced.receipt(paid, discovered={} if found is None else {"most": found})
            return GraphRelease(value, half_width, receipt)

        return payments.pay_once(plan, plan.priced.question, plan.title, run, GraphRelease.from_text)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a question is attached to its session and cannot be copied or pickled: ask it again where it is needed")

    def __repr__(self) -> str:
        return f"GraphQuery({self.what} of {self.edges.table.name})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .release(epsilon=…) pays"])
