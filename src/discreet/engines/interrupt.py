"""Ctrl-C while an engine works.

DuckDB looks for signals between some of its tasks only, and PySpark waits for its jobs before it lets go. So the main thread waits outside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

_OFTEN = 0.05  # seconds between two attempts: one that comes before the statement has begun is lost

T = TypeVar("T")


def interruptible(act: Callable[[], T], cancel: Callable[[], object]) -> T:
    """Do something such that a signal that comes to the main thread cancels it at once."""
    if threading.current_thread() is not threading.main_thread():
        return act()  # signals do not come here
    done = threading.Event()
    told: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            told.append(act())
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        done.wait()  # not Thread.join, which takes the thread for ended when it is interrupted itself
    except BaseException:
        cancel()
        while not done.wait(_OFTEN):  # whoever presses Ctrl-C twice does not wait; the connection is in use until the statement has ended
            cancel()
        raise
    worker.join()  # it may hold the last reference to a connection, which must not be given back while the interpreter ends
    if failed:
        raise failed.pop()
    return told.pop()
