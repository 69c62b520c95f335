"""The verified state of a chain: from a checkpoint on, every seal is checked and every spend is replayed through the filters."""

from __future__ import annotations

import json
from typing import Any, final

from attrs import evolve, frozen

from discreet.errors import BudgetExceeded, Error, LedgerError
from discreet.ledger.chain import BEFORE_ALL, Entry
from discreet.ledger.periods import Period
from discreet.ledger.standing import Account, Standing, analyst_name
from discreet.ledger.storage import State
from discreet.ledger.terms import Terms
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter

EVERY = 1000  # entries between two checkpoints

_SPEND = {"question", "key", "note", "loss", "charge", "analyst", "whole"}
_RECEIVE = {"spend", "question", "note", "analyst", "charge"}
_GRANT = {"analyst", "epsilon", "delta"}
_RENEWING = _GRANT | {"every", "period"}  # a grant that renews, and each of its renewals
_REVOKED = {"analyst", "revoked"}  # a grant that was taken back
_REVISED = {"epsilon", "delta", "unit", "adjacency"}  # other terms, before anything was spent

WHAT_TO_DO = "Nothing was released. Keep it for inspection, and continue with an intact copy that is no older, or with a new ledger."


def untrusted(reason: str) -> LedgerError:
    """The error for a ledger that was changed since it was written."""
    return LedgerError(f"the ledger cannot be trusted: {reason}. {WHAT_TO_DO}")


@final
@frozen
class Step:
    """An entry that is valid as the next one, its body (empty for a release), and the standing after it."""

    entry: Entry
    body: dict[str, Any]
    standing: Standing


