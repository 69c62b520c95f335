"""The loss of randomised response, whose privacy loss is ε, 0 or −ε."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, ball
from discreet.loss import convert
from discreet.loss.certify import float_above, float_up_or_infinite, rational_above, short_above, upper_quantile
from discreet.loss.law import BoundedLaw, Floats, Laws, LossLaw, curve, pure_law
from discreet.loss.loss import Loss

_CLOSE = Fraction(1, 2**20)  # the certified bound exceeds the largest value of the search by this fraction
_MOST, _TRIES, _BITS = 2**12, 4, 128  # intervals of orders examined, bounds tried, bits of balls


def _at_least_one(value: object) -> Fraction:
    found = exact.rational(value, "a weight")  # type: ignore[arg-type]
    if found < 1:
        raise Invalid("steep and flat must be at least 1, so that the probabilities add up to 1")
    return found


@final
@frozen
class Response(Loss):
    """The loss of a report whose privacy loss is ε, −ε or 0, with probabilities e^ε/w, 1/w and the rest, w = steep·e^ε + flat.

    Theorem (by the proofs below).
        It is ε-DP, μ-GDP for μ = Φ⁻¹(1 − 1/w) + Φ⁻¹(e^ε/w), and ρ-zCDP for the supremum over α > 1 of
        ln(1 + (e^{αε} − 1)(1 − e^{(1−α)ε})/w)/(α(α − 1)). Where w ≤ 1 + 2e^{ε/2} + e^ε, this is its limit at 1, ε(e^ε − 1)/w.

    Proof. μ: the trade-off curve is the polygon through (0, 1), (1/w, 1 − e^ε/w), its mirror image and (1, 0); the Gaussian's curve is
        convex, symmetric and passes through the knots.
        ρ: E_P[e^{(α−1)L}] is 1 + (e^{αε} + e^{(1−α)ε} − e^ε − 1)/w. As a function of v = (α − 1/2)² its zeros solve
        cosh(ε√v) = cosh(ε/2) − w·e^(−ε/2)/2. If that is at least −1, all are real and negative, the logarithm is concave in v, and D_α/α,
        its slope from v = 1/4, is largest at α = 1. Else a number a little above the largest one that a search finds is certified to be
        a bound for all orders at once, by branch and bound in balls (`_is_bound`).

    >>> Response(1, 1, 1).rho == convert.pure_to_zcdp(Fraction(1)), round(float(Response(1, 1, 49).rho), 4)
    (True, 0.0737)
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    steep: Fraction = field(converter=_at_least_one, repr=str)
    flat: Fraction = field(converter=_at_least_one, repr=str)

    @property
    def _weight(self) -> Ball:
        return ball(self.steep) * ball(self.epsilon).exp() + ball(self.flat)

    @property
    def rho(self) -> Fraction:
        pure = convert.pure_to_zcdp(self.epsilon)
        if not 0 < self.epsilon <= convert.HUGE or self.steep == self.flat == 1:
            return pure
        return min(pure, _largest_slope(self.epsilon, self.steep, self.flat))

    @property
    def mu_squared(self) -> Fraction:
        pure = convert.pure_to_gdp(self.epsilon)
        if not 0 < self.epsilon < convert.HUGE or self.steep == self.flat == 1:
            return pure

        def knot() -> Ball:
            beside = ball(self.steep - 1) * ball(self.epsilon).exp() + ball(self.flat)  # w − e^ε
            return upper_quantile(1 / self._weight) + upper_quantile(beside / self._weight)

        return min(rational_above(lambda: knot() ** 2), pure)

    @property
    def _law(self) -> LossLaw:
        e = self.epsilon
        if e > convert.HUGE or self.steep == self.flat == 1:
            return pure_law(e)
        between = lambda: (ball(self.steep - 1) * ball(e).exp() + ball(self.flat - 1)) / self._weight  # noqa: E731
        return BoundedLaw(float_up_or_infinite(e), float_above(lambda: ball(e).exp() / self._weight), float_above(between), 0.0)

    @property
    def laws(self) -> Laws:
        return ((self._law, 1),) if self.epsilon else ()

    def renyi(self, orders: Floats) -> Floats:
        return curve(self._law, orders, Loss.renyi(self, orders))

    def below(self, other: Loss) -> bool:
        return isinstance(other, Response) and (self.steep, self.flat) == (other.steep, other.flat) and self.epsilon <= other.epsilon


