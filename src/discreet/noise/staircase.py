"""Staircase noise on the integers: as flat as one release allows, in steps of e^−ε."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball
from discreet.noise.bernoulli import below, threshold
from discreet.noise.bits import Bits
from discreet.noise.laplace import Geometric
from discreet.noise.law import Law
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniforms

_WIDEST = 2**52  # the largest width, and width/ε, whose samples stay well within 64 bits


def _width(value: int) -> int:
    return exact.whole(value, "width")


def _tread(value: int) -> int:
    return exact.whole(value, "tread")


@final
@frozen
class Staircase(Law):
    """P[X = k] ∝ b^level(|k|) with b = e^−ε and level(i) = ⌊(i + width − tread)/width⌋: `tread` integers at level 0, then `width` at each.

    Theorem (mixture).
        Let G be geometric with ratio b, and J one of 0 … width − 1, with weight 1 below `tread` and b from there on. Then
        width·G + J has the weights b^level on 0, 1, 2, …. With a fair sign, drawn again if it is −0, this is X.

    Accuracy.
        With s = tread + (width − tread)·b and S = s/(1 − b), P[X = 0] = 1/(2S − 1) and P[|X| ≥ k·width] = 2·bᵏ·S/(2S − 1) for k ≥ 1.

    >>> flat, steep = Staircase(3, 10, 2), Staircase(3, 10, 10)
    >>> round(flat.mean_size(), 2), round(steep.mean_size(), 2)
    (2.31, 5.27)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    width: int = field(converter=_width, repr=str)
    tread: int = field(converter=_tread, repr=str)

    def __attrs_post_init__(self) -> None:
        if self.tread > self.width:
            raise Invalid("tread must not be above width")
        if self.width > _WIDEST or self.width / self.epsilon > _WIDEST:
            raise Invalid("the noise does not fit 64-bit numbers: use a coarser unit for the answers, or a larger epsilon")

    @classmethod
    def best(cls, epsilon: Fraction, width: int) -> Staircase:
        """The one of least expected |X|, but for the rounding of floats: its tread is near width/(1 + e^(ε/2)).

        Theorem (Geng & Viswanath 2016).
            Of all laws that are ε-DP for answers that change by at most `width`, a staircase has the least expected |X|.
        """
        near = width / (1 + math.exp(min(float(epsilon) / 2, 300)))
        treads = {min(width, max(1, math.floor(near) + i)) for i in (-1, 0, 1, 2)}
        return min((cls(epsilon, width, tread) for tread in sorted(treads)), key=lambda law: law.mean_size())

    def mean_size(self) -> float:
        """E|X| in floats, for comparisons."""
        b, w, r = math.exp(-float(self.epsilon)), self.width, self.tread
        first = r + (w - r) * b
        inner = r * (r - 1) / 2 * (1 - b) + b * w * (w - 1) / 2
        left = -math.expm1(-float(self.epsilon))
        return 2 * (w * first * b / left + inner) / (2 * first - left)

    @property
    def _ratio(self) -> Ball:
        return (-exact.ball(self.epsilon)).exp()

    @property
    def _half(self) -> Ball:
        """S = Σ b^level over 0, 1, 2, …."""
        return (self.tread + (self.width - self.tread) * self._ratio) / (1 - self._ratio)

    def _level(self, k: int) -> int:
        return (abs(k) + self.width - self.tread) // self.width

    def mass(self, k: int) -> Ball:
        return (-exact.ball(self.epsilon) * self._level(k)).exp() / (2 * self._half - 1)

    def beyond(self, k: int) -> Ball:
        if k <= 0:
            return exact.ball(1)
        rounds, inside = divmod(k, self.width)
        here = max(0, self.tread - inside) + (self.width - max(inside, self.tread)) * self._ratio
        power = (-exact.ball(self.epsilon) * rounds).exp()
        return 2 * power * (here + self._ratio * self._half) / (2 * self._half - 1)

    def _low(self) -> Ball:
        return self.tread / (self.tread + (self.width - self.tread) * self._ratio)

    def sample(self, size: int, bits: Bits) -> Integers:
        out: Integers = np.empty(size, np.int64)
        left = np.arange(size)
        while len(left):
            drawn, signs = self._one_side(len(left), bits), bits.words(len(left)) & np.uint64(1)
            accepted = (drawn > 0) | (signs == 0)
            out[left[accepted]] = np.where(signs == 0, drawn, -drawn)[accepted]
            left = left[~accepted]
        return out

    def _one_side(self, size: int, bits: Bits) -> Integers:
        place = self.width * Geometric(1 / self.epsilon).sample(size, bits)
        if self.tread == self.width:
            return place + uniforms(self.width, size, bits)
        low = below(bits.words(size), np.full(size, _threshold(self), np.uint64), lambda _: self._low(), bits)
        first, rest = uniforms(self.tread, size, bits), uniforms(self.width - self.tread, size, bits)
        return place + np.where(low, first, self.tread + rest)


@lru_cache(maxsize=1024)
def _threshold(law: Staircase) -> int:
    return threshold(law._low)
