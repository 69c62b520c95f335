"""Random bits: an AES-256-CTR keystream, keyed from the operating system for each release."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from discreet.errors import RandomnessFailed

Words = NDArray[np.uint64]

_CHUNK = 1 << 16  # bytes encrypted at a time: stays in the fast cache
_POOL = 512  # bytes buffered for single words
_ZEROS = memoryview(bytes(_CHUNK))

_generation = 0  # the number of forks between the first process and this one


def _forked() -> None:
    global _generation
    _generation += 1


if hasattr(os, "register_at_fork"):  # not on Windows, where no process forks
    os.register_at_fork(after_in_child=_forked)


class Bits(ABC):
    """A source of independent uniform bits, the only randomness of samplers."""

    __slots__ = ()

    @abstractmethod
    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite a contiguous array with random bytes."""

    @abstractmethod
    def word(self) -> int:
        """Draw 64 bits as a number."""

    def words(self, size: int) -> Words:
        """Draw an array of 64-bit words."""
        out: Words = np.empty(size, np.uint64)
        self.fill(out)
        return out


@final
class SystemBits(Bits):
    """The random bits of one release: AES-256-CTR with a fresh key and counter from the operating system.

    Each release creates its own `SystemBits` and discards it, so no randomness is kept or shared between releases. Several threads may
    use one object. After a fork the child draws a new key before its next bit, and buffered bits are not reused. If the operating
    system returns no randomness, or too little, `RandomnessFailed` is raised and nothing is released.
    """

    __slots__ = ("_at", "_cipher", "_generation", "_lock", "_pool")

    _at: int
    _cipher: CipherContext
    _generation: int
    _lock: threading.Lock
    _pool: bytes

    def __init__(self) -> None:
        self._key()

    def _key(self) -> None:
        try:
            seed = os.urandom(48)
        except (OSError, NotImplementedError) as failure:
            raise RandomnessFailed("the operating system returned no randomness; nothing was released: try again later") from failure
        if len(seed) != 48:
            raise RandomnessFailed("the operating system returned too little randomness; nothing was released: try again later")
        self._lock = threading.Lock()  # a lock held by another thread at the fork would never be released in the child
        self._cipher = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:])).encryptor()
        self._pool, self._at = b"", 0
        self._generation = _generation

    def fill(self, out: NDArray[Any]) -> None:
        if self._generation != _generation:
            self._key()
        view = memoryview(out.data).cast("B")
        with self._lock:
            for start in range(0, len(view), _CHUNK):
                part = view[start : start + _CHUNK]
                self._cipher.update_into(_ZEROS[: len(part)], part)

    def word(self) -> int:
        if self._generation != _generation:
            self._key()
        with self._lock:
            if self._at >= len(self._pool):
                self._pool, self._at = self._cipher.update(_ZEROS[:_POOL]), 0
            at = self._at
            self._at = at + 8
            return int.from_bytes(self._pool[at : at + 8], "little")
