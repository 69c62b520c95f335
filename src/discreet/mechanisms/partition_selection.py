"""Partition selection: which groups to release when the list of groups is itself private.

A unit is in at most `partitions` groups, once in each. Only groups that occur in the data are candidates, so an empty group is never
released. Neighbours differ by adding or removing one unit. The selected groups are released in the order of their labels, which hides
the number of groups in the data and their order.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np
from attrs import field, frozen
from attrs.converters import optional
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import calibrate, leaves
from discreet.loss.loss import Loss
from discreet.loss.parts import SomeParts
from discreet.mechanisms.groups import Groups, SelectedGroups, check_groups, read_groups, selected_labels, sizes_by_label, sorted_labels
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.noise.bernoulli import below, threshold
from discreet.noise.bits import Bits
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.refine import Integers

_BITS = 256  # working precision of the probabilities: 64-bit thresholds stay certified over their whole length


@final
@frozen(kw_only=True)
class PartitionSelection(Mechanism[list[Any]]):
    """Select the groups to release, each with the largest probability that its size allows.

    Theorem (Desfontaines, Voss, Gipson & Mandayam 2022).
        For one group per unit, releasing a group of n with probability πₙ, π₀ = 0, πₙ = min(e^ε πₙ₋₁ + δ, 1 − e^(−ε)(1 − πₙ₋₁ − δ), 1),
        is (ε, δ)-DP, and no (ε, δ)-DP rule releases any group with larger probability. With up to `partitions` groups per unit each is
        decided at ε/partitions and 1 − (1 − δ)^(1/partitions).

    Accuracy.
        `error(confidence)` is the size from which on a group is released with at least this confidence; `chance(n)` is πₙ.

    >>> selection = PartitionSelection(epsilon=1, delta=1e-5)
    >>> selection.release({"flu": 900, "asthma": 250, "rare fever": 1})
    ['asthma', 'flu']
    >>> selection.chance(0), selection.chance(1), selection.chance(40), selection.error(0.5)
    (0.0, 1e-05, 1.0, 12.0)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    partitions: int = field(default=1, converter=parameter.partitions, repr=str)

    @property
    def loss(self) -> Loss:
        return leaves.Approx(self.epsilon, self.delta)

    @property
    def _curve(self) -> list[Ball]:
        return _curve(self.epsilon / self.partitions, _each(self.delta, self.partitions))

    def chance(self, size: int) -> float:
        """The probability that a group of this size is released."""
        curve = self._curve
        with exact.precision(_BITS):
            return float(exact.lower(curve[min(exact.whole(size, "size", least=0), len(curve) - 1)]))

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level = exact.confidence_level(confidence)
        return float(next(n for n, p in enumerate(self._curve) if exact.lower(p) >= level))

    def check(self, answer: Any) -> None:
        check_groups(answer)

    def sample(self, answer: Groups, bits: Bits) -> list[Any]:
        labels, sizes = read_groups(answer)
        return sorted_labels(selected_labels(labels, self.decide(sizes, bits)))

    def decide(self, sizes: Integers, bits: Bits) -> NDArray[np.bool_]:
        """Which groups are selected; the length of this array is private, so only mechanisms may use it."""
        curve = self._curve
        thresholds = _thresholds(self.epsilon / self.partitions, _each(self.delta, self.partitions))
        at = np.minimum(sizes, len(curve) - 1)
        selected = below(bits.words(len(sizes)), thresholds[at], lambda i: curve[int(at[i])], bits)
        return np.asarray(selected | (at == len(curve) - 1), np.bool_)


@lru_cache(maxsize=256)
def _each(delta: Fraction, partitions: int) -> Fraction:
    """1 − (1 − δ)^(1/partitions), rounded down."""
    if partitions == 1:
        return delta
    return exact.rational_down(lambda: -((exact.ball(-delta).log1p() / partitions).expm1()), 128)  # log1p: δ may be far below 2⁻¹²⁸


