"""A verified chain: every seal checked, every spend replayed through the filter, and what is asked of it kept at hand."""

from __future__ import annotations

import json
from typing import Any, final

from attrs import frozen

from discreet.errors import BudgetExceeded, Error, LedgerError
from discreet.ledger.chain import BEFORE_ALL, Entry
from discreet.ledger.charge import Charge
from discreet.ledger.standing import Account, Standing, analyst_name
from discreet.ledger.standing import Amount as Amount
from discreet.ledger.storage import State
from discreet.ledger.terms import Terms
from discreet.loss.filter import Filter

_SPEND, _RELEASE, _GRANT = {"question", "key", "note", "loss", "charge", "analyst"}, {"spend", "release"}, {"analyst", "epsilon", "delta"}

WHAT_TO_DO = "Nothing was released. Keep it for inspection and go on with an untouched copy that is no older, or with a new ledger."


def distrust(reason: str) -> LedgerError:
    """The error for a ledger that is not as it was written."""
    return LedgerError(f"the ledger cannot be trusted: {reason}. {WHAT_TO_DO}")


@final
@frozen
class Step:
    """An entry that may come next, what it says, and the standing after it."""

    entry: Entry
    body: dict[str, Any]
    standing: Standing


@final
class History:
    """Follow a chain from its first entry; only sound entries that may stand where they stand are taken in."""

    def __init__(self) -> None:
        self.terms: Terms | None = None
        self.witnessed = False
        self.standing = Standing(Account(Filter(0)))
        self.spends = 0
        self.charges: dict[str, list[Charge]] = {}  # analyst → what she was charged, to fit it into another limit
        self.grants: dict[str, int] = {}  # analyst → her last grant
        self.keys: dict[str, int] = {}  # idempotency key → its spend
        self.unanswered: dict[int, str] = {}  # spend without a release → its question
        self.answered: dict[int, int] = {}  # spend → its release
        self.found: dict[str, int] = {}  # question → its first release
        self._digests = bytearray()  # 32 bytes an entry

    @property
    def length(self) -> int:
        """How many entries there are."""
        return len(self._digests) // 32

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return self.hash_of(self.length - 1) if self._digests else BEFORE_ALL

    def hash_of(self, sequence: int) -> str:
        """The hash of an entry that was taken in."""
        return self._digests[32 * sequence : 32 * sequence + 32].hex()

    def holds(self, entry: Entry) -> bool:
        """Whether this very entry was taken in."""
        return 0 <= entry.sequence < self.length and entry.sound and self.hash_of(entry.sequence) == entry.hash

    def judge(self, entry: Entry) -> Step:
        """What this entry leads to if it may come next, changing nothing; else LedgerError, or BudgetExceeded."""
        if entry.sequence != self.length or entry.previous != self.head:
            raise distrust(f"entry {entry.sequence} does not follow the one before it")
        if not entry.sound:
            raise distrust(f"entry {entry.sequence} is not what was written")
        try:
            body = json.loads(entry.text)  # floats stay tagged: none matters here, and a long release is not walked through
            return Step(entry, body, self._standing(entry, body))
        except (BudgetExceeded, LedgerError):
            raise
        except (Error, KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise distrust(f"entry {entry.sequence} cannot be read") from None

    def _standing(self, entry: Entry, body: dict[str, Any]) -> Standing:
        match entry.kind:
            case "terms" if entry.sequence == 0:
                return Standing(Account(Terms.from_json(body).budget))
            case "grant" if self.terms is not None and body.keys() == _GRANT:
                budget = self.terms.part(body["epsilon"], body["delta"])
                name = analyst_name(body["analyst"])
                return self.standing.granted(name, budget, self.charges.get(name, ()))
            case "spend" if entry.sequence > 0 and body.keys() == _SPEND and body["key"] not in self.keys:
                return self.standing.after(Charge.from_json(body["charge"]), body["analyst"])
            case "release" if body.keys() == _RELEASE and body["spend"] in self.unanswered:
                return self.standing
        raise distrust(f"entry {entry.sequence} cannot stand where it stands")

    def accept(self, step: Step) -> None:
        """Take in an entry that was judged."""
        entry, body = step.entry, step.body
        match entry.kind:
            case "terms":
                self.terms, self.witnessed = Terms.from_json(body), body["witnessed"]
            case "grant":
                self.grants[body["analyst"]] = entry.sequence
            case "spend":
                self.spends += 1
                if body["analyst"] in self.grants:
                    self.charges.setdefault(body["analyst"], []).append(Charge.from_json(body["charge"]))
                self.unanswered[entry.sequence] = body["question"]
                if body["key"] is not None:
                    self.keys[body["key"]] = entry.sequence
            case "release":
                self.answered[body["spend"]] = entry.sequence
                self.found.setdefault(self.unanswered.pop(body["spend"]), entry.sequence)
        self.standing = step.standing
        self._digests += bytes.fromhex(entry.hash)

    def follow(self, entry: Entry) -> None:
        """Judge and take in an entry that was stored."""
        try:
            self.accept(self.judge(entry))
        except BudgetExceeded:
            raise distrust(f"entry {entry.sequence} spends more than the budget, or grants less than was spent") from None

    def require(self, state: State) -> None:
        """Raise LedgerError unless the state row says what the chain says."""
        if (state.sequence, state.head, state.filter) != (self.length - 1, self.head, self.standing.text):
            raise distrust("its state is not that of its entries")
