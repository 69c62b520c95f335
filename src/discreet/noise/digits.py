"""A second sampler of the discrete Laplace law: binary digits of a geometric number, integer comparisons only.

It shares nothing with `laplace` but the source of bits: no logarithm, no float. The tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.exact import Ball
from discreet.noise.bernoulli import below, threshold
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers

_ENOUGH = 11  # a sample needs digits above the last sampled one with probability e^(−11)


@final
@frozen
class DigitLaplace:
    """P[X = k] ∝ e^(−|k|/scale), digit by digit.

    Theorem (product formula).
        For G geometric with ratio q, 1/(1 − q) = Π (1 + q^(2^i)), so the binary digits of G are independent Bernoulli variables with
        P[digit i = 1] = 1/(1 + e^(2^i/scale)). And X = 0 with probability (1 − q)/(1 + q) = tanh(1/(2·scale)), otherwise ±(1 + G).
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def sample(self, size: int, bits: Bits) -> Integers:
        """Draw independent samples."""
        zero = self._bernoulli(lambda: (1 / (2 * exact.ball(self.scale))).tanh(), size, bits)
        sign = np.where(bits.words(size) >> np.uint64(63) == 1, -1, 1)
        return np.where(zero, 0, sign * (1 + self._geometric(size, bits)))

    def _geometric(self, size: int, bits: Bits) -> Integers:
        out: Integers = np.zeros(size, np.int64)
        last = 0
        while Fraction(2**last) / self.scale < _ENOUGH:
            out |= self._bernoulli(partial(self._digit, last), size, bits).astype(np.int64) << last
            last += 1
        high = np.flatnonzero(self._bernoulli(lambda: (-exact.ball(2**last) / exact.ball(self.scale)).exp(), size, bits))
        for i in high.tolist():  # G ≥ 2^last: the digits above are those of 1 + another geometric number
            above = DigitLaplace(self.scale / 2**last)._geometric(1, bits)[0]
            out[i] += (1 + int(above)) << last
        return out

    def _digit(self, i: int) -> Ball:
        return 1 / (1 + (exact.ball(2**i) / exact.ball(self.scale)).exp())

    @staticmethod
    def _bernoulli(chance: Callable[[], Ball], size: int, bits: Bits) -> NDArray[np.bool_]:
        words = bits.words(size)
        return below(words, np.full(size, threshold(chance), np.uint64), lambda _: chance(), bits)
