"""The textbook's statements: true, and never tighter than the exact ones (each mechanism's own file compares its `error`)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.mechanisms import textbook


@pytest.mark.parametrize("count", [1, 3, 100])
def test_the_maximum_of_exponentials(count: int) -> None:
    """E = harmonic number, between ln d and ln d + 1; the tail beyond ln d + t is at most e^(−t)."""
    mean = textbook.expected_maximum_of_exponentials(count)
    exact = integrate.quad(lambda x: -math.expm1(count * math.log1p(-math.exp(-x))) if x else 1.0, 0, 60, limit=200)[0]
    assert mean == pytest.approx(exact, rel=1e-7)
    assert math.log(count) <= mean <= math.log(count) + 1
    for t in (0.1, 1.0, 5.0):
        tail = textbook.maximum_of_exponentials_tail(t, count)
        assert tail == pytest.approx(1 - (1 - math.exp(-t) / count) ** count)
        assert tail <= math.exp(-t)


def test_laplace_statements() -> None:
    assert textbook.laplace_tail(3, 1) == pytest.approx(2 * stats.laplace.sf(3))
    assert textbook.laplace_tail(3, 0.5, 2) == pytest.approx(2 * stats.laplace.sf(3, scale=4))
    t = textbook.laplace_sup(10, 0.05, 1)
    assert t == pytest.approx(5.298, abs=5e-4)
    assert 1 - (1 - math.exp(-t)) ** 10 <= 0.05


def test_exponential_statements() -> None:
    """|R|/|R_opt|·e^(−εt/2Δ) bounds the exact chance, with several best candidates too."""
    for optimal in (1, 3):
        for t in (1.0, 4.0, 10.0):
            weights = np.exp(-0.5 * np.array([0.0] * optimal + [t] * (10 - optimal)))
            assert weights[optimal:].sum() / weights.sum() <= textbook.exponential_tail(t, 10, 1, optimal=optimal)
    assert textbook.exponential_tail(6, 10, 1) == pytest.approx(0.498, abs=5e-4)


def test_gaussian_statements() -> None:
    assert textbook.gaussian_constant_dwork_roth(1e-5) == pytest.approx(4.845, abs=5e-4)
    assert textbook.gaussian_constant_lecture(1e-5) > textbook.gaussian_constant_dwork_roth(1e-5)
    for size in (1, 1000):
        t = textbook.gaussian_sup(size, 0.05, 2)
        assert 1 - (1 - 2 * stats.norm.sf(t / 2)) ** size <= 0.05


def test_noisy_max_statements() -> None:
    """4Δ(ln d + t)/ε with chance 1 − e^(−t), and its integral for the mean."""
    assert textbook.noisy_max_gap(2, 5, 0.5, 3) == pytest.approx(4 * 3 * (math.log(5) + 2) / 0.5)
    mean = integrate.quad(lambda t: math.exp(-t), 0, 60)[0] * 4 + 4 * math.log(5)
    assert textbook.noisy_max_expected_gap(5, 1) == pytest.approx(mean)


def test_randomised_response_statement() -> None:
    assert textbook.randomized_response_epsilon(0.75) == pytest.approx(math.log(3))
