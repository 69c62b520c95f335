"""Leases: who is at a question, and what is reserved for an order that is under way.

A lease lasts while its holder renews it. No privacy rests on it: a debit is made and kept by the chain alone. If a clock is wrong, a
question may be paid for twice, or an order may be refused in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import final

from attrs import evolve, frozen

from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger import chain
from discreet.ledger.standing import Standing
from discreet.ledger.storage import Lease, Storage
from discreet.loss.charge import Charge

LASTS = 20.0  # seconds from one renewal
_QUESTION, _ORDER = "question ", "order "


@final
class Held(Enum):
    """Why a question is not drawn now."""

    ANSWERED = auto()
    BUSY = auto()
    SPENT = auto()


def of_question(question: str) -> str:
    """The name of the lease on a question."""
    return _QUESTION + question


def live(storage: Storage, name: str | None = None) -> list[Lease]:
    """The leases that have not expired: all of them, or the one of a name."""
    now = storage.clock()
    # one that ends later than any renewal could make it was written before the clock was set back
    return [lease for lease in storage.leases() if name in (None, lease.name) and now < lease.expires <= now + 2 * LASTS]


def prune(storage: Storage) -> None:
    """Forget what has expired."""
    alive = {lease.name for lease in live(storage)}
    for lease in storage.leases():
        if lease.name not in alive:
            storage.drop_lease(lease.name)


def take(storage: Storage, question: str, holder: str) -> None:
    """Lease a question that nobody holds."""
    storage.lease(Lease(of_question(question), holder, storage.clock() + LASTS))


def renew(storage: Storage, holder: str) -> None:
    """Put off the end of a holder's leases; what has expired stays so."""
    for lease in live(storage):
        if lease.holder == holder:
            storage.lease(evolve(lease, expires=storage.clock() + LASTS))


def drop(storage: Storage, holder: str) -> None:
    """Forget a holder's leases."""
    for lease in storage.leases():
        if lease.holder == holder:
            storage.drop_lease(lease.name)


# ── reservations ─────────────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen
class Reservation:
    """What is reserved for an order: the rest of its price, and the whole, for which a fresh budget's δ is split."""

    lease: Lease
    rest: Charge
    whole: Charge


def split_for(standing: Standing, first: Reservation | Charge | None) -> Charge | None:
    """The order for which a fresh budget's δ is split: the first request, whoever takes its first step. Not where analysts share."""
    if first is None or standing.analysts or not standing.whole.filter.fresh:
        return None
    return first if isinstance(first, Charge) else first.whole


def put(storage: Storage, holder: str, analyst: str | None, whole: Charge) -> str:
    """Reserve a charge under a new name."""
    name, price = _ORDER + holder, whole.to_json()
    storage.lease(Lease(name, holder, storage.clock() + LASTS, analyst, chain.write({"rest": price, "whole": price})))
    return name


def reservations(storage: Storage) -> list[Reservation]:
    """What is reserved now; a lease that cannot be read reserves nothing."""
    found = []
    for lease in live(storage):
        if lease.charge is not None:
            with suppress(Invalid, ValueError, TypeError, KeyError, RecursionError):
                said = json.loads(lease.charge)
                found.append(Reservation(lease, Charge.from_json(said["rest"]), Charge.from_json(said["whole"])))
    return found


def use(storage: Storage, mine: Reservation | None, charge: Charge) -> None:
    """Take a step's charge from what is reserved."""
    if mine is not None:
        said = {"rest": mine.rest.minus(charge).to_json(), "whole": mine.whole.to_json()}
        storage.lease(evolve(mine.lease, charge=chain.write(said)))


def require_beside(others: Sequence[Reservation], standing: Standing, charge: Charge, analyst: str | None, whole: Charge | None) -> None:
    """Raise BudgetExceeded if the budget admits a charge, but not beside what is reserved for other orders.

    A reservation that no longer fits by itself holds nothing.
    """
    for other in others:
        with suppress(BudgetExceeded, Invalid):
            standing = standing.after(other.rest, other.lease.analyst, whole)
    try:
        standing.after(charge, analyst, whole)
    except BudgetExceeded:
        raise BudgetExceeded(
            "the rest of the budget is reserved for an order that is under way: ask again when it is done. Nothing was charged."
        ) from None
