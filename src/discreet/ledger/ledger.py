"""The ledger: pay first, store every release, never refund."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

from discreet.address import is_address
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.extras import require
from discreet.ledger import grants, leases, receiving, spending
from discreet.ledger.chain import Entry
from discreet.ledger.fork import fork_safe_lock
from discreet.ledger.history import History, untrusted
from discreet.ledger.leases import Held
from discreet.ledger.report import Report
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.standing import Allowance, Amount, Standing
from discreet.ledger.storage import Storage
from discreet.ledger.terms import Terms
from discreet.ledger.verified import VerifiedChain
from discreet.ledger.witness import Witness
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss


@final
class Ledger:
    """Spend a budget durably, once for each question, whoever asks and whatever crashes.

    `verified.py` says what is verified when. An answer may be shown once `spend` and, for a release, `store` or `find` have returned: they
    return only what is durable and witnessed.

    A key pays once. A second claim of it returns the first spend, on which no noise may be drawn: wait for its release, or pay under
    another key. Show the analyst what `store` returns, not what was passed to it.

    >>> from discreet.loss.leaves import Pure
    >>> ledger = open_ledger(":memory:", Terms(1, 0, "patient_id"))
    >>> paid = ledger.spend(Pure(0.1), question="how many visits?")
    >>> ledger.store(paid, {"visits": 42}).body["release"], ledger.find("how many visits?")
    ({'visits': 42}, {'visits': 42})
    >>> ledger.spent, ledger.remaining
    (Amount(epsilon=0.1, delta=0), Amount(epsilon=0.9, delta=0))
    """

    def __init__(self, storage: Storage, terms: Terms | None, witness: Witness | None = None) -> None:
        self._lock = fork_safe_lock()
        with self._lock:
            self._chain = VerifiedChain(storage, terms, witness)

    # ── paying and storing ───────────────────────────────────────────────────────────────────────────────────────────

    def spend(self, loss: Loss, *, question: str, key: str | None = None, note: str = "", analyst: str | None = None) -> Entry:
        """Charge a loss durably and return the entry that proves it; or raise BudgetExceeded and charge nothing.

        If this raises LedgerError, the loss may have been charged, and nothing may be released. `question` identifies what is asked (its
        digest), `key` the request; `note` is for people. `analyst` is one with a grant, or "owner"; None if there are no grants.
        """
        return self.claim(loss, question=question, key=key, note=note, analyst=analyst)[0]

    def claim(
        self, loss: Loss, *, question: str, key: str | None = None, note: str = "", analyst: str | None = None,
        reservation: str | None = None,
    ) -> tuple[Entry, bool]:  # fmt: skip
        """Spend, and return whether this call paid. Only the call that paid may draw noise: a second draw on one payment would be free, and
        could be seen in an error even if it is never stored. `reservation` names the reservation of which this is a step."""
        body = spending.spend_body(loss, self.terms, question, key, note, analyst)
        self._begin_period(analyst)
        with self._lock:
            with self._chain.writing():
                known = None if key is None else self._chain.trusted(self._storage.spend_under(key))
                entry = self._charge(body, reservation) if known is None else known
            self._chain.confirm(entry)
        if known is not None and any(entry.body[name] != body[name] for name in ("question", "loss")):
            raise Invalid("this key was used for another question or another price: use a new key")
        return entry, known is None

    def start(
        self, loss: Loss, *, question: str, holder: str, note: str = "", analyst: str | None = None, reservation: str | None = None,
        ever: int = 0,
    ) -> Entry | Held:  # fmt: skip
        """Pay for one draw and take the lease on its question; or return why not, and charge nothing.

        Held.ANSWERED: there is a release. Held.BUSY: somebody who has paid is answering it. Held.SPENT: the question may be drawn at most
        `ever` times (0: no limit), and all draws were paid for without a stored release.
        """
        self._begin_period(analyst)
        with self._lock:
            with self._chain.writing():
                taken = spending.taken(self._storage, question, ever)
                if isinstance(taken, Held):
                    return taken
                body = spending.spend_body(loss, self.terms, question, taken, note, analyst)
                entry = self._charge(body, reservation)
                leases.take(self._storage, question, holder)
            self._chain.confirm(entry)
        return entry

    def _charge(self, body: dict[str, Any], reservation: str | None) -> Entry:
        return spending.charge(self._chain, body, reservation)

    def reserve(self, losses: Sequence[Loss], *, holder: str, analyst: str | None = None) -> str:
        """Reserve budget for all steps of a request, so that none is refused for its price; or raise BudgetExceeded and reserve nothing.

        Return the name of the reservation. Each step is charged when it runs; the reservation lapses with its lease.
        """
        charges = spending.charges_of(losses, self.terms)
        self._begin_period(analyst)
        with self._lock, self._chain.writing():
            return spending.reserve(self._chain, charges, holder, analyst)

    def take_turn(self, request: str, holder: str) -> bool:
        """Take the lease on a request of several steps; False if somebody else holds it, and is paying for these steps now."""
        with self._lock, self._storage.writing():
            return leases.take_turn(self._storage, request, holder)

    def renew(self, holder: str) -> None:
        """Extend the leases of a holder."""
        with self._lock, self._storage.writing():
            leases.renew(self._storage, holder)

    def drop_leases(self, holder: str) -> None:
        """Drop the leases of a holder, so that others need not wait."""
        with self._lock, self._storage.writing():
            leases.drop(self._storage, holder)

    def grant(self, analyst: str, epsilon: Number, delta: Number = 0, every: str | None = None) -> Entry:
        """Limit what an analyst may spend of the budget in total, including what was spent. The same limit again changes nothing.

        With `every="week"` or "month" the limit is for each period: the account begins anew with the first spend in a later one, and what
        was not spent lapses. Each renewal is an entry. The budget of the data set is never renewed and limits all periods together.

        After the first grant, every spend names its analyst. Grants may add up to more than the budget of the data set, which limits all
        analysts together. By itself a grant limits new questions, not what may be read: stored answers are available to every
        analyst, unless she is charged for them by `receive`, as `Payments(…, per_account=True)` does.
        """
        with self._lock:
            return grants.grant(self._chain, analyst, epsilon, delta, every)

    def revoke(self, analyst: str) -> Entry:
        """Take back the budget of an analyst: nothing more can be spent from it. What was spent counts if she is granted another."""
        with self._lock:
            return grants.revoke(self._chain, analyst)

    def _begin_period(self, analyst: str | None) -> None:
        with self._lock:
            grants.begin_period(self._chain, analyst)

    def store(self, spend: Entry, release: dict[str, Any], holder: str | None = None) -> Entry | None:
        """Store the release that a spend paid for, durably; if it already has one, return that: only the first is ever shown.

        None if the holder's lease expired and somebody else took it: then this release must not be shown, and its debit stays.
        """
        with self._lock:
            with self._chain.writing():
                self._require_spend(spend)
                known, question = self._chain.trusted(self._storage.release_for(spend.sequence)), spend.body["question"]
                if known is None and holder is not None and self._is_overtaken(question, holder):
                    return None
                if known is None:
                    known = self._chain.append("release", {"spend": spend.sequence, "question": question, "release": release})
                if holder is not None:
                    leases.drop(self._storage, holder)
            self._chain.confirm(known)
        return known

    def _is_overtaken(self, question: str, holder: str) -> bool:
        """Whether somebody else has taken over the question, and is answering or has answered it."""
        others = leases.live(self._storage, leases.of_question(question))
        return bool(others and others[0].holder != holder) or self._storage.first_release(question) is not None

    def find(self, question: str) -> dict[str, Any] | None:
        """The release of this question, if there is one; the first if it was paid for more than once."""
        with self._reading():
            return self._release(self._storage.first_release(question), question)

    def paid_for(self, question: str) -> Entry | None:
        """The spend that paid for the release that `find` returns, if there is one."""
        with self._reading():
            return receiving.paid_for(self._chain, question)

    def receive(self, question: str, analyst: str | None, *, note: str = "", reservation: str | None = None) -> Entry | None:
        """Charge an analyst for receiving the release that `find` returns, and return the entry; the data set has paid for it.

        None if nothing is to be charged: she paid for it or received it before, or it is the owner or nobody (None) who asks. Raise
        BudgetExceeded, about her own budget alone, and charge nothing, if that does not admit it; Invalid if there is no release. `note` is
        the question in her words; `reservation` names the reservation of which this is a step.
        """
        with self._lock:
            return receiving.receive(self._chain, question, analyst, note, reservation)

    def has_received(self, question: str, analyst: str | None) -> bool:
        """Whether there is a release of this question that `receive` would not charge this analyst for."""
        with self._reading():
            return receiving.is_charged(self._chain, question, analyst)

    def release_of(self, spend: Entry) -> dict[str, Any] | None:
        """The release that this spend paid for, if there is one."""
        with self._reading():
            self._require_spend(spend)
            return self._release(self._storage.release_for(spend.sequence), spend.body["question"])

    def spend_of(self, key: str) -> Entry | None:
        """The spend under this key, if there is one."""
        with self._reading():
            return self._chain.trusted(self._storage.spend_under(key))

    def pending(self) -> list[Entry]:
        """The spends without a release: still running, crashed, or refused after paying. They stay spent."""
        with self._reading():
            return [entry for entry in map(self._chain.trusted, self._storage.unanswered()) if entry is not None]

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def terms(self) -> Terms:
        """The terms of this ledger."""
        return self._chain.terms

    @property
    def filter(self) -> Filter:
        """The current filter of the data set; other processes may spend from it at any time."""
        with self._reading():
            return self._history.standing.whole.filter

    @property
    def spent(self) -> Amount:
        """The total charged to the data set; never more than the budget."""
        return self.allowance().spent

    @property
    def remaining(self) -> Amount:
        """The largest single further question that the budget of the data set admits."""
        return self.allowance().remaining

    def allowance(self, analyst: str | None = None) -> Allowance:
        """What an analyst was granted, has spent and may still spend; for None and "owner", those of the whole budget."""
        with self._reading():
            return self._current.allowance(analyst)

    def analysts(self) -> dict[str, Allowance]:
        """The allowance of every analyst with a grant, in the order of first grants."""
        with self._reading():
            standing = self._current
            return {name: standing.allowance(name) for name in standing.analysts}

    def has_grant(self, analyst: str) -> bool:
        """Whether an analyst has a budget that was not taken back, as far as this process has read; only if not, it reads again."""
        if analyst in self._history.standing.analysts:
            return True  # what is spent is checked when it is charged
        with self._reading():
            return analyst in self._history.standing.analysts

    @property
    def length(self) -> int:
        """The number of entries."""
        with self._reading():
            return self._history.length

    def entry(self, sequence: int) -> Entry:
        """One entry; Invalid if there is none with this sequence."""
        with self._reading():
            if not 0 <= sequence < self._history.length:
                raise Invalid("this ledger has no such entry: give a sequence below its length")
            return self._chain.entry(sequence)

    def entries(self) -> list[Entry]:
        """Every entry, oldest first."""
        with self._reading():
            return self._chain.entries()

    def verify(self) -> Report:
        """Read the whole ledger and its whole witness; raise LedgerError if anything was changed."""
        return self._chain.verify(self._lock)

    def close(self) -> None:
        """Close the connection; it is opened again when needed. A ledger in memory stays."""
        with self._lock:
            self._storage.close()

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _storage(self) -> Storage:
        return self._chain.storage

    @property
    def _history(self) -> History:
        return self._chain.history

    @property
    def _current(self) -> Standing:
        """The accounts as a spend would find them now; inside a block."""
        standing = self._history.standing
        return standing.at(self._storage.clock()) if standing.renews else standing

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, self._chain.reading():
            yield

    def _release(self, entry: Entry | None, question: str) -> dict[str, Any] | None:
        if self._chain.trusted(entry) is None or entry is None:
            return None
        body = entry.body
        if entry.kind != "release" or body["question"] != question:
            raise untrusted(f"entry {entry.sequence} is not valid at its place")
        self._chain.attest(entry.sequence)
        release: dict[str, Any] = body["release"]
        return release

    def _require_spend(self, entry: Entry) -> None:
        if entry.kind != "spend" or not 0 <= entry.sequence < self._history.length or self._chain.entry(entry.sequence) != entry:
            raise Invalid("this is not a spend of this ledger: pass what `spend` returned")


def open_ledger(place: str | os.PathLike[str], terms: Terms | None = None, witness: str | os.PathLike[str] | None = None) -> Ledger:
    """Open or create a ledger in a file, in memory (":memory:") or in a database; without terms, open an existing one.

    A database is shared by many hosts: postgresql://host/database?ledger=clinic names one of its ledgers. All entries after the newest
    checkpoint are verified: seals, order, replayed budgets, state, witness. A ledger created with a witness always needs it.
    """
    return Ledger(_storage(os.fspath(place), create=terms is not None), terms, None if witness is None else Witness(os.fspath(witness)))


def _storage(place: str, *, create: bool) -> Storage:
    if not is_address(place):
        return SqliteStorage(place, create=create)
    require("psycopg")
    from discreet.ledger.postgres import PostgresStorage

    return PostgresStorage(place, create=create)
