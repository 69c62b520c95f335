"""Transfer theorems: against each other, and against exact laws of small adaptive analyses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from scipy import stats

from discreet.algorithms.adaptive import transfer
from discreet.algorithms.adaptive.thresholdout import Thresholdout
from discreet.errors import Invalid
from discreet.loss.leaves import Approx, Pure
from discreet.loss.loss import Loss


class Exact:
    """Answers that are the sample's own means."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def error(self, confidence: Any = 0.95, size: int = 1) -> float:
        return 0.0


def test_hoeffding_is_above_the_exact_tail() -> None:
    for n, confidence in itertools.product((10, 100, 1000), ("0.9", "0.99")):
        width = transfer.hoeffding(n, confidence)
        assert 2 * stats.binom.sf(math.ceil(n * (0.5 + width)) - 1, n, 0.5) <= 1 - float(confidence)


def test_nothing_told_is_hoeffding() -> None:
    assert transfer.pure(500, 0, 0.9, 7) == transfer.hoeffding(500, 0.9, 7)
    assert transfer.description(500, 0, 0.9, 7) == pytest.approx(transfer.hoeffding(500, 0.9, 7))
    assert transfer.pure(500, "1e-9", 0.9, 7) == pytest.approx(transfer.hoeffding(500, 0.9, 7), rel=0.01)


def test_widths_grow_with_what_is_told_and_asked() -> None:
    for wider, narrower in itertools.pairwise((0.5, 0.2, 0.1, 0.01)):
        assert transfer.pure(1000, wider) > transfer.pure(1000, narrower)
    assert transfer.pure(1000, 0.1, questions=100) > transfer.pure(1000, 0.1)
    assert transfer.pure(1000, 0.1, 0.999) > transfer.pure(1000, 0.1, 0.9)
    assert transfer.pure(10**6, 0.1) == pytest.approx(0.05, rel=0.1)  # for many records about ε/2


def law_of_noisy_choice(n: int, epsilon: float) -> list[tuple[int, int, float]]:
    """(successes of A, successes of B, chance that A is chosen): of two fair coins the one with more, by randomised response."""
    keep = 1 / (1 + math.exp(-epsilon))
    return [(a, b, keep if a >= b else 1 - keep) for a in range(n + 1) for b in range(n + 1)]


@pytest.mark.parametrize(("n", "epsilon"), [(20, 0.5), (20, 3.0), (60, 0.2), (60, 1.0)])
def test_a_private_choice_keeps_the_bound_exactly(n: int, epsilon: float) -> None:
    """Choose the better of two questions, ε-DP, and look how far its mean is from ½: the exact chance is below 1 − confidence."""
    chance = stats.binom.pmf(range(n + 1), n, 0.5)
    for confidence in (Fraction(7, 10), Fraction(95, 100)):
        for width in (
            transfer.pure(n, epsilon, confidence),
            transfer.approximate(Pure(str(epsilon)), Exact(Pure(str(epsilon))), confidence),
        ):
            bad = 0.0
            for a, b, first in law_of_noisy_choice(n, epsilon):
                far = (abs(a / n - 0.5) >= width) * first + (abs(b / n - 0.5) >= width) * (1 - first)
                bad += chance[a] * chance[b] * far
            assert bad <= 1 - confidence


def test_a_choice_that_is_not_private_breaks_it() -> None:
    """The furthest of 200 questions, chosen exactly and passed off as a choice of ε = 0.01: the exact chance is far above."""
    n, width = 60, transfer.pure(60, "0.01", 0.95)
    near = sum(p for a, p in enumerate(stats.binom.pmf(range(n + 1), n, 0.5)) if abs(a / n - 0.5) < width)
    assert 1 - near**200 > 0.2 > 1 - 0.95


def test_jung_and_others() -> None:
    """α + e^ε − 1 + c, with β/c = 1 − confidence, by hand; and a δ costs something."""
    mechanism = Exact(Pure("0.1"))
    assert transfer.approximate(mechanism.loss, mechanism) == pytest.approx(math.expm1(0.1), abs=1e-6)
    loose = Exact(Approx("0.1", "1e-6"))
    assert transfer.approximate(loose.loss, loose) > transfer.approximate(mechanism.loss, mechanism)
    assert transfer.approximate(loose.loss, loose) == pytest.approx(math.expm1(0.1) + 2e-3, rel=0.5)


class Noisy:
    """Answers with Laplace noise: P[further than t] = e^(−t/scale)."""

    def __init__(self, loss: Loss, scale: float) -> None:
        self.loss, self.scale = loss, scale

    def error(self, confidence: Any = 0.95, size: int = 1) -> float:
        return self.scale * math.log(size / (1 - confidence))


@pytest.mark.parametrize("questions", [1, 10])
def test_nearness_is_needed_at_a_smaller_chance(questions: int) -> None:
    """The theorem by hand: α belongs to β·c, not to β, and c is the best of the powers of ten."""
    mechanism, beta = Noisy(Pure("0.1"), 0.01), 0.05
    by_hand = min(0.01 * math.log(questions / (beta * c)) + math.expm1(0.1) + c for c in (0.1, 0.01, 0.001, 1e-4))
    assert transfer.approximate(mechanism.loss, mechanism, 0.95, questions) == pytest.approx(by_hand, rel=1e-9)
    careless = 0.01 * math.log(questions / beta) + math.expm1(0.1)  # what α at β itself would give
    assert by_hand > careless + 0.04


def test_many_small_steps_cost_less_than_their_sum() -> None:
    """64 steps of ε = 0.004: by pure composition ε = 0.256, at a small δ less."""
    steps = 64 * Pure("0.004")
    assert transfer.approximate(steps, Exact(steps)) < math.expm1(0.256)


def test_the_population_error_is_the_least_and_adds_the_samples() -> None:
    rule = Thresholdout(size=10_000, threshold="0.05", sigma="0.0025", hits=3)
    width = transfer.population_error(rule, 10_000, 1000)
    assert rule.error(0.95) < width < rule.error(0.99) + transfer.pure(10_000, rule.epsilon, 0.9, 1000) + 0.05
    assert transfer.population_error(Thresholdout(size=10, epsilon=100), 10) == pytest.approx(1)  # never more than 1


@pytest.mark.parametrize("wrong", [{"n": 0}, {"confidence": 1}, {"questions": 0}, {"epsilon": -1}])
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        transfer.pure(**({"n": 10, "epsilon": 1} | wrong))
