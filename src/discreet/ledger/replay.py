"""Verify the whole chain, including the entries before the last checkpoint, which opening a ledger does not read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, final

from attrs import frozen

from discreet.errors import Invalid
from discreet.ledger.chain import Entry
from discreet.ledger.history import History, untrusted
from discreet.loss import record
from discreet.loss.charge import Charge


@final
@frozen
class Paid:
    """A spend: its question, who paid, and the charge as it is recorded."""

    sequence: int
    question: str
    analyst: str | None
    charge: dict[str, Any]


@final
class Replay:
    """Follow all entries from the first: seals, order and budgets, that a key pays once, and that a spend has one release.

    An analyst is charged for receiving the first release of a question once, at its price, and not if she paid for it herself.
    """

    def __init__(self) -> None:
        self.history = History()
        self.repriced = 0  # spends that this version would price differently
        self.keys: dict[str, int] = {}  # key → its spend
        self.released: dict[str, int] = {}  # question → its first release
        self.received: set[tuple[str, str]] = set()  # question and analyst
        self._open: dict[int, Paid] = {}  # spends without a release
        self._paid: dict[str, Paid] = {}  # question → the spend of its first release

    def follow(self, entries: Iterable[Entry]) -> None:
        """Accept entries; LedgerError if one was changed or is not valid at its place."""
        for entry in entries:
            self.history.follow(entry)
            match entry.kind:
                case "spend":
                    self._spend(entry)
                case "release":
                    self._release(entry)
                case "receive":
                    self._receive(entry)

    def _spend(self, entry: Entry) -> None:
        body = json.loads(entry.text)
        if body["key"] is not None and self.keys.setdefault(body["key"], entry.sequence) != entry.sequence:
            raise untrusted(f"entry {entry.sequence} is not valid at its place")
        self._open[entry.sequence] = Paid(entry.sequence, body["question"], body["analyst"], body["charge"])
        self.repriced += self._is_repriced(entry)

    def _release(self, entry: Entry) -> None:
        try:
            body = json.loads(entry.text)
            paid = self._open.pop(body["spend"], None)
            sound = body.keys() == {"spend", "question", "release"} and paid is not None and paid.question == body["question"]
        except (ValueError, TypeError, AttributeError, RecursionError):
            sound = False
        if not sound or paid is None:
            raise untrusted(f"entry {entry.sequence} is not valid at its place")
        self.released.setdefault(body["question"], entry.sequence)
        self._paid.setdefault(body["question"], paid)

    def _receive(self, entry: Entry) -> None:
        body = json.loads(entry.text)
        paid, mine = self._paid.get(body["question"]), (body["question"], body["analyst"])
        sound = paid is not None and (paid.sequence, paid.charge) == (body["spend"], body["charge"])
        if not sound or paid is None or paid.analyst == body["analyst"] or mine in self.received:
            raise untrusted(f"entry {entry.sequence} is not valid at its place")
        self.received.add(mine)

    def _is_repriced(self, entry: Entry) -> bool:
        body, terms = entry.body, self.history.terms
        assert terms is not None, "a ledger begins with its terms"
        try:
            return Charge.of(record.from_json(body["loss"]), pure=terms.delta == 0) != Charge.from_json(body["charge"])
        except Invalid:
            raise untrusted(f"entry {entry.sequence} cannot be read") from None
