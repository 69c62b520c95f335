"""Leases: which questions and requests are being answered, and which budget is reserved for requests of several steps.

A lease lasts while its holder renews it. Privacy does not depend on leases: debits are made and kept by the chain alone. If a clock is
wrong, a question may be paid for twice, or a request may be refused halfway.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import TypeAlias, final

from attrs import evolve, frozen

from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger import chain
from discreet.ledger.standing import Standing
from discreet.ledger.storage import Lease, Storage
from discreet.loss.charge import Charge

Charged: TypeAlias = Callable[[Standing, Charge, str | None], Standing]

LASTS = 20.0  # seconds after a renewal
_QUESTION, _REQUEST, _RESERVATION = "question ", "request ", "order "  # prefixes of stored names


@final
class Held(Enum):
    """Why a question is not answered now: it has a release, somebody else is answering it, or all its draws were paid for."""

    ANSWERED = auto()
    BUSY = auto()
    SPENT = auto()


def of_question(question: str) -> str:
    """The name of the lease on a question."""
    return _QUESTION + question


def live(storage: Storage, name: str | None = None) -> list[Lease]:
    """The leases that have not expired: all of them, or the one of this name."""
    now = storage.clock()
    # a lease that ends later than any renewal allows was written before the clock was set back
    return [lease for lease in storage.leases() if name in (None, lease.name) and now < lease.expires <= now + 2 * LASTS]


def prune(storage: Storage) -> None:
    """Delete expired leases."""
    alive = {lease.name for lease in live(storage)}
    for lease in storage.leases():
        if lease.name not in alive:
            storage.drop_lease(lease.name)


def take(storage: Storage, question: str, holder: str) -> None:
    """Take the lease on a question that has none."""
    storage.lease(Lease(of_question(question), holder, storage.clock() + LASTS))


def take_turn(storage: Storage, request: str, holder: str) -> bool:
    """Take the lease on a request of several steps, each of which has its own question; False if somebody holds it."""
    if live(storage, _REQUEST + request):
        return False
    storage.lease(Lease(_REQUEST + request, holder, storage.clock() + LASTS))
    return True


def renew(storage: Storage, holder: str) -> None:
    """Extend the leases of a holder; expired ones stay expired."""
    for lease in live(storage):
        if lease.holder == holder:
            storage.lease(evolve(lease, expires=storage.clock() + LASTS))


def drop(storage: Storage, holder: str) -> None:
    """Delete the leases of a holder."""
    for lease in storage.leases():
        if lease.holder == holder:
            storage.drop_lease(lease.name)


# ── reservations ─────────────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen
class Reservation:
    """Budget reserved for a request of several steps: the rest of its price, and the whole, for which the δ of a fresh budget is split."""

    lease: Lease
    rest: Charge
    whole: Charge


def split_for(standing: Standing, first: Reservation | Charge | None) -> Charge | None:
    """The charge for which the δ of a fresh budget is split: that of the first request. None if analysts share the budget."""
    if first is None or standing.analysts or not standing.whole.filter.fresh:
        return None
    return first if isinstance(first, Charge) else first.whole


def put(storage: Storage, holder: str, analyst: str | None, whole: Charge) -> str:
    """Reserve a charge under a new name."""
    name, price = _RESERVATION + holder, whole.to_json()
    storage.lease(Lease(name, holder, storage.clock() + LASTS, analyst, chain.write({"rest": price, "whole": price})))
    return name


def reservations(storage: Storage) -> list[Reservation]:
    """The current reservations; a lease that cannot be parsed reserves nothing."""
    found = []
    for lease in live(storage):
        if lease.charge is not None:
            with suppress(Invalid, ValueError, TypeError, KeyError, RecursionError):
                stored = json.loads(lease.charge)
                found.append(Reservation(lease, Charge.from_json(stored["rest"]), Charge.from_json(stored["whole"])))
    return found


def use(storage: Storage, mine: Reservation | None, charge: Charge) -> None:
    """Subtract the charge of a step from its reservation."""
    if mine is not None:
        left = {"rest": mine.rest.minus(charge).to_json(), "whole": mine.whole.to_json()}
        storage.lease(evolve(mine.lease, charge=chain.write(left)))


def require_beside(others: Sequence[Reservation], standing: Standing, charge: Charge, analyst: str | None, charged: Charged) -> None:
    """Raise BudgetExceeded if the budget admits a charge, but not together with the reservations of others.

    `charged` gives the accounts after a charge. A reservation that no longer fits by itself is ignored.
    """
    for other in others:
        with suppress(BudgetExceeded, Invalid):
            standing = charged(standing, other.rest, other.lease.analyst)
    try:
        charged(standing, charge, analyst)
    except BudgetExceeded:
        raise BudgetExceeded(
            "the rest of the budget is reserved for a request that is running: ask again when it has finished. Nothing was charged."
        ) from None
