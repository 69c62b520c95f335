"""Fixed coins for tests, from SHAKE-256 in counter mode, and goodness of fit with them: deterministic, so never flaky."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from discreet.noise.bits import Bits

_BLOCK = 1 << 14


class Exhausted(Exception):
    """The sampler asked for more coins than the test allows: it would not have ended."""


class Shake(Bits):
    """The bytes SHAKE-256(seed, 0), SHAKE-256(seed, 1), … in order; at most `limit` of them."""

    def __init__(self, seed: object = 0, limit: int = 1 << 34) -> None:
        self._seed, self._limit = repr(seed).encode(), limit
        self._block, self._at, self._counter = b"", 0, 0

    def _take(self, count: int) -> bytes:
        self._limit -= count
        if self._limit < 0:
            raise Exhausted
        if self._at + count <= len(self._block):
            self._at += count
            return self._block[self._at - count : self._at]
        parts = [self._block[self._at :]]
        need = count - len(parts[0])
        size = max(_BLOCK, need)
        fresh = hashlib.shake_256(self._seed + b"/%d" % self._counter).digest(size)
        self._counter += 1
        self._block, self._at = fresh, need
        return b"".join([*parts, fresh[:need]])

    def fill(self, out: np.ndarray[Any, Any]) -> None:
        view = memoryview(out).cast("B")
        view[:] = self._take(len(view))

    def word(self) -> int:
        return int.from_bytes(self._take(8), "little")


def tally(draw: Callable[[Bits], Hashable], times: int, seed: object) -> Counter[Hashable]:
    """How often each outcome occurs in so many draws from one stream of fixed coins."""
    bits = Shake(seed)
    return Counter(draw(bits) for _ in range(times))


def p_value(seen: Mapping[Any, int], law: Mapping[Any, float]) -> float:
    """Pearson's χ² of counts against a law; outcomes expected less than 8 times are put together; an impossible one gives 0."""
    total = sum(seen.values())
    if any(law.get(outcome, 0.0) <= 0.0 for outcome in seen):
        return 0.0
    observed, expected, rare = [], [], [0.0, 0.0]
    for outcome, chance in law.items():
        if chance * total < 8:
            rare[0] += seen.get(outcome, 0)
            rare[1] += chance * total
        else:
            observed.append(float(seen.get(outcome, 0)))
            expected.append(chance * total)
    missing = max(total - sum(expected) - rare[1], 0.0)  # a law may be given without its far tail
    rare[1] += missing
    if rare[1] >= 1:
        observed.append(rare[0])
        expected.append(rare[1])
    elif rare[0]:
        observed[-1] += rare[0]
        expected[-1] += rare[1]
    o, e = np.array(observed), np.array(expected)
    if len(o) < 2:
        return 1.0
    return float(stats.chi2.sf(((o - e) ** 2 / e).sum(), len(o) - 1))


def fits(seen: Mapping[Any, int], law: Mapping[Any, float]) -> bool:
    """Whether counts look like a law; false alarms have probability 10⁻⁶, and with fixed coins they are once and for all."""
    return p_value(seen, law) > 1e-6


def numbered(chances: Iterable[float]) -> dict[int, float]:
    """A law on 0, 1, 2, …"""
    return dict(enumerate(map(float, chances)))
