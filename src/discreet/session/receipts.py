"""Receipts: prices as people read them, checking, and what an answer costs several units together."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid, LedgerError
from discreet.ledger.chain import digest as seal_of
from discreet.ledger.ledger import Ledger
from discreet.loss import record
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import GROUPS, group_price
from discreet.query.canonical import fingerprint

_SHORT = 1e-4  # smaller numbers are written as powers of ten


def price(amount: Fraction) -> str:
    """An ε or a δ as people write it.

    >>> price(Fraction(1, 2)), price(Fraction(1, 3)), price(Fraction(1, 32_000_000))
    ('0.5', '0.3333', '3.1e-08')
    """
    return f"{float(amount):.2g}" if 0 < amount < _SHORT else f"{float(amount):.4g}"


def together(loss: Loss, epsilon: Fraction, delta: Fraction) -> list[str]:
    """What an answer costs several units together: by the best route, and never more than group privacy of its (ε, δ).

    >>> together(Approx("1/2", "1e-6"), Fraction(1, 2), Fraction("1e-6"))[0]
    'for 2 units together: ε = 1 and δ = 2.6e-06'
    """
    lines = []
    for k in GROUPS:
        cost, mass = group_price(loss, epsilon, delta, k)
        told = f"ε = {cost:.4g}" + (f" and δ = {float(mass):.2g}" if mass else "")
        lines.append(f"for {k} units together: {told if math.isfinite(cost) else 'no promise'}")
    return lines


def verify_receipt(receipt: dict[str, Any], ledger: Ledger | None = None) -> None:
    """Check that a receipt is whole and its price is proved, and with a ledger that it was paid there; else Invalid or LedgerError.

    Without a ledger this shows that the receipt agrees with itself, and anyone can write one that does: whether it was paid is not seen.
    """
    try:
        said = {name: value for name, value in receipt.items() if name != "hash"}
        whole = receipt["hash"] == seal_of(said)
        epsilon, delta = Fraction(receipt["epsilon"]), Fraction(receipt["delta"])
        level = Fraction(receipt["confidence"])
        named = fingerprint([receipt["asked"], *map(_number, (epsilon, delta)), receipt["policy"], receipt["version"], _number(level)])
        loss = record.from_json(receipt["loss"])
        asked, sequence, entry = receipt["question"], receipt["ledger"]["sequence"], receipt["ledger"]["entry"]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise Invalid("this is not a receipt") from None
    if not whole:
        raise Invalid("this receipt was changed: its hash is not that of what it says")
    if asked != named:
        raise Invalid("this receipt names another question than the one it states")
    if not loss.within(Approx(epsilon, delta)):
        raise Invalid(f"what was done costs more than the ε = {price(epsilon)}, δ = {price(delta)} that this receipt states")
    if ledger is not None:
        _verify_paid(receipt, ledger, sequence, entry)


def _number(value: Fraction) -> dict[str, str]:
    return {"is": "number", "value": str(value)}


def _verify_paid(receipt: dict[str, Any], ledger: Ledger, sequence: Any, entry: Any) -> None:
    found = ledger.entry(sequence) if isinstance(sequence, int) and 0 <= sequence < ledger.length else None
    if found is None or found.hash != entry:
        raise LedgerError("the ledger has no such entry: this receipt belongs to another ledger, or was made up")
    body = found.body
    if found.kind != "spend" or body["question"] != receipt["question"] or body["loss"] != receipt["loss"]:
        raise LedgerError("the ledger's entry pays for another question or another price than this receipt says")
