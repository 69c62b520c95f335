"""What a ledger asks of the place that keeps it: rows in order, one writer at a time, and leases."""

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
    """The one row that every spend replaces: the last entry's number and hash, and the standing as canonical JSON."""

    sequence: int
    head: str
    filter: str


@final
@frozen
class Lease:
    """A claim that lasts while its holder renews it: on a question that is being answered, or on budget for the rest of an order.

    Leases are not part of the chain, and no privacy rests on them. Losing one costs budget or patience.
    """

    name: str
    holder: str
    expires: float  # by the storage's clock
    analyst: str | None = None
    charge: str | None = None  # what is reserved, as canonical JSON


class Storage(ABC):
    """Rows that are durable once a write ended well. Whatever goes wrong is a LedgerError.

    Everything but `reading`, `writing` and `close` is called inside one of the two blocks. Entries are given as they lie there, unverified.
    """

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Read one moment of the ledger inside the block."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """Be the only writer inside the block; at its end all is durable, or an error is raised and nothing may be answered."""

    @abstractmethod
    def state(self) -> State | None:
        """The state row, None before the first entry."""

    @abstractmethod
    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        """The entries from one number up to before another, in order."""

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
    def unanswered(self) -> list[Entry]:
        """The spends without a release, in order."""

    @abstractmethod
    def append(self, entry: Entry, filter: str) -> None:
        """Add an entry and replace the state of the one before it, which must still be there; inside `writing`."""

    @abstractmethod
    def clock(self) -> float:
        """Seconds, by one clock for everybody who uses this place."""

    @abstractmethod
    def leases(self) -> list[Lease]:
        """All leases, of which some may have expired."""

    @abstractmethod
    def lease(self, lease: Lease) -> None:
        """Write a lease, in place of any of its name; inside `writing`."""

    @abstractmethod
    def drop_lease(self, name: str) -> None:
        """Forget a lease; inside `writing`."""

    @abstractmethod
    def inspect(self) -> None:
        """Check the medium itself, all of it; raise LedgerError if it is damaged."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is open; it opens again when needed."""
