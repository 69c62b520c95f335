"""Privacy loss distributions: the law of L = ln(dP/dQ) under P for dominating pairs (P, Q), and its pessimistic discretisation.

Only the law of L under P matters: δ(ε) = E_P[(1 − e^{ε−L})₊]. Moving P-mass to a larger L never lowers it, so every rounding
here moves mass up. Most laws are symmetric: exchanging P and Q gives the same law, so one direction is enough. The others have a
`reverse` (see sampled_law.py), and a composition is examined in both directions.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.exact import float_up
from discreet.loss.certify import float_up_or_infinite

Floats: TypeAlias = NDArray[np.float64]
U = 2.0**-53


@final
@frozen(eq=False)
class Dots:
    """A law on grid points: mass[i] at (low + i)·step, `above` beyond the grid.

    Each true loss is at most `shift` above its grid point, by the rounding of float positions.
    """

    low: int
    mass: Floats
    above: float
    shift: float


class LossLaw(ABC):
    """The law of a privacy loss."""

    tilts: ClassVar[tuple[float, ...]] = (1.0,)  # the shares of the best tilt to try: several for a tail that is heavier than the bulk

    @abstractmethod
    def log_moment(self, s: Floats) -> Floats:
        """ln E_P[e^{sL}], rounded up: s·D_{s+1}(P‖Q)."""

    @abstractmethod
    def dots(self, step: float, low: float, high: float) -> Dots:
        """Discretise the law to multiples of `step`; mass below `low` is moved up to it.

        Theorem (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, connect the dots).
            Let a cell (x, y] hold mass m under P and n under Q. Of all ways to put its P-mass on the two ends that keep both
            m and n, there is one: b = (m − n·e^x)/(1 − e^{x−y}) on y and m − b on x. The hockey-stick curve agrees with
            the true one at every grid point and lies above it, as a chord above a convex curve, between them.
        """

    @abstractmethod
    def extent(self, s: float, depth: float) -> tuple[float, float]:
        """An interval that holds the law tilted by e^{sL}, up to relative mass about e^(−depth) on either side."""

    @property
    def reverse(self) -> LossLaw:
        """The law of ln(dQ/dP) under Q."""
        return self

    @property
    def symmetric(self) -> LossLaw:
        """A law that dominates this one and its reverse."""
        return self

    def moments(self, s: float, depth: float) -> tuple[float, float]:
        """Mean and variance under the tilt e^{sL}; they only choose the grid, so any rounding is sound."""
        low, high = self.extent(s, depth)
        step = max((high - low) / 256, 1e-300)
        dots = self.dots(step, low, high)
        points = step * (dots.low + np.arange(len(dots.mass)))
        weights = dots.mass * np.exp(s * (points - points[-1]))
        total = weights.sum()
        mean = float((weights * points).sum() / total)
        return mean, float((weights * (points - mean) ** 2).sum() / total)


def _connect(step: float, first: int, m: Floats, n_scaled: Floats, slack: Floats | float) -> Floats:
    """Split each cell's mass between its ends; n_scaled is n·e^x, and slack bounds the float error of m − n·e^x."""
    right = np.clip((m - n_scaled + slack) / -math.expm1(-step), 0.0, m)
    out = np.zeros(len(m) + 1)
    out[:-1] = m - right
    out[1:] += right
    return out


def _atom(out: Floats, low: int, step: float, at: float, mass: float) -> None:
    """Add one atom to a grid that begins at index `low`, by the same rule without cancellation."""
    cell = math.floor(at / step)
    left = cell * step
    right = min(1.0, max(0.0, math.expm1(left - at) / math.expm1(-step)))
    index = cell - low
    if index < 0:
        out[0] += mass
        return
    out[index] += mass * (1 - right)
    if right > 0:
        out[index + 1] += mass * right * (1 + 4 * U)


def spread(losses: Floats, mass: Floats, step: float, low: float, high: float) -> tuple[int, Floats, float]:
    """Put many atoms on a grid, by the same rule: its first index, its masses, and the mass of atoms above `high`."""
    first, last = math.floor(low / step), math.ceil(high / step) + 1
    cells = np.floor(losses / step)
    right = np.clip(np.expm1(cells * step - losses) / math.expm1(-step), 0.0, 1.0)
    right[cells < first] = 0.0  # moved up to the first point
    inside = cells < last
    index = np.maximum(cells[inside] - first, 0).astype(np.int64)
    kept, share = mass[inside], right[inside]
    size = last - first + 1
    out = np.bincount(index, kept * (1 - share), size) + np.bincount(index + 1, kept * share, size) * (1 + 8 * U)
    return first, out, float(mass[~inside].sum()) * (1 + len(mass) * U)


