"""Receive what somebody else paid for: the analyst's own account is charged, once, and the data set's is not.

The data set pays for a question once, whoever asks it. What one analyst learns is limited by her own budget only if she is charged for
every answer that she gets, also where it was already stored. So an entry "receive" names the spend whose release is received, and charges
the same to her account. It is durable and witnessed before the answer may be shown.
"""

from __future__ import annotations

from discreet.errors import Invalid
from discreet.ledger import leases
from discreet.ledger.chain import Entry, required_text, writable
from discreet.ledger.grants import begin_period
from discreet.ledger.history import untrusted
from discreet.ledger.standing import OWNER
from discreet.ledger.verified import VerifiedChain
from discreet.loss.charge import Charge


def paid_for(chain: VerifiedChain, question: str) -> Entry | None:
    """The spend that paid for the first release of a question; inside a block."""
    release = chain.trusted(chain.storage.first_release(question))
    if release is None:
        return None
    spend = chain.entry(release.body["spend"])
    if spend.kind != "spend" or spend.body["question"] != question:
        raise untrusted(f"entry {spend.sequence} is not valid at its place")
    return spend


def is_charged(chain: VerifiedChain, question: str, analyst: str | None) -> bool:
    """Whether a question has a release for which this analyst need not be charged any more; inside a block.

    So it is if she paid for it or received it, which is then witnessed, and for the owner, who has no account of her own.
    """
    paid = paid_for(chain, question)
    if paid is None:
        return False
    if analyst is None or analyst == OWNER or paid.body["analyst"] == analyst:
        return True
    entry = chain.trusted(chain.storage.received(question, analyst))
    if entry is None:
        return False
    body = entry.body
    if entry.kind != "receive" or (body["question"], body["analyst"]) != (question, analyst):
        raise untrusted(f"entry {entry.sequence} is not valid at its place")
    chain.attest(entry.sequence)
    return True


def receive(chain: VerifiedChain, question: str, analyst: str | None, note: str, reservation: str | None) -> Entry | None:
    """Charge an analyst for the release of a question, unless it was; `reservation` names the reservation of which this is a step."""
    with writable():
        told = required_text(note, "note", least=0)
    begin_period(chain, analyst)
    with chain.writing():
        paid = paid_for(chain, question)
        if paid is None:
            raise Invalid("this question has no answer that could be received: ask it, and pay for it")
        if analyst is None or is_charged(chain, question, analyst):
            return None
        entry = _charge(chain, paid, analyst, told, reservation)
    chain.confirm(entry)
    return entry


def _charge(chain: VerifiedChain, paid: Entry, analyst: str, note: str, reservation: str | None) -> Entry:
    """Append the entry, if her budget admits it together with what is reserved for her other requests."""
    body, standing = paid.body, chain.history.standing
    charge = Charge.from_json(body["charge"])
    standing.after_receiving(charge, analyst)  # BudgetExceeded if it does not fit even alone
    leases.prune(chain.storage)
    reserved = leases.reservations(chain.storage)
    mine = next((one for one in reserved if one.lease.name == reservation), None)
    others = [one for one in reserved if one is not mine and one.lease.analyst == analyst]
    leases.require_beside(others, standing, charge, analyst, lambda before, price, whose: before.after_receiving(price, whose))
    told = {"spend": paid.sequence, "question": body["question"], "note": note, "analyst": analyst, "charge": body["charge"]}
    entry = chain.append("receive", told)
    leases.use(chain.storage, mine, charge)
    return entry
