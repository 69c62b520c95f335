"""A chain of entries in its place, verified: from the newest checkpoint on when it is opened, and as a whole on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import Any, final

from discreet.errors import LedgerError
from discreet.ledger.chain import Entry, Kind, brief, seal
from discreet.ledger.history import History, distrust
from discreet.ledger.replay import Replay
from discreet.ledger.report import Report
from discreet.ledger.storage import Storage
from discreet.ledger.terms import Terms
from discreet.ledger.witness import Witness

_PIECE = 500  # entries that are read at once by `verify`


@final
class VerifiedChain:
    """Follow what a storage keeps, append to it, and believe no entry that is not sealed into it.

    Opening verifies the newest checkpoint and all that follows; every block first follows what others appended; an entry from before the
    checkpoint is checked by its hash and by the entry after it; `verify` checks all. One thread at a time.
    """

    def __init__(self, storage: Storage, terms: Terms | None, witness: Witness | None) -> None:
        self.storage = storage
        self.history = History()
        self._witness = witness
        self._begin(terms)

    @property
    def terms(self) -> Terms:
        """What this account promises."""
        assert self.history.terms is not None, "a ledger begins with its terms"
        return self.history.terms

    def verify(self, lock: AbstractContextManager[object]) -> Report:
        """Read the whole ledger and all of its witness anew; raise LedgerError if anything is not as it was written.

        It is read in pieces, each under the lock: what was written stays, and a long ledger must not keep others waiting.
        """
        witness = None if self._witness is None else Witness(self._witness.path)
        if witness is not None:
            witness.listen()
        with lock, self.storage.reading():
            self.storage.inspect()
        replay, state = Replay(), None
        while state is None:
            with lock, self.storage.reading():
                piece = list(islice(self.storage.entries(replay.history.length), _PIECE))
                state = None if piece else self.storage.state()
            if not piece and state is None:
                raise distrust("its entries are gone")
            replay.follow(piece)
        history = replay.history
        history.require(state)
        with lock:
            known = self.history.length, self.history.head
        if history.length < known[0] or history.hash_of(known[0] - 1) != known[1]:
            raise distrust("an entry that was there is gone or changed")
        if witness is not None:
            witness.check(history.length, history.hash_of)
        return Report(history.length, history.spends, history.releases, replay.repriced, history.head, witness is not None)

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, terms: Terms | None) -> None:
        if self._witness is not None and not self._witness.empty:
            self._witness.listen()
        with self.storage.reading():
            begun = self.storage.state() is not None
            if begun:
                self.history = self._resumed()
                self._catch_up()
        if not begun:
            self._found(terms)
        if terms is not None:
            self.terms.require(terms)
        self._meet_witness()

    def _resumed(self) -> History:
        """What the newest checkpoint says; from there on everything is followed."""
        checkpoint, first = self.storage.checkpoint(), next(self.storage.entries(0, 1), None)
        return History() if checkpoint is None or first is None else History.resumed(first, checkpoint)

    def _found(self, terms: Terms | None) -> None:
        """Write the first entry, unless another process was quicker."""
        if terms is None:
            raise LedgerError("this ledger was never begun: open it with its terms")
        with self.storage.writing():
            if self.storage.state() is None:
                if self._witness is not None:
                    self._witness.check(0, self._hash_of)
                self.append("terms", terms.to_json(witnessed=self._witness is not None))
        with self.storage.reading():
            self._catch_up()

    def _meet_witness(self) -> None:
        """Insist on the witness that the ledger was begun with; any other ledger may be given one later."""
        if self._witness is None:
            if self.history.witnessed:
                raise LedgerError("this ledger has a witness, without which an older copy could pass for it: give the witness's file")
            return
        last = self.history.length - 1
        if self._witness.empty and self.history.witnessed and last > 0:
            raise LedgerError(
                "the ledger's witness is gone: bring its file back. If it is lost, and you are sure that this is the newest copy of the "
                f"ledger, write the line `{last} {self.history.head}` into a new file."
            )
        with self.storage.reading():
            self._witness.check(self.history.length, self._hash_of, self.history.start)
        if self._witness.newest < 0:
            self._witness.add(last, self.history.head)

    # ── following the chain ──────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one moment of the ledger, all of it verified."""
        if self._witness is not None:
            self._witness.listen()  # before the ledger is read, which is then no older than its witness
        with self.storage.reading():
            self._catch_up()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, after what others wrote was verified."""
        with self.storage.writing():
            if self._witness is not None:
                self._witness.listen()
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        """Verify what was appended since, and that what was verified is still there."""
        state = self.storage.state()
        if state is None:
            raise distrust("its entries are gone")
        last = self.history.length - 1
        if last >= 0:
            self.entry(last)
        for entry in self.storage.entries(last + 1):
            self.history.follow(entry)
        self.history.require(state)
        if self._witness is not None:
            self._witness.check(self.history.length, self._hash_of, self.history.start)

    def append(self, kind: Kind, body: dict[str, Any]) -> Entry:
        """Seal and write the next entry, if it may stand there; inside `writing`."""
        with brief():
            entry = seal(self.history.length, kind, body, self.history.head)
            filter = self.history.judge(entry).standing.text
        self.storage.append(entry, filter)
        return entry

    def settle(self, entry: Entry) -> None:
        """Take in an entry that is now durable, have it witnessed, and leave a checkpoint if one is due."""
        if entry.sequence == self.history.length:
            self.history.follow(entry)
        self.attest(entry.sequence)
        if self.history.due:
            self._leave_checkpoint()

    def _leave_checkpoint(self) -> None:
        """Say in the chain what it leads to so far, so that opening the ledger need not read it all. Nothing depends on it."""
        with suppress(LedgerError), self.writing():
            if self.history.due:
                self.append("checkpoint", self.history.summary)

    def attest(self, sequence: int) -> None:
        """Nothing is answered on the strength of an entry that could still be rolled back unseen."""
        if self._witness is not None and self._witness.newest < sequence:
            self._witness.add(self.history.length - 1, self.history.head)

    # ── looking up ───────────────────────────────────────────────────────────────────────────────────────────────────

    def entry(self, sequence: int) -> Entry:
        """The entry of this number; inside a block."""
        entry = self.trusted(next(self.storage.entries(sequence, sequence + 1), None))
        if entry is None:
            raise distrust(f"entry {sequence} was there and is gone or changed")
        return entry

    def trusted(self, entry: Entry | None) -> Entry | None:
        """An entry as it was sealed: in this process's chain, or, from before its checkpoint, as the entry after it says."""
        if entry is None:
            return None
        sound = self.history.holds(entry)
        if not sound and entry.sequence < self.history.start:
            after = next(self.storage.entries(entry.sequence + 1, entry.sequence + 2), None)
            sound = entry.sound and after is not None and after.sound and after.previous == entry.hash
        if not sound:
            raise distrust(f"entry {entry.sequence} was there and is gone or changed")
        return entry

    def _hash_of(self, sequence: int) -> str:
        return self.history.hash_of(sequence) if sequence >= self.history.start else self.entry(sequence).hash
