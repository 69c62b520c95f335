"""A request for a conversation: planning is free, and an open conversation is charged step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypedDict, final

from attrs import field, frozen

from discreet.algorithms.marginals.interactive import Interactive
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.hints import suggests_arguments
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED, QueryBuilder
from discreet.session.interactive.conversation import Conversation
from discreet.session.interactive.plan import ConversationPlan, rules_for
from discreet.session.pipeline import Pipeline
from discreet.session.synthesize.codings import codings_of
from discreet.session.synthesize.discover import BINS
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.spec import SynthesisSpec


class ConversationOptions(TypedDict, total=False):
    """The options of `Session.interactive`, beside columns, accuracy and price."""

    table: str | QueryBuilder[Any] | None
    bins: int
    contributions: Mapping[str, int] | None
    questions: int
    beta: Number


@final
@frozen(eq=False, repr=False)
class ConversationRequest:
    """A request for a conversation: `plan` shows its price and accuracy, `open` returns the conversation."""

    pipeline: Pipeline = field()
    spec: SynthesisSpec
    rules: Interactive
    codings: tuple[Coding, ...]

    @classmethod
    @suggests_arguments("interactive")
    def of(
        cls, pipeline: Pipeline, table: QueryBuilder[Any], columns: Sequence[str], accuracy: Any, *, bins: int = BINS,
        contributions: Mapping[str, int] | None = None, questions: int = 10_000, beta: Number = Fraction(1, 20),
    ) -> ConversationRequest:  # fmt: skip
        """Read it as people ask for it (`Session.interactive`)."""
        spec = SynthesisSpec.of(pipeline, table, columns, None, "auto", bins, None, contributions, other=True)
        if spec.undeclared:
            named = ", ".join([*spec.undeclared.values, *spec.undeclared.bounds])
            raise Refused(
                "a conversation cannot discover what is not declared: declare "
                + (f"keys or bounds of {named}" if named else "contributions={'rows': …}")
            )
        return cls(pipeline, spec, rules_for(accuracy, questions, beta), codings_of(spec.columns, spec.known, spec.bins))

    def plan(self, epsilon: Number, delta: Number | None = None) -> ConversationPlan:
        """What would happen at this price; reads and spends nothing."""
        price = self.pipeline.price(epsilon, delta)
        if not price[1]:
            raise Refused("a conversation needs a delta above 0: connect with delta=1e-6, or pass delta=")
        plan = ConversationPlan(self.spec, self.codings, self.rules, *price, self.pipeline.catalog)
        plan.require_one_count()
        return plan

    def open(self, epsilon: Number, delta: Number | None = None) -> Conversation:
        """Open the conversation; its steps are charged as they are taken."""
        return Conversation(self.plan(epsilon, delta), self.pipeline)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return f"ConversationRequest({self.spec.name}: {', '.join(self.spec.columns.names)[:100]})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .open(epsilon=…) gives the conversation"])
