"""Noisy max and the k best: stated accuracy against exact chances, ties, huge scores."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake, fits, numbered, tally
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms import textbook
from discreet.mechanisms.noisy_max import NoisyMax, TopK
from discreet.private import Private

NOISES = ("exponential", "laplace", "gumbel", "geometric")


def miss(mechanism: NoisyMax, scores: list[Any], t: float) -> float:
    """P[the chosen score is t or more below the best], exactly."""
    chances = laws.noisy_max(scores, mechanism.rate, mechanism.noise)
    return float(sum(p for p, s in zip(chances, scores, strict=True) if s <= max(scores) - t))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_error_holds_for_all_scores_in_a_box(noise: Any, d: int) -> None:
    mechanism = NoisyMax(epsilon=1, noise=noise)
    for confidence in ("0.6", "0.95"):
        t = mechanism.error(confidence, d)
        whole = math.ceil(t)
        places = (0, -whole // 2, -whole, -whole - 3) if noise == "geometric" else (0.0, -t / 2, -t - 1e-9, -t - 3)
        for scores in itertools.combinations_with_replacement(places, d - 1):
            assert miss(mechanism, [0, *scores], t) <= 1 - float(confidence) + 1e-9


@pytest.mark.parametrize(("noise", "slack"), [("exponential", 1e-9), ("gumbel", 1e-9), ("laplace", 0.02)])
def test_the_error_is_attained(noise: Any, slack: float) -> None:
    """All others just `error` behind: β itself for exponential and Gumbel noise, nearly so for the union bound of Laplace."""
    mechanism = NoisyMax(epsilon=1, noise=noise)
    for d in (2, 10):
        t = mechanism.error(0.95, d)
        assert 0.05 - slack <= miss(mechanism, [0.0] + [-t] * (d - 1), t) <= 0.05 + 1e-9


def test_known_numbers() -> None:
    """d = 10, x = 3: lecture 0.498, exponential mechanism 0.309, permute-and-flip 0.197; d = 1000, x = 10: 0.0223."""
    flip, gumbel = (NoisyMax(epsilon=2, noise=n) for n in ("exponential", "gumbel"))  # R = 2, so x = t
    assert miss(flip, [3] + [0] * 9, 3) == pytest.approx(0.197, abs=5e-4)
    assert miss(gumbel, [3] + [0] * 9, 3) == pytest.approx(0.309, abs=5e-4)
    assert flip.error(1 - Fraction("0.197"), 10) == pytest.approx(3, abs=0.01)
    assert gumbel.error(1 - Fraction("0.309"), 10) == pytest.approx(3, abs=0.01)
    assert flip.error(1 - Fraction("0.0223"), 1000) == pytest.approx(10, abs=0.01)


def test_exponential_noise_is_the_most_accurate() -> None:
    """Of the three at the same ε; and the textbook's bound is looser than what is stated for its noise."""
    for d in (2, 10, 1000):
        for beta in (0.2, 0.05, 1e-6):
            flip, gumbel, laplace = (
                NoisyMax(epsilon=1, noise=n).error(1 - Fraction(beta), d) for n in ("exponential", "gumbel", "laplace")
            )
            assert flip < gumbel
            assert flip < laplace <= textbook.noisy_max_gap(math.log(1 / beta), d, 1)


def test_expected_gap_of_the_textbook() -> None:
    scores = [0, -1, -2, -5, -5, -9]
    gap = float(laws.noisy_max(scores, 0.5, "laplace") @ [-s for s in scores])
    assert gap <= textbook.noisy_max_expected_gap(len(scores), 1)


def test_whole_noise_gives_ties_to_the_first() -> None:
    """Equal scores and geometric noise: the first label is favoured by exactly the chance of a tie; real noise favours nobody."""
    geometric, real = NoisyMax(epsilon=2, noise="geometric"), NoisyMax(epsilon=2)
    q = math.exp(-1)
    tie = (1 - q) / (1 + q)
    seen = tally(lambda bits: geometric.sample([5, 5], bits), 6_000, "ties")
    assert fits(seen, {0: (1 + tie) / 2, 1: (1 - tie) / 2})
    assert fits(tally(lambda bits: real.sample([5, 5], bits), 6_000, "no ties"), {0: 0.5, 1: 0.5})