@lru_cache(maxsize=64)
def _curve(epsilon: Fraction, delta: Fraction) -> list[Ball]:
    """π₀, π₁, … up to the first that is 1; both branches of the recursion increase, so balls stay small."""
    if math.log(delta.denominator) - math.log(delta.numerator) > 2**21 * float(epsilon):  # δ may be below all floats
        raise Invalid("epsilon is too small to discover groups: give more, or declare the groups")
    with exact.precision(_BITS):
        grow, d = exact.ball(epsilon).exp(), exact.ball(delta)
        curve = [exact.ball(0)]
        while len(curve) < 2**22:
            rising, falling = grow * curve[-1] + d, 1 - (1 - curve[-1] - d) / grow
            following = rising if rising < falling else falling
            if not following < 1:
                return [*curve, exact.ball(1)]
            curve.append(following)
    raise Invalid("epsilon is too small to discover groups: give more, or declare the groups")


@lru_cache(maxsize=64)
def _thresholds(epsilon: Fraction, delta: Fraction) -> NDArray[np.uint64]:
    curve = _curve(epsilon, delta)
    with exact.precision(_BITS):
        return np.array([min(threshold(lambda p=p: p), 2**64 - 1) for p in curve], np.uint64)  # type: ignore[misc]


@final
@frozen(kw_only=True)
class ThresholdedCounts(Mechanism[dict[Any, int]]):
    """Select the groups to release together with their noisy sizes, at one privacy loss.

    Theorem (after Korolova et al. 2009; noise as in `TruncatedGeometric`).
        Add truncated geometric noise with bound k, and release sizes above k. A group of size 1 is released with probability at most δ, and
        one of size 0 never, so a group that only one neighbour has is within the noise's own δ: one group costs (ε, δ), not twice that.
        With up to `partitions` groups per unit each has its share of ε and δ; several units together may be in any groups (`SomeParts`).

    Accuracy.
        A released size is off by at most `noise.bound`, usually by `noise.error()`; `error(confidence)` is the size from which on a group
        is released with at least this confidence.

    >>> found = ThresholdedCounts(epsilon=1, delta=1e-5)
    >>> found.noise.bound, found.error(0.5)
    (11, 12.0)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    partitions: int = field(default=1, converter=parameter.partitions, repr=str)

    @property
    def noise(self) -> TruncatedGeometric:
        """The noise on each group's size."""
        return TruncatedGeometric(epsilon=self.epsilon / self.partitions, delta=self.delta / self.partitions)

    @property
    def loss(self) -> Loss:
        each = leaves.Approx(self.noise.epsilon, self.noise.delta)
        return each if self.partitions == 1 else SomeParts(each, self.partitions)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        # n + Z > k fails when Z ≤ k − n, by symmetry as often as Z ≥ n − k
        level, bound = exact.confidence_level(confidence), self.noise.bound
        if level <= Fraction(1, 2):
            return float(bound + 1)
        return bound + 1 + self.noise.error(2 * level - 1)

    def check(self, answer: Any) -> None:
        check_groups(answer)

    def sample(self, answer: Groups, bits: Bits) -> dict[Any, int]:
        labels, sizes = read_groups(answer)
        return sizes_by_label(labels, self.decide(sizes, bits))

    def decide(self, sizes: Integers, bits: Bits) -> SelectedGroups:
        """Which groups are selected, and their noisy sizes; its length is private, so only mechanisms may use it."""
        noise = self.noise
        noisy = sizes + noise.noise(len(sizes), bits)
        selected = (noisy > noise.bound) & (sizes > 0)
        return SelectedGroups(selected, np.where(selected, noisy, 0))


