"""Selection: the exact law by thresholds, order by balls, and scores of any size."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet import exact
from discreet.noise import choice

NOISES = ("exponential", "gumbel", "laplace")
RATES = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(22, 7)]


def chance_of_first(noise: str, gap: float) -> float:
    """P[the first of two wins] when its scaled score is `gap` ahead."""
    if noise == "gumbel":
        return 1 / (1 + math.exp(-gap))
    if noise == "exponential":
        return 1 - math.exp(-gap) / 2 if gap >= 0 else math.exp(gap) / 2
    x = abs(gap)  # difference of two Laplace variables
    tail = (2 + x) * math.exp(-x) / 4
    return 1 - tail if gap >= 0 else tail


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("noise", NOISES)
def test_the_law_of_two_candidates(noise: str, rate: Fraction) -> None:
    """For 256 values of U₁ bisect to the bit for the U₂ at which the winner changes; Riemann sums bracket the exact chance."""
    scores = np.array([3, 1])
    signs = (0, 1) if noise == "laplace" else (0,)

    def first_wins(u1: int, u2: int, s1: int, s2: int) -> bool:
        return choice.best(scores, rate, noise, Scripted([u1 << 1 | s1, u2 << 1 | s2])) == [0]

    low = high = 0.0
    for s1, s2 in itertools.product(signs, signs):
        shares = []
        for i in range(257):
            u1 = min(max(i << 55, 1), 2**63 - 1)
            a, b = 1, 2**63 - 1
            if first_wins(u1, a, s1, s2) == first_wins(u1, b, s1, s2):
                share = float(first_wins(u1, a, s1, s2))
            else:
                start = first_wins(u1, a, s1, s2)
                while b - a > 2**40:
                    m = (a + b) // 2
                    a, b = (m, b) if first_wins(u1, m, s1, s2) == start else (a, m)
                share = a / 2**63 if start else 1 - a / 2**63
            shares.append(share)
        pairs = list(itertools.pairwise(shares))
        low += sum(min(p) for p in pairs) / 256 / len(signs) ** 2
        high += sum(max(p) for p in pairs) / 256 / len(signs) ** 2
    truth = chance_of_first(noise, 2 * float(rate))
    assert low - 1e-6 <= truth <= high + 1e-6
    assert high - low < 0.02


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_order_agrees_with_balls(noise: str, kind: type) -> None:
    """Random and nearly tied words: the k best of 6 are those of the ideal values, in ball arithmetic."""
    rng = random.Random(11)
    for trial in range(400):
        scores = np.array([rng.randrange(-4, 5) for _ in range(6)], kind)
        words = [rng.getrandbits(64) for _ in range(6)]
        if trial % 2:  # two candidates with nearly equal values: same score, neighbouring words
            scores[1], words[1] = scores[0], words[0] ^ (2 << rng.randrange(0, 38))
            words[1] = words[1] & ~1 | words[0] & 1
        rate = RATES[trial % 5]
        with exact.precision(256):
            values = []
            for s, w in zip(scores.tolist(), words, strict=True):
                e = -exact.cell(w >> 1, 63).log()
                z = -e.log() if noise == "gumbel" else -e if noise == "laplace" and w & 1 else e
                values.append(z + exact.ball(rate * Fraction(s)))
            order = sorted(range(6), key=lambda i: exact.lower(values[i]), reverse=True)
            clear = all(values[a] > values[b] for a, b in itertools.pairwise(order))
        if clear:
            for count in (1, 3, 6):
                assert choice.best(scores, rate, noise, Scripted(words), count=count) == order[:count]


def test_a_tie_of_all_known_bits_is_settled_by_more() -> None:
    """Equal words and scores: 64 more bits each decide, and larger U means less noise."""
    word = 2**60 + 2
    one, two = Scripted([word, word], singles=[5, 9]), Scripted([word, word], singles=[9, 5])
    assert choice.best(np.array([7, 7]), Fraction(1), "exponential", one) == [0]
    assert choice.best(np.array([7, 7]), Fraction(1), "exponential", two) == [1]


@pytest.mark.parametrize("noise", NOISES)
def test_doubtful_words(noise: str) -> None:
    """Words near 0 and near 2⁶⁴, whose float noise is too coarse, are compared exactly."""
    words = [0, 2, 4, 2**64 - 2, 2**64 - 4, 2**63]
    for scores in itertools.permutations([0, 1, 20, 30, 40, 41]):
        source = Scripted(words, rest=2**63 + 12345)
        found = choice.best(np.array(scores), Fraction(1), noise, source)
        with exact.precision(256):
            values = []
            for s, w in zip(scores, words, strict=True):
                e = -exact.cell((w >> 1) << 64 | 2**63 + 12345, 127).log()  # as it is after one more word
                values.append((-e.log() if noise == "gumbel" else e) + s)
            assert all(a > b or a < b for a, b in itertools.combinations(values, 2))
            assert found == [max(range(6), key=lambda i: exact.lower(values[i]))]


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        (np.array([-(2**63), 2**63 - 1]), 1),
        (np.array([2**62, 2**62 - 10**6]), 0),
        (np.array([-1e308, 1e308, -1e308]), 1),
        (np.array([1.7e308, -1.7e308]), 0),
        (np.array([0.0, 5e-324]), None),
        (np.array([2.0**53, 2.0**53 + 2]), None),
    ],
)
@pytest.mark.parametrize("noise", NOISES)
def test_huge_scores(scores: np.ndarray, winner: int | None, noise: str) -> None:
    for seed in range(20):
        found = choice.best(scores, Fraction(1), noise, Seeded(seed))
        assert winner is None or found == [winner]


def test_weights_are_a_base_measure() -> None:
    """P[i] ∝ weight·e^score, a weight of zero never wins: 20,000 fixed draws, within 6 standard deviations."""
    scores, weights = np.array([0, 1, 2, 9]), np.array([6, 3, 1, 0])
    mass = weights * np.exp(scores)
    mass /= mass.sum()
    coins, n = Seeded(3), 20_000
    found = np.bincount([choice.best(scores, Fraction(1), "gumbel", coins, weights=weights)[0] for _ in range(n)], minlength=4)
    assert found[3] == 0
    assert (np.abs(found - n * mass) <= 6 * np.sqrt(n * mass * (1 - mass))).all()


def test_permute_and_flip() -> None:
    """Exponential noise gives the law of permute-and-flip, computed over all permutations."""
    scores, rate = np.array([0, 3, 5, 6]), Fraction(1, 2)
    heads = np.exp(float(rate) * (scores - scores.max()))
    law = np.zeros(4)
    for order in itertools.permutations(range(4)):
        reach = 1 / 24
        for i in order:
            law[i] += reach * heads[i]
            reach *= 1 - heads[i]
    coins, n = Seeded(4), 20_000
    found = np.bincount([choice.best(scores, rate, "exponential", coins)[0] for _ in range(n)], minlength=4)
    assert (np.abs(found - n * law) <= 6 * np.sqrt(n * law * (1 - law))).all()
