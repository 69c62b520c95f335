"""Guide tables: every cell of the guide, ties, and words beyond the table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet import exact
from discreet.errors import Invalid
from discreet.noise.gaussian import DiscreteGaussian, _table
from discreet.noise.table import Finite

LAWS = [
    Finite(0, [1, 1]),
    Finite(-2, [1, 2, 3, 0, 4]),
    Finite(10, [Fraction(1, 3), Fraction(1, 10**12), Fraction(2, 3)]),
    Finite(0, [1] * 1000),
    Finite(-1, [0, 0, 5]),
]


def exact_value(law: Finite, word: int) -> set[int]:
    """The values that a uniform with these first 64 bits can have."""
    total, running, found = sum(law.weights), Fraction(0), set()
    for i, w in enumerate(law.weights):
        before, running = running, running + w / total
        if before < Fraction(word + 1, 2**64) and running > Fraction(word, 2**64):
            found.add(law.low + i)
    return found


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.low},{len(law.weights)}")
def test_every_guide_cell_is_right(law: Finite) -> None:
    """All 2¹⁶ short words, with the lowest and the highest continuation, against exact rationals."""
    short = np.arange(2**16, dtype=np.uint16)
    for rest in (0, 2**64 - 1):
        script = np.concatenate([short.view(np.uint64), np.full(2**16, rest, np.uint64)])
        found = law.sample(2**16, Scripted(script))
        for i in range(0, 2**16, 397):
            word = i << 48 | rest >> 16
            assert int(found[i]) in exact_value(law, word)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.low},{len(law.weights)}")
def test_thresholds_and_their_neighbours(law: Finite) -> None:
    for t in law.table.thresholds.tolist()[:200]:
        for word in (t - 1, t, t + 1):
            if 0 <= word < 2**64:
                short = np.array([word >> 48], np.uint16)
                script = np.concatenate([np.pad(short, (0, 3)).view(np.uint64), np.array([(word & 2**48 - 1) << 16], np.uint64)])
                assert int(law.sample(1, Scripted(script))[0]) in exact_value(law, word)


def test_words_beyond_the_table_are_settled() -> None:
    """The all-zeros and all-ones words of an unbounded law lie beyond every tabled threshold."""
    table = _table(Fraction(2))
    low = table._resolve(0, Scripted(rest=1))
    high = table._resolve(2**64 - 1, Scripted(rest=2**64 - 2))
    with exact.precision(300):
        law = DiscreteGaussian(Fraction(2))
        assert law.cdf(low - 1) * 2**128 <= 1 <= law.cdf(low) * 2**128
        u = 1 - exact.ball(Fraction(2, 2**128))
        assert law.cdf(high - 1) <= u <= law.cdf(high)


def test_frequencies() -> None:
    law, n = LAWS[1], 2**18
    found = law.sample(n, Seeded(6))
    for k in range(-3, 4):
        p = law.pmf(k)[1]
        assert abs(int((found == k).sum()) - n * p) <= 6 * (n * p) ** 0.5


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1]])
def test_no_law(weights: list[int]) -> None:
    with pytest.raises(Invalid):
        Finite(0, weights)
