"""The storage of a ledger: rows in order, one writer at a time, and leases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import final

from attrs import frozen

from discreet.ledger.chain import Entry


@final
@frozen
class State:
    """The row that every entry replaces: the sequence and hash of the last entry, and the accounts as canonical JSON."""

    sequence: int
    head: str
    filter: str


@final
@frozen
class Lease:
    """A claim that lasts while its holder renews it: on a question that is being answered, or on budget for the rest of a request.

    Leases are not part of the chain, and privacy does not depend on them. Losing one costs budget or time.
    """

    name: str
    holder: str
    expires: float  # by the clock of the storage
    analyst: str | None = None
    charge: str | None = None  # the reserved budget, as canonical JSON


class Storage(ABC):
    """Rows that are durable once a write has succeeded. Every failure is a LedgerError.

    All methods except `reading`, `writing` and `close` are called inside one of the two blocks. Entries are returned as stored, unverified.
    """

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Read one snapshot of the ledger inside the block."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """Be the only writer inside the block. At its end all is durable, or an error is raised and nothing may be released."""

    @abstractmethod
    def state(self) -> State | None:
        """The state row; None before the first entry."""

    @abstractmethod
    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        """The entries from sequence `start` up to and excluding `stop`, in order."""

    @abstractmethod
    def checkpoint(self) -> Entry | None:
        """The newest checkpoint."""

    @abstractmethod
    def spend_under(self, key: str) -> Entry | None:
        """The spend under a key."""

    @abstractmethod
    def release_for(self, spend: int) -> Entry | None:
        """The release that a spend paid for."""

    @abstractmethod
    def first_release(self, question: str) -> Entry | None:
        """The first release of a question."""

    @abstractmethod
    def received(self, question: str, analyst: str) -> Entry | None:
        """The entry that charges an analyst for a release that somebody else paid for."""

    @abstractmethod
    def unanswered(self) -> list[Entry]:
        """The spends without a release, in order."""

    @abstractmethod
    def append(self, entry: Entry, filter: str) -> None:
        """Add an entry and replace the state, which must still be that of the previous entry; inside `writing`."""

    @abstractmethod
    def clock(self) -> float:
        """The time in seconds, by one clock for all users of this storage."""

    @abstractmethod
    def leases(self) -> list[Lease]:
        """All leases, including expired ones."""

    @abstractmethod
    def lease(self, lease: Lease) -> None:
        """Write a lease, replacing one of the same name; inside `writing`."""

    @abstractmethod
    def drop_lease(self, name: str) -> None:
        """Delete a lease; inside `writing`."""

    @abstractmethod
    def inspect(self) -> None:
        """Check the storage itself; raise LedgerError if it is damaged."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; it is opened again when needed."""
