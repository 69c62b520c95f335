"""Gaussian noise: the continuous law rounded to a grid, and the discrete Gaussian.

Box–Muller on lazy reals. Two 64-bit words make two samples: 63 bits of the first are those of U; 61 bits of the second are those of
r in [0, 1), the angle is πr/2, and two more bits of it are the signs:
    X = ±√(−2 ln U) · cos(πr/2),   Y = ±√(−2 ln U) · sin(πr/2)   are independent standard normals.

The margin. Write y = |ln U|, R = √(2y), and let NEAR ≤ y ≤ −FAR. By `refine`, the computed y is off by at most
2⁻⁶³e^y (unseen bits) + 2⁻⁵³ (conversion) + 2⁻⁵⁰y (logarithm); R by that divided by R, which over the whole range is largest at
y = NEAR = 2⁻²⁰, where it is 2⁻⁵³/2⁻⁹·⁵ = 2⁻⁴³·⁵. The sine of φ = πr/4 ≤ π/4 is a Taylor sum of eight terms in r: truncation
φ¹⁷/17! < 2⁻⁵⁴, unseen bits of r and roundings (in units of 2⁻⁵³: r 0.71, coefficient 0.79, last sum 0.79, last product 0.71, the rest
0.4) < 2⁻⁵¹·², together < 2⁻⁵¹. With s = sin φ: cos 2φ = 1 − 2s² is off by 4s·2⁻⁵¹ + 2⁻⁵² < 2⁻⁴⁹, and sin 2φ = 2s√(1 − s²) by
less than 2⁻⁴⁸·⁶ (the root, at least 0.7, is off by at most 2⁻⁵¹ + 2⁻⁵²). Times R ≤ 5.26: 2⁻⁴⁶·². Hence X and Y are off by less than
2⁻⁴³·⁵ + 2⁻⁴⁶·² + 2⁻⁵⁰ < 2⁻⁴³·²; times the scale, plus the offset, four more roundings of at most 5.26·scale + 2 units of 2⁻⁵³ each:
below scale·2⁻⁴² + 2⁻⁵⁰ = `refine.margin(scale)`, with a factor 2 to spare.
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
from discreet.noise.bernoulli import resolve_below
from discreet.noise.bits import Bits, Words
from discreet.noise.law import Law
from discreet.noise.refine import BLOCK, FAR, FAST, Floats, Integers, workspace
from discreet.noise.table import GuideTable

_NEAR = -(2.0**-20)
_WIDEST = 2**56
_HALF = Fraction(1, 2)
# sin(πr/4) = Σ (−1)ᵏ (π/4)^(2k+1) r^(2k+1) / (2k+1)!
_SINE: list[float] = [(-1) ** k * (math.pi / 4) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(8)]
_TABLE_UP_TO = 64  # a guide table is faster and small up to this scale


@final
@frozen
class RoundedGaussian(Law):
    """Round(Z) for Z ~ N(0, scale²), and round(f + Z) around any real f.

    Theorem (post-processing).
        round(f + Z) is the Gaussian mechanism followed by rounding on a grid that does not depend on the data, so it is μ-GDP with
        μ = Δ₂/scale exactly, in any dimension, with no correction for being discrete.

    Accuracy.
        P[|round(Z)| ≥ k] = 2Φ(−(k − ½)/scale) for k ≥ 1.
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def mass(self, k: int) -> Ball:
        sigma, k = exact.ball(self.scale), -abs(k)  # on the lower side the two values are small: little cancellation
        return exact.normal_cdf(exact.ball(k + _HALF) / sigma) - exact.normal_cdf(exact.ball(k - _HALF) / sigma)

    def beyond(self, k: int) -> Ball:
        return 2 * exact.normal_cdf(exact.ball(_HALF - k) / exact.ball(self.scale)) if k > 0 else exact.ball(1)

    def sample(self, size: int, bits: Bits) -> Integers:
        return self.around(None, lambda _: Fraction(0), bits, size)

    def around(self, offsets: Floats | None, offset: Callable[[int], Fraction], bits: Bits, size: int | None = None) -> Integers:
        """Draw round(f + Z) for each f in [0, 1]; `offsets` are floats within 2⁻⁵² of the exact `offset(i)`, None for zeros."""
        if self.scale > _WIDEST:
            raise Invalid("the noise does not fit 64-bit numbers: use a coarser unit for the answers")
        n = len(offsets) if offsets is not None else size or 0
        width = float(self.scale)
        doubt = refine.margin(width) if width <= FAST else math.inf
        out: Integers = np.empty(n, np.int64)
        for start in range(0, n, 2 * BLOCK):
            first = out[start : start + min(BLOCK, (n - start + 1) // 2)]
            second = out[start + len(first) : start + 2 * len(first)]
            self._pair(start, first, second, offsets, offset, width, doubt, bits)
        return out

    def draw(self, offset: float, exactly: Callable[[], Fraction], bits: Bits) -> int:
        """Draw one round(f + Z), f in [0, 1], without the overhead of arrays: the first sample of a pair, by the same steps."""
        width = float(self.scale)
        doubt = refine.margin(width) if width <= FAST else math.inf
        uniform, angle = bits.word(), bits.word()
        refine.trust_log()
        log = math.log((uniform >> 1) * 2.0**-63) if uniform > 1 else FAR - 1
        if FAR <= log <= _NEAR:
            r = (angle >> 3) * 2.0**-61
            square = r * r
            sine = square * _SINE[7]
            for coefficient in _SINE[6:0:-1]:
                sine = (sine + coefficient) * square
            sine = (sine + _SINE[0]) * r
            wave = math.sqrt(-2.0 * log) * width * (1.0 - 2.0 * (sine * sine))
            value = (-wave if angle & 1 else wave) + offset + 0.5
            whole = math.floor(value)
            if doubt < value - whole < 1 - doubt:
                return whole
        return self._resolve(uniform, angle, 0, exactly(), bits)

    def _pair(
        self,
        start: int,
        first: Integers,
        second: Integers,
        offsets: Floats | None,
        offset: Callable[[int], Fraction],
        width: float,
        doubt: float,
        bits: Bits,
    ) -> None:
        m = len(first)
        words = workspace.words[: 2 * m]
        logs, sines, cosines, radii, values, scratch = (a[:m] for a in workspace.floats)
        bits.fill(words)
        uniform, angle = words[:m], words[m:]
        refine.log_uniform(uniform, logs)
        unsure = not (logs.min() >= FAR and logs.max() <= _NEAR)
        edges = np.flatnonzero(~((logs >= FAR) & (logs <= _NEAR))).tolist() if unsure else []
        np.multiply(logs, -2.0, out=radii)
        np.sqrt(radii, out=radii)
        np.multiply(radii, width, out=radii)
        _sine(angle, sines, cosines, scratch)
        np.multiply(sines, sines, out=values)  # s²
        np.subtract(1.0, values, out=cosines)  # 1 − s², at least ½
        np.sqrt(cosines, out=cosines)
        np.multiply(sines, cosines, out=sines)
        np.multiply(sines, 2.0, out=sines)  # sin 2φ
        np.multiply(values, -2.0, out=cosines)
        np.add(cosines, 1.0, out=cosines)  # cos 2φ
        for part, wave, side in ((first, cosines, 0), (second, sines, 1)):
            k = len(part)
            with np.errstate(invalid="ignore"):  # a word of zeros gives ∞·0; it is resolved below like every word below FAR
                value = np.multiply(radii[:k], wave[:k], out=values[:k])
            sign = workspace.integers[:k].view(np.uint64)
            np.left_shift(angle[:k], np.uint64(63 - side), out=sign)
            np.bitwise_and(sign, np.uint64(1 << 63), out=sign)
            np.bitwise_xor(value.view(np.uint64), sign, out=value.view(np.uint64))
            at = start + side * m
            if offsets is not None:
                np.add(value, offsets[at : at + k], out=value)
            np.add(value, 0.5, out=value)
            if k == 0:
                continue
            for i in {*refine.floors(value, doubt, scratch[:k], part).tolist(), *(e for e in edges if e < k)}:
                part[i] = self._resolve(int(uniform[i]), int(angle[i]), side, offset(at + i), bits)

    def _resolve(self, uniform: int, angle: int, side: int, offset: Fraction, bits: Bits) -> int:
        sign = -1 if angle >> side & 1 else 1

        def decide(u: Ball, r: Ball) -> int | None:
            turn = exact.pi() * r / 2
            normal = (-2 * u.log()).sqrt() * (turn.sin() if side else turn.cos())
            return exact.floor(exact.ball(offset + _HALF) + sign * exact.ball(self.scale) * normal)

        return refine.resolve(decide, [(uniform >> 1, 63), (angle >> 3, 61)], bits)


def _sine(words: Words, out: Floats, square: Floats, scratch: Floats) -> None:
    """sin(πr/4) for the r in [0, 1) whose first 61 bits are the words' upper bits."""
    r = scratch
    np.right_shift(words, np.uint64(3), out=r.view(np.uint64))
    np.multiply(r.view(np.int64), 2.0**-61, out=r)
    np.multiply(r, r, out=square)
    np.multiply(square, _SINE[7], out=out)
    for coefficient in _SINE[6:0:-1]:
        np.add(out, coefficient, out=out)
        np.multiply(out, square, out=out)
    np.add(out, _SINE[0], out=out)
    np.multiply(out, r, out=out)


@final
@frozen
class DiscreteGaussian(Law):
    """P[X = k] ∝ e^(−k²/(2·scale²)) on the integers.

    Theorem (Canonne, Kamath & Steinke 2020).
        Adding it to an integer query of sensitivity Δ is Δ²/(2·scale²)-zCDP.

    Proof of the sampler.
        Narrow laws are drawn by a guide table of certified thresholds. Wide ones by rejection from the rounded Gaussian: the ratio of
        the two laws is proportional to a(k) = 1/E[cosh(k·V/scale²)], where V in [−½, ½] has density ∝ e^(−v²/(2·scale²)), so
        accepting k with probability a(k) gives the law. And e^(−k²/(24·scale⁴)) ≤ a(k) ≤ 1, because |V| is stochastically smaller
        than for the uniform law on [−½, ½], and the uniform law's E[cosh(xV)] = sinh(x/2)/(x/2) ≤ e^(x²/24).
    """

    scale: Fraction = field(converter=parameter.scale, repr=str)

    def mass(self, k: int) -> Ball:
        return _weight(self.scale, k) / _total(self.scale)

    def beyond(self, k: int) -> Ball:
        return exact.ball(1) if k <= 0 else 2 * _sum_from(self.scale, k) / _total(self.scale)

    def cdf(self, k: int) -> Ball:
        """P[X ≤ k] as a ball."""
        side = _sum_from(self.scale, abs(k) + (k >= 0)) / _total(self.scale)
        return 1 - side if k >= 0 else side

    def sample(self, size: int, bits: Bits) -> Integers:
        if self.scale <= _TABLE_UP_TO:
            return _table(self.scale).sample(size, bits)
        out = RoundedGaussian(self.scale).sample(size, bits)
        acceptance = bits.words(size)
        # the bound of a(k) at the largest |k|, less a margin far above its rounding error, decides all but a few
        largest = float(max(out.max(), -out.min()))
        sure = math.exp(-(largest**2) * float(self.scale) ** -4 / 24) * (1 - 2.0**-40) - 2.0**-40
        for i in np.flatnonzero(acceptance >= np.uint64(int(sure * 2**64))).tolist():
            while not self._accept(int(out[i]), int(acceptance[i]), bits):
                out[i], acceptance[i] = RoundedGaussian(self.scale).sample(1, bits)[0], bits.word()
        return out

    def _accept(self, k: int, word: int, bits: Bits) -> bool:
        rounded = RoundedGaussian(self.scale)

        def chance() -> Ball:  # ratio of the laws at k, scaled to be 1 at 0
            return _weight(self.scale, k) / (rounded.mass(k) / rounded.mass(0))

        return resolve_below(chance, word, 64, bits)


def _weight(scale: Fraction, k: int) -> Ball:
    return exact.ball(-Fraction(k * k) / (2 * scale * scale)).exp()


def _sum_from(scale: Fraction, k: int) -> Ball:
    """Σ over j ≥ k ≥ 0 of the weights."""
    sums = _sums(scale, exact.working_precision())
    return sums[k] if k < len(sums) else _rest(scale, k)


@lru_cache(maxsize=64)
def _sums(scale: Fraction, precision: int) -> list[Ball]:
    """The sums from each k on, as far as the weights matter at this precision."""
    last = math.isqrt(math.ceil(2 * scale * scale * precision)) + 1
    sums = [_rest(scale, last)]
    for j in range(last - 1, -1, -1):
        sums.append(sums[-1] + _weight(scale, j))
    return sums[::-1]


def _rest(scale: Fraction, k: int) -> Ball:
    # geometric bound: e^(−j²/2σ²) ≤ e^(−k²/2σ²) · e^(−(j−k)·k/σ²)
    ratio = exact.ball(-Fraction(k) / (scale * scale)).exp()
    return exact.between_zero_and(_weight(scale, k) / (1 - ratio))


def _total(scale: Fraction) -> Ball:
    return 1 + 2 * _sum_from(scale, 1)


@lru_cache(maxsize=64)
def _table(scale: Fraction) -> GuideTable:
    return GuideTable.of(DiscreteGaussian(scale).cdf, centre=0)
