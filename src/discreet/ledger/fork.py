"""Locks that no thread holds when a process forks."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

_locks: WeakSet[threading.RLock] = WeakSet()
_forking = threading.Lock()
_held: list[threading.RLock] = []


def fork_safe_lock() -> threading.RLock:
    """A lock that a fork waits for, so that it is free in the child: a child could roll back a transaction copied half done."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _hold() -> None:
    _forking.acquire()
    for lock in list(_locks):
        lock.acquire()
        _held.append(lock)


def _let_go() -> None:
    while _held:
        _held.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)
