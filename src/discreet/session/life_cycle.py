"""Read this first: everything that can be bought has the same four faces.

    request ──plan(ε, δ)──► plan ──release(ε, δ) or open(ε, δ)──► release ──.receipt──► receipt
    what was asked          decided and priced, holds no data     public for ever       what was paid, verifiable

    bought             request                      plan              release        opened as
    a question         query.Query                  plan.Plan         Release        –
    a synthetic table  synthesize.SynthesisRequest  SynthesisPlan     Synthetic      –
    an estimate        estimate.EstimateRequest     EstimatePlan      Estimate       –
    a graph question   graphs.GraphQuery            GraphQueryPlan    GraphRelease   –
    a feed             feeds.FeedRequest            FeedPlan          Days           Feed
    threshold stream   watch.WatchRequest           WatchPlan         Transcript     Watch
    a conversation     interactive.ConversationRequest  ConversationPlan  Transcript  Conversation

The session makes requests: `db.sql(text)`, and `db.synthesize(...)`, `db.estimate(...)`, `db.daily(...)`, `db.watch(...)` and
`db.interactive(...)` without an epsilon. With an epsilon these release, or open, at once. A request holds a `Pipeline` (tables, engine,
payments) and nothing turns back to the session.

Graph questions come from `discreet.graph(...)`.

Whatever is bought: planning spends nothing and reads no private row; the ledger is charged before the engine reads one; the
same request at the same price is free the second time; a run that fails after it was charged is recorded as paid and not answered.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any, Protocol, Self, runtime_checkable

from discreet.exact import Number
from discreet.ledger.ledger import Ledger
from discreet.ledger.receipt import PricedRequest, Receipt
from discreet.loss.loss import Loss


@runtime_checkable
class AnyRequest(Protocol):
    """What was asked, read and checked; bought by `release(epsilon, delta)`, or by `open(epsilon, delta)` where it answers step by step."""

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
        """The ε that it costs, all in all."""

    @property
    def delta(self) -> Fraction:
        """The δ that it costs; 0 where none is needed."""

    @property
    def loss(self) -> Loss:
        """The price as a term."""

    def error(self, confidence: Number = 0.95) -> Any:
        """How far off the answers will be, with this confidence."""

    def explain(self) -> Any:
        """Who is protected, what will be done, what it costs and how far off it will be."""

    def _repr_html_(self) -> str: ...


@runtime_checkable
class AnyRelease(Protocol):
    """What came out: public for ever, and free to look at."""

    receipt: Receipt

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The answers, a dict for each row."""

    @property
    def intervals(self) -> list[dict[str, tuple[Any, Any]]]:
        """For each row, the ends of each column that has an interval."""

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt, and with a ledger that it was paid there and holds these answers; else raise Invalid or LedgerError."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers and receipt into a file."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""

    def to_pandas(self, intervals: bool = True) -> Any: ...

    def to_polars(self, intervals: bool = True) -> Any: ...

    def to_arrow(self, intervals: bool = True) -> Any: ...

    def to_csv(self, path: str | os.PathLike[str] | None = None, intervals: bool = True, formulas: bool = False) -> str | None: ...

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any: ...

    def explain(self) -> str: ...

    def _repr_html_(self) -> str: ...


@runtime_checkable
class AnyRun(Protocol):
    """A stateful run: charged step by step (opening a conversation may already charge), and released as often as one likes."""

    @property
    def plan(self) -> AnyPlan:
        """What was decided when it was opened."""

    @property
    def receipt(self) -> Receipt:
        """What was paid so far."""

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check that receipt."""
