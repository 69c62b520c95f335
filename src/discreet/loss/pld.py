"""Compose privacy loss distributions (PLDs) numerically; each rounding is upward, or bounded and added.

The composed law is computed by Fourier transforms of the leaves' dots, tilted by e^{λL} so that the part of the law that decides δ is
the bulk of what is transformed, however small δ is. With M the product of the tilts' normalisers, p(ℓ) = M·e^{−λℓ}·t(ℓ).

Terms added to δ, or to ε, so that the result is an upper bound:

- above:  mass that a leaf has beyond its own grid is taken as revealed: Σ kⱼ·aboveⱼ.
- wrap:   the transform is circular. What lies above the window reappears below and would be lost, so its bound
          M·e^{−λ·top}·P_t[L > top], by Chernoff under the tilted law, is added. What lies below the window reappears at the top:
          extra mass, which is sound. Mass below the window does not affect ε above the window's bottom.
- fft:    Higham (2002, theorem 24.2): a transform of length N = 2^r errs by at most r·η·‖x‖₂ with η ≈ 6.7u; E = 16u·r is used, as
          numpy's real transform mixes radices. Of a product of K factors bounded by 1 in modulus, the error is at most
          Σ kⱼ·‖errorⱼ‖, times the second-order factor e^{Σ kⱼ·E·√N·‖tⱼ‖₂}; each of the K complex products adds a relative √5·u
          (Brent, Percival & Zimmermann 2007), the inverse transform E once more. By Cauchy–Schwarz an ℓ₂ error η of t moves δ(ε) by at
          most η·M·e^{−λε}·W with W² = Σᵢ e^{−2λih}, since the weight of a point at ℓ ≥ ε is at most M·e^{−λℓ}.
- sums:   running sums of N non-negative floats err by at most N·u relatively, for each of the two sums whose difference is δ.
- tilt:   weights e^{λℓ} carry relative errors of few u(1 + |λℓ|), each kⱼ times: a factor e^{slack} on δ.
- shift:  leaves place atoms by floats; each true loss is at most shiftⱼ above its place: Σ kⱼ·shiftⱼ is added to ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.exact import float_down
from discreet.loss.certify import log_inverse
from discreet.loss.law import Dots, Floats, Laws, LossLaw, NormalLaw, U, reverse

_LONGEST = 20  # the grid has at most 2^20 points; beyond, its step grows
_SHORTEST = 12
_DEPTH = 40.0  # e^−40 is nothing beside any error we care for
_BLUR = 5e-5  # the share of the total variance that splitting cells may add
_RANGE = 600.0  # exponents within the range of floats


def merged(laws: Laws) -> Laws:
    """Add up equal laws, and all normal ones into one: the sum of independent normal losses is normal."""
    counts: dict[LossLaw, int] = {}
    square = Fraction(0)
    for law, k in laws:
        if isinstance(law, NormalLaw):
            square += k * law.mu_squared
        else:
            counts[law] = counts.get(law, 0) + k
    if square:
        counts[NormalLaw(square)] = 1
    return tuple((law, k) for law, k in counts.items() if k)


def epsilon(laws: Laws, delta: Fraction) -> float:
    """An upper bound on the ε at δ of the composition, in both directions; ∞ where this method gives no bound."""
    return max(_epsilon(side, delta) for side in {laws, reverse(laws)})


def delta(laws: Laws, epsilon: Fraction) -> float:
    """An upper bound on the δ at ε of the composition, in both directions; 1 where this method gives no bound."""
    return max(_delta(side, epsilon) for side in {laws, reverse(laws)})


@lru_cache(maxsize=256)
def _epsilon(laws: Laws, delta: Fraction) -> float:
    laws = merged(laws)
    if not laws or delta >= 1:
        return 0.0
    if delta <= 0 or not _workable(laws):
        return math.inf
    goal = log_inverse(delta)
    tilt = min(_best_tilt(laws, lambda s, moment: (moment + goal - s * np.log1p(1 / s) - np.log1p(s)) / s), _steepest(laws, goal))
    tried = (_compose(laws, tilt * share, goal) for share in _shares(laws))
    return min((composed.epsilon(-goal) for composed in tried if composed is not None), default=math.inf)


@lru_cache(maxsize=256)
def _delta(laws: Laws, epsilon: Fraction) -> float:
    laws = merged(laws)
    if not laws:
        return 0.0
    if epsilon > _RANGE or not _workable(laws):
        return 1.0
    e = float(epsilon)
    tilt = _best_tilt(laws, lambda s, moment: moment - s * e - s * np.log1p(1 / s) - np.log1p(s))
    moment = _log_moment(laws, np.array([tilt]))[0]
    goal = float(max(1.0, tilt * e - moment + tilt * math.log1p(1 / tilt) + math.log1p(tilt)))
    shares = _shares(laws)
    goal = min(goal, 100.0) if len(shares) > 1 else goal  # δ far below e^−100 would ask for tilts that are out of range
    tried = (_compose(laws, min(tilt, _steepest(laws, goal)) * share, goal) for share in shares)
    return min((composed.delta(float_down(epsilon)) for composed in tried if composed is not None), default=1.0)


def _shares(laws: Laws) -> tuple[float, ...]:
    return max((law.tilts for law, _ in laws), key=len)


def _workable(laws: Laws) -> bool:
    """Whether these losses are within the range of floats; otherwise the other conversions are used."""
    extents = [(law.extent(0.0, _DEPTH), k) for law, k in laws]
    return all(high - low > 1e-12 and high < _RANGE and k < 2**40 for (low, high), k in extents)


# ── the tilt ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _log_moment(laws: Laws, s: Floats) -> Floats:
    total = np.zeros_like(s)
    for law, k in laws:
        total += k * law.log_moment(s)
    return total


def _best_tilt(laws: Laws, cost: object) -> float:
    """The λ of the Chernoff bound; any λ is sound, and this one makes the relevant tail the bulk."""
    assert callable(cost)
    low, high = -3.0 * math.log(10), 7.0 * math.log(10)
    best = 1.0
    for _ in range(3):
        s = np.exp(np.linspace(low, high, 48))
        value = np.asarray(cost(s, _log_moment(laws, s)))
        best = float(s[int(np.nanargmin(value))])
        half_width = (high - low) / 24
        low, high = math.log(best) - half_width, math.log(best) + half_width
    return best


def _deviation(laws: Laws) -> float:
    return math.sqrt(math.fsum(k * law.moments(0.0, _DEPTH)[1] for law, k in laws))


def _steepest(laws: Laws, goal: float) -> float:
    """Twice the best tilt of a normal law of the same variance: beyond it, only the last atom of a bounded law has weight."""
    return 2 * math.sqrt(2 * goal + 2) / _deviation(laws)


# ── composition ──────────────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen(eq=False)
class _Composed:
    """The composed law on ref + (first … )·step, in units of e^{log_unit}, with all terms that are added to it."""

    step: float
    points: Floats  # ℓ − ref, exact multiples of the step
    ref: float
    mass: Floats  # tail sums of p(ℓ)/e^{log_unit} from each point on
    pull: Floats  # tail sums of p(ℓ)·e^{ref − ℓ}/e^{log_unit}
    log_unit: float
    tilt: float
    blur: float  # ℓ₂ error of t, times W
    lost: float  # natural logarithm of above + wrap
    slack: float
    shift: float

    def _added(self, at: Floats | float) -> Floats:
        """Everything that is added to δ at ε = ref + at, in units of e^{log_unit}."""
        lost = math.exp(min(_RANGE, self.lost - self.log_unit)) if self.lost > -math.inf else 0.0
        return np.asarray(lost + self.blur * np.exp(-self.tilt * np.asarray(at)))

    def epsilon(self, log_delta: float) -> float:
        goal = log_delta - self.log_unit - self.slack
        if abs(goal) > _RANGE:
            return math.inf
        target = math.exp(goal) * (1 - 1e-13)
        rounding = 4 * U * (len(self.points) + 8)
        beyond = np.append(self.mass[1:], 0.0), np.append(self.pull[1:], 0.0)
        curve = beyond[0] * (1 + rounding) - np.exp(self.points) * beyond[1] + self._added(self.points)
        below = np.flatnonzero(curve > target)
        i = int(below[-1]) + 1 if len(below) else 0  # the first point from which the curve stays within the target
        if i >= len(curve):
            return math.inf
        end = float(self.points[i])
        if i > 0 and self.pull[i] > 0:
            start = float(self.points[i - 1])
            room = target - float(self._added(start))
            inside = (self.mass[i] * (1 + rounding) - room) / self.pull[i]
            if inside > 0:
                end = min(end, max(start, math.log(inside) + 8 * U))
        result = self.ref + end + self.shift
        return max(0.0, result + 8 * U * (abs(self.ref) + abs(end)))

    def delta(self, epsilon: float) -> float:
        at = (epsilon - self.shift) - self.ref - 8 * U * (abs(epsilon) + abs(self.ref))
        if at < self.points[0]:
            return 1.0
        i = int(np.searchsorted(self.points, at, side="right"))
        rounding = 4 * U * (len(self.points) + 8)
        value = float(self._added(at))
        if i < len(self.points):
            gap = self.mass[i] * (1 + rounding) - math.exp(at) * self.pull[i]
            value += max(0.0, float(gap))
        exponent = self.log_unit + self.slack
        if exponent > _RANGE:
            return 1.0
        return float(min(1.0, value * math.exp(exponent) * (1 + 1e-13) + 5e-324))


def _compose(laws: Laws, tilt: float, goal: float) -> _Composed | None:
    """Compose on a window that holds the tilted law; None where it is out of the range of floats."""
    depth = _DEPTH + goal
    moments = [(law.moments(tilt, depth), law.extent(tilt, depth), k) for law, k in laws]
    mean = math.fsum(k * m for (m, _), _, k in moments)
    variance = math.fsum(k * v for (_, v), _, k in moments)
    top = math.fsum(k * high for _, (_, high), k in moments)
    bottom = math.fsum(k * low for _, (low, _), k in moments)
    if not math.isfinite(mean) or top - bottom <= 0:
        return None
    deviation = max(math.sqrt(max(variance, 0.0)), _deviation(laws) / 2)
    half_width = math.sqrt(2 * _DEPTH) * deviation
    steps = sum(k for _, k in laws)
    wanted = math.sqrt(4 * _BLUR / steps) * deviation
    # each step may move up by one cell, so the dots of a bounded law end a little above its top
    high, low = min(top + (steps + 2) * wanted, mean + half_width), max(bottom, mean - half_width)
    log_n = min(_LONGEST, max(_SHORTEST, math.ceil(math.log2((high - low) / wanted + 4))))
    n = 2**log_n
    step = _short((high - low) / (n - 4))
    if tilt * (high - low) > _RANGE or max(abs(high), abs(low)) > _RANGE:
        return None
    first = math.floor(low / step)  # the window is first … first + n − 1
    if any(e[1] - e[0] > step * 2**22 for _, e, _ in moments):
        return None
    leaves = [(law.dots(step, *extent), k) for (law, k), (_, extent, _) in zip(laws, moments, strict=True)]
    return _transform(leaves, step, first, log_n, tilt, round(mean / step), deviation)


def _short(step: float) -> float:
    """Round up to 8 bits, so that every multiple on the grid is an exact float."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 256), exponent - 8)


