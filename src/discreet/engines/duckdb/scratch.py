"""A folder for what does not fit in memory; it does not outlive its process for long, however that process ends."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import final

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows: there a folder is removed by its own process only)
    fcntl = None  # type: ignore[assignment]

PREFIX = "discreet-duckdb-"
_UNFINISHED = "discreet-making-"  # not looked for: the lock of such a folder may not be held yet
_LOCK = "owner"


@final
class Scratch:
    """A folder that only this user can read, with a lock that is held as long as a process uses it.

    A process that is killed, or that ends on a signal which nobody handles, cannot tidy up. The system drops its locks, though, so whoever
    makes the next folder removes those whose lock is free. No signal handler is needed, and no process number, which may be used again or
    belong to another container that shares the disk.
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
    """A new folder with its lock, which other programs do not inherit; a forked child holds it too."""
    _sweep()
    made = Path(tempfile.mkdtemp(prefix=_UNFINISHED))
    lock = os.open(made / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return made.rename(made.with_name(PREFIX + made.name.removeprefix(_UNFINISHED))), lock


def _sweep() -> None:
    """Remove the folders of processes that are no more."""
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
