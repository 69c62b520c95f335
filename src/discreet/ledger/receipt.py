"""Receipts: one class and one format for everything that can be bought, created and verified only here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias, final, get_args

from attrs import evolve, field, frozen

from discreet import exact
from discreet.errors import Error, Invalid, LedgerError
from discreet.ledger.chain import Entry, digest
from discreet.ledger.ledger import Ledger
from discreet.ledger.price import price
from discreet.loss import record
from discreet.loss.loss import Loss, compose
from discreet.loss.notions import Approx
from discreet.mechanisms.sensitivity import Adjacency

FORMAT = 2
CONFIDENCE = Fraction(95, 100)  # of intervals, unless a request says otherwise
Kind: TypeAlias = Literal[
    "question", "batch", "synthetic table", "estimate", "conversation", "threshold stream", "feed", "graph", "profile"
]
STATEFUL: tuple[Kind, ...] = ("conversation", "threshold stream")  # paid step by step; the ledger keeps payments, and no answers
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
_FIELDS = {"format", "kind", "question", "request", "epsilon", "delta", "confidence", "protected", "adjacency", "policy", "version"} | {
    "payments", "discovered", "steps", "notes", "dry_run", "hash",
}  # fmt: skip
NO_ENTRY = "the ledger has no such entry: verify this receipt against the ledger that it was paid from"
_NOT_A_RECEIPT = "this is not a receipt: give what `receipt.to_json()` or `save` wrote"


@final
@frozen(slots=False)
class PricedRequest:
    """A request with its price and the declarations it is made under: what identifies a purchase, as plain values and without data."""

    kind: Kind
    request: Mapping[str, Any]
    epsilon: Fraction
    delta: Fraction
    protected: str
    adjacency: Adjacency
    policy: str  # the digest of the declared policy
    version: str  # of the data, as its owner declared it
    confidence: Fraction = CONFIDENCE

    @cached_property
    def question(self) -> str:
        """The digest under which the ledger charges and stores it; equal requests at equal prices have the same."""
        if self.kind == "profile":  # later sessions look for it without knowing what it cost or what else was declared then
            return digest([self.kind, self.request, self.version])
        price = [str(self.epsilon), str(self.delta), str(self.confidence)]
        return digest([self.kind, self.request, *price, self.policy, self.version])

    def receipt(
        self,
        paid: Entry,
        *,
        discovered: Mapping[str, Any] | None = None,
        steps: Sequence[tuple[str, Loss]] = (),
        notes: Sequence[str] = (),
        before: Sequence[Paid] = (),
    ) -> Receipt:
        """The receipt of a purchase that one ledger entry pays for; `before` are earlier payments, for its discoveries."""
        return Receipt(self, (*before, Paid.of(paid)), dict(discovered or {}), tuple(steps), tuple(notes))


@final
@frozen
class Paid:
    """One payment: what it was for, its loss, and the entry of the ledger that charged it.

    Where each account is charged for what it receives, no entry is named (None): its number would tell who asked first.
    """

    question: str
    loss: Loss
    sequence: int | None
    entry: str | None

    @classmethod
    def of(cls, entry: Entry) -> Paid:
        """The payment that an entry records."""
        return cls(entry.body["question"], record.from_json(entry.body["loss"]), entry.sequence, entry.hash)

    def without_entry(self) -> Paid:
        """The same payment, without its entry."""
        return Paid(self.question, self.loss, None, None)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"question": self.question, "loss": record.to_json(self.loss), "sequence": self.sequence, "entry": self.entry}

    def verify(self, ledger: Ledger) -> None:
        """Raise LedgerError unless the ledger has this payment; if no entry is named, that for the answer it holds."""
        if self.sequence is None and self.entry is None:
            entry = ledger.paid_for(self.question)
        else:
            known = isinstance(self.sequence, int) and 0 <= self.sequence < ledger.length
            entry = ledger.entry(self.sequence) if known and self.sequence is not None else None
            entry = None if entry is None or entry.hash != self.entry else entry
        if entry is None:
            raise LedgerError(NO_ENTRY)
        body = entry.body
        if entry.kind != "spend" or body["question"] != self.question or body["loss"] != record.to_json(self.loss):
            raise LedgerError("the ledger's entry pays for another question or another price than this receipt states: do not trust it")


@final
@frozen(repr=False, slots=False)
class Receipt:
    """What was bought, at which price, for whose protection, and the ledger entries that paid for it.

    The only values from the data are those that mechanisms released during discovery (`discovered`). Its hash covers every field.
    """

    priced: PricedRequest
    payments: tuple[Paid, ...]
    discovered: dict[str, Any] = field(factory=dict)
    steps: tuple[tuple[str, Loss], ...] = ()  # the mechanisms that the last payment covers, where they are listed
    notes: tuple[str, ...] = ()
    dry_run: bool = False

    # ── what it states ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def kind(self) -> Kind:
        """What was bought."""
        return self.priced.kind

    @property
    def request(self) -> Mapping[str, Any]:
        """What was asked, as plain values."""
        return self.priced.request

    @property
    def question(self) -> str:
        """The digest of the request at its price, under which the ledger has it."""
        return self.priced.question

    @property
    def epsilon(self) -> Fraction:
        """The ε of the whole request; a run that ended early has paid less, as `loss` states."""
        return self.priced.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ of the whole request."""
        return self.priced.delta

    @property
    def protected(self) -> str:
        """Who is protected."""
        return self.priced.protected

    @property
    def adjacency(self) -> Adjacency:
        """Which tables are neighbours: one unit is added or removed, or replaced."""
        return self.priced.adjacency

    @cached_property
    def loss(self) -> Loss:
        """What all payments together cost, as a term."""
        return compose(paid.loss for paid in self.payments)

    @property
    def sequence(self) -> int | None:
        """The ledger entry of the last payment; None before the first, and where no entries are named."""
        return self.payments[-1].sequence if self.payments else None

    @property
    def where(self) -> str:
        """Where the payment is recorded, in a few words: its ledger entry, or that there is none; empty where no entries are named."""
        if self.dry_run:
            return "dry run"
        if not self.payments:
            return "nothing paid yet"
        return "" if self.sequence is None else f"ledger entry {self.sequence}"

    def without_entries(self) -> Receipt:
        """The same receipt, without the ledger entries of its payments."""
        return evolve(self, payments=tuple(paid.without_entry() for paid in self.payments))

    # ── as plain values ──────────────────────────────────────────────────────────────────────────────────────────────

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values, with a hash over all of it."""
        asked = self.priced
        said = {
            "format": FORMAT,
            "kind": asked.kind,
            "question": asked.question,
            "request": asked.request,
            "epsilon": str(asked.epsilon),
            "delta": str(asked.delta),
            "confidence": str(asked.confidence),
            "protected": asked.protected,
            "adjacency": asked.adjacency,
            "policy": asked.policy,
            "version": asked.version,
            "payments": [paid.to_json() for paid in self.payments],
            "discovered": self.discovered,
            "steps": [[what, record.to_json(loss)] for what, loss in self.steps],
            "notes": list(self.notes),
            "dry_run": self.dry_run,
        }
        return said | {"hash": digest(said)}

    @classmethod
    def from_json(cls, said: Any) -> Receipt:
        """Read back what `to_json` gave; raise Invalid if it is not a receipt, has another format, or was changed."""
        try:
            fits = said["hash"] == digest({name: value for name, value in said.items() if name != "hash"})
            made, whole = said["format"], set(said) == _FIELDS
        except (*_MALFORMED, Invalid):
            raise Invalid(_NOT_A_RECEIPT) from None
        if not fits and whole:
            raise Invalid("this receipt was changed, because its hash does not match its contents: use an unchanged copy")
        if fits and made != FORMAT:
            raise Invalid(f"this receipt has format {str(made)[:20]}, and this version reads {FORMAT}: use the version that wrote it")
        if not whole:
            raise Invalid(_NOT_A_RECEIPT)
        try:
            found = cls._read(said)
            written = found.to_json()
        except (*_MALFORMED, Error):
            raise Invalid(_NOT_A_RECEIPT) from None
        if said["question"] != written["question"]:
            raise Invalid("the digest in this receipt does not match the request in it: do not trust it")
        if said != written:
            raise Invalid(_NOT_A_RECEIPT)
        return found

    @classmethod
    def _read(cls, said: Any) -> Receipt:
        names = ("protected", "adjacency", "policy", "version")
        texts = [*(said[name] for name in names), *said["notes"], *(what for what, _ in said["steps"])]
        dicts = [said["request"], said["discovered"]]
        if said["kind"] not in get_args(Kind) or said["adjacency"] not in get_args(Adjacency) or not isinstance(said["dry_run"], bool):
            raise ValueError
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(one, dict) for one in dicts):
            raise ValueError
        epsilon, delta = (exact.rational(str(said[name]), name) for name in ("epsilon", "delta"))
        protected, adjacency, policy, version = (said[name] for name in names)
        level = exact.confidence_level(str(said["confidence"]))
        asked = PricedRequest(said["kind"], said["request"], epsilon, delta, protected, adjacency, policy, version, level)
        payments = [Paid(one["question"], record.from_json(one["loss"]), one["sequence"], one["entry"]) for one in said["payments"]]
        steps = [(what, record.from_json(loss)) for what, loss in said["steps"]]
        return cls(asked, tuple(payments), said["discovered"], tuple(steps), tuple(said["notes"]), said["dry_run"])

    # ── verifying ────────────────────────────────────────────────────────────────────────────────────────────────────

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check that the payments cost no more than stated, and with a ledger that they are in it; else raise Invalid or LedgerError.

        Without a ledger this checks only that the receipt is consistent; anyone can write a consistent receipt, so it proves no payment.
        """
        if self.dry_run:
            raise Invalid("this is the receipt of a dry run, for which nothing was paid: release the question and verify its receipt")
        if not self.loss.within(Approx(self.epsilon, self.delta)):
            raise Invalid(f"the payments cost more than the {price(self.epsilon, self.delta)} that this receipt states: do not trust it")
        if ledger is not None:
            self._verify_paid(ledger)

    def _verify_paid(self, ledger: Ledger) -> None:
        if self.kind not in STATEFUL or any(paid.sequence is not None for paid in self.payments):
            for paid in self.payments:
                paid.verify(ledger)
        if self.payments and self.payments[-1].question != self.question:
            raise LedgerError("the ledger's entry pays for another question than this receipt states: do not trust it")
        if (self.protected, self.adjacency) != (ledger.terms.unit, ledger.terms.adjacency):
            raise LedgerError("the ledger protects another unit, or has another adjacency, than this receipt states: do not trust it")
        if self.kind in STATEFUL:
            self._verify_steps(ledger)
        elif self._as_told(self.held_by(ledger)["receipt"]) != self.to_json():
            raise LedgerError("the ledger holds another receipt for this payment: do not trust this one")

    def _as_told(self, held: Any) -> Any:
        """A receipt that the ledger holds, with its entries or without, as in this one."""
        hidden = bool(self.payments) and all(paid.sequence is None and paid.entry is None for paid in self.payments)
        return Receipt.from_json(held).without_entries().to_json() if hidden else held

    def _verify_steps(self, ledger: Ledger) -> None:
        """For a run that is paid step by step: all its payments up to the last are listed, and nothing else is stated."""
        charged = [Paid.of(entry) for entry in ledger.entries() if entry.kind == "spend" and entry.body["question"] == self.question]
        if self.sequence is None:  # the run's own mark is in the question: the first payments of the run are these
            charged = [paid.without_entry() for paid in charged][: len(self.payments)]
        else:
            charged = [paid for paid in charged if paid.sequence is not None and paid.sequence <= self.sequence]
        if list(self.payments) != charged:
            raise LedgerError("the ledger has payments for this run that this receipt does not list: do not trust it")
        if self.discovered or self.steps or self.notes:
            raise LedgerError("this receipt states discoveries, steps or notes, which receipts of such runs do not have: do not trust it")

    def stored_text(self, ledger: Ledger) -> str:
        """What the ledger stored for the last payment."""
        stored = None
        if self.payments:
            stored = ledger.find(self.question) if self.sequence is None else ledger.release_of(ledger.entry(self.sequence))
        if stored is None:
            raise LedgerError("this was paid for, but the ledger holds no answer to it: do not trust the answer with this receipt")
        return str(stored["release"])

    def held_by(self, ledger: Ledger) -> dict[str, Any]:
        """What the ledger stored for the last payment, as plain values."""
        held: dict[str, Any] = json.loads(self.stored_text(ledger))
        return held

    def __repr__(self) -> str:
        said = [self.kind, price(self.epsilon, self.delta), f"protects {self.protected}", self.where]
        return f"Receipt({'; '.join(part for part in said if part)})"


def verify_receipt(said: Any, ledger: Ledger | None = None) -> Receipt:
    """Read a receipt from plain values and verify it, with a ledger also that it was paid there."""
    receipt = Receipt.from_json(said)
    receipt.verify(ledger)
    return receipt
