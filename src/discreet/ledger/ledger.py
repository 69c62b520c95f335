"""The ledger: pay first, remember every release, never refund."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from discreet.address import is_address
from discreet.errors import BudgetExceeded, Invalid, LedgerError
from discreet.exact import Number
from discreet.ledger.chain import Entry, Kind, brief, required_text, seal
from discreet.ledger.charge import Charge
from discreet.ledger.fork import fork_safe_lock
from discreet.ledger.history import History, distrust
from discreet.ledger.report import Report
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.standing import Allowance, Amount, analyst_name
from discreet.ledger.storage import Storage
from discreet.ledger.terms import Terms
from discreet.ledger.witness import Witness
from discreet.loss import record
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss


@final
class Ledger:
    """Spend a budget durably, once for each question, whoever asks and whatever crashes.

    Every read and every write first follows the chain from where this process last verified it, so an entry that was changed,
    dropped or put in since is seen before anything is spent on it. An answer may be given once `spend` and, for a release, `store` or
    `find` have returned: all of them return only what is durable and witnessed.

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
        self._storage = storage
        self._witness = witness
        self._history = History()
        self._lock = fork_safe_lock()
        with self._lock:
            self._begin(terms)

    # ── paying and remembering ───────────────────────────────────────────────────────────────────────────────────────

    def spend(self, loss: Loss, *, question: str, key: str | None = None, note: str = "", analyst: str | None = None) -> Entry:
        """Charge a loss, durably, and give the entry that proves it; or raise BudgetExceeded and charge nothing.

        If this raises LedgerError the charge may stand, and nothing may be answered. `question` names what is asked (its digest), `key`
        the request, `note` is for people. `analyst` is who asks: one who was granted a budget, or "owner"; None if there are no grants.
        """
        return self.claim(loss, question=question, key=key, note=note, analyst=analyst)[0]

    def claim(self, loss: Loss, *, question: str, key: str | None = None, note: str = "", analyst: str | None = None) -> tuple[Entry, bool]:
        """Spend, and say whether this very call paid. Only who paid may draw noise: a second draw on one payment would be a free one, even
        if it is never stored, for it may show in an error."""
        with brief():
            price = {"loss": record.to_json(loss), "charge": Charge.of(loss, self.terms.budget).to_json()}
        name, who = None if key is None else required_text(key, "key"), None if analyst is None else required_text(analyst, "analyst")
        body = {
            "question": required_text(question, "question"),
            "key": name,
            "note": required_text(note, "note", least=0),
            "analyst": who,
        } | price
        with self._lock:
            with self._writing():
                known = self._history.keys.get(key) if key is not None else None
                if known is None:
                    self._history.standing.require(who)
                entry = self._append("spend", body) if known is None else self._entry(known)
            self._settle(entry)
        if known is not None and any(entry.body[name] != body[name] for name in ("question", "loss")):
            raise Invalid("this key was used for another question or another price: use a new key")
        return entry, known is None

    def grant(self, analyst: str, epsilon: Number, delta: Number = 0) -> Entry:
        """Let an analyst spend so much of the data set's budget, in all; what she has spent counts. The same limit again changes nothing.

        From the first grant on, whoever spends says who it is. What is granted may add up to more than there is: the data set's ceiling
        holds for all together. A limit is a share of what may be asked for, not of what may be seen: stored answers are everybody's.
        """
        with brief():
            part, name = self.terms.part(epsilon, delta), analyst_name(analyst)
            body = {"analyst": name, "epsilon": str(part.epsilon), "delta": str(part.delta)}
        with self._lock:
            with self._writing():
                known = self._history.grants.get(name)
                entry = None if known is None else self._entry(known)
                if entry is None or entry.body != body:
                    entry = self._regrant(body)
            self._settle(entry)
        return entry

    def _regrant(self, body: dict[str, Any]) -> Entry:
        try:
            return self._append("grant", body)
        except BudgetExceeded:
            raise Invalid(f"{body['analyst']} has spent more than this already: grant at least what was spent") from None

    def store(self, spend: Entry, release: dict[str, Any]) -> Entry:
        """Remember the release that a spend paid for, durably; if it has one already, give that: only the first is ever shown."""
        with self._lock:
            with self._writing():
                self._require_spend(spend)
                known = self._history.answered.get(spend.sequence)
                entry = self._append("release", {"spend": spend.sequence, "release": release}) if known is None else self._entry(known)
            self._settle(entry)
        return entry

    def find(self, question: str) -> dict[str, Any] | None:
        """The release of this very question, if there is one; the first if it was paid for more than once."""
        with self._lock, self._reading():
            return self._release(self._history.found.get(question))

    def release_of(self, spend: Entry) -> dict[str, Any] | None:
        """The release that this spend paid for, if it came so far."""
        with self._lock, self._reading():
            self._require_spend(spend)
            return self._release(self._history.answered.get(spend.sequence))

    def spend_of(self, key: str) -> Entry | None:
        """The spend under this key, if there is one."""
        with self._lock, self._reading():
            found = self._history.keys.get(key)
            return None if found is None else self._entry(found)

    def pending(self) -> list[Entry]:
        """The spends without a release: still at work, crashed, or refused after paying. They stay spent."""
        with self._lock, self._reading():
            return [self._entry(sequence) for sequence in self._history.unanswered]

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def terms(self) -> Terms:
        """What this account promises."""
        assert self._history.terms is not None, "a ledger begins with its terms"
        return self._history.terms

    @property
    def filter(self) -> Filter:
        """The data set's live filter; other processes may spend from it at any time."""
        with self._lock, self._reading():
            return self._history.standing.whole.filter

    @property
    def spent(self) -> Amount:
        """What was charged to the data set: the sum of the prices of all questions, by basic composition."""
        return self.allowance().spent

    @property
    def remaining(self) -> Amount:
        """The largest single further question that the data set's budget still admits."""
        return self.allowance().remaining

    def allowance(self, analyst: str | None = None) -> Allowance:
        """What an analyst was granted, has spent and may still spend; of the whole budget, if nobody or "owner" is named."""
        with self._lock, self._reading():
            return self._history.standing.allowance(analyst)

    def analysts(self) -> dict[str, Allowance]:
        """The allowance of everybody who was granted one, in the order of the first grants."""
        with self._lock, self._reading():
            standing = self._history.standing
            return {name: standing.allowance(name) for name in standing.analysts}

    def entries(self) -> list[Entry]:
        """Every entry, oldest first."""
        with self._lock, self._reading():
            found = list(self._storage.entries(0, self._history.length))
            if len(found) < self._history.length or not all(map(self._history.holds, found)):
                raise distrust("an entry that was there is gone or changed")
            return found

    def verify(self) -> Report:
        """Read the whole ledger and all of its witness anew; raise LedgerError if anything is not as it was written."""
        with self._lock:
            witness = None if self._witness is None else Witness(self._witness.path)
            again = Ledger(self._storage, self.terms, witness)
            if again._history.hash_of(self._history.length - 1) != self._history.head:
                raise distrust("an entry that was there is gone or changed")
            history = again._history
            with self._storage.reading():
                repriced = sum(self._is_repriced(entry) for entry in self._storage.entries(0, history.length))
        return Report(history.length, history.spends, len(history.answered), repriced, history.head, witness is not None)

    def close(self) -> None:
        """Give back the connection; it opens again when needed. A ledger in memory stays."""
        with self._lock:
            self._storage.close()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, terms: Terms | None) -> None:
        if self._witness is not None and not self._witness.empty:
            self._witness.listen()
        with self._storage.reading():
            begun = self._storage.state() is not None
            if begun:
                self._storage.inspect()
                self._catch_up()
        if not begun:
            self._found(terms)
        if terms is not None:
            self.terms.require(terms)
        self._meet_witness()

    def _found(self, terms: Terms | None) -> None:
        """Write the first entry, unless another process was quicker."""
        if terms is None:
            raise LedgerError("this ledger was never begun: open it with its terms")
        with self._storage.writing():
            if self._storage.state() is None:
                if self._witness is not None:
                    self._witness.check(self._history)
                self._append("terms", terms.to_json(witnessed=self._witness is not None))
        with self._storage.reading():
            self._catch_up()

    def _meet_witness(self) -> None:
        """Insist on the witness that the ledger was begun with; any other ledger may be given one later."""
        if self._witness is None:
            if self._history.witnessed:
                raise LedgerError("this ledger has a witness, without which an older copy could pass for it: give the witness's file")
            return
        last = self._history.length - 1
        if self._witness.empty and self._history.witnessed and last > 0:
            raise LedgerError(
                "the ledger's witness is gone: bring its file back. If it is lost, and you are sure that this is the newest copy of the "
                f"ledger, write the line `{last} {self._history.head}` into a new file."
            )
        self._witness.check(self._history)
        if self._witness.newest < 0:
            self._witness.add(last, self._history.head)

    # ── following the chain ──────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _reading(self) -> Iterator[None]:
        if self._witness is not None:
            self._witness.listen()  # before the ledger is read, which is then no older than its witness
        with self._storage.reading():
            self._catch_up()
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._storage.writing():
            if self._witness is not None:
                self._witness.listen()
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        """Verify what was appended since, and that what was verified is still there."""
        state = self._storage.state()
        if state is None:
            raise distrust("its entries are gone")
        last = self._history.length - 1
        if last >= 0:
            self._entry(last)
        for entry in self._storage.entries(last + 1):
            self._history.follow(entry)
        self._history.require(state)
        if self._witness is not None:
            self._witness.check(self._history)

    def _append(self, kind: Kind, body: dict[str, Any]) -> Entry:
        with brief():
            entry = seal(self._history.length, kind, body, self._history.head)
            filter = self._history.judge(entry).standing.text
        self._storage.append(entry, filter)
        return entry

    def _settle(self, entry: Entry) -> None:
        """Take in an entry that is now durable, and have it witnessed."""
        if entry.sequence == self._history.length:
            self._history.follow(entry)
        self._attest(entry.sequence)

    def _attest(self, sequence: int) -> None:
        """Nothing is answered on the strength of an entry that could still be rolled back unseen."""
        if self._witness is not None and self._witness.newest < sequence:
            self._witness.add(self._history.length - 1, self._history.head)

    def _entry(self, sequence: int) -> Entry:
        entry = next(self._storage.entries(sequence, sequence + 1), None)
        if entry is None or not self._history.holds(entry):
            raise distrust(f"entry {sequence} was there and is gone or changed")
        return entry

    def _release(self, sequence: int | None) -> dict[str, Any] | None:
        if sequence is None:
            return None
        self._attest(sequence)
        release: dict[str, Any] = self._entry(sequence).body["release"]
        return release

    def _is_repriced(self, entry: Entry) -> bool:
        if entry.kind != "spend":
            return False
        body = entry.body
        return Charge.of(record.from_json(body["loss"]), self.terms.budget) != Charge.from_json(body["charge"])

    def _require_spend(self, entry: Entry) -> None:
        if entry.kind != "spend" or not self._history.holds(entry):
            raise Invalid("this is not a spend of this ledger: give what `spend` returned")


def open_ledger(place: str | os.PathLike[str], terms: Terms | None = None, witness: str | os.PathLike[str] | None = None) -> Ledger:
    """Open or begin a ledger in a file, in memory (":memory:") or in a database; without terms, one that exists, as it stands.

    A database is shared by many hosts: postgresql://host/database?ledger=clinic names one of its ledgers. Everything is verified: seals,
    order, the replayed budgets, the state, the witness. A ledger begun with a witness needs it always.
    """
    return Ledger(_storage(os.fspath(place), create=terms is not None), terms, None if witness is None else Witness(os.fspath(witness)))


def _storage(place: str, *, create: bool) -> Storage:
    if not is_address(place):
        return SqliteStorage(place, create=create)
    try:
        from discreet.ledger.postgres import PostgresStorage
    except ImportError:
        raise LedgerError("a ledger in PostgreSQL needs psycopg: pip install 'discreet[postgres]'") from None
    return PostgresStorage(place, create=create)
