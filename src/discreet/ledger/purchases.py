"""The questions that were paid for and the answers that were received, as a ledger has recorded them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

from attrs import asdict, frozen

from discreet.ledger.chain import Entry
from discreet.ledger.ledger import Ledger
from discreet.loss import record


@final
@frozen
class Purchase:
    """One question that was paid for, or whose answer was received. Its price is that of basic composition; an ε of None is infinite.

    What was `received` is charged to its analyst alone: the data set had paid for it.
    """

    entry: int
    at: str
    epsilon: Fraction | None
    delta: Fraction
    asked: str
    answered: bool
    analyst: str | None
    received: bool = False


def purchases_as_dicts(ledger: Ledger) -> list[dict[str, Any]]:
    """Every charge, as plain values with prices as floats, oldest first."""
    return [_plain(one) for one in purchases(ledger)]


def own_purchases(ledger: Ledger, analyst: str, length: int | None = None) -> list[dict[str, Any]]:
    """What an analyst was charged for, as plain values, oldest first; it does not tell who asked first.

    What she paid for and what she received look alike. Entry numbers are left out, because they count the entries of others too, and so are
    steps without a price: further days of a feed are drawn in as many steps as all who ask for them take. Times are told to the minute: how
    long after the first step of a question its second was charged depends on private rows. With `length`, as the ledger was with so many
    entries.
    """
    own = [one for one in purchases(ledger, length) if one.analyst == analyst and (one.epsilon is None or one.epsilon or one.delta)]
    told = [_plain(one) | {"at": one.at[:16]} for one in own]
    return [{name: value for name, value in one.items() if name not in ("entry", "received")} for one in told]


def purchases(ledger: Ledger, length: int | None = None) -> list[Purchase]:
    """Every question that was paid for and every answer that was received, oldest first; of the first `length` entries, if given."""
    entries = ledger.entries()[:length]
    answered = {entry.body["spend"] for entry in entries if entry.kind == "release"}
    return [_purchase(entry, entries, answered) for entry in entries if entry.kind in ("spend", "receive")]


def _purchase(entry: Entry, entries: list[Entry], answered: set[int]) -> Purchase:
    body, received = entry.body, entry.kind == "receive"
    paid = entries[body["spend"]].body if received else body
    epsilon, delta = record.from_json(paid["loss"]).charged
    was_answered = received or entry.sequence in answered
    return Purchase(entry.sequence, entry.at, epsilon, delta, body["note"], was_answered, body["analyst"], received)


def _plain(one: Purchase) -> dict[str, Any]:
    return asdict(one) | {"epsilon": math.inf if one.epsilon is None else float(one.epsilon), "delta": float(one.delta)}
