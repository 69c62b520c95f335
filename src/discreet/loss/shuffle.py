"""The loss of local reports that are shuffled before anyone sees them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.exact import Ball, ball
from discreet.loss import convert
from discreet.loss.certify import float_above, float_up_or_infinite
from discreet.loss.law import Dots, Floats, Laws, LossLaw, U, log_sum, pure_law, spread
from discreet.loss.loss import Loss

_MOST = 2**30  # further reports are left out; they would only help
_DEPTH = 100.0  # tails of mass e^−100 are moved up
_KNOTS = 2**13


@final
@frozen
class ShuffledLaw(LossLaw):
    """The law of `Shuffled`, from the pair of distributions of its theorem.

    Given C = c clones, let b be the binomial(c + 1, ½) law and f = k/(c + 1). Then P[k] = 2·b(k)·(w·f + (1 − w)(1 − f)) for
    w = e^ε/(e^ε + 1), and the loss is the logarithm of (w·f + (1 − w)(1 − f)) / ((1 − w)·f + w·(1 − f)). One more clone is a coin that
    anyone could toss, so fewer clones dominate: all numbers of clones in a bucket are replaced by its least, and the tails by none.
    """

    epsilon: Fraction
    reports: int

    def extent(self, s: float, depth: float) -> tuple[float, float]:
        losses, mass = _atoms(self.epsilon, self.reports)
        tilted = mass * np.exp(s * (losses - losses[-1]))
        tails = np.cumsum(tilted[::-1])[::-1]
        top = float(losses[int(np.flatnonzero(tails > tails[0] * math.exp(-depth))[-1])])
        return -top, top

    def log_moment(self, s: Floats) -> Floats:
        losses, mass = _atoms(self.epsilon, self.reports)
        return np.asarray(log_sum(losses, mass, s) + 64 * U * (1 + s * losses[-1]), dtype=np.float64)

    def dots(self, step: float, low: float, high: float) -> Dots:
        losses, mass = _atoms(self.epsilon, self.reports)
        first, out, above = spread(losses, mass, step, low, high)
        return Dots(first, out, above, 64 * U * (1 + float(losses[-1])))


@lru_cache(maxsize=64)
def _atoms(epsilon: Fraction, reports: int) -> tuple[Floats, Floats]:
    """Losses in ascending order and their masses, after connecting the dots between knots that are dense where the mass is."""
    e = float_up_or_infinite(epsilon) * (1 + 4 * U)
    weight = 1 / (1 + math.exp(-e))
    clones, chances = _buckets(epsilon, min(reports, _MOST) - 1)
    near = min(e, 14 * math.tanh(e / 2) / math.sqrt(float(clones @ chances) + 1))
    far = np.exp(np.linspace(math.log(near), math.log(e), 200)) if near < e else np.array([e])
    upper = np.unique(np.concatenate([np.linspace(0.0, near, _KNOTS // 2), far[1:], [e * (1 + 8 * U)]]))
    knots = np.concatenate([-upper[:0:-1], upper])
    mass = np.zeros(len(knots))
    for c, chance in zip(clones.tolist(), chances.tolist(), strict=True):
        k, b = _halves(int(c) + 1)
        f = k / (c + 1)
        this, other = weight * f + (1 - weight) * (1 - f), (1 - weight) * f + weight * (1 - f)
        _connect(knots, np.log(this / other), 2 * chance * b * this * (1 + 16 * U), mass)
    mass[-1] += 4 * math.exp(-_DEPTH)
    return knots, mass


def _connect(knots: Floats, losses: Floats, mass: Floats, out: Floats) -> None:
    """Add atoms to the two knots around each, keeping their mass under both distributions."""
    i = np.clip(np.searchsorted(knots, losses, side="right") - 1, 0, len(knots) - 2)
    right = np.clip(np.expm1(knots[i] - losses) / np.expm1(knots[i] - knots[i + 1]), 0.0, 1.0)
    out += np.bincount(i, mass * (1 - right), len(out)) + np.bincount(i + 1, mass * right, len(out)) * (1 + 8 * U)


def _buckets(epsilon: Fraction, others: int) -> tuple[Floats, Floats]:
    """The least number of clones in each bucket of C ~ binomial(others, e^−ε) and its chance, rounded up; tails have no clone.

    Bernstein's inequality: C is below mean − t with probability at most e^{−t²/(2·mean)}, above mean + t with e^{−t²/(2·mean + 2t/3)}.
    """
    p = math.exp(-float_up_or_infinite(epsilon)) * (1 - 8 * U)  # fewer clones are pessimistic
    mean = others * p
    low = max(0, math.floor(mean - math.sqrt(2 * _DEPTH * mean)))
    high = min(others, math.ceil(mean + _DEPTH / 3 + math.sqrt(_DEPTH**2 / 9 + 2 * _DEPTH * mean)))
    middle = min(max(round(mean), low), high)
    share = Fraction(p)

    def centre() -> Ball:
        log = ball(middle) * ball(share).log() + ball(others - middle) * ball(1 - share).log()
        return (log + ball(others + 1).lgamma() - ball(middle + 1).lgamma() - ball(others - middle + 1).lgamma()).exp()

    odds = p / (1 - p)
    up = np.arange(middle, high, dtype=np.float64)
    down = np.arange(middle, low, -1, dtype=np.float64)
    rising = np.cumprod((others - up) / (up + 1) * odds)
    falling = np.cumprod(down / (others - down + 1) / odds)
    chances = float_above(centre) * np.concatenate([falling[::-1], [1.0], rising]) * (1 + 8 * U * (high - low + 8))
    width = max(1, math.ceil((high - low) / (320 if mean < 1e5 else 64)))
    starts = np.arange(0, high - low + 1, width)
    tails = 2 * math.exp(-_DEPTH)
    return np.append(low + starts, 0).astype(np.float64), np.append(np.add.reduceat(chances, starts), tails)


def _halves(n: int) -> tuple[Floats, Floats]:
    """The binomial(n, ½) law, rounded up, without tails of mass e^−100 on either side (Hoeffding's inequality)."""
    middle, reach = n // 2, math.ceil(math.sqrt(n * _DEPTH / 2)) + 1
    low, high = max(0, middle - reach), min(n, middle + reach)

    def centre() -> Ball:
        return (ball(n + 1).lgamma() - ball(middle + 1).lgamma() - ball(n - middle + 1).lgamma() - n * ball(2).log()).exp()

    up, down = np.arange(middle, high, dtype=np.float64), np.arange(middle, low, -1, dtype=np.float64)
    rising, falling = np.cumprod((n - up) / (up + 1)), np.cumprod(down / (n - down + 1))
    mass = float_above(centre) * np.concatenate([falling[::-1], [1.0], rising]) * (1 + 8 * U * (high - low + 8))
    return np.arange(low, high + 1, dtype=np.float64), mass


def _count(value: int) -> int:
    return exact.whole(value, "reports")


@final
@frozen
class Shuffled(Loss):
    """The loss of `reports` ε-DP local reports, one from each unit, that are shuffled so that nobody knows whose is whose.

    Neighbours replace one unit. ε, ρ and μ² are those of the local report, for they have no theorem that composes adaptively; δ(ε) and
    the privacy loss distribution are those of the shuffled reports. (`Promised` gives them an (ε, δ) for a budget.)

    Theorem (Feldman, McMillan & Talwar 2021, theorem 3.1 and section 3.2).
        Let C ~ binomial(n − 1, e^−ε), A ~ binomial(C, ½) and D = 1 with probability e^ε/(e^ε + 1), else 0. Then shuffled reports of
        neighbours are dominated by (A + D, C − A + 1 − D) against (A + 1 − D, C − A + D).

    Proof. An ε-DP report R of x or x′ is a post-processing of randomised response at ε (Kairouz, Oh & Viswanath 2015): there are Q₀, Q₁
        with R(x) = (e^ε·Q₀ + Q₁)/(e^ε + 1) and R(x′) the other way round. Every report of another unit has R(y) ≥ e^−ε·R(x) and
        R(y) ≥ e^−ε·R(x′), so R(y) ≥ e^−ε·(R(x) + R(x′))/2 = e^−ε·(Q₀ + Q₁)/2: with probability e^−ε it is a clone, from Q₀ or Q₁ by a
        fair coin, else from a law that does not depend on x. Given how many come from Q₀ and from Q₁, the shuffled reports are a
        post-processing.

    >>> loss = Shuffled(1, 10_000)
    >>> loss.epsilon, loss.epsilon_at(1e-6) < 0.1
    (Fraction(1, 1), True)
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    reports: int = field(converter=_count, repr=str)

    @property
    def rho(self) -> Fraction:
        return convert.pure_to_zcdp(self.epsilon)

    @property
    def mu_squared(self) -> Fraction:
        return convert.pure_to_gdp(self.epsilon)

    @property
    def laws(self) -> Laws:
        if not self.epsilon:
            return ()
        small = self.reports == 1 or self.epsilon > 30  # hardly any clone
        return ((pure_law(self.epsilon) if small else ShuffledLaw(self.epsilon, self.reports), 1),)

    def below(self, other: Loss) -> bool:
        return isinstance(other, Shuffled) and self.epsilon <= other.epsilon and self.reports >= other.reports
