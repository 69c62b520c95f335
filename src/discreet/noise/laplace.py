"""Laplace noise: the geometric and the discrete Laplace law by inversion, and the continuous law rounded to a grid.

One 64-bit word makes one sample. Its lowest bit is the sign where there is one; the other 63 are the first bits of U.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball
from discreet.noise import refine
from discreet.noise.bits import Bits
from discreet.noise.law import Law
from discreet.noise.refine import BLOCK, FAR, FAST, Floats, Integers, workspace

_WIDEST = 2**52  # the largest scale whose samples stay well within 64 bits
_ONE = np.uint64(1)
_SIGN = np.uint64(63)


def _narrow(scale: Fraction) -> Fraction:
    if scale > _WIDEST:
        raise Invalid("the noise does not fit 64-bit numbers: use a coarser unit for the answers, or a larger epsilon")
    return scale


def _fast(scale: Fraction) -> tuple[float, float]:
    """The float scale and the error bound of its float path; an infinite bound sends every sample to the exact path."""
    width = float(scale)
    return width, (refine.margin(width) if width <= FAST else math.inf)


@final
@frozen
class Geometric(Law):
    """P[X = k] = (1 − q) qᵏ for k ≥ 0, with q = e^(−1/scale).

    Theorem (inversion).
        ⌊−scale · ln U⌋ has this law: P[−scale · ln U ≥ k] = P[U ≤ qᵏ] = qᵏ.
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def mass(self, k: int) -> Ball:
        if k < 0:
            return exact.ball(0)
        rate = 1 / exact.ball(self.scale)
        return (-rate * k).exp() * -((-rate).expm1())

    def beyond(self, k: int) -> Ball:
        return (-max(k, 0) / exact.ball(self.scale)).exp()

    def sample(self, size: int, bits: Bits) -> Integers:
        width, doubt = _fast(_narrow(self.scale))
        return _invert(size, width, 0.0, doubt, self._resolve, bits, signed=False)

    def _resolve(self, word: int, bits: Bits) -> int:
        return refine.resolve(lambda u: exact.floor(-exact.ball(self.scale) * u.log()), [(word >> 1, 63)], bits)


