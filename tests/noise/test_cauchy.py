"""Rounded Cauchy noise: its law, its tail, and that the sampler has them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scripted import Scripted, Seeded

from discreet import exact
from discreet.noise.cauchy import RoundedCauchy


@pytest.mark.parametrize("scale", [Fraction(1, 7), Fraction(1), Fraction(22, 7), Fraction(10**9)])
def test_masses_and_tails_agree(scale: Fraction) -> None:
    law = RoundedCauchy(scale)
    with exact.precision(200):
        inside = sum((law.mass(k) for k in range(-20, 21)), exact.ball(0))
        assert abs(inside + law.beyond(21) - 1) < exact.ball(Fraction(1, 2**150))
    assert law.pmf(3)[0] == pytest.approx(stats.cauchy.cdf(3.5 / float(scale)) - stats.cauchy.cdf(2.5 / float(scale)), rel=1e-6)
    assert law.tail(2)[1] == pytest.approx(2 * stats.cauchy.sf(1.5 / float(scale)), rel=1e-9)


def test_draws_have_the_law() -> None:
    law, size = RoundedCauchy(Fraction(3, 2)), 40_000
    drawn = law.sample(size, Seeded(7))
    cells = np.clip(drawn, -12, 12)
    expected = [law.pmf(k)[0] * size for k in range(-11, 12)]
    tail = law.tail(12)[0] * size / 2
    found = [int((cells == k).sum()) for k in range(-12, 13)]
    assert stats.chisquare(found, np.array([tail, *expected, tail]) * (size / (sum(expected) + 2 * tail))).pvalue > 1e-4


@pytest.mark.parametrize(("word", "value"), [(1 << 63, 0), (3 << 62, 10), (1 << 62, -10), (1, -58720), (2**64 - 2, 0)])
def test_a_word_is_inverted(word: int, value: int) -> None:
    found = RoundedCauchy(Fraction(10)).draw(Scripted(singles=[word]))
    if word == 1:
        assert found < -(2**60)  # U below 2⁻⁶³: as far as it should be
    elif word == 2**64 - 2:
        assert found > 2**60
    else:
        assert found == value


def test_cells_that_touch_the_ends_are_refined() -> None:
    law = RoundedCauchy(Fraction(1))
    assert law.draw(Scripted(singles=[0, 1])) < -(2**100)
    assert law.draw(Scripted(singles=[2**64 - 1, 0])) > 2**60
