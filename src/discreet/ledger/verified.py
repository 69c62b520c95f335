"""A stored chain that is verified: from the newest checkpoint on when it is opened, and as a whole on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import Any, final

from discreet.errors import LedgerError, PolicyError
from discreet.ledger.chain import BEFORE_ALL, Entry, EntryKind, seal, writable
from discreet.ledger.history import History, untrusted
from discreet.ledger.replay import Replay
from discreet.ledger.report import Report
from discreet.ledger.storage import Storage
from discreet.ledger.terms import Terms
from discreet.ledger.witness import Witness

_BATCH = 500  # entries that `verify` reads at once


@final
class VerifiedChain:
    """Follow the entries of a storage, append to them, and trust no entry that is not sealed into the chain.

    Opening verifies the newest checkpoint and all entries after it. Every block first verifies what others have appended. An entry before
    the checkpoint is checked by its hash and by the entry after it. `verify` checks all. One thread at a time.
    """

    def __init__(self, storage: Storage, terms: Terms | None, witness: Witness | None) -> None:
        self.storage = storage
        self.history = History()
        self._witness = witness
        self._asked: Terms | None = None  # those that whoever opened it works under
        self._begin(terms)

    @property
    def terms(self) -> Terms:
        """The terms of this ledger."""
        assert self.history.terms is not None, "a ledger begins with its terms"
        return self.history.terms

    def verify(self, lock: AbstractContextManager[object]) -> Report:
        """Read the whole ledger and its whole witness; raise LedgerError if anything was changed.

        It is read in batches, each under the lock: entries never change, and a long ledger must not block others.
        """
        witness = None if self._witness is None else Witness(self._witness.path)
        if witness is not None:
            witness.read_new()
        with lock, self.storage.reading():
            self.storage.inspect()
        replay, state = Replay(), None
        while state is None:
            with lock, self.storage.reading():
                batch = list(islice(self.storage.entries(replay.history.length), _BATCH))
                state = None if batch else self.storage.state()
            if not batch and state is None:
                raise untrusted("its entries are missing")
            replay.follow(batch)
        history = replay.history
        history.require(state)
        with lock:
            known = self.history.length, self.history.head
        if history.length < known[0] or history.hash_of(known[0] - 1) != known[1]:
            raise untrusted("an entry is missing or was changed")
        if witness is not None:
            witness.check(history.length, history.hash_of)
        spent = history.spends, history.releases, len(replay.received), replay.repriced
        return Report(history.length, *spent, history.head, witness is not None)

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, terms: Terms | None) -> None:
        if self._witness is not None and not self._witness.empty:
            self._witness.read_new()
        with self.storage.reading():
            begun = self.storage.state() is not None
            if begun:
                self.history = self._resumed()
                self._catch_up()
        if not begun:
            self._create(terms)
        if terms is not None and self.history.spends:
            self.terms.require(terms)
        self._check_witness()
        if terms is not None and self.terms != terms:
            self._revise(terms)
        self._asked = terms

    def _resumed(self) -> History:
        """The history up to the newest checkpoint; later entries are followed one by one."""
        checkpoint, first = self.storage.checkpoint(), next(self.storage.entries(0, 1), None)
        return History() if checkpoint is None or first is None else History.resumed(first, checkpoint)

    def _create(self, terms: Terms | None) -> None:
        """Write the first entry, unless another process was faster."""
        if terms is None:
            raise LedgerError("this ledger has no terms yet: open it with terms")
        with self.storage.writing():
            if self.storage.state() is None:
                if self._witness is not None:
                    self._witness.check(0, self._hash_of)
                self.append("terms", terms.to_json(witnessed=self._witness is not None))
        with self.storage.reading():
            self._catch_up()

    def _revise(self, terms: Terms) -> None:
        """Write other terms, as long as nothing was spent; whoever opened the ledger under the old ones has to open it again."""
        with self.writing():
            if self.history.spends:
                self.terms.require(terms)
            entry = self.append("grant", terms.plain) if self.terms != terms else None
        if entry is not None:
            self.confirm(entry)

    def _check_witness(self) -> None:
        """Require the witness that the ledger was created with; a ledger without one may get one later."""
        if self._witness is None:
            if self.history.witnessed:
                raise LedgerError("this ledger has a witness, without which an older copy could be accepted: pass the file of the witness")
            return
        last = self.history.length - 1
        if self._witness.empty and self.history.witnessed and last > 0:
            raise LedgerError(
                "the witness of the ledger is missing: restore its file. If it is lost and you are sure that this is the newest copy of "
                f"the ledger, write the line `{last} {self.history.head}` into a new file."
            )
        with self.storage.reading():
            self._witness.check(self.history.length, self._hash_of, self.history.start)
        if self._witness.newest < 0:
            self._witness.add(last, self.history.head)

    # ── following the chain ──────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one verified snapshot of the ledger."""
        if self._witness is not None:
            self._witness.read_new()  # before the ledger is read, so that the ledger is no older than its witness
        with self.storage.reading():
            self._catch_up()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, after verifying what others wrote."""
        with self.storage.writing():
            if self._witness is not None:
                self._witness.read_new()
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        """Verify the entries appended since, and that the verified ones still exist."""
        state = self.storage.state()
        if state is None:
            raise untrusted("its entries are missing")
        last = self.history.length - 1
        if last >= 0:
            self.entry(last)
        for entry in self.storage.entries(last + 1):
            self.history.follow(entry)
        self.history.require(state)
        if self._asked is not None and self.terms != self._asked:
            raise PolicyError("the policy of this ledger was changed since it was opened, before anything was spent: connect again")
        if self._witness is not None:
            self._witness.check(self.history.length, self._hash_of, self.history.start)

    def append(self, kind: EntryKind, body: dict[str, Any]) -> Entry:
        """Seal and write the next entry, if it is valid; inside `writing`."""
        with writable():
            entry = seal(self.history.length, kind, body, self.history.head)
            filter = self.history.judge(entry).standing.text
        self.storage.append(entry, filter)
        return entry

    def confirm(self, entry: Entry) -> None:
        """Accept an entry that is now durable, have it witnessed, and write a checkpoint if one is due."""
        if entry.sequence == self.history.length:
            self.history.follow(entry)
        self.attest(entry.sequence)
        if self.history.due:
            self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        """Write the current state into the chain, so that opening the ledger need not read all entries. Nothing depends on it."""
        with suppress(LedgerError), self.writing():
            if self.history.due:
                self.append("checkpoint", self.history.summary)

    def attest(self, sequence: int) -> None:
        """Have an entry witnessed before anything is released on it: it could still be rolled back unnoticed."""
        if self._witness is not None and self._witness.newest < sequence:
            self._witness.add(self.history.length - 1, self.history.head)

    # ── looking up ───────────────────────────────────────────────────────────────────────────────────────────────────

    def entry(self, sequence: int) -> Entry:
        """The entry with this sequence; inside a block."""
        entry = self.trusted(next(self.storage.entries(sequence, sequence + 1), None))
        if entry is None:
            raise untrusted(f"entry {sequence} is missing or was changed")
        return entry

    def entries(self) -> list[Entry]:
        """Every entry, oldest first; inside a block."""
        found = list(self.storage.entries(0, self.history.length))
        heads = [BEFORE_ALL, *(entry.hash for entry in found)]
        chained = all(entry.sound and entry.previous == head for entry, head in zip(found, heads, strict=False))
        if not chained or len(found) != self.history.length or heads[-1] != self.history.head:
            raise untrusted("an entry is missing or was changed")
        return found

    def trusted(self, entry: Entry | None) -> Entry | None:
        """An entry whose seal is confirmed by the chain of this process or, before its checkpoint, by the entry after it."""
        if entry is None:
            return None
        sound = self.history.holds(entry)
        if not sound and entry.sequence < self.history.start:
            after = next(self.storage.entries(entry.sequence + 1, entry.sequence + 2), None)
            sound = entry.sound and after is not None and after.sound and after.previous == entry.hash
        if not sound:
            raise untrusted(f"entry {entry.sequence} is missing or was changed")
        return entry

    def _hash_of(self, sequence: int) -> str:
        return self.history.hash_of(sequence) if sequence >= self.history.start else self.entry(sequence).hash