@final
@frozen
class RandomizedResponseLoss(Loss):
    """The loss of reporting the true one of `choices` answers with odds e^ε against each other one.

    Theorem (Warner 1965; Kairouz, Bonawitz & Ramage 2016).
        With w = e^ε + choices − 1 the loss is ε, −ε or 0 with probabilities e^ε/w, 1/w and (choices − 2)/w: see `Response`.

    >>> two, four = RandomizedResponseLoss(1), RandomizedResponseLoss(1, choices=4)
    >>> two.rho == convert.pure_to_zcdp(Fraction(1)), four.rho < two.rho
    (True, True)
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    choices: int = field(default=2, converter=parameter.choices, repr=str)

    @property
    def _response(self) -> Response:
        return Response(self.epsilon, 1, self.choices - 1)

    rho = property(lambda self: self._response.rho)
    mu_squared = property(lambda self: self._response.mu_squared)

    @property
    def laws(self) -> Laws:
        return self._response.laws

    def renyi(self, orders: Floats) -> Floats:
        return self._response.renyi(orders)

    def below(self, other: Loss) -> bool:
        return isinstance(other, RandomizedResponseLoss) and self.choices == other.choices and self.epsilon <= other.epsilon


# ── the supremum over all orders ─────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1024)
def _largest_slope(epsilon: Fraction, steep: Fraction, flat: Fraction) -> Fraction:
    """A bound on D_α/α for every α > 1, certified, and within about a millionth of the supremum."""

    def weight() -> Ball:
        return ball(steep) * ball(epsilon).exp() + ball(flat)

    mean = rational_above(lambda: ball(epsilon) * ball(epsilon).expm1() / weight())
    with exact.precision(_BITS):
        half, w = (ball(epsilon) / 2).exp(), weight()
        if w <= 1 + 2 * half + half**2:
            return mean
        slack = _CLOSE
        for _ in range(_TRIES):
            bound = short_above(max(mean, Fraction(_near(epsilon, w))) * (1 + slack))
            if _is_bound(bound, epsilon, w):
                return bound
            slack *= 16
    return epsilon  # D_α ≤ ε and α ≥ 1


def _near(epsilon: Fraction, w: Ball) -> float:
    """Approximately the supremum, in floats: the largest value on a grid that is refined around it."""
    e, log_w = float(epsilon), float(w.log().mid())
    low, high = -30.0, 30.0 - math.log(e)
    best = 0.0
    for _ in range(6):
        s = np.exp(np.linspace(low, high, 512))
        log_x = (1 + s) * e + np.log(-np.expm1(-(1 + s) * e)) + np.log(-np.expm1(-s * e)) - log_w
        values = np.logaddexp(0.0, log_x) / (s * (1 + s))
        top = int(values.argmax())
        best = max(best, float(values[top]))
        half_width = (high - low) / 128
        low, high = math.log(s[top]) - half_width, math.log(s[top]) + half_width
    return best


def _is_bound(bound: Fraction, epsilon: Fraction, w: Ball) -> bool:
    """Whether G(α) = ln E_P[e^{(α−1)L}] is at most bound·α(α − 1) for every α > 1, decided in balls.

    From α = ε/bound on D_α ≤ ε suffices. Before it, G is convex: between two orders it lies below its chord, and the parabola is above a
    line where it is at one end and does not meet it. Intervals are halved until this is certain.
    """
    e = ball(epsilon)

    def logarithm(s: Fraction) -> Ball:
        return ((e * ball(1 + s)).expm1() * -(-e * ball(s)).expm1() / w).log1p()

    last = short_above(epsilon / bound, 32)
    left, looked = [(Fraction(0), ball(0), last, logarithm(last))], 0
    while left:
        low, at_low, high, at_high = left.pop()
        looked += 1
        above = ball(bound * low * (1 + low)) - at_low  # parabola − chord is above + turn·t + bound·t² at α = 1 + low + t
        turn = ball(bound * (1 + 2 * low)) - (at_high - at_low) / ball(high - low)
        if (not low or above >= 0) and (turn >= 0 or turn * turn <= 4 * ball(bound) * above):
            continue
        middle = short_above((low + high) / 2 if low else high / 8, 40)
        if looked > _MOST or above < 0 or not low < middle < high:
            return False
        at_middle = logarithm(middle)
        left += [(low, at_low, middle, at_middle), (middle, at_middle, high, at_high)]
    return True