@final
class History:
    """Follow a chain from its first entry or from a checkpoint; only sealed entries that are valid at their place are accepted.

    Its size does not grow with the chain, except for 32 bytes per entry since the checkpoint; it keeps the entry that was checked last.
    That a key pays once, that a spend has one release, and that a release is received once, at its price, is looked up in the storage
    (`ledger.py`, `receiving.py`), and checked for the whole chain by `replay.py`.
    """

    def __init__(self) -> None:
        self.terms: Terms | None = None
        self.revised: dict[str, str] | None = None  # other terms than those of the first entry
        self.witnessed = False
        self.standing = Standing(Account(Filter(0)))
        self.spends = self.releases = 0
        self.grants: dict[str, int] = {}  # analyst → the sequence of the last grant
        self.first = BEFORE_ALL  # the hash of the first entry
        self.start = 0  # the first entry whose hash is kept
        self.checkpoint = 0  # the sequence of the last checkpoint, or of the first entry
        self._digests = bytearray()  # 32 bytes per entry
        self._checked: Entry | None = None  # the last entry whose seal was found valid

    @classmethod
    def resumed(cls, first: Entry, checkpoint: Entry) -> History:
        """Start at a checkpoint, which is trusted if its seal is valid; all later entries must fit it."""
        if not first.sound or not checkpoint.sound or first.sequence != 0 or first.kind != "terms":
            raise untrusted("its first entry or its last checkpoint was changed")
        history = cls()
        try:
            body = json.loads(checkpoint.text)
            if body["terms"] != first.hash:
                raise untrusted("its last checkpoint belongs to another ledger")
            terms, history.first = json.loads(first.text), first.hash
            history.terms, history.witnessed = Terms.from_json(terms), terms["witnessed"]
            if "revised" in body:
                history.terms, history.revised = Terms(**body["revised"]), body["revised"]
            history.standing = Standing.from_json(body["standing"])
            history.spends, history.releases = int(body["spends"]), int(body["releases"])
            history.grants = {analyst_name(name): int(sequence) for name, sequence in body["grants"]}
            if history.summary != body:
                raise untrusted("its last checkpoint cannot be read")
        except (Error, KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise untrusted("its last checkpoint cannot be read") from None
        history.start = history.checkpoint = checkpoint.sequence
        history._digests += bytes.fromhex(checkpoint.hash)
        return history

    @property
    def length(self) -> int:
        """The number of entries."""
        return self.start + len(self._digests) // 32

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return self.hash_of(self.length - 1) if self._digests else BEFORE_ALL

    def hash_of(self, sequence: int) -> str:
        """The hash of an entry since the checkpoint."""
        place = 32 * (sequence - self.start)
        return self._digests[place : place + 32].hex()

    def holds(self, entry: Entry) -> bool:
        """Whether exactly this entry was accepted since the checkpoint."""
        return self.start <= entry.sequence < self.length and self.hash_of(entry.sequence) == entry.hash and self._is_sound(entry)

    def _is_sound(self, entry: Entry) -> bool:
        """Whether the seal is valid. Every block reads the newest entry again, and it may be long: an equal one is not hashed again."""
        if entry != self._checked:
            if not entry.sound:
                return False
            self._checked = entry
        return True

    # ── accepting entries ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def due(self) -> bool:
        """Whether the next entry should be a checkpoint."""
        return self.length - self.checkpoint >= EVERY

    @property
    def summary(self) -> dict[str, Any]:
        """The body of a checkpoint: the state after all entries so far."""
        return {
            "terms": self.first,
            "standing": self.standing.to_json(),
            "spends": self.spends,
            "releases": self.releases,
            "grants": [[name, sequence] for name, sequence in self.grants.items()],
        } | ({} if self.revised is None else {"revised": self.revised})

    def judge(self, entry: Entry) -> Step:
        """The state after this entry, if it is valid as the next one, without accepting it; else LedgerError or BudgetExceeded."""
        if entry.sequence != self.length or entry.previous != self.head:
            raise untrusted(f"entry {entry.sequence} does not follow the one before it")
        if not self._is_sound(entry):
            raise untrusted(f"entry {entry.sequence} was changed")
        if entry.kind == "release" and entry.sequence > 0:
            return Step(entry, {}, self.standing)  # a release may be long and is not parsed: the seal suffices here
        try:
            body = json.loads(entry.text)  # floats stay tagged: none is used here
            return Step(entry, body, self._standing(entry, body))
        except (BudgetExceeded, LedgerError):
            raise
        except (Error, KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise untrusted(f"entry {entry.sequence} cannot be read") from None

    def _standing(self, entry: Entry, body: dict[str, Any]) -> Standing:
        match entry.kind:
            case "terms" if entry.sequence == 0:
                return Standing(Account(Terms.from_json(body).budget))
            case "grant" if self.terms is not None and body.keys() in (_GRANT, _RENEWING):
                budget = self.terms.part(body["epsilon"], body["delta"])
                return self.standing.granted(analyst_name(body["analyst"]), budget, Period.from_json(body))
            case "grant" if self.terms is not None and body.keys() == _REVOKED and body["revoked"] is True:
                return self.standing.revoked(analyst_name(body["analyst"]))
            case "grant" if self.terms is not None and body.keys() == _REVISED and not self.spends and Terms(**body).plain == body:
                return evolve(self.standing, whole=Account(Terms(**body).budget))
            case "spend" if entry.sequence > 0 and body.keys() == _SPEND:
                whole = None if body["whole"] is None else Charge.from_json(body["whole"])
                return self.standing.after(Charge.from_json(body["charge"]), body["analyst"], whole)
            case "receive" if body.keys() == _RECEIVE and _follows(entry, body):
                return self.standing.after_receiving(Charge.from_json(body["charge"]), analyst_name(body["analyst"]))
            case "checkpoint" if entry.sequence > 0 and body == self.summary:
                return self.standing
        raise untrusted(f"entry {entry.sequence} is not valid at its place")

    def accept(self, step: Step) -> None:
        """Accept an entry that was judged valid."""
        entry, body = step.entry, step.body
        match entry.kind:
            case "terms":
                self.terms, self.witnessed, self.first = Terms.from_json(body), body["witnessed"], entry.hash
            case "grant" if "analyst" in body:
                self.grants[body["analyst"]] = entry.sequence
            case "grant":
                self.terms, self.revised = Terms(**body), body
            case "spend":
                self.spends += 1
            case "release":
                self.releases += 1
            case "checkpoint":
                self.checkpoint = entry.sequence
        self.standing = step.standing
        self._digests += bytes.fromhex(entry.hash)

    def follow(self, entry: Entry) -> None:
        """Judge and accept a stored entry."""
        try:
            self.accept(self.judge(entry))
        except BudgetExceeded:
            raise untrusted(f"entry {entry.sequence} spends more than the budget, or grants less than was spent") from None

    def require(self, state: State) -> None:
        """Raise LedgerError unless the state row agrees with the chain."""
        if (state.sequence, state.head, state.filter) != (self.length - 1, self.head, self.standing.text):
            raise untrusted("its state does not match its entries")


def _follows(entry: Entry, body: dict[str, Any]) -> bool:
    """Whether a received release may come after its spend and the release itself; `replay.py` checks that they are there."""
    spend = body["spend"]
    texts = isinstance(body["question"], str) and isinstance(body["note"], str)
    return texts and isinstance(spend, int) and not isinstance(spend, bool) and 0 < spend < entry.sequence - 1
