"""Leases: who is at a question, and what is reserved for an order that is under way.

A lease lasts while its holder renews it. No privacy rests on it: a debit is made and kept by the chain alone. If a clock is wrong, a
question may be paid for twice, or an order may be refused in the middle.
"""

from __future__ import annotations

import json
from enum import Enum, auto
from typing import final

from attrs import evolve

from discreet.errors import BudgetExceeded
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


def take(storage: Storage, question: str, holder: str) -> None:
    """Lease a question that nobody holds, and forget what has expired."""
    alive = {lease.name for lease in live(storage)}
    for lease in storage.leases():
        if lease.name not in alive:
            storage.drop_lease(lease.name)
    storage.lease(Lease(of_question(question), holder, storage.clock() + LASTS))


def renew(storage: Storage, holder: str) -> None:
    """Put off the end of a holder's leases."""
    for lease in storage.leases():
        if lease.holder == holder:
            storage.lease(evolve(lease, expires=storage.clock() + LASTS))


def drop(storage: Storage, holder: str) -> None:
    """Forget a holder's leases."""
    for lease in storage.leases():
        if lease.holder == holder:
            storage.drop_lease(lease.name)


# ── reservations ─────────────────────────────────────────────────────────────────────────────────────────────────────


def put(storage: Storage, holder: str, analyst: str | None, whole: Charge) -> str:
    """Reserve a charge under a new name."""
    name = _ORDER + holder
    storage.lease(Lease(name, holder, storage.clock() + LASTS, analyst, chain.write(whole.to_json())))
    return name


def reservation(storage: Storage, order: str | None) -> Lease | None:
    """What is still reserved for an order."""
    return next((lease for lease in live(storage, order) if lease.charge is not None), None) if order is not None else None


def use(storage: Storage, reserved: Lease | None, charge: Charge) -> None:
    """Take a step's charge from what is reserved."""
    if reserved is not None and reserved.charge is not None:
        rest = Charge.from_json(json.loads(reserved.charge)).minus(charge)
        storage.lease(evolve(reserved, charge=chain.write(rest.to_json())))


def require_beside_others(storage: Storage, standing: Standing, charge: Charge, analyst: str | None, order: str | None) -> None:
    """Raise BudgetExceeded if the budget admits a charge, but not beside what is reserved for other orders."""
    others = [lease for lease in live(storage) if lease.charge is not None and lease.name != order]
    if not others:
        return
    try:
        for lease in others:
            standing = standing.after(Charge.from_json(json.loads(str(lease.charge))), lease.analyst)
        standing.after(charge, analyst)
    except BudgetExceeded:
        raise BudgetExceeded(
            "the rest of the budget is reserved for an order that is under way: ask again when it is done. Nothing was charged."
        ) from None
