"""A witness: a text file elsewhere that records the hashes, so that an older copy of a ledger is not accepted as the ledger."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import final

from discreet.errors import LedgerError
from discreet.ledger.history import untrusted

_LINE = re.compile(rb"(\d{1,18}) ([0-9a-f]{64})")
_INCOMPLETE = re.compile(rb"\d{0,18}|\d{1,18} [0-9a-f]{0,63}")  # what a power failure may leave of a line

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@final
class Witness:
    """Append `sequence hash` for each entry, durably; and check that every appended line is in the chain.

    Lines of several processes may be out of order, so every line is checked, not only the last. The ledger may be ahead of its witness
    (after a crash between the two nothing was released), never behind.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._read = 0  # bytes up to here were checked
        self._seen: dict[int, int] = {}  # part of the hash of each entry, as a number: two different ones mean two chains
        self._unchecked: list[tuple[int, str]] = []
        self.newest = -1  # the last entry known to be witnessed, with all before it

    @property
    def empty(self) -> bool:
        """Whether nothing was witnessed yet, or the file is missing."""
        try:
            return os.stat(self.path).st_size == 0
        except FileNotFoundError:
            return True
        except OSError:
            raise _unusable() from None

    def read_new(self) -> None:
        """Read lines appended since the last call; before the ledger is read, or while no other process writes to it."""
        try:
            with open(self.path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._read:
                    raise untrusted("its witness became shorter")
                file.seek(self._read)
                text = file.read()
        except OSError:
            raise _unusable() from None
        whole = text[: text.rfind(b"\n") + 1]  # the rest is still being written, or is incomplete
        self._unchecked += [found for line in whole.split(b"\n") if (found := _parsed(line))]
        self._read += len(whole)

    def check(self, length: int, hash_of: Callable[[int], str], start: int = 0) -> None:
        """Raise LedgerError unless a chain of `length` entries with these hashes contains every line that was read.

        Of the entries before `start` only the last witnessed one is looked up. Two lines with different hashes for one entry show that the
        chain was truncated and continued differently.
        """
        for sequence, digest in self._unchecked:
            if sequence >= length:
                raise untrusted(f"its witness recorded entry {sequence}, which is missing: this is an older copy, or it was truncated")
            if self._seen.setdefault(sequence, int(digest[:16], 16)) != int(digest[:16], 16):
                raise untrusted(f"its witness recorded two entries {sequence}: the chain was truncated and continued differently")
        newest = max(self._unchecked, default=(-1, ""))
        for sequence, digest in self._unchecked:
            if (sequence >= start or (sequence, digest) == newest) and hash_of(sequence) != digest:
                raise untrusted(
                    f"its witness recorded another entry {sequence}: the chain was rewritten, or this is the witness of another ledger"
                )
        self.newest = max(self.newest, newest[0])
        self._unchecked.clear()

    def add(self, sequence: int, digest: str) -> None:
        """Append one line and make it durable."""
        try:
            fd = os.open(self.path, _FLAGS, 0o600)
            try:
                size = os.fstat(fd).st_size
                torn = size > 0 and _last(fd, size) != b"\n"
                line = f"{sequence} {digest}\n".encode()
                line = b"\n" + line if torn else line
                if os.write(fd, line) != len(line):
                    raise OSError
                os.fsync(fd)
                if size == 0:
                    _sync_folder(self.path)
            finally:
                os.close(fd)
        except OSError:
            raise _unusable() from None
        self.newest = max(self.newest, sequence)


def _parsed(line: bytes) -> tuple[int, str] | None:
    if found := _LINE.fullmatch(line):
        return int(found[1]), found[2].decode()
    if _INCOMPLETE.fullmatch(line):
        return None
    raise untrusted("its witness contains a line that no ledger wrote")


def _last(fd: int, size: int) -> bytes:
    os.lseek(fd, size - 1, os.SEEK_SET)  # not os.pread, which Windows lacks; appended lines go to the end anyway
    return os.read(fd, 1)


def _sync_folder(path: str) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot open a folder; its file system makes names durable itself
    fd = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _unusable() -> LedgerError:
    return LedgerError(
        "the witness of the ledger cannot be read or written. What was spent stays spent, and nothing was released. "
        "Make its file and folder readable and writable, then open the ledger again."
    )
