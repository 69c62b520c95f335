"""Ctrl-C while a statement runs.

DuckDB checks for signals only between some of its tasks, and PySpark waits for its jobs. So the statement runs in another thread, and the
main thread waits and can be interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

_EVERY = (
    0.05  # seconds between two looks for a signal, and between two attempts to cancel: one before the statement has begun has no effect
)

T = TypeVar("T")


def interruptible(act: Callable[[], T], cancel: Callable[[], object]) -> T:
    """Run `act` so that a signal to the main thread cancels it at once."""
    if threading.current_thread() is not threading.main_thread():
        return act()  # only the main thread receives signals
    done = threading.Event()
    results: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            results.append(act())
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        # not Thread.join: interrupted, it takes the thread for ended; and not one long wait: a library may have replaced the handler of
        # the signal (Polars does) such that the signal does not end a wait
        while not done.wait(_EVERY):
            pass
    except BaseException:
        cancel()
        while not done.wait(_EVERY):  # a second Ctrl-C ends the wait; the connection is in use until the statement ends
            cancel()
        raise
    worker.join()  # it may hold the last reference to a connection, which must not be released at interpreter exit
    if failed:
        raise failed.pop()
    return results.pop()
