"""Biased coins decide at the exact bit of their probability."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet import exact
from discreet.errors import Error
from discreet.noise.bernoulli import Bernoulli, below, resolve_below, threshold

COINS = [Bernoulli(Fraction(1, 3)), Bernoulli(Fraction(1, 10**30)), Bernoulli(Fraction(5, 8)), Bernoulli(1 - Fraction(1, 2**70))] + [
    Bernoulli.exp(x) for x in ("1/1000", 1, "5/2", 40, 50)
]


@pytest.mark.parametrize("coin", COINS, ids=str)
def test_the_exact_bit_decides(coin: Bernoulli) -> None:
    """Words one below and one above ⌊2⁶⁴p⌋ are clear; at it, 64 more bits are compared with the next bits of p."""
    at = threshold(coin.chance)
    following = threshold(coin.chance, 128) - (at << 64)
    words = [max(at - 1, 0), min(at + 1, 2**64 - 1)]
    assert coin.sample(2, Scripted(words)).tolist() == [at > 0, at + 1 > 2**64 - 1 and following > 0]
    for nudge in (-1, 1):
        if 0 <= following + nudge < 2**64:
            assert coin.sample(1, Scripted([at], singles=[following + nudge])).tolist() == [nudge < 0]


def test_certain_coins() -> None:
    assert Bernoulli(Fraction(1)).sample(5, Scripted([2**64 - 1] * 5)).all()
    assert not Bernoulli(Fraction(0)).sample(5, Scripted([0] * 5)).any()
    assert Bernoulli.exp(0).sample(3, Scripted([2**64 - 1] * 3)).all()


def test_each_position_has_its_own_chance() -> None:
    chances = [Fraction(i, 7) for i in range(7)]
    floors = np.array([p.numerator * 2**64 // p.denominator for p in chances], np.uint64)
    n = 4_000
    coins = Seeded(2)
    heads = np.mean([below(coins.words(7), floors, lambda i: exact.ball(chances[i]), coins) for _ in range(n)], axis=0)
    assert np.abs(heads - np.arange(7) / 7).max() < 6 * 0.5 / n**0.5


def test_settling_a_dyadic_chance_ends() -> None:
    """p = ½ is cut exactly by a cell's end: both neighbours of the cut are decided."""
    half = lambda: exact.ball(Fraction(1, 2))  # noqa: E731
    assert resolve_below(half, 2**63 - 1, 64, Scripted()) is True
    assert resolve_below(half, 2**63, 64, Scripted()) is False


@pytest.mark.parametrize("bad", [Fraction(-1, 3), Fraction(4, 3)])
def test_no_probability(bad: Fraction) -> None:
    with pytest.raises(Error, match="between 0 and 1"):
        Bernoulli(bad)
    with pytest.raises(Error, match="negative"):
        Bernoulli.exp(-1)
