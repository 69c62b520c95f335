"""The whole chain read anew: all that opening a ledger leaves to its last checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import final

from discreet.errors import Invalid
from discreet.ledger.chain import Entry
from discreet.ledger.history import History, distrust
from discreet.loss import record
from discreet.loss.charge import Charge


@final
class Replay:
    """Follow every entry from the first on: seals, order, budgets, that a key pays once and that a spend has one release."""

    def __init__(self) -> None:
        self.history = History()
        self.repriced = 0  # spends that this version would charge otherwise
        self.keys: dict[str, int] = {}  # key → its spend
        self.released: dict[str, int] = {}  # question → its first release
        self._open: dict[int, str] = {}  # spend without a release → its question

    def follow(self, entries: Iterable[Entry]) -> None:
        """Take in entries; LedgerError if one is not as it was written or cannot stand where it stands."""
        for entry in entries:
            self.history.follow(entry)
            match entry.kind:
                case "spend":
                    self._spend(entry)
                case "release":
                    self._release(entry)

    def _spend(self, entry: Entry) -> None:
        body = json.loads(entry.text)
        if body["key"] is not None and self.keys.setdefault(body["key"], entry.sequence) != entry.sequence:
            raise distrust(f"entry {entry.sequence} cannot stand where it stands")
        self._open[entry.sequence] = body["question"]
        self.repriced += self._is_repriced(entry)

    def _release(self, entry: Entry) -> None:
        try:
            body = json.loads(entry.text)
            sound = body.keys() == {"spend", "question", "release"} and self._open.pop(body["spend"], None) == body["question"]
        except (ValueError, TypeError, AttributeError, RecursionError):
            sound = False
        if not sound:
            raise distrust(f"entry {entry.sequence} cannot stand where it stands")
        self.released.setdefault(body["question"], entry.sequence)

    def _is_repriced(self, entry: Entry) -> bool:
        body, terms = entry.body, self.history.terms
        assert terms is not None, "a ledger begins with its terms"
        try:
            return Charge.of(record.from_json(body["loss"]), pure=terms.delta == 0) != Charge.from_json(body["charge"])
        except Invalid:
            raise distrust(f"entry {entry.sequence} cannot be read") from None