def log_sum(losses: Floats, mass: Floats, s: Floats) -> Floats:
    """ln Σ mass·e^{s·loss} for each s."""
    powers = np.outer(s, losses) + np.log(np.maximum(mass, 1e-300))
    peak = powers.max(axis=1)
    return np.asarray(peak + np.log(np.exp(powers - peak[:, None]).sum(axis=1)), dtype=np.float64)


Laws: TypeAlias = tuple[tuple[LossLaw, int], ...]  # with multiplicities


def reverse(laws: Laws) -> Laws:
    """The laws in the other direction."""
    return tuple((law.reverse, k) for law, k in laws)


def symmetric(laws: Laws) -> Laws:
    """Laws that dominate these in both directions, for compositions in which a unit enters one part and leaves another."""
    return tuple((law.symmetric, k) for law, k in laws)


@final
@frozen
class BoundedLaw(LossLaw):
    """Losses in [−ε, ε]: atoms `ends` at ε and ends·e^−ε at −ε, `centre` at 0, and the density w·e^{(ℓ−ε)/2} between.

    Randomised response has atoms alone, continuous Laplace noise ends = 1/2 and w = 1/4, the exponential mechanism no atoms.
    """

    epsilon: float
    ends: float
    centre: float
    density: float

    def log_moment(self, s: Floats) -> Floats:
        e = self.epsilon
        far = np.exp(-(2 * s + 1) * e)
        inside = self.ends * (1 + far) + self.centre * np.exp(-s * e) + self.density * (1 - far) / (s + 0.5)
        return np.asarray(s * e + np.log(inside) + 32 * U * (1 + s * e), dtype=np.float64)

    def extent(self, s: float, depth: float) -> tuple[float, float]:
        # mass at L = ε − x is at most e^(−x/2) under P and e^(−sx) smaller under the tilt
        return max(-self.epsilon, self.epsilon - depth / (s + 0.5)), self.epsilon

    def dots(self, step: float, low: float, high: float) -> Dots:
        e = self.epsilon
        first, last = math.floor(max(low, -e) / step), math.ceil(e / step) + 1
        mass = np.zeros(last - first + 1)
        if self.density:
            edges = np.clip(step * np.arange(first, last + 1), -e, e)
            left, width = edges[:-1], np.diff(edges)
            m = 2 * self.density * np.exp((left - e) / 2) * np.expm1(width / 2)
            # n = ∫ w·e^{(−ℓ−ε)/2}, so n·e^x = 2w·e^{(x−ε)/2}·(1 − e^{−width/2}) up to the shift of a clipped edge
            x = step * np.arange(first, last)
            n = 2 * self.density * np.exp((-left - e) / 2 + x) * -np.expm1(-width / 2)
            mass += _connect(step, first, m, n, 32 * U * (1 + e) * m) * (1 + 16 * U * (1 + e))
            mass[0] += 2 * self.density * max(0.0, math.exp((edges[0] - e) / 2) - math.exp(-e)) * (1 + 16 * U)
        for at, atom in ((e, self.ends), (0.0, self.centre), (-e, self.ends * math.exp(-e))):
            if atom:
                _atom(mass, first, step, at, atom * (1 + 8 * U))
        return Dots(first, mass, 0.0, 8 * U * (e + step))


@final
@frozen
class LatticeLaw(LossLaw):
    """Noise P[x] ∝ e^(−|x|/scale) on the integers against itself shifted by `shift`: atoms at (shift − 2x)/scale."""

    scale: Fraction
    shift: int

    def log_moment(self, s: Floats) -> Floats:
        a, d = 1 / float(self.scale), float(self.shift)
        e, u = float_up(self.shift / self.scale), s + 0.5
        q = math.exp(-a)
        ratio = np.exp(-2 * u * a) * np.expm1(-2 * u * a * (d - 1)) / np.expm1(-2 * u * a)
        inside = (1 + np.exp(-2 * u * e) - math.expm1(-a) * ratio) / (1 + q)
        return np.asarray(s * e + np.log(inside) + 64 * U * (1 + s * e), dtype=np.float64)

    def extent(self, s: float, depth: float) -> tuple[float, float]:
        e = float_up_or_infinite(self.shift / self.scale)
        return max(-e, e - depth / (s + 0.5)), e

    def dots(self, step: float, low: float, high: float) -> Dots:
        a, e, d = 1 / float(self.scale), float_up(self.shift / self.scale), self.shift
        q = math.exp(-a)
        first, last = math.floor(max(low, -e) / step), math.ceil(e / step) + 1
        edges = step * np.arange(first, last + 1)
        # x ↦ loss falls: the cell (ℓ, ℓ′] holds the x with (Δ − ℓ′·scale)/2 ≤ x < (Δ − ℓ·scale)/2, of the inner 1 … Δ − 1
        bound = np.clip(np.ceil((d - edges / a) / 2), 1, d)
        begin, end = bound[1:], bound[:-1]
        inner = -math.expm1(-a) / (1 + q)
        count = end - begin
        m = inner * np.exp(-a * begin) * np.expm1(-a * count) / math.expm1(-a)
        # Q-mass q^(Δ−x): n·e^{edge} summed from the largest term, x = end − 1
        n = inner * np.exp(-a * (d - end + 1) + edges[:-1]) * np.expm1(-a * count) / math.expm1(-a)
        slack = 32 * U * (1 + 2 * e + step) * m
        mass = _connect(step, first, m, n, slack) * (1 + 32 * U * (1 + e))
        if bound[0] < d:  # mass below the grid is moved up to it
            mass[0] += math.exp(-a * bound[0]) * -math.expm1(-a * (d - bound[0])) / (1 + q) * (1 + 32 * U * (1 + e))
        for at, atom in ((e, 1 / (1 + q)), (-e, math.exp(-e) / (1 + q))):
            _atom(mass, first, step, at, atom * (1 + 16 * U * (1 + e)))
        # positions: edges/a is off by few ulp of e·scale, that is few ulp of e in the loss
        return Dots(first, mass, 0.0, 16 * U * (e + step))


