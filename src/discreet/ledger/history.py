"""A verified chain: every seal checked, every spend replayed through the filter, and what is asked of it kept at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet.errors import BudgetExceeded, Error, LedgerError
from discreet.ledger import chain
from discreet.ledger.chain import BEFORE_ALL, Entry
from discreet.ledger.charge import Charge
from discreet.ledger.storage import State
from discreet.ledger.terms import Terms
from discreet.loss.filter import Filter
from discreet.loss.loss import ZERO

_SPEND, _RELEASE = {"question", "key", "note", "loss", "charge"}, {"spend", "release"}

WHAT_TO_DO = "Nothing was released. Keep the file for inspection and go on with an untouched copy that is no older, or with a new ledger."


def distrust(reason: str) -> LedgerError:
    """The error for a ledger that is not as it was written."""
    return LedgerError(f"the ledger cannot be trusted: {reason}. {WHAT_TO_DO}")


def _shortly(digits: int) -> Callable[[Fraction | None], str]:
    """Write an amount as a short decimal; the exact one stays in its field."""
    return lambda amount: "∞" if amount is None else f"{float(amount):.{digits}g}"


@final
@frozen
class Amount:
    """An ε and a δ, exact; None is an ε that has no bound.

    >>> Amount(Fraction(62227, 125), Fraction(23, 64_000_000)), Amount(None, Fraction(0))
    (Amount(epsilon=497.816, delta=3.6e-07), Amount(epsilon=∞, delta=0))
    """

    epsilon: Fraction | None = field(repr=_shortly(6))
    delta: Fraction = field(repr=_shortly(2))

    def plus(self, epsilon: Fraction | None, delta: Fraction) -> Amount:
        """Both together."""
        return Amount(None if self.epsilon is None or epsilon is None else self.epsilon + epsilon, self.delta + delta)


@final
@frozen
class Standing:
    """What has been spent after some entry: the live filter, and the sum of the basic prices."""

    filter: Filter
    spent: Amount

    @property
    def text(self) -> str:
        """The filter as the state row keeps it."""
        return chain.write(self.filter.to_json())

    def after(self, charge: Charge) -> Standing:
        """The standing after one more charge, or BudgetExceeded."""
        return Standing(self.filter.spend(charge), self.spent.plus(*charge.basic))


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
        self.standing = Standing(Filter(0), Amount(ZERO, ZERO))
        self.spends = 0
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
                return Standing(Terms.from_json(body).budget, Amount(ZERO, ZERO))
            case "spend" if entry.sequence > 0 and body.keys() == _SPEND and body["key"] not in self.keys:
                return self.standing.after(Charge.from_json(body["charge"]))
            case "release" if body.keys() == _RELEASE and body["spend"] in self.unanswered:
                return self.standing
        raise distrust(f"entry {entry.sequence} cannot stand where it stands")

    def accept(self, step: Step) -> None:
        """Take in an entry that was judged."""
        entry, body = step.entry, step.body
        match entry.kind:
            case "terms":
                self.terms, self.witnessed = Terms.from_json(body), body["witnessed"]
            case "spend":
                self.spends += 1
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
            raise distrust(f"entry {entry.sequence} spends more than the budget") from None

    def require(self, state: State) -> None:
        """Raise LedgerError unless the state row says what the chain says."""
        if (state.sequence, state.head, state.filter) != (self.length - 1, self.head, self.standing.text):
            raise distrust("its state is not that of its entries")
