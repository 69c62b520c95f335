"""Grant analysts parts of the budget, take them back, and renew those that are for a week or a month; each is an entry of the chain."""

from __future__ import annotations

from typing import Any

from discreet.errors import BudgetExceeded, Invalid
from discreet.exact import Number, short
from discreet.ledger.chain import Entry, writable
from discreet.ledger.periods import Period
from discreet.ledger.standing import OWNER, Account, analyst_name
from discreet.ledger.verified import VerifiedChain

# The clock is that of the storage. A period counts only if it is later than the newest that was recorded, so that a clock that is set back
# renews nothing, and one that is set forward renews once, and then not until the time has passed the period that it recorded. Whatever
# the clock, an account never holds more than one period's budget, and the budget of the data set limits all of them together.


def grant(chain: VerifiedChain, analyst: str, epsilon: Number, delta: Number, every: str | None) -> Entry:
    """Limit what an analyst may spend, in all or in each period; the same limit again changes nothing."""
    with writable():
        part, name = chain.terms.part(epsilon, delta), analyst_name(analyst)
        body: dict[str, Any] = {"analyst": name, "epsilon": short(part.epsilon), "delta": short(part.delta)}
    with chain.writing():
        known = chain.history.grants.get(name)
        entry = None if known is None else chain.entry(known)
        body |= {} if every is None else _newest(chain, name, every).to_json()
        if entry is None or entry.body | {"period": None} != body | {"period": None}:
            entry = _append(chain, body)
    chain.confirm(entry)
    return entry


def revoke(chain: VerifiedChain, analyst: str) -> Entry:
    """Take back the budget of an analyst; what was spent stays spent. Invalid if she has none."""
    name = analyst_name(analyst)
    with chain.writing():
        chain.history.standing.revoked(name)
        entry = chain.append("grant", {"analyst": name, "revoked": True})
    chain.confirm(entry)
    return entry


def _append(chain: VerifiedChain, body: dict[str, Any]) -> Entry:
    try:
        return chain.append("grant", body)
    except BudgetExceeded:
        raise Invalid(f"{body['analyst']} has already spent more than this: grant at least what was spent") from None


def _newest(chain: VerifiedChain, analyst: str, every: str) -> Period:
    """The current period, or the newest that was recorded for this analyst, whichever is later."""
    now = Period.at(every, chain.storage.clock())
    standing = chain.history.standing
    account = standing.analysts.get(analyst) or standing.taken_back.get(analyst)
    last = None if account is None else account.period
    if last is not None and last.every != every:
        last = last.as_every(every)
    return now if last is None or last.index < now.index else last


def begin_period(chain: VerifiedChain, analyst: str | None) -> None:
    """Renew the budget of an analyst, if a later period than the recorded one has begun.

    The renewal is durable before anything is spent from it. Of several processes, the first records it and the others find it.
    """
    if analyst in (None, OWNER):
        return
    with chain.reading():
        if _due(chain, analyst) is None:
            return
    with chain.writing():
        renewal = _due(chain, analyst)
        if renewal is None:
            return
        entry = chain.append("grant", renewal)
    chain.confirm(entry)


def _due(chain: VerifiedChain, analyst: str | None) -> dict[str, Any] | None:
    """The entry that renews the budget of an analyst, if it is due."""
    account: Account | None = None if analyst is None else chain.history.standing.analysts.get(analyst)
    due = None if account is None or account.period is None else account.due(chain.storage.clock())
    if account is None or due is None:
        return None
    return {"analyst": analyst, "epsilon": short(account.filter.epsilon), "delta": short(account.filter.delta)} | due.to_json()
