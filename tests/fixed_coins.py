"""Keys of random bits that a test's name decides, so that a run of the tests can be repeated bit by bit.

A test with fresh noise fails by chance once in a million runs at most, but thousands of them run each time. Here the keys that the
operating system would give depend on the test's name and on how many were drawn before, so a test that passes goes on passing until code
changes. Other processes that a test starts draw from the system, and so does everything with DISCREET_TEST_COINS=fresh: `make test-slow`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from discreet.noise import bits

FRESH = os.environ.get("DISCREET_TEST_COINS") == "fresh"


def keys(name: str) -> Callable[[int], bytes]:
    """Give as many bytes as are asked for, each time others, decided by the name; a forked process gets the system's."""
    owner, drawn = os.getpid(), iter(range(2**63))

    def draw(size: int) -> bytes:
        if os.getpid() != owner:
            return os.urandom(size)
        return hashlib.shake_256(f"{next(drawn)} {name}".encode()).digest(size)

    return draw


@contextmanager
def coins_of(name: str) -> Iterator[None]:
    """While inside, every release of this process takes its key from the name."""
    if FRESH:
        yield
        return
    system = bits.os
    bits.os = SimpleNamespace(urandom=keys(name))  # type: ignore[assignment]
    try:
        yield
    finally:
        bits.os = system
