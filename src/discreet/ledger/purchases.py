"""The questions that were paid for, as a ledger has recorded them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

from attrs import asdict, frozen

from discreet.ledger.ledger import Ledger
from discreet.loss import record


@final
@frozen
class Purchase:
    """One question that was paid for. Its price is that of basic composition; an ε of None is infinite."""

    entry: int
    at: str
    epsilon: Fraction | None
    delta: Fraction
    asked: str
    answered: bool
    analyst: str | None


def purchases_as_dicts(ledger: Ledger) -> list[dict[str, Any]]:
    """Every question that was paid for, as plain values with prices as floats, oldest first."""
    return [
        asdict(one) | {"epsilon": math.inf if one.epsilon is None else float(one.epsilon), "delta": float(one.delta)}
        for one in purchases(ledger)
    ]


def purchases(ledger: Ledger) -> list[Purchase]:
    """Every question that was paid for, oldest first."""
    entries = ledger.entries()
    answered = {entry.body["spend"] for entry in entries if entry.kind == "release"}
    spends = [(entry, record.from_json(entry.body["loss"]).basic) for entry in entries if entry.kind == "spend"]
    said = ((entry, price, entry.body) for entry, price in spends)
    return [
        Purchase(entry.sequence, entry.at, *price, body["note"], entry.sequence in answered, body["analyst"]) for entry, price, body in said
    ]
