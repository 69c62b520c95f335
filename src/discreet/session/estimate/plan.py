"""What will be estimated, by which mechanism and for how much: decided before anything is read, and free to look at."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet.exact import Number
from discreet.ledger.chain import Entry
from discreet.ledger.chain import digest as seal_of
from discreet.loss import record
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised
from discreet.mechanisms.mechanism import Mechanism
from discreet.private import Private
from discreet.query.canonical import fingerprint, plain
from discreet.session.receipts import price, together
from discreet.tables.catalog import Catalog

_CONFIDENCE = Fraction(95, 100)
_FORMAT = 1


@final
@frozen(eq=False, repr=False)
class EstimatePlan:
    """A mechanism, what it will be given, and its price."""

    what: str
    how: str
    mechanism: Mechanism[Any]
    read: Callable[[], Private[Any]] = field()
    epsilon: Fraction
    delta: Fraction
    catalog: Catalog
    asked: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def loss(self) -> Loss:
        """The price as a term."""
        loss = self.mechanism.loss
        return Promised(loss, self.epsilon, self.delta) if loss.within(Approx(self.epsilon, self.delta)) else loss

    def error(self, confidence: Number = 0.95) -> float:
        """How far off the mechanism may be, in its own sense: ranks, blocks or units, as `how` says."""
        return self.mechanism.error(confidence)

    @property
    def question(self) -> str:
        """The name of this question at its price, under its policy and for its version of the data."""
        numbers = [plain(self.epsilon), plain(self.delta)]
        return fingerprint([self.asked, *numbers, self.catalog.digest, self.catalog.version, plain(_CONFIDENCE)])

    def receipt(self, paid: Entry) -> dict[str, Any]:
        """What was asked and done, enough to check the price and the ledger's entry."""
        said = {
            "format": _FORMAT,
            "question": self.question,
            "asked": self.asked,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "confidence": str(_CONFIDENCE),
            "protected": self.catalog.protected,
            "adjacency": self.catalog.adjacency,
            "policy": self.catalog.digest,
            "version": self.catalog.version,
            "loss": record.to_json(self.loss),
            "notes": list(self.notes),
            "ledger": {"sequence": paid.sequence, "entry": paid.hash},
        }
        return said | {"hash": seal_of(said)}

    def explain(self) -> str:
        """Who is protected, what will be done and what it will cost, also for several units together."""
        cost = f"ε = {price(self.epsilon)}" + (f", δ = {price(self.delta)}" if self.delta else "")
        lines = [self.what, self.how, f"protects {self.catalog.protected}", *self.notes, f"costs {cost}"]
        return "\n".join([*lines, *together(self.loss, self.epsilon, self.delta)])

    __repr__ = explain