@final
@frozen(kw_only=True)
class WeightedGaussianSelection(Mechanism[dict[Any, int]]):
    """Select the groups to release when a unit may be in many: it spreads a weight of Euclidean length 1 over its groups.

    A unit in t ≤ `partitions` groups adds `weight(t)` to each; weights are fixed-point with denominator `unit`. The answer is the total
    weight of each group. Set epsilon for the least noise, or the standard deviation of the noise itself for weights of length 1.

    Theorem (Gopi, Gulhane, Kulkarni, Shen, Shokouhi & Yekhanin 2020).
        Weights t^(−½) have ℓ₂-sensitivity 1. Adding N(0, σ²), with σ for (ε, δ/2), and releasing groups above
        max over t of t^(−½) + σΦ⁻¹((1 − δ/2)^(1/t)) is (ε, δ)-DP: the groups that only one unit has are released with probability at most
        δ/2.

    Accuracy.
        `error(confidence)` is the number of units, each in this one group only, from which on it is released with at least this confidence.

    >>> many = WeightedGaussianSelection(epsilon=1, delta=1e-5, partitions=10)
    >>> many.weight(1) == many.unit, many.weight(4) * 2 == many.unit
    (True, True)
    """

    epsilon: Fraction | None = field(default=None, converter=optional(parameter.some_epsilon), repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    partitions: int = field(converter=parameter.partitions, repr=str)

    unit: int = field(default=2**20, converter=parameter.unit)
    deviation: Fraction | None = field(default=None, converter=optional(parameter.scale), repr=str)

    def __attrs_post_init__(self) -> None:
        if (self.epsilon is None) == (self.deviation is None):
            raise Invalid("set epsilon, or the deviation of the noise")

    @property
    def scale(self) -> Fraction:
        """σ, for weights of length 1."""
        if self.deviation is not None:
            return self.deviation
        assert self.epsilon is not None
        return calibrate.gaussian_scale(self.epsilon, self.delta / 2, Fraction(1))

    @property
    def loss(self) -> Loss:
        return leaves.GaussianThreshold(1 / self.scale**2, self.delta / 2)

    def chance(self, size: int) -> float:
        """The probability that a group of this many units, each in no other group, is released."""
        total = exact.whole(size, "size", least=0) * self.unit
        away = (self.threshold + 0.5 - total) / float(self.scale * self.unit)
        return math.erfc(away / math.sqrt(2)) / 2 if total else 0.0

    def weight(self, groups: int) -> int:
        """The weight that a unit in this many groups adds to each: ⌊unit/√groups⌋, so that the length never exceeds 1."""
        return math.isqrt(self.unit**2 // exact.whole(groups, "groups"))

    @property
    def threshold(self) -> int:
        """In weights of 1/unit, rounded up."""
        return _gaussian_threshold(self.scale, self.delta / 2, self.partitions, self.unit)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        level = exact.confidence_level(confidence)
        spread = RoundedGaussian(self.scale * self.unit).quantile(abs(2 * level - 1)) if 2 * level != 1 else 0
        needed = self.threshold + (spread if 2 * level >= 1 else -spread) + 1
        return float(max(1, math.ceil(needed / self.unit)))

    def check(self, answer: Any) -> None:
        check_groups(answer)

    def sample(self, answer: Groups, bits: Bits) -> dict[Any, int]:
        labels, totals = read_groups(answer)
        return sizes_by_label(labels, self.decide(totals, bits))

    def decide(self, totals: Integers, bits: Bits) -> SelectedGroups:
        """Which groups are selected, and their noisy weights; its length is private, so only mechanisms may use it."""
        noisy = totals + RoundedGaussian(self.scale * self.unit).sample(len(totals), bits)
        selected = (noisy > self.threshold) & (totals > 0)
        return SelectedGroups(selected, np.where(selected, noisy, 0))


@lru_cache(maxsize=256)
def _gaussian_threshold(scale: Fraction, delta: Fraction, partitions: int, unit: int) -> int:
    """The least whole w (in 1/unit) such that Φ((w − t^(−½))/σ)^t ≥ 1 − δ for every t, certified; in logarithms, for δ may be tiny."""

    def safe(w: int) -> bool:
        with exact.precision(192):
            most = exact.ball(-delta).log1p()
            return all(bool(t * (-beyond(w, t)).log1p() >= most) for t in range(1, partitions + 1))

    def beyond(w: int, t: int) -> Ball:
        return exact.normal_cdf((1 / exact.ball(t).sqrt() - exact.ball(Fraction(w, unit))) / exact.ball(scale))

    return exact.least_whole(safe, start=unit, above=0)
