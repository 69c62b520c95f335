"""Smooth sensitivity: noise scaled to a smooth upper bound on the local sensitivity of the data."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.robust.order_statistics import LocalSensitivity, Robust
from discreet.noise.bits import Bits
from discreet.noise.cauchy import RoundedCauchy
from discreet.noise.laplace import RoundedLaplace
from discreet.noise.refine import Integers

_MOST_RUNGS = 2**20
_EDGE = 2**200  # values are clamped to ± this
_LOCAL = "give the answer as a LocalSensitivity: the value, its interval and the local sensitivity at each distance, in whole units"


@final
@frozen(eq=False)
class WidthLadder:
    """The possible widths of the noise: rungs[0] = `one`, each at most 1 + 1/smoothness times the one before, up to `most` units.

    Theorem (ladder).
        Let A[k] bound the local sensitivity at distance k, and let rung(D) be the largest over k of (the first rung ≥ A[k]) − k, but at
        least 0. If A[k] of a data set is at most A[k + 1] of its neighbour, rung changes by at most 1 between neighbours, so the width by
        at most the factor 1 + 1/smoothness; and the width is at least the local sensitivity of both. All of it is integers.
    """

    one: int  # rungs are fixed-point numbers with this denominator
    rungs: Integers

    def rung(self, at_distance: Integers) -> int:
        """The rung for a local sensitivity at each distance, in units; distances beyond its end are taken as the last rung."""
        length = min(len(at_distance), len(self.rungs))
        units = np.minimum(at_distance[:length], int(self.rungs[-1]) // self.one)
        first = np.searchsorted(self.rungs, units * self.one)
        return int(max(0, (first - np.arange(length)).max(initial=0), len(self.rungs) - 1 - len(at_distance)))

    def width(self, rung: int) -> Fraction:
        """The width at a rung, in units."""
        return Fraction(int(self.rungs[rung]), self.one)


@lru_cache(maxsize=64)
def _ladder(smoothness: int, most: int) -> WidthLadder:
    one = 1 << (max(0, 61 - most.bit_length()) & ~1)  # as fine as 62 bits allow
    if one <= smoothness:
        raise Invalid("epsilon is too small for a grid as fine as this: give a larger epsilon, or a coarser step")
    rungs = [one]
    while rungs[-1] < most * one:
        rungs.append(rungs[-1] + rungs[-1] // smoothness)
        if len(rungs) > _MOST_RUNGS:
            raise Invalid("epsilon is too small for a grid as fine as this: give a larger epsilon, or a coarser step")
    return WidthLadder(one, np.array(rungs, np.int64))


@final
@frozen(kw_only=True, init=False)
class SmoothSensitivity(Mechanism[float]):
    """Add noise scaled to the smooth sensitivity of the data, which is nearly the same for neighbours.

    With a `statistic` the input is records; without one it is a `LocalSensitivity`, in units of `unit` and at most `most`. Without δ the
    noise is Cauchy and the release is ε-DP; with δ it is Laplace, wider for most data but with a far lighter tail. The release is a
    multiple of `unit`: a grid that does not depend on the data.

    Theorem (after Nissim, Raskhodnikova & Smith 2007; the constants by the proofs below).
        Let S be at least the local sensitivity of the data and of its neighbours, and change by at most the factor r = 1 + 1/m between
        neighbours (m is `smoothness`). f + (S/a)·Cauchy is ε-DP if and only if a² ≤ 2c and a² ≤ 2rc − (r − 1)², where c = cosh ε − 1.
        f + (S/a)·Laplace is (ε, δ)-DP if a ≤ ε, a ≤ r(ε − ln r) and e^(−m(ε + ln r))·cosh(ma)/(m + 1) ≤ δ.

    Proof. Neighbours have widths 1 and s, 1 ≤ s ≤ r, in units of the narrower one, and centres at most a apart.
        Cauchy: up to a constant the reciprocal of the density is q(t) = ((t − x)² + w²)/w, a quadratic form of (t, 1)
        with determinant 1. So the extreme ratios of two of them are eigenvalues λ and 1/λ, and 2·cosh(ln λ) = λ + 1/λ is a trace:
        2 + (a² + (s − 1)²)/s. This is at most 2·cosh ε where a² ≤ 2sc − (s − 1)², concave in s: its ends decide.
        Laplace: ln(narrow/wide) is largest at the narrower one's centre, ln s + a/s ≤ ε, for s(ε − ln s) is concave in s. The wider law
        exceeds e^ε times the narrower in two tails, by (1 − 1/s)/2·e^(−(ε + ln s ∓ a)/(s − 1)) each. Both rise with s: the
        derivative of the logarithm is (ε + ln s ∓ a)/(s − 1)². At s = r they sum to the δ above, and that rises with a.

    Accuracy.
        `error(confidence, sensitivity=S)` is the quantile of |error| where the smooth sensitivity is S; by default at its largest.

    >>> wages = Robust.median(lower=0, upper=1000)
    >>> private = SmoothSensitivity(epsilon=1, delta=1e-6, statistic=wages)
    >>> 190 < private.release([200 + x / 100 for x in range(4000)]) < 250
    True
    >>> pure = SmoothSensitivity(epsilon=1, statistic=wages)
    >>> pure.loss, pure.smoothness, round(pure.error(sensitivity=0.01), 2)
    (Pure(epsilon=1), 2, 0.18)
    """

    epsilon: Fraction = field(repr=str)
    delta: Fraction = field(repr=str)
    statistic: Robust | None
    most: int = field(repr=False)
    unit: Fraction = field(repr=False)

    def __init__(
        self, *, epsilon: Number, delta: Number = 0, statistic: Robust | None = None, most: int | None = None, unit: Number = 1
    ) -> None:
        if (statistic is None) == (most is None):
            raise Invalid("set statistic, or most, the largest possible local sensitivity in units")
        if statistic is not None and not isinstance(statistic, Robust):
            raise Invalid("statistic must be a Robust, such as Robust.median(lower=0, upper=100)")
        largest = statistic.most - statistic.least if statistic is not None else exact.whole(most or 0, "most")
        if largest > 2**56:
            raise Invalid("there are more than 2^56 units: choose a larger unit or step")
        self.__attrs_init__(
            epsilon=parameter.some_epsilon(epsilon),
            delta=parameter.any_delta(delta),
            statistic=statistic,
            most=largest,
            unit=statistic.unit if statistic is not None else parameter.step(unit),
        )
        _ladder(self.smoothness, self.most)  # raises Invalid here, before records are read

    @property
    def smoothness(self) -> int:
        """m: widths differ by at most 1 + 1/m between neighbours."""
        return _smoothness(self.epsilon, self.delta)

    @property
    def changes(self) -> int:
        """The largest distance that is examined; larger ones would not widen the noise."""
        return len(_ladder(self.smoothness, self.most).rungs)

    @property
    def rate(self) -> Fraction:
        """The theorem's a: the noise has the width S/rate."""
        return _laplace_rate(self.epsilon, self.delta, self.smoothness) if self.delta else _cauchy_rate(self.epsilon, self.smoothness)

    @property
    def loss(self) -> Loss:
        return leaves.Approx(self.epsilon, self.delta) if self.delta else leaves.Pure(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1, *, sensitivity: Number | None = None) -> float:
        level = exact.confidence_level(confidence)
        units = Fraction(self.most) if sensitivity is None else exact.positive(sensitivity, "sensitivity") / self.unit
        width = max(units, Fraction(1)) * (1 + Fraction(1, self.smoothness)) / self.rate  # the next rung
        return float(self.unit) * self._law(width).quantile(level, exact.whole(size, "size"))

    def _law(self, width: Fraction) -> RoundedLaplace | RoundedCauchy:
        return RoundedLaplace(width) if self.delta else RoundedCauchy(width)

    def check(self, answer: Any) -> None:
        if self.statistic is not None:
            self.statistic.check(answer)
        elif not isinstance(answer, LocalSensitivity) or len(answer.at_distance) == 0:
            raise Invalid(_LOCAL)

    def sample(self, answer: Any, bits: Bits) -> float:
        value, at_distance = self._read(answer)
        ladder = _ladder(self.smoothness, self.most)
        law = self._law(ladder.width(ladder.rung(at_distance)) / self.rate)
        noisy = value + (law.draw(bits) if isinstance(law, RoundedCauchy) else law.draw(0.0, Fraction, bits))
        return self.statistic.to_value(noisy) if self.statistic is not None else float(self.unit * min(max(noisy, -_EDGE), _EDGE))

    def _read(self, answer: Any) -> tuple[int, Integers]:
        """The value and its local sensitivity at each distance, in integer units; if not a number, 0 and the largest sensitivity."""
        if self.statistic is not None:
            found = self.statistic.local(answer, self.changes)
            return found.value, found.at_distance
        if not isinstance(answer, LocalSensitivity):
            raise Invalid(_LOCAL)
        read = [answers.exactly(jump) for jump in np.asarray(answer.at_distance, object).reshape(-1).tolist()]
        at_distance = [self.most if jump is None else math.ceil(min(max(jump, Fraction(0)), Fraction(self.most))) for jump in read]
        return math.floor(min(max(answers.exactly(answer.value) or Fraction(0), Fraction(-_EDGE)), Fraction(_EDGE))), np.array(
            at_distance, np.int64
        )


