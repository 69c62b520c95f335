"""What a ledger remembers of the questions that were paid for."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.ledger.ledger import Ledger
from discreet.loss import record


@final
@frozen
class Asked:
    """One question that was paid for; its price is that of basic composition, None for ∞."""

    entry: int
    at: str
    epsilon: Fraction | None
    delta: Fraction
    asked: str
    answered: bool
    analyst: str | None


def asked(ledger: Ledger) -> list[Asked]:
    """Every question that was paid for, oldest first."""
    entries = ledger.entries()
    answered = {entry.body["spend"] for entry in entries if entry.kind == "release"}
    spends = [(entry, record.from_json(entry.body["loss"]).basic) for entry in entries if entry.kind == "spend"]
    said = ((entry, price, entry.body) for entry, price in spends)
    return [
        Asked(entry.sequence, entry.at, *price, body["note"], entry.sequence in answered, body["analyst"]) for entry, price, body in said
    ]
