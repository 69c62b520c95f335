"""A fair queue for a ledger file: processes are served in order of arrival.

SQLite's own lock excludes other writers, but those who wait retry at random moments, so under load some never get it. Here each process
takes a number and waits for the previous one. Waiting uses locks on an open file, which the system releases when a process dies. Only
fairness depends on this: where it is not available (other systems, folders that are not writable) SQLite's lock alone is used.
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, final

try:
    import fcntl as _fcntl
except ImportError:  # not on Windows
    _fcntl = None  # type: ignore[assignment]

fcntl: Any = _fcntl
_FIRST = 64  # the byte that number 0 locks; the two counters are before it
_NUMBERS = struct.Struct("<QQ")  # the next number, and the count of those served
_STEP = 0.0005  # seconds between two checks, for each process before us

_SUPPORTED = fcntl is not None and hasattr(fcntl, "F_OFD_SETLK")


@final
class Turns:
    """The queue of one ledger file, in a small file beside it; without a path there is no queue."""

    def __init__(self, path: str | None, patience: float) -> None:
        self._path, self._patience = path, patience

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the processes that came before, and admit the next at the end. After too long, proceed: SQLite's lock decides."""
        fd = self._open()
        if fd is None:
            yield
            return
        try:
            number = self._number(fd)
            yield
            if number is not None:
                with suppress(OSError):
                    os.pwrite(fd, struct.pack("<Q", number + 1), 8)
        finally:
            os.close(fd)  # which releases the locks

    def _number(self, fd: int) -> int | None:
        """Take a number and wait for its turn; None if the file system has no such locks, or the file was changed."""
        until = time.monotonic() + self._patience
        try:
            number = _take_number(fd, until)
            while number and not _lock(fd, _FIRST + number - 1, 1) and time.monotonic() < until:
                _, served = _NUMBERS.unpack(os.pread(fd, _NUMBERS.size, 0))
                time.sleep(_STEP * min(max(number - served, 1), 100))
        except (OSError, OverflowError, struct.error):
            return None
        return number

    def _open(self) -> int | None:
        if self._path is None or not _SUPPORTED:
            return None
        try:
            mode = stat.S_IMODE(os.stat(self._path).st_mode)
            fd = os.open(self._path + "-turns", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        except OSError:
            return None
        return fd


def _take_number(fd: int, until: float) -> int | None:
    """The next number. Its byte is locked before any process can take the number after it; None if that takes too long."""
    while not _lock(fd, 0, _NUMBERS.size):
        if time.monotonic() > until:
            return None
        time.sleep(_STEP / 4)
    written = os.pread(fd, _NUMBERS.size, 0)
    known = len(written) == _NUMBERS.size
    number = _NUMBERS.unpack(written)[0] if known else 0
    os.pwrite(fd, struct.pack("<Q", number + 1) if known else _NUMBERS.pack(1, 0), 0)  # those who are served write the second counter
    _lock(fd, _FIRST + number, 1)
    _lock(fd, 0, _NUMBERS.size, release=True)
    return int(number)


def _lock(fd: int, start: int, length: int, *, release: bool = False) -> bool:
    """Lock or unlock bytes of this open file without waiting; return whether it succeeded."""
    kind = fcntl.F_UNLCK if release else fcntl.F_WRLCK
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi", kind, os.SEEK_SET, start, length, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True
