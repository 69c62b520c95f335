"""Local randomizers: exact laws of reports, broken laws that are caught, and the choice among them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import fits, tally
from scripted import Scripted

from discreet import exact
from discreet.algorithms.local.frequencies import LocalFrequencies
from discreet.algorithms.local.randomizers import LocalRandomizer, SubsetSelection, UnaryEncoding, best_randomizer, total_variance
from discreet.exact import Ball, ball
from discreet.noise.bernoulli import threshold

EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(3))
Report = tuple[int, ...]
Mass = Callable[[int, Report], Ball]


def ways(epsilon: Fraction) -> list[LocalRandomizer]:
    return [way for k in (2, 3, 5) for way in ([SubsetSelection(epsilon, k, d) for d in range(1, k)] + [UnaryEncoding(epsilon, k)])]


def all_reports(k: int) -> list[Report]:
    return [report for size in range(k + 1) for report in itertools.combinations(range(k), size)]


def is_private(mass: Mass, k: int, epsilon: Fraction) -> bool:
    """Whether no report is more than e^ε times likelier from one choice than from another, and each law adds up to 1; in balls."""
    with exact.precision(200):
        factor = ball(epsilon).exp() * (1 + ball(Fraction(1, 2**150)))
        for report in all_reports(k):
            probabilities = [mass(true, report) for true in range(k)]
            if any(not a <= factor * b for a, b in itertools.permutations(probabilities, 2)):
                return False
        return all(abs(float(sum(exact.upper(mass(true, report)) for report in all_reports(k))) - 1) < 1e-30 + 1e-15 for true in range(k))


def greatest_ratio(mass: Mass, k: int) -> float:
    with exact.precision(200):
        likely = [[float(exact.upper(mass(true, report))) for true in range(k)] for report in all_reports(k)]
    return max(max(row) / min(row) for row in likely if max(row) > 0)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_no_report_tells_more_than_epsilon_and_some_tells_all_of_it(epsilon: Fraction) -> None:
    for way in ways(epsilon):
        assert is_private(way.mass, way.k, epsilon), way
        assert greatest_ratio(way.mass, way.k) == pytest.approx(math.exp(epsilon), rel=1e-12), way


def counts_all(epsilon: Fraction, k: int, d: int) -> Mass:
    """e^ε/(e^ε + k) in place of e^ε·d/(e^ε·d + k − d): the −1 of k − 1 others is forgotten, in the law of who is told instead."""

    def mass(true: int, report: Report) -> Ball:
        e = ball(epsilon).exp()
        p = e / (e + k - 1)
        if len(report) != d:
            return ball(0)
        return p / math.comb(k - 1, d - 1) if true in report else (1 - p) / math.comb(k, d)

    return mass


def truth_of_two(epsilon: Fraction, k: int, d: int) -> Mass:
    """The truth as often as among two choices."""

    def mass(true: int, report: Report) -> Ball:
        p = 1 / (1 + (-ball(epsilon)).exp())
        if len(report) != d:
            return ball(0)
        return p / math.comb(k - 1, d - 1) if true in report else (1 - p) / math.comb(k - 1, d)

    return mass


def truth_of_unary(epsilon: Fraction, k: int) -> Mass:
    """UnaryEncoding coins with the truth told as in randomised response."""

    def mass(true: int, report: Report) -> Ball:
        e = ball(epsilon).exp()
        p, q, wrong = e / (e + 1), 1 / (e + 1), len(set(report) - {true})
        return (p if true in report else 1 - p) * q**wrong * (1 - q) ** (k - 1 - wrong)

    return mass


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_broken_laws_are_caught(epsilon: Fraction) -> None:
    assert not is_private(counts_all(epsilon, 5, 1), 5, epsilon)
    assert not is_private(truth_of_two(epsilon, 5, 1), 5, epsilon)
    assert not is_private(truth_of_unary(epsilon, 3), 3, epsilon)  # it is 2ε


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2)], ids=str)
def test_reports_have_their_law(epsilon: Fraction) -> None:
    for way in [SubsetSelection(epsilon, 4, 1), SubsetSelection(epsilon, 4, 2), SubsetSelection(epsilon, 5, 4), UnaryEncoding(epsilon, 3)]:
        true = way.k - 2
        law = {report: exact.bounds(lambda r=report, w=way, t=true: w.mass(t, r))[0] for report in all_reports(way.k)}  # type: ignore[misc]

        def draw(bits: Any, way: LocalRandomizer = way, true: int = true) -> Report:
            return tuple(np.flatnonzero(way.draw(np.array([true]), bits)[0]).tolist())

        assert fits(tally(draw, 4_000, way), {report: chance for report, chance in law.items() if chance > 0}), way


def test_a_coin_on_the_edge_is_decided_by_more_bits() -> None:
    """The word ⌊2⁶⁴·p⌋ leaves open whether the truth is told, and the next word decides."""
    way = SubsetSelection(Fraction(1), 3, 1)
    edge, after = (threshold(lambda: way.probabilities()[0], bits) for bits in (64, 128))
    low = after - (edge << 64)
    for single, told in ((low - 1, True), (low + 1, False)):
        assert way.draw(np.array([2]), Scripted(words=[edge], singles=[single]))[0, 2] == told
    for word, told in ((edge - 1, True), (edge + 1, False)):
        assert way.draw(np.array([2]), Scripted(words=[word]))[0, 2] == told


def test_auto_takes_the_least_variance() -> None:
    for epsilon, k in itertools.product((Fraction(1, 2), Fraction(1), Fraction(4)), (2, 3, 8, 100)):
        ours = total_variance(best_randomizer(epsilon, k, "auto"))
        assert ours <= min(
            total_variance(way) for way in [*(SubsetSelection(epsilon, k, d) for d in range(1, k)), UnaryEncoding(epsilon, k)]
        ) * (1 + 1e-12)
    assert LocalFrequencies(epsilon=4, choices=3).method == "randomized response"
    assert LocalFrequencies(epsilon="1/2", choices=100).method == "subset"
