"""What a ledger asks of the place that keeps it: rows in order, and one writer at a time."""

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
    """The one row that every spend replaces: the last entry's number and hash, and the filter as canonical JSON."""

    sequence: int
    head: str
    filter: str


class Storage(ABC):
    """Rows that are durable once a write ended well. Whatever goes wrong is a LedgerError."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Read one moment of the ledger inside the block."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """Be the only writer inside the block; at its end all is durable, or an error is raised and nothing may be answered."""

    @abstractmethod
    def state(self) -> State | None:
        """The state row, None before the first entry; inside `reading` or `writing`."""

    @abstractmethod
    def entries(self, start: int, stop: int | None = None) -> Iterator[Entry]:
        """The entries from one number up to before another, in order and unverified; inside `reading` or `writing`."""

    @abstractmethod
    def append(self, entry: Entry, filter: str) -> None:
        """Add an entry and replace the state of the one before it, which must still be there; inside `writing`."""

    @abstractmethod
    def inspect(self) -> None:
        """Check the medium itself; raise LedgerError if it is damaged."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is open; it opens again when needed."""
