"""Cauchy noise rounded to a grid; its tail is so heavy that its scale may depend smoothly on the data."""

from __future__ import annotations

from fractions import Fraction
from typing import final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.exact import Ball
from discreet.noise import refine
from discreet.noise.bits import Bits
from discreet.noise.law import Law
from discreet.noise.refine import Integers


@final
@frozen
class RoundedCauchy(Law):
    """Round(Z) for Cauchy noise Z of density scale/(π(scale² + z²)).

    Theorem (inversion).
        −scale·cot(πU) has the Cauchy law, for U uniform in (0, 1).

    Accuracy.
        P[|round(Z)| ≥ k] = 1 − (2/π)·arctan((k − ½)/scale) for k ≥ 1; there is no mean and no variance.
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def mass(self, k: int) -> Ball:
        return self._below(k + Fraction(1, 2)) - self._below(k - Fraction(1, 2))

    def _below(self, z: Fraction) -> Ball:
        return (exact.ball(z) / exact.ball(self.scale)).atan() / exact.pi() + exact.ball(Fraction(1, 2))

    def beyond(self, k: int) -> Ball:
        return 2 * (exact.ball(self.scale) / exact.ball(k - Fraction(1, 2))).atan() / exact.pi() if k > 0 else exact.ball(1)

    def sample(self, size: int, bits: Bits) -> Integers:
        return np.array([min(max(self.draw(bits), -(2**62)), 2**62) for _ in range(size)], np.int64)

    def draw(self, bits: Bits) -> int:
        """Draw one sample, an unbounded integer."""

        def decide(u: Ball) -> int | None:
            value = exact.ball(Fraction(1, 2)) - exact.ball(self.scale) * (exact.pi() * u).cot()
            return exact.floor(value) if value.is_finite() else None

        return refine.resolve(decide, [(bits.word(), 64)], bits)
