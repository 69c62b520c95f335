"""Conversions between notions of privacy, as functions that always round against us."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from discreet import exact
from discreet.exact import Ball, Number, ball
from discreet.loss.certify import float_above, golden, greatest, least_float, log_inverse, rational_above, roughly, upper_quantile

HUGE = Fraction(700)  # an ε beyond which e^ε is not worth evaluating

# ── composition ──────────────────────────────────────────────────────────────────────────────────────────────────────


def basic_composition(parts: Iterable[tuple[Number, Number]]) -> tuple[Fraction, Fraction]:
    """Add up the parameters of (ε, δ)-DP steps.

    Theorem (Dwork, Kenthapadi, McSherry, Mironov & Naor 2006).
        The adaptive composition of (εᵢ, δᵢ)-DP steps is (Σεᵢ, Σδᵢ)-DP.

    >>> basic_composition([(0.1, 0)] * 10)
    (Fraction(1, 1), Fraction(0, 1))
    """
    read = [(exact.non_negative(epsilon, "epsilon"), exact.non_negative(delta, "delta")) for epsilon, delta in parts]
    return sum((epsilon for epsilon, _ in read), Fraction(0)), min(Fraction(1), sum((delta for _, delta in read), Fraction(0)))


def advanced_composition(epsilon: Number, delta: Number, k: int, slack: Number) -> tuple[Fraction, Fraction]:
    """Compose k equal steps; the total ε grows like √k.

    Theorem (Dwork, Rothblum & Vadhan 2010).
        For every δ′ > 0 the k-fold adaptive composition of (ε, δ)-DP steps is (ε′, kδ + δ′)-DP with
        ε′ = √(2k ln(1/δ′))·ε + kε(e^ε − 1).

    Erratum. Copies with e^ε + 1 in the second term exceed 2kε and are never better than basic composition.

    >>> total, mass = advanced_composition(0.1, 0, 100, 1e-6)
    >>> round(float(total), 4), mass
    (6.3082, Fraction(1, 1000000))
    """
    step = exact.non_negative(epsilon, "epsilon")
    times = exact.whole(k, "k", least=0)
    mass = times * exact.probability(delta, "delta") + exact.positive(slack, "slack")
    return advanced_sum([(step, times)], exact.positive(slack, "slack")), min(mass, Fraction(1))


def advanced_sum(steps: Iterable[tuple[Fraction, int]], slack: Fraction) -> Fraction:
    """Compose steps of different ε, each k times, with slack δ′; return ε′ rounded up.

    Theorem (Dwork, Rothblum & Vadhan 2010, by Azuma's inequality for unequal steps).
        ε′ = √(2 ln(1/δ′) Σεᵢ²) + Σεᵢ(e^εᵢ − 1).
    """
    listed = list(steps)
    squares = sum((k * e * e for e, k in listed), Fraction(0))

    def total() -> Ball:
        drift = sum((k * ball(e) * ball(e).expm1() for e, k in listed), ball(0))
        return (2 * -ball(min(slack, Fraction(1))).log() * ball(squares)).sqrt() + drift

    return rational_above(total) if squares else Fraction(0)


def revealed_or(mass: Fraction, delta: Fraction) -> Fraction:
    """Add the probability of revealing the input to the δ of the remaining mechanism.

    Theorem (Kairouz, Oh & Viswanath 2015).
        Every (ε, δ)-DP pair of laws is a post-processing of: reveal the input with probability δ, else answer by
        randomised response at ε. So steps that reveal with total probability at most δ₀, and otherwise satisfy δ′(ε),
        satisfy δ(ε) = δ₀ + (1 − δ₀)·δ′(ε).

    >>> revealed_or(Fraction(1, 2), Fraction(1, 2))
    Fraction(3, 4)
    """
    return min(Fraction(1), mass + max(Fraction(0), 1 - mass) * delta)


def left_after(mass: Fraction, delta: Fraction) -> Fraction:
    """Invert `revealed_or`: the δ′ left for the remaining mechanism; not positive if nothing is left.

    Theorem (Kairouz, Oh & Viswanath 2015).
        δ₀ + (1 − δ₀)·δ′ = δ exactly for δ′ = (δ − δ₀) / (1 − δ₀).
    """
    return (delta - mass) / (1 - mass) if mass < delta else Fraction(0)


# ── group privacy ────────────────────────────────────────────────────────────────────────────────────────────────────


def group_delta(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """The δ for a group of k units; the ε is kε.

    Theorem (Vadhan 2017, lemma 2.2).
        An (ε, δ)-DP mechanism is (kε, δ·(e^{kε} − 1)/(e^ε − 1))-DP for groups of k.
    """
    if k <= 1 or delta == 0 or epsilon == 0 or k * epsilon > HUGE:
        return min(Fraction(1), k * delta) if k * epsilon <= HUGE or k <= 1 else Fraction(delta > 0)
    return min(Fraction(1), rational_above(lambda: ball(delta) * ball(k * epsilon).expm1() / ball(epsilon).expm1()))


# ── zCDP ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _excess(order_less_one: float) -> float:
    """(α − 1) ln(1 − 1/α) − ln α, for s = α − 1, in floats."""
    s = order_less_one
    return -s * math.log1p(1 / s) - math.log1p(s)


def _best_order(rho: float, log_inverse: float) -> float:
    """Minimise (1 + s)ρ + (ln(1/δ) + excess(s))/s over s = α − 1, by golden section in ln s; any s is sound."""
    guess = math.log(math.sqrt(max(log_inverse, 1e-3) / rho))

    def cost(log_s: float) -> float:
        s = math.exp(log_s)
        return (1 + s) * rho + (log_inverse + _excess(s)) / s

    return math.exp(golden(cost, guess - 8, guess + 5))


def zcdp_epsilon(rho: Number, delta: Number) -> float:
    """The ε at δ of a ρ-zCDP mechanism.

    Theorem (Canonne, Kamath & Steinke 2020, corollary 13).
        A ρ-zCDP mechanism is (ε, δ)-DP with, for every α > 1,
        ε = αρ + (ln(1/δ) + (α − 1) ln(1 − 1/α) − ln α) / (α − 1).

    >>> round(zcdp_epsilon(0.5, 1e-6), 3)
    5.222
    """
    cost, mass = exact.non_negative(rho, "rho"), exact.non_negative(delta, "delta")
    if cost == 0 or mass >= 1 or mass == 0:
        return math.inf if cost and mass < 1 else 0.0
    s = Fraction(_best_order(roughly(cost), log_inverse(mass)))

    def epsilon() -> Ball:
        x = ball(s)
        return (1 + x) * ball(cost) + (-ball(mass).log() - x * (1 / x).log1p() - x.log1p()) / x

    return max(0.0, float_above(epsilon))


def zcdp_delta(rho: Number, epsilon: Number) -> float:
    """The δ at ε of a ρ-zCDP mechanism.

    Theorem (Canonne, Kamath & Steinke 2020, corollary 13).
        δ = e^{(α − 1)(αρ − ε)} (1 − 1/α)^{α − 1} / α for every α > 1.

    >>> zcdp_delta(0.5, 5.23) < 1e-6 < zcdp_delta(0.5, 5.22)
    True
    """
    cost, target = exact.non_negative(rho, "rho"), exact.non_negative(epsilon, "epsilon")
    if cost == 0:
        return 0.0
    r, e = roughly(cost), roughly(target)
    middle = max((e / r - 1) / 2, 1e-3)
    log_s = golden(lambda t: math.exp(t) * ((1 + math.exp(t)) * r - e) + _excess(math.exp(t)), math.log(middle) - 8, math.log(middle) + 3)
    s = Fraction(math.exp(log_s))

    def delta() -> Ball:
        x = ball(s)
        return (x * ((1 + x) * ball(cost) - ball(target)) - x * (1 / x).log1p() - x.log1p()).exp()

    return min(1.0, float_above(delta))


@lru_cache(maxsize=1024)
def zcdp_budget(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A ρ, nearly the largest, whose ε at δ does not exceed ε; 0 if there is none.

    Theorem (Canonne, Kamath & Steinke 2020, corollary 13).
        ε(ρ, δ) grows with ρ, so any ρ with ε(ρ, δ) ≤ ε is a sound budget.
    """
    if delta <= 0 or epsilon <= 0:
        return Fraction(0)
    return greatest(lambda rho: zcdp_epsilon(rho, delta) <= epsilon, epsilon + 1)


# ── Rényi ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def renyi_epsilon(order: Number, divergence: Number, delta: Number) -> float:
    """The ε at δ from a bound on the Rényi divergence of one order.

    Theorem (Canonne, Kamath & Steinke 2020, proposition 12; Balle et al. 2020).
        If D_α ≤ d for both directions, then (ε, δ)-DP holds with
        ε = d + (ln(1/δ) + (α − 1) ln(1 − 1/α) − ln α) / (α − 1).
    """
    a, d, mass = exact.rational(order, "order"), exact.non_negative(divergence), exact.positive(delta, "delta")

    def epsilon() -> Ball:
        x = ball(a - 1)
        return ball(d) + (-ball(mass).log() - x * (1 / x).log1p() - x.log1p()) / x

    return max(0.0, float_above(epsilon))


def renyi_delta(order: Number, divergence: Number, epsilon: Number) -> float:
    """The δ at ε from a bound on the Rényi divergence of one order.

    Theorem (Canonne, Kamath & Steinke 2020, proposition 12).
        δ = e^{(α − 1)(d − ε)} (1 − 1/α)^{α − 1} / α.
    """
    a, d, target = exact.rational(order, "order"), exact.non_negative(divergence), exact.rational(epsilon, "epsilon")

    def delta() -> Ball:
        x = ball(a - 1)
        return (x * ball(d - target) - x * (1 / x).log1p() - x.log1p()).exp()

    return min(1.0, float_above(delta))


# ── Gaussian ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def gaussian_delta(mu_squared: Number, epsilon: Number) -> float:
    """The exact δ at ε of a μ-GDP mechanism, such as the Gaussian with μ = Δ/σ.

    Theorem (Balle & Wang 2018, theorem 8; Dong, Roth & Su 2022, corollary 2.13).
        δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

    >>> gaussian_delta(1, 1)
    0.12693673750664...
    >>> gaussian_delta(1, 1000) < 1e-300
    True
    """
    square, target = exact.non_negative(mu_squared, "mu_squared"), exact.rational(epsilon, "epsilon")
    return float(min(1.0, float_above(lambda: _gaussian_delta(square, target)))) if square else 0.0


def _gaussian_delta(square: Fraction, epsilon: Fraction) -> Ball:
    mu, e = ball(square).sqrt(), ball(epsilon)
    return exact.normal_cdf(mu / 2 - e / mu) - e.exp() * exact.normal_cdf(-mu / 2 - e / mu)


def gaussian_epsilon(mu_squared: Number, delta: Number) -> float:
    """The least ε at δ of a μ-GDP mechanism, to the last few bits of a float.

    Theorem (Balle & Wang 2018, theorem 8).
        δ(ε) falls strictly, so the least float ε with δ(ε) ≤ δ is an upper bound as tight as floats allow.

    >>> round(gaussian_epsilon(1, 1e-6), 6)
    4.886554
    """
    square, mass = exact.non_negative(mu_squared, "mu_squared"), exact.non_negative(delta, "delta")
    if square == 0 or mass >= 1 or mass == 0:
        return math.inf if square and mass < 1 else 0.0
    top = roughly(square) / 2 + math.sqrt(roughly(square) * 2 * log_inverse(mass)) + 1e-300
    return least_float(lambda e: gaussian_within(square, Fraction(e), mass), 0.0, top * (1 + 1e-9))


def gaussian_within(mu_squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Decide δ(ε) ≤ δ for a μ-GDP mechanism; False if the balls cannot decide.

    Theorem (Balle & Wang 2018, theorem 8).
        δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).
    """
    if mu_squared == 0:
        return True
    for bits in (96, 192, 384, 1536):
        with exact.precision(bits):
            gap = ball(delta) - _gaussian_delta(mu_squared, epsilon)
            if gap > 0:
                return True
            if gap < 0:
                return False
    return False


@lru_cache(maxsize=1024)
def gaussian_budget(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A μ², nearly the largest, whose δ at ε does not exceed δ; 0 if there is none.

    Theorem (Balle & Wang 2018, theorem 8).
        δ(ε) grows with μ, so any μ with δ(ε) ≤ δ is a sound budget.

    >>> float(gaussian_budget(Fraction(1), Fraction(1, 10**5)))
    0.07185...
    """
    if delta <= 0:
        return Fraction(0)
    return greatest(lambda square: gaussian_within(square, epsilon, delta), 4 * (epsilon + 1))


# ── pure privacy in other notions ────────────────────────────────────────────────────────────────────────────────────


def pure_to_zcdp(epsilon: Fraction) -> Fraction:
    """The least ρ that holds for every ε-DP mechanism, rounded up.

    Theorem (Bun & Steinke 2016, made tight).
        An ε-DP mechanism is ε·tanh(ε/2)-zCDP, and randomised response attains it.

    Proof. Randomised response dominates. With u = α − 1/2 its D_α is (F(u²) − F(1/4))/(α − 1) for
        F(v) = ln cosh(ε√v), which is concave as tanh(x)/x falls; and α(α − 1) = u² − 1/4, so D_α/α ≤ F′(1/4).

    >>> float(pure_to_zcdp(Fraction(1)))
    0.4621171572600...
    """
    if epsilon == 0 or epsilon > HUGE:
        return epsilon
    return rational_above(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh())


def pure_to_gdp(epsilon: Fraction) -> Fraction:
    """The least μ² that holds for every ε-DP mechanism, rounded up.

    Theorem (Dong, Roth & Su 2022).
        An ε-DP mechanism is μ-GDP for μ = 2Φ⁻¹(e^ε/(1 + e^ε)).

    Proof. The trade-off curve of randomised response is the chord polygon through (0, 1), (x, x), (1, 0) with
        x = 1/(1 + e^ε); the Gaussian curve passes through the same three points and is convex. As P[N > z] ≤ e^(−z²/2)/2, μ² ≤ 8ε.
    """
    if epsilon == 0 or epsilon > HUGE:
        return 8 * epsilon
    return rational_above(lambda: (2 * upper_quantile(1 / (1 + ball(epsilon).exp()))) ** 2)
