"""A request for a threshold stream: planning is free, and an open stream is charged round by round."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, TypedDict, final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.hints import suggests_arguments
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED
from discreet.session.pipeline import Pipeline
from discreet.session.watch.plan import Values, WatchPlan
from discreet.session.watch.watch import Watch, threshold_of

_EXTRA: dict[Values, Literal["none", "gap", "value"]] = {False: "none", True: "value", "gap": "gap"}


class WatchOptions(TypedDict, total=False):
    """The options of `Session.watch`, beside threshold, rounds and price."""

    values: Values
    monotone: bool


@final
@frozen(eq=False, repr=False)
class WatchRequest:
    """A request for a stream of threshold questions: `plan` shows its price and error, `open` returns the stream."""

    pipeline: Pipeline = field()
    threshold: Fraction
    rounds: int
    values: Values
    monotone: bool

    @classmethod
    @suggests_arguments("watch")
    def of(cls, pipeline: Pipeline, threshold: Any, rounds: int, *, values: Values = False, monotone: bool = False) -> WatchRequest:
        """Read the parameters as people give them."""
        if threshold is None:
            raise Invalid("the threshold is missing: give one, as in threshold=1000")
        if not any(values is one for one in (True, False)) and values != "gap":
            raise Invalid('values must be True (a third of the price goes to them), "gap" (free) or False')
        if parameter.monotone(monotone) and pipeline.catalog.adjacency == "replace-one":
            raise Invalid("under replace-one adjacency no total is monotone: leave monotone out")
        return cls(pipeline, threshold_of(threshold), exact.whole(rounds, "rounds"), values, monotone)

    def plan(self, epsilon: Number, delta: Number | None = None) -> WatchPlan:
        """What would happen at this price for each round; reads and spends nothing."""
        if delta is not None and parameter.price_delta(delta):
            raise Invalid("a threshold stream needs no δ: leave delta out")
        mechanism = SparseVector(epsilon=epsilon, threshold=0, monotone=self.monotone, extra=_EXTRA[self.values])
        return WatchPlan(mechanism, self.threshold, self.rounds, self.values, self.pipeline.catalog)

    def open(self, epsilon: Number, delta: Number | None = None) -> Watch:
        """Open the stream; its first question pays for the first round."""
        return Watch(self.plan(epsilon, delta), self.pipeline)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return f"WatchRequest(totals above {float(self.threshold):,.6g}? {self.rounds} rounds)"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .open(epsilon=…) gives the stream"])
