"""Interval refining: decide in floats where a proven margin allows it, otherwise draw more bits and decide in exact arithmetic.

Every sample is a discrete function g(U) of ideal real uniforms U in (0, 1). We see the first bits of each U, that is a cell which
contains it, and compute the real number behind g in float64 together with a bound on its error. The bound covers the rounding *and*
the width of the cell. If no decision boundary lies within the bound, g is constant on the cell, and the answer is g(U) whatever the
unseen bits are. If one does, 64 more bits of each U are drawn and the decision is taken in ball arithmetic, again and again until the
ball touches no boundary. Boundaries have measure zero, so this ends. Hence the output *is* g(U): its law is exact, and it does not
depend on the accuracy of the float code, only on the bound being valid.

What the bounds rest on. IEEE 754 arithmetic: + − × ÷ √ and int64 → float64 are correctly rounded, with unit u = 2⁻⁵³. And the
logarithm: |log computed − log| ≤ 4 ulp ≤ 2⁻⁵⁰·|log|. numpy documents 4 ulp for its vector log and libm's is below 1 ulp; `check_log`
measures both against balls once per process before the first draw and raises an error beyond 2 ulp, so the margin is still valid if
the words measured were not the worst.

The log of a uniform. Let w be a 64-bit word, a = w >> 1, U in [a, a + 1)/2⁶³ and a ≥ 2⁴³, which holds when the computed log is at
least FAR = −13.8. Then, with y = |ln U| < 13.87, the computed log of fl(a)·2⁻⁶³ is off by at most
    1/a               the unseen bits of U                 ≤ 2⁻⁴³
  + 2⁻⁵³·(1 + 2⁻⁵²)   int64 → float64, relative in x       ≤ 2⁻⁵²
  + 2⁻⁵⁰·y            the logarithm                        ≤ 2⁻⁴⁶·⁰
which is below 2⁻⁴²·⁷. Times a scale t (rounded: 2⁻⁵³), multiplied (2⁻⁵³), added to an offset (2⁻⁵³ of the result): the four roundings
add at most t·14.6·2⁻⁵¹ < t·2⁻⁴⁷ and 2⁻⁵¹ for the offset. Altogether less than t·2⁻⁴² + 2⁻⁵⁰ = `margin(t)`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Error
from discreet.noise.bits import Bits, Words

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCK = 8192  # samples per pass: 64 KiB, so that a pass stays in the cache
FAR = -13.8  # logs below this are of words with fewer than 43 significant bits
FAST = 2.0**32  # scales above this would refine too often to call the float path fast
_UNIT = 2.0**-63
_ONE = np.uint64(1)
_NOWHERE: Integers = np.empty(0, np.int64)


def margin(scale: float) -> float:
    """How far the float value of offset ± scale·|ln U| may be from the truth (derivation above)."""
    return scale * 2.0**-42 + 2.0**-50


class Workspace(threading.local):
    """Scratch arrays of one block, one set per thread; every draw overwrites them."""

    def __init__(self) -> None:
        self.words: Words = np.empty(2 * BLOCK, np.uint64)
        self.floats: list[Floats] = [np.empty(BLOCK) for _ in range(6)]
        self.integers: Integers = np.empty(BLOCK, np.int64)


workspace = Workspace()


def log_uniform(words: Words, out: Floats) -> None:
    """Write the logs of the uniforms whose first 63 bits are the words' upper bits."""
    trust_log()
    np.right_shift(words, _ONE, out=out.view(np.uint64))
    np.multiply(out.view(np.int64), _UNIT, out=out)
    with np.errstate(divide="ignore"):
        np.log(out, out=out)


def floors(values: Floats, doubt: float, scratch: Floats, out: Integers) -> Integers:
    """Write the floors, and return the positions where an error of `doubt` could change one."""
    np.floor(values, out=scratch)
    with np.errstate(invalid="ignore"):
        np.copyto(out, scratch, casting="unsafe")
        np.subtract(values, scratch, out=scratch)
    np.subtract(scratch, 0.5, out=scratch)
    np.abs(scratch, out=scratch)
    if scratch.max() < 0.5 - doubt:
        return _NOWHERE
    return np.flatnonzero(~(scratch < 0.5 - doubt))


def resolve(decide: Callable[..., int | None], cells: Sequence[tuple[int, int]], bits: Bits) -> int:
    """Decide exactly: pass the balls of the uniforms to `decide`, with 64 more bits of each until it returns a result.

    A cell is (first bits as a number, how many). A cell that touches 0 is extended first, for logs need U > 0.
    """
    known = list(cells)
    while True:
        if all(index > 0 for index, _ in known):
            with exact.precision(max(count for _, count in known) + 64):
                answer = decide(*(exact.cell(index, count) for index, count in known))
            if answer is not None:
                return answer
        known = [((index << 64) | bits.word(), count + 64) for index, count in known]


_trusted = False


def trust_log() -> None:
    """Check the logarithms once per process, before the first draw."""
    if not _trusted:
        check_log()


def check_log(log: Callable[[Any], Any] = np.log) -> None:
    """Measure the machine's logarithms against balls and raise an error if one is off by more than 2 ulp."""
    global _trusted
    spread = [(i * 0x9E3779B97F4A7C15 + 0x1234567) % 2**63 | 1 << 43 for i in range(512)]
    near = [2**63 - 1 - 2**k for k in range(1, 62)] + [2**62 + 2**k for k in range(61)]
    points = np.array(spread + near, np.int64) * _UNIT
    vector = log(points)
    with exact.precision(128):
        for x, y in zip(points.tolist(), vector.tolist(), strict=True):
            truth = exact.point(x).log()
            for value in (y, math.log(x)):
                if not abs(truth - value) <= 2 * math.ulp(value):  # floats become balls exactly
                    raise Error("the logarithm of this machine is not accurate enough; nothing was released: use another machine")
    _trusted = True
