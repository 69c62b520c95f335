"""Divergences between two explicit finite distributions; exact if they are given as fractions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number, ball
from discreet.loss.certify import float_above, rational_above

Distribution: TypeAlias = "Mapping[Hashable, Number] | Sequence[Number]"
Pairs: TypeAlias = "list[tuple[Fraction, Fraction]]"


def _read(distribution: Distribution) -> dict[Hashable, Fraction]:
    items = distribution.items() if isinstance(distribution, Mapping) else enumerate(distribution)
    read = {key: exact.non_negative(value, "a probability") for key, value in items}
    total = sum(read.values(), Fraction(0))
    if abs(total - 1) > Fraction(1, 10**9):
        raise Invalid("the probabilities must sum to 1")
    return read if total == 1 else {key: value / total for key, value in read.items()}


def _pairs(p: Distribution, q: Distribution) -> Pairs:
    first, second = _read(p), _read(q)
    if not isinstance(p, Mapping) and not isinstance(q, Mapping) and len(first) != len(second):
        raise Invalid("the two distributions must have the same length")
    keys = dict.fromkeys([*first, *second])
    return [(first.get(key, Fraction(0)), second.get(key, Fraction(0))) for key in keys]


def _both(pairs: Pairs) -> tuple[Pairs, Pairs]:
    return pairs, [(b, a) for a, b in pairs]


def _hockey_stick(pairs: Pairs, factor: Fraction) -> Fraction:
    return sum((max(Fraction(0), a - factor * b) for a, b in pairs), Fraction(0))


def tight_delta(p: Distribution, q: Distribution, epsilon: Number) -> Fraction:
    """The least δ at ε in both directions; exact at ε = 0, else rounded up at e^ε.

    Theorem (Barthe & Olmedo 2013).
        P and Q are (ε, δ)-indistinguishable if and only if both hockey-stick divergences Σ max(0, P(x) − e^ε·Q(x)) are at most δ.

    >>> tight_delta([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)], 0)
    Fraction(1, 2)
    """
    e = exact.non_negative(epsilon, "epsilon")
    factor = Fraction(1) if e == 0 else exact.rational_down(lambda: ball(e).exp(), 128)
    return max(_hockey_stick(pairs, factor) for pairs in _both(_pairs(p, q)))


def tight_epsilon(p: Distribution, q: Distribution, delta: Number = 0) -> float:
    """The least ε at δ in both directions, rounded up.

    Theorem (Barthe & Olmedo 2013).
        The hockey-stick divergence is piecewise linear in e^ε with corners at the ratios P(x)/Q(x).

    >>> round(tight_epsilon([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]), 6)  # ln 3
    1.098612
    """
    mass = exact.probability(delta, "delta")
    factor = Fraction(1)
    for pairs in _both(_pairs(p, q)):
        found = _least_factor(pairs, mass)
        if found is None:
            return math.inf
        factor = max(factor, found)
    return float_above(lambda: ball(factor).log()) if factor > 1 else 0.0


def _least_factor(pairs: Pairs, delta: Fraction) -> Fraction | None:
    """The least x = e^ε with Σ max(0, a − x·b) ≤ δ, by descending through the corners."""
    above = sum((a for a, b in pairs if b == 0), Fraction(0))  # Σa over ratios above the current corner
    below = Fraction(0)  # Σb over the same
    if above > delta:
        return None
    for a, b in sorted(((a, b) for a, b in pairs if b > 0), key=lambda ab: ab[0] / ab[1], reverse=True):
        if above - a / b * below > delta:
            break
        above, below = above + a, below + b
    return (above - delta) / below if above > delta else Fraction(0)


def max_divergence(p: Distribution, q: Distribution) -> float:
    """The least ε of pure privacy: the largest |ln P(x)/Q(x)|, rounded up."""
    return tight_epsilon(p, q, 0)


def total_variation(p: Distribution, q: Distribution) -> Fraction:
    """Half the ℓ₁ distance, exactly: the δ at ε = 0.

    >>> total_variation({"a": 1}, {"b": 1})
    Fraction(1, 1)
    """
    return sum((abs(a - b) for a, b in _pairs(p, q)), Fraction(0)) / 2


def kl(p: Distribution, q: Distribution) -> float:
    """Σ P ln(P/Q), rounded up, in nats; by Pinsker the total variation is at most √(kl/2)."""
    pairs = [(a, b) for a, b in _pairs(p, q) if a > 0]
    if any(b == 0 for _, b in pairs):
        return math.inf
    if all(a == b for a, b in pairs):
        return 0.0
    return float_above(lambda: sum((ball(a) * ball(a / b).log() for a, b in pairs), ball(0)))


def renyi(p: Distribution, q: Distribution, order: Number) -> float:
    """D_α(P‖Q) = ln(Σ P^α Q^{1−α})/(α − 1), rounded up; α = 1 is the Kullback–Leibler divergence."""
    alpha = exact.positive(order, "order")
    if alpha == 1:
        return kl(p, q)
    pairs = [(a, b) for a, b in _pairs(p, q) if a > 0]
    if alpha > 1 and any(b == 0 for _, b in pairs):
        return math.inf
    pairs = [(a, b) for a, b in pairs if b > 0]
    if not pairs:
        return math.inf
    if all(a == b for a, b in pairs) and sum(a for a, _ in pairs) == 1:
        return 0.0
    x = alpha - 1
    return float_above(lambda: sum((ball(a) * (ball(x) * ball(a / b).log()).exp() for a, b in pairs), ball(0)).log() / ball(x))


def trade_off(p: Distribution, q: Distribution) -> list[tuple[Fraction, Fraction]]:
    """The knots (type I error, least type II error) of the trade-off function of P and Q, which is linear between them.

    Theorem (Neyman & Pearson 1933).
        The best tests reject P where Q(x)/P(x) is largest.

    >>> trade_off([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)])[1]
    (Fraction(1, 4), Fraction(1, 4))
    """
    pairs = [(a, b) for a, b in _pairs(p, q) if a or b]
    pairs.sort(key=lambda ab: (ab[0] > 0, Fraction(0) if ab[0] == 0 else -ab[1] / ab[0]))
    knots = [(Fraction(0), Fraction(1))]
    for a, b in pairs:
        knots.append((knots[-1][0] + a, knots[-1][1] - b))
    return knots


def indistinguishable(p: Distribution, q: Distribution, epsilon: Number, delta: Number = 0) -> bool:
    """Decide (ε, δ)-indistinguishability; an irrational e^ε is rounded against us.

    >>> indistinguishable([0.6, 0.4], [0.4, 0.6], 0.41), indistinguishable([0.6, 0.4], [0.4, 0.6], 0.4)
    (True, False)
    """
    e, mass = exact.non_negative(epsilon, "epsilon"), exact.non_negative(delta, "delta")
    pairs = _pairs(p, q)
    factor = Fraction(1) if e == 0 else -rational_above(lambda: -ball(e).exp())
    return all(_hockey_stick(direction, factor) <= mass for direction in _both(pairs))