@final
@frozen
class DiscreteLaplace(Law):
    """P[X = k] = (1 − q)/(1 + q) · q^|k|, with q = e^(−1/scale).

    Theorem (inversion).
        ±⌊scale · (c − ln U)⌋ with c = ln(2/(1 + q)) and a fair sign has this law: for k ≥ 1, scale·(c − ln U) ≥ k holds just when
        U ≤ 2qᵏ/(1 + q), which is P[|X| ≥ k], and for k = 0 it always holds because c ≥ 0.

    Accuracy.
        P[|X| ≥ k] = 2qᵏ/(1 + q) for k ≥ 1.
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def mass(self, k: int) -> Ball:
        rate = 1 / exact.ball(self.scale)
        return (rate / 2).tanh() * (-rate * abs(k)).exp()

    def beyond(self, k: int) -> Ball:
        if k <= 0:
            return exact.ball(1)
        rate = 1 / exact.ball(self.scale)
        return 2 * (-rate * k).exp() / (1 + (-rate).exp())

    def sample(self, size: int, bits: Bits) -> Integers:
        width, shift, doubt = _constants(_narrow(self.scale))
        return _invert(size, width, shift, doubt, self._resolve, bits, signed=True)

    def draw(self, bits: Bits) -> int:
        """Draw one sample, an unbounded integer, without the overhead of arrays."""
        width, shift, doubt = _constants(self.scale)
        word = bits.word()
        if word >= 1 << 44:  # a ≥ 2⁴³, as the margin assumes
            value = shift - width * math.log((word >> 1) * 2.0**-63)
            whole = math.floor(value)
            if doubt < value - whole < 1 - doubt:
                return -whole if word & 1 else whole
        whole = self._resolve(word, bits)
        return -whole if word & 1 else whole

    def _resolve(self, word: int, bits: Bits) -> int:
        def decide(u: Ball) -> int | None:
            scale = exact.ball(self.scale)
            return exact.floor(scale * ((2 / (1 + (-1 / scale).exp())).log() - u.log()))

        return refine.resolve(decide, [(word >> 1, 63)], bits)


@lru_cache(maxsize=4096)
def _constants(scale: Fraction) -> tuple[float, float, float]:
    """scale, scale·c and the error bound, as floats; scale·c is rounded from a ball, so it is off by at most one unit."""
    refine.trust_log()
    width, doubt = _fast(scale)
    with exact.precision(128):
        t = exact.ball(scale)
        return width, float((t * (2 / (1 + (-1 / t).exp())).log()).mid()), doubt


def _invert(
    size: int, width: float, shift: float, doubt: float, resolve: Callable[[int, Bits], int], bits: Bits, *, signed: bool
) -> Integers:
    """⌊shift − width·ln U⌋ for `size` fresh words, with a fair sign if signed."""
    out: Integers = np.empty(size, np.int64)
    for start in range(0, size, BLOCK):
        part = out[start : start + BLOCK]
        n = len(part)
        words, logs, scratch = workspace.words[:n], workspace.floats[0][:n], workspace.floats[1][:n]
        bits.fill(words)
        refine.log_uniform(words, logs)
        far = np.flatnonzero(logs < FAR) if logs.min() < FAR else ()
        np.multiply(logs, -width, out=logs)
        np.add(logs, shift, out=logs)
        for i in {*refine.floors(logs, doubt, scratch, part).tolist(), *far}:
            part[i] = resolve(int(words[i]), bits)
        if signed:
            np.bitwise_and(words, _ONE, out=words)
            sign = words.view(np.int64)
            np.negative(sign, out=sign)
            np.bitwise_xor(part, sign, out=part)
            np.subtract(part, sign, out=part)
    return out


@final
@frozen
class RoundedLaplace(Law):
    """Round(Z) for continuous Laplace noise Z of density e^(−|z|/scale)/(2·scale), and round(f + Z) around any real f.

    Theorem (post-processing).
        round(f + Z) is the Laplace mechanism followed by rounding on a grid that does not depend on the data, so it costs what the
        Laplace mechanism costs, in any dimension, with no allowance for rounding.

    Accuracy.
        P[|round(Z)| ≥ k] = e^(−(k − ½)/scale) for k ≥ 1.
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def mass(self, k: int) -> Ball:
        rate = 1 / exact.ball(self.scale)
        return -((-rate / 2).expm1()) if k == 0 else (rate / 2).sinh() * (-rate * abs(k)).exp()

    def beyond(self, k: int) -> Ball:
        return ((exact.ball(Fraction(1, 2)) - k) / exact.ball(self.scale)).exp() if k > 0 else exact.ball(1)

    def sample(self, size: int, bits: Bits) -> Integers:
        return self.around(np.zeros(size), lambda _: Fraction(0), bits)

    def around(self, offsets: Floats, offset: Callable[[int], Fraction], bits: Bits) -> Integers:
        """Draw round(f + Z) for each f in [0, 1]; `offsets` are floats within 2⁻⁵² of the exact `offset(i)`."""
        width, doubt = _fast(_narrow(self.scale))
        size = len(offsets)
        out: Integers = np.empty(size, np.int64)
        for start in range(0, size, BLOCK):
            part = out[start : start + BLOCK]
            n = len(part)
            words, values, scratch = workspace.words[:n], workspace.floats[0][:n], workspace.floats[1][:n]
            bits.fill(words)
            refine.log_uniform(words, values)
            far = np.flatnonzero(values < FAR) if values.min() < FAR else ()
            np.multiply(values, -width, out=values)
            sign = workspace.integers[:n].view(np.uint64)
            np.left_shift(words, _SIGN, out=sign)
            np.bitwise_xor(values.view(np.uint64), sign, out=values.view(np.uint64))
            np.add(values, offsets[start : start + n], out=values)
            np.add(values, 0.5, out=values)
            for i in {*refine.floors(values, doubt, scratch, part).tolist(), *far}:
                part[i] = self._resolve(int(words[i]), offset(start + i), bits)
        return out

    def draw(self, offset: float, exactly: Callable[[], Fraction], bits: Bits) -> int:
        """Draw one round(f + Z), f in [0, 1], without the overhead of arrays."""
        width, _, doubt = _constants(self.scale)
        word = bits.word()
        if word >= 1 << 44:
            noise = width * math.log((word >> 1) * 2.0**-63)
            value = (noise if word & 1 else -noise) + offset + 0.5
            whole = math.floor(value)
            if doubt < value - whole < 1 - doubt:
                return whole
        return self._resolve(word, exactly(), bits)

    def _resolve(self, word: int, offset: Fraction, bits: Bits) -> int:
        side = -1 if word & 1 else 1

        def decide(u: Ball) -> int | None:
            return exact.floor(exact.ball(offset + Fraction(1, 2)) - side * exact.ball(self.scale) * u.log())

        return refine.resolve(decide, [(word >> 1, 63)], bits)
