"""Grids: data-independent steps, exact rounding of f + Z, total on every float."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet import exact
from discreet.noise import lattice
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import RoundedLaplace

VALUES = [0.0, -0.0, 0.1, -0.1, 1 / 3, -1e-20, 5e-324, -5e-324, 1e-300, 12345.678, -(2.0**40), 2.0**52 + 1, 1e13]


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 1000), Fraction(7, 3), Fraction(10**9), Fraction(3, 2**40)], ids=str)
def test_the_release_is_the_rounding_of_the_ideal_sum(scale: Fraction) -> None:
    """For each float f and word, round((f + Z)/step) in ball arithmetic is what comes out."""
    rng, tested = random.Random(1), 0
    step = lattice.step(scale)
    assert step <= scale / 2**16 < 2 * step
    values = [v for v in VALUES if abs(v) < 2**60 * float(step)] * 40
    words = [rng.getrandbits(64) for _ in values]
    found = lattice.noisy(np.array(values), RoundedLaplace, scale, Scripted(words))
    with exact.precision(300):
        for f, word, y in zip(values, words, found.tolist(), strict=True):
            side = -1 if word & 1 else 1
            ideal = exact.ball(Fraction(f)) - side * exact.ball(scale) * exact.cell(word >> 1, 63).log()
            steps = exact.floor(ideal / exact.ball(step) + exact.ball(Fraction(1, 2)))
            if steps is not None:
                assert y == float(steps * step)
                tested += 1
    assert tested > 300


def test_boundaries_of_the_rounding() -> None:
    """Answers placed so that f + Z lies within 2⁻⁶⁰ of a rounding boundary, where floats cannot tell."""
    scale, rng, tested = Fraction(1), random.Random(2), 0
    step = lattice.step(scale)
    values, words, truth = [], [], []
    with exact.precision(300):
        while len(values) < 3_000:
            word = rng.getrandbits(64)
            side = -1 if word & 1 else 1
            noise = -side * exact.cell(word >> 1, 63).log()
            boundary = exact.ball((rng.randrange(-(10**6), 10**6) + Fraction(1, 2)) * step)
            f = float((boundary - noise).mid())  # off by a rounding of f, up to 2⁻⁵⁰
            steps = exact.floor((exact.ball(Fraction(f)) + noise) / exact.ball(step) + exact.ball(Fraction(1, 2)))
            if steps is not None:
                values.append(f)
                words.append(word)
                truth.append(float(steps * step))
                tested += 1
    assert lattice.noisy(np.array(values), RoundedLaplace, scale, Scripted(words)).tolist() == truth


def test_every_release_is_on_the_published_grid() -> None:
    scale = Fraction(3, 10)
    out = lattice.noisy(np.linspace(-5, 5, 100_000), RoundedLaplace, scale, Seeded(8))
    steps = out / float(lattice.step(scale))
    assert (steps == np.rint(steps)).all()


def test_total_on_every_float() -> None:
    """NaN counts as 0, what is too far as the edge: same coins, same output as the value it counts as."""
    edge = math.ldexp(1.0, 900 + lattice.step_exponent(Fraction(1)))
    strange = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308])
    counted = np.array([0.0, edge, -edge, edge, -edge])
    a = lattice.noisy(strange, RoundedLaplace, Fraction(1), Seeded(1))
    b = lattice.noisy(counted, RoundedLaplace, Fraction(1), Seeded(1))
    assert a.tolist() == b.tolist()
    assert np.isfinite(a).all()


def test_rounding_before_the_noise_would_be_seen() -> None:
    """The negative control: rounding f first moves releases, for some coins, away from the ideal rounding."""
    scale = Fraction(1)
    step = float(lattice.step(scale))
    values = np.full(20_000, 0.4 * step)
    right = lattice.noisy(values, RoundedLaplace, scale, Seeded(4))
    wrong = lattice.noisy(np.rint(values / step) * step, RoundedLaplace, scale, Seeded(4))
    assert 0.3 < (right != wrong).mean() < 0.5


@pytest.mark.parametrize("law", [RoundedLaplace, RoundedGaussian])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 3), Fraction(1, 10**9)], ids=str)
def test_one_is_drawn_as_many_are(law: type, scale: Fraction) -> None:
    """The path for single floats gives the same output for the same words, refined ones included."""
    words = Seeded(3).words(4_000).reshape(-1, 2)
    words[:4] = [[0, 0], [2**64 - 1, 2**64 - 1], [2**40, 2**63], [2**64 - 2, 7]]  # words that the float path must not decide
    for i, pair in enumerate(words):
        value = [0.1, -3.7e5, 1e-300, math.nan, math.inf, 12.0][i % 6]
        used = pair.tolist() if law is RoundedGaussian else pair.tolist()[:1]
        one = lattice.noisy_one(value, law, scale, Scripted(singles=used))
        many = lattice.noisy(np.array([value]), law, scale, Scripted(pair))
        assert one == many[0]


def test_numbers_that_are_no_floats_are_not_rounded() -> None:
    """2⁶⁰ + 1 and thirds: the exact path, against the ideal sum in balls."""
    scale, words = Fraction(1, 3), Seeded(2).words(600)
    values = np.array([Fraction(2**60 + 1), Fraction(1, 3), Fraction(-(10**30), 7)] * 200, object)
    found = lattice.noisy(values, RoundedLaplace, scale, Scripted(words))
    step = lattice.step(scale)
    with exact.precision(400):
        for f, word, y in zip(values, words.tolist(), found.tolist(), strict=True):
            side = -1 if word & 1 else 1
            ideal = exact.ball(f) - side * exact.ball(scale) * exact.cell(word >> 1, 63).log()
            steps = exact.floor(ideal / exact.ball(step) + exact.ball(Fraction(1, 2)))
            assert steps is None or y == float(steps * step)
