"""Fork-safe locks: a fork waits for their holder, and the child gets them free."""

from __future__ import annotations

import os
import threading
import time

import pytest

from discreet.ledger.fork import fork_safe_lock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_waits_for_the_holder_and_the_child_can_lock() -> None:
    lock, held, ended = fork_safe_lock(), threading.Event(), []

    def hold() -> None:
        with lock:
            held.set()
            time.sleep(0.3)
            ended.append(time.monotonic())

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:  # pragma: no cover
        os._exit(0 if lock.acquire(blocking=False) else 1)
    forked = time.monotonic()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert forked >= ended[0]
    assert lock.acquire(blocking=False)  # and it is free in the parent too
    lock.release()


def test_a_thread_may_hold_it_twice() -> None:
    lock = fork_safe_lock()
    with lock, lock:
        pass
