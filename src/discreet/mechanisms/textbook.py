"""The textbook's accuracy bounds and constants, by name; the `error` of a mechanism is at least as tight."""

from __future__ import annotations

import math


def laplace_tail(t: float, epsilon: float, sensitivity: float = 1) -> float:
    """P[|Lap(Δ/ε)| ≥ t] = e^(−tε/Δ), exactly.

    >>> round(laplace_tail(3, epsilon=1), 4)
    0.0498
    """
    return math.exp(-t * epsilon / sensitivity)


def laplace_sup(size: int, beta: float, epsilon: float, l1: float = 1) -> float:
    """‖error‖∞ ≤ ln(K/β)·B/ε with probability 1 − β, for K answers of ℓ₁-sensitivity B.

    >>> round(laplace_sup(10, 0.05, epsilon=1), 3)
    5.298
    """
    return math.log(size / beta) * l1 / epsilon


def laplace_componentwise_scale(dimension: int, epsilon: float, sensitivity: float = 1) -> float:
    """dΔ/ε: the scale of noise for each of d components that may all change by Δ, with ε divided equally among them."""
    return dimension * sensitivity / epsilon


def lipschitz_epsilon(lipschitz: int, epsilon: float) -> float:
    """cε: the loss of noise calibrated to ε at sensitivity 1, for a c-Lipschitz integer query."""
    return lipschitz * epsilon


def exponential_tail(t: float, candidates: int, epsilon: float, sensitivity: float = 1, optimal: int = 1) -> float:
    """P[u(chosen) ≤ max u − t] ≤ |R|/|R_opt| · e^(−εt/2Δ).

    >>> round(exponential_tail(10, candidates=10, epsilon=1), 4)
    0.0674
    """
    return candidates / optimal * math.exp(-epsilon * t / (2 * sensitivity))


def noisy_max_gap(t: float, candidates: int, epsilon: float, sensitivity: float = 1) -> float:
    """Report noisy max with Lap(2Δ/ε): the chosen score is within 4Δ(ln d + t)/ε of the best with probability 1 − e^(−t)."""
    return 4 * sensitivity * (math.log(candidates) + t) / epsilon


def noisy_max_expected_gap(candidates: int, epsilon: float, sensitivity: float = 1) -> float:
    """E[max u − u(chosen)] ≤ 4Δ(ln d + 1)/ε, which is O(Δ ln d/ε): integrate the tail of `noisy_max_gap`."""
    return 4 * sensitivity * (math.log(candidates) + 1) / epsilon


def expected_maximum_of_exponentials(count: int) -> float:
    """E[max of d independent Exp(1)] = 1 + 1/2 + … + 1/d, between ln d and ln d + 1.

    >>> expected_maximum_of_exponentials(3)
    1.8333333333333333
    """
    return math.fsum(1 / i for i in range(1, count + 1))


def maximum_of_exponentials_tail(t: float, count: int) -> float:
    """P[max of d independent Exp(1) ≥ ln d + t] ≤ e^(−t); exactly 1 − (1 − e^(−t)/d)ᵈ."""
    return -math.expm1(count * math.log1p(-math.exp(-t) / count))


def gaussian_constant_dwork_roth(delta: float) -> float:
    """√(2 ln(1.25/δ)): σ is this times Δ₂/ε, proven for 0 < ε < 1.

    >>> round(gaussian_constant_dwork_roth(1e-5), 3)
    4.845
    """
    return math.sqrt(2 * math.log(1.25 / delta))


def gaussian_constant_lecture(delta: float) -> float:
    """√(2 ln(2/δ)): the looser constant of many lecture notes, under the same condition."""
    return math.sqrt(2 * math.log(2 / delta))


def gaussian_sup(size: int, beta: float, scale: float) -> float:
    """‖error‖∞ ≤ σ√(2 ln(2K/β)) with probability 1 − β."""
    return scale * math.sqrt(2 * math.log(2 * size / beta))


def randomized_response_epsilon(truth: float) -> float:
    """ln(p/(1 − p)) for a yes or no that is true with probability p; two fair coins have p = ¾ and ε = ln 3."""
    return math.log(truth / (1 - truth))
