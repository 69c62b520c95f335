"""The ledger: pay first, remember every release, never refund."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

from discreet.address import is_address
from discreet.errors import BudgetExceeded, Invalid
from discreet.exact import Number, short
from discreet.extras import require
from discreet.ledger import leases
from discreet.ledger.chain import BEFORE_ALL, Entry, brief, required_text
from discreet.ledger.fork import fork_safe_lock
from discreet.ledger.history import History, distrust
from discreet.ledger.leases import Held
from discreet.ledger.report import Report
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.standing import Allowance, Amount, analyst_name
from discreet.ledger.storage import Storage
from discreet.ledger.terms import Terms
from discreet.ledger.verified import VerifiedChain
from discreet.ledger.witness import Witness
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss


@final
class Ledger:
    """Spend a budget durably, once for each question, whoever asks and whatever crashes.

    What is verified when is said in `verified.py`. An answer may be given once `spend` and, for a release, `store` or `find` have returned:
    all of them return only what is durable and witnessed.

    A key pays once. Whoever claims it again gets the first spend back and must not draw noise on it: wait for its release, or pay under
    another key. Give the analyst what `store` returns, not what was brought to it.

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

    # ── paying and remembering ───────────────────────────────────────────────────────────────────────────────────────

    def spend(self, loss: Loss, *, question: str, key: str | None = None, note: str = "", analyst: str | None = None) -> Entry:
        """Charge a loss, durably, and give the entry that proves it; or raise BudgetExceeded and charge nothing.

        If this raises LedgerError the charge may stand, and nothing may be answered. `question` names what is asked (its digest), `key`
        the request, `note` is for people. `analyst` is who asks: one who was granted a budget, or "owner"; None if there are no grants.
        """
        return self.claim(loss, question=question, key=key, note=note, analyst=analyst)[0]

    def claim(
        self, loss: Loss, *, question: str, key: str | None = None, note: str = "", analyst: str | None = None, order: str | None = None
    ) -> tuple[Entry, bool]:
        """Spend, and say whether this very call paid. Only who paid may draw noise: a second draw on one payment would be a free one, even
        if it is never stored, for it may show in an error. `order` names the reservation that this is a step of."""
        body = self._spend_body(loss, question, key, note, analyst)
        with self._lock:
            with self._chain.writing():
                known = None if key is None else self._chain.trusted(self._storage.spend_under(key))
                entry = self._charge(body, order) if known is None else known
            self._chain.settle(entry)
        if known is not None and any(entry.body[name] != body[name] for name in ("question", "loss")):
            raise Invalid("this key was used for another question or another price: use a new key")
        return entry, known is None

    def start(
        self, loss: Loss, *, question: str, holder: str, note: str = "", analyst: str | None = None, order: str | None = None, ever: int = 0
    ) -> Entry | Held:
        """Pay for a draw and take the lease on its question; or say why not, and charge nothing.

        Held.ANSWERED: there is a release. Held.BUSY: somebody else who paid is at it. Held.SPENT: of a question that may be drawn `ever` so
        many times (0 for no limit) all draws were paid for, and none was stored.
        """
        with self._lock:
            with self._chain.writing():
                taken = self._taken(question, ever)
                if isinstance(taken, Held):
                    return taken
                entry = self._charge(self._spend_body(loss, question, taken, note, analyst), order)
                leases.take(self._storage, question, holder)
            self._chain.settle(entry)
        return entry

    def _taken(self, question: str, ever: int) -> Held | str | None:
        """Why a question may not be drawn now; or the key to pay under."""
        if self._storage.first_release(question) is not None:
            return Held.ANSWERED
        if leases.live(self._storage, leases.of_question(question)):
            return Held.BUSY
        keys = [f"{question}#{draw}" for draw in range(ever)]
        free = next((key for key in keys if self._storage.spend_under(key) is None), None)
        return Held.SPENT if ever and free is None else free

    def _spend_body(self, loss: Loss, question: str, key: str | None, note: str, analyst: str | None) -> dict[str, Any]:
        with brief():
            charge = Charge.of(loss, pure=self.terms.delta == 0)
            return {
                "question": required_text(question, "question"),
                "key": None if key is None else required_text(key, "key"),
                "note": required_text(note, "note", least=0),
                "analyst": None if analyst is None else required_text(analyst, "analyst"),
                "loss": record.to_json(loss),
                "charge": charge.to_json(),
                "whole": None,
            }

    def _charge(self, body: dict[str, Any], order: str | None) -> Entry:
        """Append a spend that the budget admits beside what is reserved for others; inside `writing`."""
        charge, analyst, standing = Charge.from_json(body["charge"]), body["analyst"], self._history.standing
        standing.require(analyst)
        leases.prune(self._storage)
        reserved = leases.reservations(self._storage)
        mine = next((one for one in reserved if one.lease.name == order), None)
        whole = leases.split_for(standing, mine or next(iter(reserved), None))
        standing.after(charge, analyst, whole)  # whether it fits at all
        leases.require_beside([one for one in reserved if one is not mine], standing, charge, analyst, whole)
        entry = self._chain.append("spend", body | {"whole": None if whole is None else whole.to_json()})
        leases.use(self._storage, mine, charge)
        return entry

    def reserve(self, losses: Sequence[Loss], *, holder: str, analyst: str | None = None) -> str:
        """Hold budget for all steps of an order, so that none of them is refused for its price; or BudgetExceeded, and nothing is held.

        What is given is the name of the order. A step is charged as it is taken; what is reserved lapses when its lease does.
        """
        with brief():
            charges = [Charge.of(loss, pure=self.terms.delta == 0) for loss in losses]
            total = functools.reduce(Charge.plus, charges)
        with self._lock, self._chain.writing():
            standing = self._history.standing
            standing.require(analyst)
            leases.prune(self._storage)
            others = leases.reservations(self._storage)
            whole = leases.split_for(standing, others[0] if others else total)
            after = standing
            for charge in charges:
                after = after.after(charge, analyst, whole)
            leases.require_beside(others, standing, total, analyst, whole)
            return leases.put(self._storage, holder, analyst, total)

    def renew(self, holder: str) -> None:
        """Keep the leases of a holder alive."""
        with self._lock, self._storage.writing():
            leases.renew(self._storage, holder)

    def let_go(self, holder: str) -> None:
        """Give up the leases of a holder: the next who asks need not wait."""
        with self._lock, self._storage.writing():
            leases.drop(self._storage, holder)

    def grant(self, analyst: str, epsilon: Number, delta: Number = 0) -> Entry:
        """Let an analyst spend so much of the data set's budget, in all; what she has spent counts. The same limit again changes nothing.

        From the first grant on, whoever spends says who it is. What is granted may add up to more than there is: the data set's ceiling
        holds for all together. A limit is a share of what may be asked for, not of what may be seen: stored answers are everybody's.
        """
        with brief():
            part, name = self.terms.part(epsilon, delta), analyst_name(analyst)
            body = {"analyst": name, "epsilon": short(part.epsilon), "delta": short(part.delta)}
        with self._lock:
            with self._chain.writing():
                known = self._history.grants.get(name)
                entry = None if known is None else self._chain.entry(known)
                if entry is None or entry.body != body:
                    entry = self._regrant(body)
            self._chain.settle(entry)
        return entry

    def _regrant(self, body: dict[str, Any]) -> Entry:
        try:
            return self._chain.append("grant", body)
        except BudgetExceeded:
            raise Invalid(f"{body['analyst']} has spent more than this already: grant at least what was spent") from None

    def store(self, spend: Entry, release: dict[str, Any], holder: str | None = None) -> Entry | None:
        """Remember the release that a spend paid for, durably; if it has one already, give that: only the first is ever shown.

        None if the holder's lease ran out and somebody else took it: then this release must not be shown, and its debit stays.
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
            self._chain.settle(known)
        return known

    def _is_overtaken(self, question: str, holder: str) -> bool:
        """Whether somebody else took over a question, and is at it or has answered it."""
        others = leases.live(self._storage, leases.of_question(question))
        return bool(others and others[0].holder != holder) or self._storage.first_release(question) is not None

    def find(self, question: str) -> dict[str, Any] | None:
        """The release of this very question, if there is one; the first if it was paid for more than once."""
        with self._reading():
            return self._release(self._storage.first_release(question), question)

    def release_of(self, spend: Entry) -> dict[str, Any] | None:
        """The release that this spend paid for, if it came so far."""
        with self._reading():
            self._require_spend(spend)
            return self._release(self._storage.release_for(spend.sequence), spend.body["question"])

    def spend_of(self, key: str) -> Entry | None:
        """The spend under this key, if there is one."""
        with self._reading():
            return self._chain.trusted(self._storage.spend_under(key))

    def pending(self) -> list[Entry]:
        """The spends without a release: still at work, crashed, or refused after paying. They stay spent."""
        with self._reading():
            return [entry for entry in map(self._chain.trusted, self._storage.unanswered()) if entry is not None]

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def terms(self) -> Terms:
        """What this account promises."""
        return self._chain.terms

    @property
    def filter(self) -> Filter:
        """The data set's live filter; other processes may spend from it at any time."""
        with self._reading():
            return self._history.standing.whole.filter

    @property
    def spent(self) -> Amount:
        """What was charged to the data set in all; never more than the budget."""
        return self.allowance().spent

    @property
    def remaining(self) -> Amount:
        """The largest single further question that the data set's budget still admits."""
        return self.allowance().remaining

    def allowance(self, analyst: str | None = None) -> Allowance:
        """What an analyst was granted, has spent and may still spend; of the whole budget, if nobody or "owner" is named."""
        with self._reading():
            return self._history.standing.allowance(analyst)

    def analysts(self) -> dict[str, Allowance]:
        """The allowance of everybody who was granted one, in the order of the first grants."""
        with self._reading():
            standing = self._history.standing
            return {name: standing.allowance(name) for name in standing.analysts}

    @property
    def length(self) -> int:
        """How many entries there are."""
        with self._reading():
            return self._history.length

    def entry(self, sequence: int) -> Entry:
        """One entry; Invalid if there is none of this number."""
        with self._reading():
            if not 0 <= sequence < self._history.length:
                raise Invalid("there is no such entry in this ledger")
            return self._chain.entry(sequence)

    def entries(self) -> list[Entry]:
        """Every entry, oldest first."""
        with self._reading():
            found = list(self._storage.entries(0, self._history.length))
            heads = [BEFORE_ALL, *(entry.hash for entry in found)]
            chained = all(entry.sound and entry.previous == head for entry, head in zip(found, heads, strict=False))
            if not chained or len(found) != self._history.length or heads[-1] != self._history.head:
                raise distrust("an entry that was there is gone or changed")
            return found

    def verify(self) -> Report:
        """Read the whole ledger and all of its witness anew; raise LedgerError if anything is not as it was written."""
        return self._chain.verify(self._lock)

    def close(self) -> None:
        """Give back the connection; it opens again when needed. A ledger in memory stays."""
        with self._lock:
            self._storage.close()

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _storage(self) -> Storage:
        return self._chain.storage

    @property
    def _history(self) -> History:
        return self._chain.history

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, self._chain.reading():
            yield

    def _release(self, entry: Entry | None, question: str) -> dict[str, Any] | None:
        if self._chain.trusted(entry) is None or entry is None:
            return None
        body = entry.body
        if entry.kind != "release" or body["question"] != question:
            raise distrust(f"entry {entry.sequence} cannot stand where it stands")
        self._chain.attest(entry.sequence)
        release: dict[str, Any] = body["release"]
        return release

    def _require_spend(self, entry: Entry) -> None:
        if entry.kind != "spend" or not 0 <= entry.sequence < self._history.length or self._chain.entry(entry.sequence) != entry:
            raise Invalid("this is not a spend of this ledger: give what `spend` returned")


def open_ledger(place: str | os.PathLike[str], terms: Terms | None = None, witness: str | os.PathLike[str] | None = None) -> Ledger:
    """Open or begin a ledger in a file, in memory (":memory:") or in a database; without terms, one that exists, as it stands.

    A database is shared by many hosts: postgresql://host/database?ledger=clinic names one of its ledgers. What follows its newest
    checkpoint is verified: seals, order, the replayed budgets, the state, the witness. A ledger begun with a witness needs it always.
    """
    return Ledger(_storage(os.fspath(place), create=terms is not None), terms, None if witness is None else Witness(os.fspath(witness)))


def _storage(place: str, *, create: bool) -> Storage:
    if not is_address(place):
        return SqliteStorage(place, create=create)
    require("psycopg")
    from discreet.ledger.postgres import PostgresStorage

    return PostgresStorage(place, create=create)
