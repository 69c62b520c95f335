"""Coins: fresh for each release, never shared across forks or threads, and no release without them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np
import pytest
from scripted import Seeded

from discreet.errors import Invalid, RandomnessFailed
from discreet.mechanisms.laplace import Laplace
from discreet.noise import bits as module
from discreet.noise.bits import SystemBits

DRAWS = 100_000


def _in_child(work: Callable[[], bytes]) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:  # the child answers through the pipe and leaves without running pytest's exits
        with os.fdopen(write, "wb") as pipe:
            pipe.write(work())
        os._exit(0)
    os.close(write)
    return pid, read


def _collect(children: list[tuple[int, int]]) -> list[bytes]:
    outputs = []
    for pid, read in children:
        with os.fdopen(read, "rb") as pipe:
            outputs.append(pipe.read())
        assert os.waitpid(pid, 0)[1] == 0
    return outputs


def _pieces(streams: list[bytes], size: int = 32) -> list[bytes]:
    return [s[i : i + size] for s in streams for i in range(0, len(s), size)]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_fork_shares_no_stream() -> None:
    """A stream already warm in the parent, 8 children, parent and children draw 10⁵ words in all ways: no 32 bytes are equal."""
    warm = SystemBits()
    warm.word()

    def work() -> bytes:
        single = b"".join(warm.word().to_bytes(8, "little") for _ in range(1024))
        return single + warm.words(DRAWS // 8).tobytes() + SystemBits().words(64).tobytes()

    streams = [*_collect([_in_child(work) for _ in range(8)]), work()]
    pieces = _pieces(streams)
    assert len(pieces) == len(set(pieces)) == 9 * (1024 + DRAWS // 8 + 64) // 4


def test_without_rekeying_the_fork_test_would_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: with the generation frozen, children repeat the parent's stream."""
    warm = SystemBits()

    def work() -> bytes:
        module._generation = warm._generation  # as if nobody had counted the fork
        return warm.words(64).tobytes()

    first, second = _collect([_in_child(work) for _ in range(2)])
    assert first == second


def test_threads_share_no_word() -> None:
    """Eight threads on one stream, and each on its own: every word is given once."""
    shared, found, lock = SystemBits(), [], threading.Lock()

    def work() -> None:
        own = SystemBits()
        mine = [shared.word() for _ in range(2_000)] + shared.words(5_000).tolist() + own.words(5_500).tolist()
        with lock:
            found.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == len(set(found)) == DRAWS


def test_each_release_has_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    system = os.urandom
    monkeypatch.setattr(module.os, "urandom", lambda n: calls.append(n) or system(n))
    for _ in range(3):
        Laplace(epsilon=1).release(5)
    assert calls == [48, 48, 48]


@pytest.mark.parametrize("failure", ["short", "error", "missing"])
def test_no_randomness_no_release(monkeypatch: pytest.MonkeyPatch, failure: str) -> None:
    def broken(n: int) -> bytes:
        if failure == "short":
            return b"\0" * (n - 1)
        raise OSError("no entropy") if failure == "error" else NotImplementedError

    monkeypatch.setattr(module.os, "urandom", broken)
    with pytest.raises(RandomnessFailed, match="nothing was released"):
        Laplace(epsilon=1).release(5)


def test_the_public_door_takes_no_other_coins() -> None:
    with pytest.raises(Invalid, match="operating system"):
        Laplace(epsilon=1).release(5, bits=Seeded(1))  # type: ignore[arg-type]


def test_bits_are_fair() -> None:
    """Each of the 64 bits is set in half of 2²⁰ words, within 6 standard deviations."""
    words = SystemBits().words(2**20)
    ones = np.array([int((words >> np.uint64(i) & np.uint64(1)).sum()) for i in range(64)])
    assert np.abs(ones - 2**19).max() < 6 * 512
