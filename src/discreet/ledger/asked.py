"""What a ledger remembers of the questions that were paid for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

from attrs import asdict, frozen

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


def listed(ledger: Ledger) -> list[dict[str, Any]]:
    """The same as plain values, prices as floats."""
    return [
        asdict(one) | {"epsilon": math.inf if one.epsilon is None else float(one.epsilon), "delta": float(one.delta)}
        for one in asked(ledger)
    ]


def asked(ledger: Ledger) -> list[Asked]:
    """Every question that was paid for, oldest first."""
    entries = ledger.entries()
    answered = {entry.body["spend"] for entry in entries if entry.kind == "release"}
    spends = [(entry, record.from_json(entry.body["loss"]).basic) for entry in entries if entry.kind == "spend"]
    said = ((entry, price, entry.body) for entry, price in spends)
    return [
        Asked(entry.sequence, entry.at, *price, body["note"], entry.sequence in answered, body["analyst"]) for entry, price, body in said
    ]
