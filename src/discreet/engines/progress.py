"""The progress of a running statement, reported from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_EVERY = 0.1  # seconds between two reports


@contextmanager
def reporting(progress: Callable[[float], None] | None, done: Callable[[], float | None]) -> Iterator[None]:
    """While the block runs, report the fraction of work done (0 to 1); without a `progress` do nothing.

    `done` measures the fraction; None means that it is not known yet.
    """
    if progress is None:
        yield
        return
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(_EVERY):
            if (fraction := done()) is not None:
                progress(fraction)

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        ended.set()
        reporter.join()