EDGES = [1e308, -1e308, 0.0, 1.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("noise", NOISES[:3])
def test_huge_scores_never_fail(noise: Any) -> None:
    mechanism = NoisyMax(epsilon=1, noise=noise)
    for scores in itertools.product(EDGES, repeat=3):
        assert mechanism.sample(list(scores), Shake(scores, limit=1 << 14)) in (0, 1, 2)


def test_huge_whole_scores_with_whole_noise() -> None:
    """Scores at the edge of 64 bits plus noise do not wrap around."""
    for epsilon in ("1e-12", "1"):
        mechanism = NoisyMax(epsilon=epsilon, noise="geometric")
        for i in range(50):
            assert mechanism.sample([10**400, -(10**400), 2**63], Shake(i)) in (0, 2)


def test_plain_real_scores_with_whole_noise_are_refused() -> None:
    with pytest.raises(Invalid, match="whole"):
        NoisyMax(epsilon=1, noise="geometric").release([1.5, 2.0])
    with pytest.raises(Invalid, match="whole"):
        NoisyMax(epsilon=1, sensitivity="1/2", noise="geometric")
    assert NoisyMax(epsilon=1, noise="geometric").release(Private([1.5, 2000.0])) == 1  # rounded down


def test_a_missing_score_is_not_an_error() -> None:
    assert NoisyMax(epsilon=1, noise="geometric").release(Private([1, math.nan, 3])) in (0, 1, 2)


# ── the k best ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_top_k_of_one_and_of_all() -> None:
    assert fits(tally(lambda b: TopK(epsilon=1, k=1).sample([0, 2], b)[0], 4_000, 1), numbered(laws.softmax([0, 2], 0.5)))
    assert sorted(TopK(epsilon=1, k=3).release([5, 5, 5])) == [0, 1, 2]
    with pytest.raises(Invalid, match="fewer"):
        TopK(epsilon=1, k=4).release([1, 2, 3])


def test_top_k_error_holds() -> None:
    """For all i the i-th chosen score is at most `error` below the i-th best, with the stated confidence, exactly computed."""
    mechanism = TopK(epsilon=2, k=2)
    for d, confidence in ((3, "0.8"), (4, "0.95")):
        t = mechanism.error(confidence, d)
        for rest in itertools.combinations_with_replacement((0.0, -t / 2, -t - 1e-9, -t - 2), d - 1):
            scores = [0.0, *rest]
            best = sorted(scores, reverse=True)
            law = laws.top_k(scores, Fraction(1, 2), 2)
            bad = sum(p for order, p in law.items() if any(scores[j] < best[i] - t for i, j in enumerate(order)))
            assert bad <= 1 - float(confidence) + 1e-9


@pytest.mark.parametrize("scores", [[4 * 10**18, 0, 0], [1e308, 0.0, 1.0], [1e30, 0.0, -1.0]], ids=str)
def test_top_k_ends_when_the_second_is_far_behind(scores: list[Any]) -> None:
    for seed in range(12):
        assert len(TopK(epsilon=1, k=2).sample(scores, Shake(seed, limit=1 << 16))) == 2


def test_top_k_has_its_law_far_behind_the_top() -> None:
    """Candidates 1 and 2 are two apart and 2⁶⁰ behind, where floats are 128 apart: the runner-up must still be a race."""
    mechanism = TopK(epsilon=4, k=2)  # rate 1
    scores = [2**60, 65, 63]
    seen = tally(lambda bits: mechanism.sample(scores, bits)[1], 4_000, "far")
    assert fits(seen, {1: 1 / (1 + math.exp(-2)), 2: 1 / (1 + math.exp(2))})


def test_scores_of_every_width() -> None:
    """Many candidates in one call: only the winner matters."""
    scores = np.zeros(20_000)
    scores[12_345] = 1e3
    assert NoisyMax(epsilon=1).release(Private(scores)) == 12_345
    assert TopK(epsilon=2, k=2).sample(np.append(scores, 2e3), Shake(0)) == [20_000, 12_345]