@lru_cache(maxsize=256)
def _smoothness(epsilon: Fraction, delta: Fraction) -> int:
    """The least m, certified, at which ln r ≤ ε/2 and, for Laplace noise, at which the theorem allows a = ε/2."""
    half = epsilon / 2

    def enough(m: int) -> bool:
        with exact.precision(128):
            step = (exact.ball(1) + 1 / exact.ball(m)).log()
            if not step <= exact.ball(half):
                return False
            return not delta or bool((-m * (exact.ball(half) + step)).exp() / (m + 1) <= exact.ball(delta))

    return exact.least_whole(enough, above=0)


_LARGEST = Fraction(64)  # at this ε the noise is already negligible, so a larger one is treated as this


@lru_cache(maxsize=256)
def _cauchy_rate(epsilon: Fraction, m: int) -> Fraction:
    """The largest a of the theorem, rounded down: the lesser of 2·sinh(ε/2) and the bound at width ratio 1 + 1/m."""
    e, step = min(epsilon, _LARGEST), Fraction(1, m)

    def free() -> Ball:
        return 2 * (exact.ball(e) / 2).sinh()  # 2(cosh ε − 1) is its square, without cancellation

    return min(
        exact.rational_down(free, 128),
        exact.rational_down(lambda: (exact.ball(1 + step) * free() ** 2 - exact.ball(step) ** 2).sqrt(), 128),
    )


@lru_cache(maxsize=256)
def _laplace_rate(epsilon: Fraction, delta: Fraction, m: int) -> Fraction:
    """The largest a of the theorem, rounded down."""
    r = 1 + Fraction(1, m)

    def by_mass() -> Ball:
        log_r = exact.ball(r).log()
        return (exact.ball(delta) * (m + 1) * (m * (exact.ball(epsilon) + log_r)).exp()).acosh() / m

    by_ratio = exact.rational_down(lambda: exact.ball(r) * (exact.ball(epsilon) - exact.ball(r).log()), 128)
    return min(epsilon, by_ratio, exact.rational_down(by_mass, 128))
