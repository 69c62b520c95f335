"""A folder for data that does not fit in memory; it is removed soon after its process ends, however that process ends."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import final

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows: only its own process removes a folder)
    fcntl = None  # type: ignore[assignment]

PREFIX = "discreet-duckdb-"
_UNFINISHED = "discreet-making-"  # not swept: the lock of such a folder may not be held yet
_LOCK = "owner"


@final
class Scratch:
    """A folder that only this user can read, with a lock that is held while a process uses it.

    A process that is killed, or ends on an unhandled signal, cannot clean up. But the system releases its locks, so whoever creates the
    next folder removes those whose lock is free. This needs no signal handler, and no process id, which may be reused or belong to another
    container that shares the disk.
    """

    path: Path

    def __init__(self) -> None:
        self._process = os.getpid()
        self.path, self._lock = _made() if fcntl is not None else (Path(tempfile.mkdtemp(prefix=PREFIX)), -1)

    def remove(self) -> None:
        """Remove the folder, unless this is a child of the process that made it."""
        if self._process != os.getpid():
            return
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _made() -> tuple[Path, int]:
    """A new folder with its lock. Other programs do not inherit the lock; a forked child holds it too."""
    _sweep()
    made = Path(tempfile.mkdtemp(prefix=_UNFINISHED))
    lock = os.open(made / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return made.rename(made.with_name(PREFIX + made.name.removeprefix(_UNFINISHED))), lock


def _sweep() -> None:
    """Remove the folders of processes that have ended."""
    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue  # removed meanwhile, or not ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # in use
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
