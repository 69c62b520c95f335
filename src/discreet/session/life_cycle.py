"""Read this first: everything that can be bought has a request, a plan, a release and a receipt.

    request ──plan(ε, δ)──► plan ──release(ε, δ) or open(ε, δ)──► release ──.receipt──► receipt
    what was asked          decided and priced, holds no data     public for ever       what was paid, verifiable

    bought             request                      plan              release        opened as
    a question         query.Query                  plan.Plan         Release        –
    several questions  batch.BatchRequest           BatchPlan         BatchRelease   –
    a synthetic table  synthesize.SynthesisRequest  SynthesisPlan     Synthetic      –
    a profile          profile.ProfileRequest       ProfilePlan       Profile        –
    an estimate        estimate.EstimateRequest     EstimatePlan      Estimate       –
    a graph question   graphs.GraphQuery            GraphQueryPlan    GraphRelease   –
    a feed             feeds.FeedRequest            FeedPlan          Days           Feed
    threshold stream   watch.WatchRequest           WatchPlan         Transcript     Watch
    a conversation     interactive.ConversationRequest  ConversationPlan  Transcript  Conversation

The session makes requests: `db.sql(text)`, and `db.synthesize(...)`, `db.profile(...)`, `db.estimate(...)`, `db.daily(...)`,
`db.watch(...)` and `db.interactive(...)` without an epsilon. With an epsilon these release, or open, at once. A request holds a
`Pipeline` (tables, engine, payments) and no reference to the session. Graph questions come from `discreet.graph(...)`.

Whatever is bought: planning spends nothing and reads no private row; the ledger is charged before the engine reads one; a run that fails
after it was charged is recorded as paid and not answered. The same request at the same price is free the second time, with two
exceptions: every opened threshold stream or conversation pays for its own steps, and so does an estimate by a function without a name.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any, Protocol, Self, runtime_checkable

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.ledger.ledger import Ledger
from discreet.ledger.receipt import PricedRequest, Receipt
from discreet.loss.loss import Loss


@runtime_checkable
class AnyRequest(Protocol):
    """A parsed and checked request; bought by `release(epsilon, delta)`, or by `open(epsilon, delta)` where it answers step by step."""

    def plan(self, epsilon: Number, delta: Number | None = None) -> AnyPlan:
        """What would happen at this price; reads and spends nothing."""


@runtime_checkable
class AnyPlan(Protocol):
    """Everything that is decided before paying; holds no data."""

    @property
    def priced(self) -> PricedRequest:
        """The request at its price, as the ledger names it."""

    @property
    def epsilon(self) -> Fraction:
        """The most ε that it may cost, everything included."""

    @property
    def delta(self) -> Fraction:
        """The most δ that it may cost; 0 where none is needed."""

    @property
    def loss(self) -> Loss:
        """The privacy loss, as a term from which theorems compute ε(δ)."""

    def error(self, confidence: Number = 0.95) -> Any:
        """The expected error of the answers at this confidence; `explain` states in which units."""

    def explain(self) -> Any:
        """Who is protected, what will be done, what it costs and the expected error."""

    def _repr_html_(self) -> str: ...


@runtime_checkable
class AnyRelease(Protocol):
    """The released answers: public, and free to look at any number of times."""

    receipt: Receipt

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The answers, a dict for each row."""

    @property
    def intervals(self) -> list[dict[str, tuple[Any, Any]]]:
        """For each row, the ends of each column that has an interval."""

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt; with a ledger also that it was paid there and, if the ledger stores such answers, holds these."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers and receipt into a file."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""

    def to_pandas(self, intervals: bool = True, tidy: bool = False) -> Any: ...

    def to_polars(self, intervals: bool = True, tidy: bool = False) -> Any: ...

    def to_arrow(self, intervals: bool = True, tidy: bool = False) -> Any: ...

    def to_parquet(self, path: str | os.PathLike[str], intervals: bool = True, tidy: bool = False) -> None: ...

    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        intervals: bool = True,
        formulas: bool = False,
        sidecar: bool = True,
        tidy: bool = False,
    ) -> str | None: ...

    def to_xlsx(self, path: str | os.PathLike[str], intervals: bool = True, tidy: bool = False) -> None: ...

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any: ...

    def explain(self) -> str: ...

    def _repr_html_(self) -> str: ...


@runtime_checkable
class AnyRun(Protocol):
    """A stateful run. A feed is charged once; streams and conversations step by step, the first step perhaps when they are opened."""

    @property
    def plan(self) -> AnyPlan:
        """What was decided when it was opened."""

    @property
    def receipt(self) -> Receipt:
        """What was paid so far."""

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt of what was paid so far."""


def unpriced(request: Any, delta: Any) -> Any:
    """A request that is not priced yet; Invalid if there is a δ without an ε."""
    if delta is not None:
        raise Invalid("a delta without an epsilon prices nothing: give both, or plan with .plan(epsilon=…, delta=…)")
    return request