def _transform(
    leaves: Sequence[tuple[Dots, int]], step: float, first: int, log_n: int, tilt: float, middle: int, deviation: float
) -> _Composed | None:
    n = 2**log_n
    spectrum: NDArray[np.complex128] | None = None
    per_transform = 16 * U * log_n
    log_m = slack = shift = above = first_order = second_order = 0.0
    orders = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 9.0, 18.0]) / deviation  # small ones for laws with a heavy tail
    chernoff = np.zeros(len(orders))
    top = step * (first + n - 1)
    highest = 0
    for dots, k in leaves:
        kept = dots.mass[: int(np.flatnonzero(dots.mass)[-1]) + 1]
        points = step * (dots.low + np.arange(len(kept)))
        peak = tilt * float(points[-1])
        raw = kept * np.exp(tilt * points - peak)
        total = float(raw.sum())
        tilted = raw / total
        log_total = math.log(total) + peak
        log_m += k * log_total
        largest = tilt * float(np.abs(points).max())
        slack += k * 8 * U * (8 + largest + abs(log_total))
        shift += k * dots.shift
        above += k * dots.above
        highest += k * (dots.low + len(points) - 1)
        chernoff += k * (orders * points[-1] + np.log(np.exp(np.outer(orders, points - points[-1])) @ tilted))
        folded = np.bincount((dots.low + np.arange(len(points))) % n, weights=tilted, minlength=n)
        norm = _length(tilted)
        first_order += k * per_transform * norm
        second_order += k * per_transform * math.sqrt(n) * norm
        factor = _power(np.fft.rfft(folded), k)
        spectrum = factor if spectrum is None else spectrum * factor
    assert spectrum is not None
    steps = sum(k for _, k in leaves)
    if second_order > 1:
        return None
    composed = np.maximum(np.roll(np.fft.irfft(spectrum, n), -(first % n)), 0.0)
    slack += steps * 64 * U
    error = first_order * math.exp(second_order) * (1 + 1e-9)
    error += (2.24 * U * steps + per_transform) * (_length(composed) + error)
    weights = min(math.sqrt(n), 1 / math.sqrt(-math.expm1(-2 * tilt * step)))

    wrap = -math.inf
    if first + n - 1 < highest:
        wrap = log_m - tilt * top + float(np.min(chernoff - orders * top)) + 1e-6
    lost = float(np.logaddexp(wrap, math.log(above) if above > 0 else -math.inf))

    ref = step * middle
    points = step * (np.arange(first, first + n) - middle)
    usable = int(np.searchsorted(points, max(-_RANGE, -_RANGE / tilt)))
    points, composed = points[usable:], composed[usable:]
    mass = composed * np.exp(-tilt * points)
    return _Composed(
        step=step,
        points=points,
        ref=ref,
        mass=np.cumsum(mass[::-1])[::-1],
        pull=np.cumsum((mass * np.exp(-points))[::-1])[::-1],
        log_unit=log_m - tilt * ref,
        tilt=tilt,
        blur=error * weights,
        lost=lost,
        slack=slack + 16 * U * (abs(log_m) + abs(tilt * ref) + tilt * float(np.abs(points).max())),
        shift=shift,
    )


def _length(x: Floats) -> float:
    return math.sqrt(float(np.square(x).sum()))  # np.linalg.norm would start threads that cost more than the sum


def _power(base: NDArray[np.complex128], k: int) -> NDArray[np.complex128]:
    """base^k by repeated squaring: relative error at most (k − 1)·√5·u."""
    result: NDArray[np.complex128] | None = None
    while True:
        if k & 1:
            result = base if result is None else result * base
        k >>= 1
        if not k:
            break
        base = base * base
    assert result is not None
    return result
