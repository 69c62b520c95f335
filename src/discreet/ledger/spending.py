"""Spend and reserve inside a block of the only writer: what a spend records, and whether the budget admits it beside reservations."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from discreet.ledger import leases
from discreet.ledger.chain import Entry, required_text, writable
from discreet.ledger.leases import Held
from discreet.ledger.storage import Storage
from discreet.ledger.terms import Terms
from discreet.ledger.verified import VerifiedChain
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.loss import Loss


def spend_body(loss: Loss, terms: Terms, question: str, key: str | None, note: str, analyst: str | None) -> dict[str, Any]:
    """What the entry of a spend says; `charge` adds for which request δ is split."""
    with writable():
        charge = Charge.of(loss, pure=terms.delta == 0)
        return {
            "question": required_text(question, "question"),
            "key": None if key is None else required_text(key, "key"),
            "note": required_text(note, "note", least=0),
            "analyst": None if analyst is None else required_text(analyst, "analyst"),
            "loss": record.to_json(loss),
            "charge": charge.to_json(),
            "whole": None,
        }


def charge(chain: VerifiedChain, body: dict[str, Any], reservation: str | None) -> Entry:
    """Append a spend that the budget admits together with the reservations of others; inside `writing`."""
    price, analyst, standing = Charge.from_json(body["charge"]), body["analyst"], chain.history.standing
    standing.require(analyst)
    leases.prune(chain.storage)
    reserved = leases.reservations(chain.storage)
    mine = next((one for one in reserved if one.lease.name == reservation), None)
    whole = leases.split_for(standing, mine or next(iter(reserved), None))
    standing.after(price, analyst, whole)  # BudgetExceeded if it does not fit even alone
    leases.require_beside([one for one in reserved if one is not mine], standing, price, analyst, _spent_for(whole))
    entry = chain.append("spend", body | {"whole": None if whole is None else whole.to_json()})
    leases.use(chain.storage, mine, price)
    return entry


def taken(storage: Storage, question: str, ever: int) -> Held | str | None:
    """Why a question cannot be answered now; or the key to pay under."""
    if storage.first_release(question) is not None:
        return Held.ANSWERED
    if leases.live(storage, leases.of_question(question)):
        return Held.BUSY
    keys = [f"{question}#{draw}" for draw in range(ever)]
    free = next((key for key in keys if storage.spend_under(key) is None), None)
    return Held.SPENT if ever and free is None else free


def charges_of(losses: Sequence[Loss], terms: Terms) -> list[Charge]:
    """The charges of several losses under these terms."""
    with writable():
        return [Charge.of(loss, pure=terms.delta == 0) for loss in losses]


def reserve(chain: VerifiedChain, charges: Sequence[Charge], holder: str, analyst: str | None) -> str:
    """Reserve these charges together, if the budget admits them beside other reservations; inside `writing`."""
    standing, total = chain.history.standing, functools.reduce(Charge.plus, charges)
    standing.require(analyst)
    leases.prune(chain.storage)
    others = leases.reservations(chain.storage)
    whole = leases.split_for(standing, others[0] if others else total)
    after = standing
    for one in charges:
        after = after.after(one, analyst, whole)
    leases.require_beside(others, standing, total, analyst, _spent_for(whole))
    return leases.put(chain.storage, holder, analyst, total)


def _spent_for(whole: Charge | None) -> leases.Charged:
    return lambda standing, price, analyst: standing.after(price, analyst, whole)
