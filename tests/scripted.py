"""Bit sources for tests: scripted words, and fixed coins. The package has no way to make one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.noise.bits import Bits


class Scripted(Bits):
    """Gives scripted words to `fill`, and others to `word`, in order; once they are used up, `rest` for ever.

    Samplers of arrays fill blocks first and ask for single words only to refine, so a script stays aligned with the samples.
    """

    def __init__(self, words: Iterable[int] = (), singles: Iterable[int] = (), rest: int = 0x9E3779B97F4A7C15) -> None:
        self._words = words if isinstance(words, np.ndarray) else np.array(list(words), np.uint64)
        self._at = 0
        self._singles = iter(singles)
        self._rest = rest

    def fill(self, out: np.ndarray[Any, Any]) -> None:
        need = -(-out.nbytes // 8)
        have = self._words[self._at : self._at + need].astype(np.uint64)
        self._at += len(have)
        padded = np.concatenate([have, np.full(need - len(have), self._rest, np.uint64)])
        out.view(np.uint8).reshape(-1)[:] = padded.view(np.uint8)[: out.nbytes]

    def word(self) -> int:
        return next(self._singles, self._rest)


class Seeded(Bits):
    """Fixed coins, the same in every run: statistical tests with them cannot be flaky."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))

    def fill(self, out: np.ndarray[Any, Any]) -> None:
        out.view(np.uint8).reshape(-1)[:] = np.frombuffer(self._generator.bytes(out.nbytes), np.uint8)

    def word(self) -> int:
        return int(self._generator.integers(0, 2**64, dtype=np.uint64))
