"""The law of the privacy loss of a mechanism that sees a random sample of the units, from the law of the mechanism itself.

Let (P, Q) dominate the mechanism, with x = ln(dP/dQ). With probability q the unit is in the sample, so the pair becomes the mixture
P′ = (1 − q)·Q + q·P against Q, with the loss T(x) = ln(1 − q + q·e^x). The base law is put on dots first. Dots are a pair (P̂, Q̂) that
dominates (P, Q), and H_α(P′‖Q) = q·H_β(P‖Q) for α = 1 + q(β − 1) ≥ 1 − q, so the mixture of the dots dominates the mixture of the
pair; the identity H_α(Q‖P) = 1 − α + α·H_{1/α}(P‖Q) gives the same for the reverse.

- removed:  T(x) under P′: the unit is in the first data set. Q-mass where P has none has the loss ln(1 − q).
- added:    −T(x) under Q: the unit is in the second.
- replaced: for ε ≥ 0 the profile of `removed`, for ε < 0 its mirror image: the law is symmetric, and what is left has no loss.

What is added so that the results are upper bounds. The dots' P-mass exceeds 1 by some η, by their own roundings; in the reverse this
would lower δ(ε) by at most q·η·e^ε ≤ q·η/(1 − q), for losses end at −ln(1 − q): so much is taken as revealed. Dots that are up to
`shift` too low stay so, as T has slope at most 1; in the reverse they are on the safe side, and their Q-mass, up to `shift` too large,
is made up for at the top.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal, TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from discreet.exact import float_up
from discreet.loss.law import Dots, Floats, LossLaw, U, log_sum, spread

Side: TypeAlias = Literal["removed", "added", "replaced"]

_CELLS = 2**14  # of the base law: its cells add a relative variance of about 10⁻⁷
_DEPTH = 60.0
_RANGE = 600.0  # base losses beyond it are out of the range of floats


@final
@frozen
class SampledLaw(LossLaw):
    """The law of a symmetric base law under sampling at a rate q < 1, in one direction or symmetrised.

    Theorem (Balle, Barthe & Gaboardi 2018; Zhu, Dong & Wang 2022, theorem 11).
        See the module: (P′, Q) dominates where the unit is in the first data set, (Q, P′) where it is in the second, and the larger of
        both profiles where it is replaced.
    """

    tilts: ClassVar[tuple[float, ...]] = (1.0, 0.9, 0.75, 0.5)

    base: LossLaw
    rate: Fraction
    side: Side

    @property
    def reverse(self) -> SampledLaw:
        other: dict[Side, Side] = {"removed": "added", "added": "removed", "replaced": "replaced"}
        return evolve(self, side=other[self.side])

    @property
    def symmetric(self) -> SampledLaw:
        return evolve(self, side="replaced")

    def _loss(self, x: float) -> float:
        return math.log1p(float_up(self.rate) * math.expm1(x)) if x < _RANGE else x

    def _top(self, s: float, depth: float) -> float:
        """The base losses to look at; in the reverse a tilt only lowers the weight of large ones."""
        return self.base.extent(0.0 if self.side == "added" else s, depth)[1]

    def extent(self, s: float, depth: float) -> tuple[float, float]:
        top = self._top(s, depth)
        high = self._loss(top)
        match self.side:
            case "removed":
                return self._loss(-top), high
            case "added":
                return -high, -math.log1p(-float_up(self.rate))
            case "replaced":
                return -high, high

    def dots(self, step: float, low: float, high: float) -> Dots:
        top = math.log1p(math.expm1(-low if self.side == "added" else high) / float_up(self.rate))
        losses, mass, above, shift = _atoms(self.base, self.rate, self.side, top)
        first, out, beyond = spread(losses, mass, step, low, high)
        return Dots(first, out, above + beyond, shift + 8 * U * (float(np.abs(losses).max()) + step))

    def moments(self, s: float, depth: float) -> tuple[float, float]:
        top = self._top(s, depth)
        if top > _RANGE:
            return math.inf, math.inf
        losses, mass, _, _ = _atoms(self.base, self.rate, self.side, top)
        weights = mass * np.exp(s * (losses - losses.max()))
        mean = float((weights * losses).sum() / weights.sum())
        return mean, float((weights * (losses - mean) ** 2).sum() / weights.sum())

    def log_moment(self, s: Floats) -> Floats:
        """The least of two bounds: by Jensen's inequality 1 − q + q·E[e^{sx}], and the dots with Chernoff's bound beyond them."""
        q, base = float_up(self.rate), self.base.log_moment(s)
        deviation = math.sqrt(self.base.moments(0.0, _DEPTH)[1])
        with np.errstate(over="ignore"):
            jensen = np.logaddexp(math.log1p(-q), math.log(q) + base)
        if self.side == "replaced":
            jensen = np.logaddexp(0.0, jensen)
        top = self.base.extent(8 / deviation, _DEPTH)[1]
        if top > _RANGE:
            return np.asarray(jensen + 64 * U * (1 + np.abs(base)), dtype=np.float64)
        losses, mass, above, shift = _atoms(self.base, self.rate, self.side, top)
        inside = log_sum(losses, mass, s) + s * shift
        if above and self.side != "added":  # whose losses end with the dots
            steps = np.array([0.5, 1.0, 2.0, 4.0, 8.0]) / deviation
            # beyond the top P′ ≤ c·P and e^T ≤ c·e^x with c = q + (1 − q)·e^−top
            scaled = (s + 1) * (math.log(q + (1 - q) * math.exp(-top)) + 4 * U)
            tails = [scaled + self.base.log_moment(s + t) - t * top for t in steps.tolist()]
            inside = np.logaddexp(inside, np.min(tails, axis=0))
        return np.asarray(np.minimum(inside, jensen) + 64 * U * (1 + np.abs(base)), dtype=np.float64)


@lru_cache(maxsize=32)
def _atoms(base: LossLaw, rate: Fraction, side: Side, top: float) -> tuple[Floats, Floats, float, float]:
    """Losses, their masses, the mass that is revealed, and how far a true loss may be above; from base losses in [−top, top]."""
    q = float_up(rate)
    step = 2 * top / _CELLS
    dots = base.dots(step, -top, top)
    x: Floats = np.asarray(step * (dots.low + np.arange(len(dots.mass))), dtype=np.float64)
    kept = dots.mass > 0
    x, under_p = x[kept], dots.mass[kept]
    rounding = 8 * U * (4 + np.abs(x))
    under_q = under_p * np.exp(-x) * (1 + rounding)
    mixed = ((1 - q) * under_q + q * under_p) * (1 + rounding)
    losses = np.log1p(q * np.expm1(x))
    shift = dots.shift + 8 * U * (1 + top)
    left = max(0.0, 1 - math.fsum(under_q.tolist()))
    match side:
        case "removed":
            return np.append(losses, math.log1p(-q)), np.append(mixed, (1 - q) * left), q * dots.above, shift
        case "added":
            excess = max(0.0, math.fsum(under_p.tolist()) + dots.above - 1) + 8 * U
            rest = left + 2 * shift + float((under_q * rounding).sum())
            return np.append(-losses, -math.log1p(-q)), np.append(under_q, rest), q * excess / (1 - q) * (1 + 8 * U), shift
        case "replaced":
            up = x > 0
            positive, high = losses[up], mixed[up]
            mirrored = high * np.exp(-positive)
            rest = max(0.0, 1 - math.fsum(high.tolist()) - math.fsum(mirrored.tolist()) - q * dots.above)
            centre = rest + 2 * shift + float((mirrored * rounding[up]).sum())  # what rounding moved down from 0
            return np.concatenate([-positive, [0.0], positive]), np.concatenate([mirrored, [centre], high]), q * dots.above, shift
