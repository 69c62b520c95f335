"""Shuffled reports: the pair of the theorem by enumeration, shuffled reports by enumeration, and never below either."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from discreet.errors import Invalid
from discreet.loss import divergence
from discreet.loss.filter import Filter
from discreet.loss.leaves import Pure
from discreet.loss.promise import Promised
from discreet.loss.shuffle import Shuffled

POINTS = ("0", "1/100", "1/20", "1/5", "1/2", "9/10")


def pair(odds: Fraction, n: int, clone: Fraction) -> tuple[dict[object, Fraction], dict[object, Fraction]]:
    """The two laws of the theorem, exactly, for e^ε = odds and this chance of a clone."""
    p: Counter[object] = Counter()
    q: Counter[object] = Counter()
    for c in range(n):
        for a in range(c + 1):
            chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) * Fraction(math.comb(c, a), 2**c)
            for d, weight in ((1, odds / (odds + 1)), (0, 1 / (odds + 1))):
                p[a + d, c - a + 1 - d] += chance * weight
                q[a + 1 - d, c - a + d] += chance * weight
    return dict(p), dict(q)


def shuffled(odds: Fraction, inputs: list[int], choices: int) -> dict[object, Fraction]:
    """The law of how often each report occurs, if each unit reports its input with these odds against each other choice."""
    law: Counter[object] = Counter()
    for reports in product(range(choices), repeat=len(inputs)):
        chance = Fraction(1)
        for report, truth in zip(reports, inputs, strict=True):
            chance *= (odds if report == truth else 1) / (odds + choices - 1)
        law[tuple(sorted(reports))] += chance
    return dict(law)


def log_up(odds: Fraction) -> Fraction:
    return Fraction(math.log(odds)) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(3), Fraction(8)])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_the_pair_of_the_theorem(odds: Fraction, n: int) -> None:
    loss = Shuffled(log_up(odds), n)
    p, q = pair(odds, n, 1 / odds)
    for e in POINTS:
        truth = float(divergence.tight_delta(p, q, e))
        assert truth * (1 - 1e-9) <= loss.delta_at(e) <= truth * 1.001 + 1e-9


@pytest.mark.parametrize(("choices", "n"), [(2, 2), (2, 6), (3, 2), (3, 5), (4, 4)])
def test_shuffled_reports_are_covered(choices: int, n: int) -> None:
    odds = Fraction(3)
    loss = Shuffled(log_up(odds), n)
    for rest in ([0] * (n - 1), [1] * (n - 1), [choices - 1] * (n - 1)):
        p, q = shuffled(odds, [0, *rest], choices), shuffled(odds, [1, *rest], choices)
        assert all(loss.delta_at(e) >= divergence.tight_delta(p, q, e) * (1 - Fraction(1, 10**9)) for e in POINTS)


def test_more_clones_than_there_are_would_be_caught() -> None:
    """If every report were taken for a clone, reports with many choices would lose more than was charged."""
    odds, n = Fraction(3), 5
    p, q = pair(odds, n, Fraction(1))
    a, b = shuffled(odds, [0, 2, 2, 2, 2], 3), shuffled(odds, [1, 2, 2, 2, 2], 3)
    assert divergence.tight_delta(p, q, "1/2") < divergence.tight_delta(a, b, "1/2")


def test_large_populations() -> None:
    """Below the closed form of the theorem, above the ε of twice as many, and further reports only help."""
    for local, n in ((1, 10**4), (2, 10**5), (1, 10**7)):
        delta = 1e-6
        odds = math.exp(local)
        closed = math.log1p(math.tanh(local / 2) * (8 * math.sqrt(odds * math.log(4 / delta) / n) + 8 * odds / n))
        found = Shuffled(local, n).epsilon_at(delta)
        assert closed / 20 < found < closed
        assert Shuffled(local, 2 * n).epsilon_at(delta) < found
    assert Shuffled(1, 2**80).epsilon_at(1e-6) == Shuffled(1, 2**30).epsilon_at(1e-6)


def test_rounds_compose_and_other_notions_are_those_of_one_report() -> None:
    loss = Shuffled(1, 10_000)
    assert (loss.epsilon, loss.rho, loss.mu_squared, loss.delta) == (1, Pure(1).rho, Pure(1).mu_squared, 0)
    ten = (10 * loss).epsilon_at(1e-6)
    assert loss.epsilon_at(1e-6) < ten < 10 * loss.epsilon_at(1e-7)
    assert Filter(5, 1e-6).spend(loss).spent.basic == (1, 0)
    assert Filter(5, 1e-6).spend(Promised(loss, "1/5", "1e-7")).spent.basic == (Fraction(1, 5), Fraction(1, 10**7))
    assert loss.group(2).epsilon == 2
    assert Shuffled("1/2", 10_000).below(loss)
    assert loss.below(Shuffled(1, 5000))
    assert not loss.below(Shuffled(1, 50_000))


def test_ends() -> None:
    assert Shuffled(0, 10).epsilon_at(1e-9) == 0
    assert Shuffled(1, 1).laws == Pure(1).laws
    assert Shuffled(50, 100).laws == Pure(50).laws
    assert Shuffled("1/1000", 10).epsilon_at(1e-9) <= 0.001
    with pytest.raises(Invalid, match="reports"):
        Shuffled(1, 0)