@final
@frozen
class NormalLaw(LossLaw):
    """Gaussian noise: L is normal with variance μ² and mean μ²/2."""

    mu_squared: Fraction

    def log_moment(self, s: Floats) -> Floats:
        return np.asarray(s * (s + 1) * (float_up(self.mu_squared) / 2) * (1 + 4 * U), dtype=np.float64)

    def extent(self, s: float, depth: float) -> tuple[float, float]:
        square = float_up_or_infinite(self.mu_squared)
        middle, half_width = square * (s + 0.5), math.sqrt(2 * depth * square)
        return middle - half_width, middle + half_width

    def moments(self, s: float, depth: float) -> tuple[float, float]:
        return float(self.mu_squared) * (s + 0.5), float(self.mu_squared)

    def dots(self, step: float, low: float, high: float) -> Dots:
        mu = math.sqrt(float(self.mu_squared)) * (1 + 4 * U)  # a larger μ is pessimistic
        first, last = math.floor(low / step), math.ceil(high / step) + 1
        edges: Floats = step * np.arange(first, last + 1, dtype=np.float64)
        z_p: Floats = edges / mu - mu / 2
        z_q: Floats = edges / mu + mu / 2
        under_p, error_p = _tails(z_p)
        under_q, error_q = _tails(z_q)
        m, n = _differences(under_p, z_p), _differences(under_q, z_q)
        lift = np.exp(edges[:-1])
        slack_m, slack_n = error_p[:-1] + error_p[1:], (error_q[:-1] + error_q[1:]) * lift
        mass = _connect(step, first, m + slack_m, n * lift, slack_n + 8 * U * m)
        top = edges[-1] / mu - mu / 2
        above = 0.5 * math.erfc(top / math.sqrt(2)) * (1 + 32 * U * (1 + top * top))
        mass[0] += 0.5 * math.erfc(-(edges[0] / mu - mu / 2) / math.sqrt(2)) * (1 + 1e-9)
        return Dots(first, mass, above, 0.0)


_ROOT_HALF = math.sqrt(0.5)


def _tails(z: Floats) -> tuple[Floats, Floats]:
    """P[N > |z|], the side without cancellation, and a bound on its float error (its argument is off by few ulp)."""
    tail = 0.5 * np.fromiter(map(math.erfc, (np.abs(z) * _ROOT_HALF).tolist()), np.float64, len(z))
    return tail, 8 * U * (1 + z * z) * tail


def _differences(tail: Floats, z: Floats) -> Floats:
    """P[zᵢ < N ≤ zᵢ₊₁] from the tails beyond |z|."""
    sign = np.where(z >= 0, 1.0, -1.0)
    same = sign[:-1] == sign[1:]
    return np.where(same, sign[:-1] * (tail[:-1] - tail[1:]), 1 - tail[:-1] - tail[1:])


def pure_law(epsilon: Fraction) -> LossLaw:
    """The law of randomised response at ε, which dominates every ε-DP mechanism."""
    e = float_up_or_infinite(epsilon)
    return BoundedLaw(e, 1 / (1 + math.exp(-e)), 0.0, 0.0)


def curve(law: LossLaw, orders: Floats, plain: Floats) -> Floats:
    """The Rényi divergences of a law, never above the plain bound min(αρ, ε)."""
    if law.extent(0.0, 1.0)[1] > 1e5:
        return plain  # which is nearly ε there
    s = orders - 1
    return np.minimum(plain, law.log_moment(s) / s * (1 + 1e-15))
