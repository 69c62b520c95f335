"""What an engine may use for one statement; what goes beyond fails like any statement that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

from attrs import frozen

from discreet.errors import EngineError

_EVERY = 0.05  # seconds between two attempts to cancel: one before a statement has begun has no effect


@final
@frozen
class EngineLimits:
    """Of memory, as in "8GB", and of the seconds that a statement may take; None: the engine's own limits."""

    memory: str | None = None
    seconds: float | None = None


@contextmanager
def deadline(seconds: float | None, cancel: Callable[[], object]) -> Iterator[None]:
    """Cancel the statement that the block runs when it takes longer than this; the block then raises EngineError."""
    if seconds is None:
        yield
        return
    ended, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not ended.wait(seconds):
            late.set()
            cancel()
            while not ended.wait(_EVERY):
                cancel()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        if not late.is_set():
            raise
    else:
        return
    finally:
        ended.set()
        watcher.join()
    raise EngineError(f"the statement took longer than {seconds:g} seconds")
