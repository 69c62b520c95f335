"""The Gaussian laws: enumerated prefixes, boundary words, certified tables."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet import exact
from discreet.errors import Invalid
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian, _table

SCALES = [Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(300), Fraction(10**6, 7)]


def pairs(law: RoundedGaussian, uniform: np.ndarray, angle: np.ndarray, signs: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Both samples of each (63 bits of U, 61 bits of r), with the given two sign bits."""
    first, second = [], []
    for start in range(0, len(uniform), 8192):
        u, r = uniform[start : start + 8192].astype(np.uint64), angle[start : start + 8192].astype(np.uint64)
        out = law.sample(2 * len(u), Scripted(np.concatenate([u << np.uint64(1), r << np.uint64(3) | np.uint64(signs)])))
        first.append(out[: len(u)])
        second.append(out[len(u) :])
    return np.concatenate(first), np.concatenate(second)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_enumerated_prefixes_bracket_the_law(scale: Fraction) -> None:
    """All 2²⁰ prefixes of (U, r): both samples are monotone in each, so a cell's corners bound it; masses bracket the law."""
    law, n = RoundedGaussian(scale), 2**10
    u = np.repeat(np.arange(n, dtype=np.int64), n) << 53
    r = np.tile(np.arange(n, dtype=np.int64), n) << 51
    u_high, r_high = u | (2**53 - 1), r | (2**51 - 1)
    cosine_most, sine_low = pairs(law, u, r)
    cosine_least, _ = pairs(law, u_high, r_high)
    _, sine_most = pairs(law, u, r_high)
    _, sine_least = pairs(law, u_high, r)
    assert (sine_low <= sine_most).all()
    spread = max(1, int(scale) // 4)
    for least, most in ((cosine_least, cosine_most), (sine_least, sine_most)):
        assert (least <= most).all()
        # cells of values wide enough that the brackets say something, also for large scales
        for k in range(0, int(4 * scale) + 1, spread):
            low_edge, high_edge = k, k + spread - 1
            below = ((least >= low_edge) & (most <= high_edge)).mean()
            above = ((least <= high_edge) & (most >= low_edge)).mean()
            with exact.precision(128):
                inside = law.beyond(low_edge) - law.beyond(high_edge + 1)
                assert below <= float(exact.upper(inside))
                assert above >= float(exact.lower(inside))
            assert above - below < 0.1


def test_boundary_words_agree_with_balls() -> None:
    """Pairs of words on the curve where a rounded sample changes, and around it: ≥ 30,000, 0 disagreements with balls."""
    rng, tested = random.Random(5), 0
    for scale in SCALES:
        law = RoundedGaussian(scale)
        uniform, angle, sides = [], [], []
        with exact.precision(192):
            for _ in range(700):
                r, side = rng.randrange(1, 2**61 - 1), rng.randrange(2)
                turn = exact.pi() * exact.cell(r, 61) / 2
                wave = turn.sin() if side else turn.cos()
                k = rng.randrange(0, max(1, int(4 * scale * float(wave.mid()))) + 1)
                radius = exact.ball(k + Fraction(1, 2)) / (exact.ball(scale) * wave)
                place = exact.floor(((-radius * radius / 2).exp() * 2**63).mid())
                for offset in (0, 1, 2, 3, 2**10, 2**20, 2**30, 2**40):
                    for u in (place - offset, place + offset):
                        if 0 < u < 2**63:
                            uniform.append(u)
                            angle.append(r)
                            sides.append(side)
        found = pairs(law, np.array(uniform), np.array(angle))
        with exact.precision(192):
            for i, (u, r, side) in enumerate(zip(uniform, angle, sides, strict=True)):
                turn = exact.pi() * exact.cell(r, 61) / 2
                value = exact.ball(scale) * (-2 * exact.cell(u, 63).log()).sqrt() * (turn.sin() if side else turn.cos())
                truth = exact.floor(value + exact.ball(Fraction(1, 2)))
                if truth is not None:
                    assert found[side][i] == truth
                    tested += 1
    assert tested >= 30_000


def test_a_wrong_margin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.noise.refine.margin", lambda scale: 0.0)
    with pytest.raises(AssertionError):
        test_boundary_words_agree_with_balls()


def test_signs_are_two_independent_bits() -> None:
    law = RoundedGaussian(Fraction(1000))
    u, r = np.array([2**61]), np.array([2**60 + 12345])
    x, y = (int(v[0]) for v in pairs(law, u, r, 0))
    assert x > 0
    assert y > 0
    assert [tuple(int(v[0]) for v in pairs(law, u, r, s)) for s in (1, 2, 3)] == [(-x, y), (x, -y), (-x, -y)]


def test_extreme_words_are_settled_exactly() -> None:
    """U near 0 and near 1, where the float path has no margin."""
    law = RoundedGaussian(Fraction(10**6))
    uniform = np.array([1, 2, 2**20, 2**42, 2**63 - 1, 2**63 - 2, 2**63 - 2**42, 2**63 - 2**43])
    angle = np.full(len(uniform), 2**59)
    found = pairs(law, uniform, angle)
    with exact.precision(192):
        for i, u in enumerate(uniform.tolist()):
            turn = exact.pi() * exact.cell(2**59, 61) / 2
            for side in (0, 1):
                value = exact.ball(law.scale) * (-2 * exact.cell(u, 63).log()).sqrt() * (turn.sin() if side else turn.cos())
                truth = exact.floor(value + exact.ball(Fraction(1, 2)))
                assert truth is None or found[side][i] == truth


@pytest.mark.parametrize("size", [1, 2, 3, 8191, 16384, 16385, 40001])
def test_every_size_is_filled(size: int) -> None:
    out = RoundedGaussian(Fraction(10**6)).sample(size, Seeded(size))
    assert len(out) == size
    assert len(set(out.tolist())) > 0.9 * size
    assert abs(out.mean()) < 6 * 10**6 / math.sqrt(size)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(20), Fraction(64)], ids=str)
def test_the_table_of_the_discrete_gaussian_is_certified(scale: Fraction) -> None:
    """Every threshold is ⌊2⁶⁴F(k)⌋, with F summed afresh at 512 bits; the normaliser is checked by its own sum."""
    table = _table(scale)
    with exact.precision(512):
        reach = int(30 * scale) + 40
        weights = [exact.ball(-Fraction(k * k) / (2 * scale * scale)).exp() for k in range(-reach, reach + 1)]
        total = sum(weights[1:], weights[0])
        running = exact.ball(0)
        cdf = {}
        for k, w in zip(range(-reach, reach + 1), weights, strict=True):
            running += w
            cdf[k] = running / total
        for i, t in enumerate(table.thresholds.tolist()):
            assert exact.floor(cdf[table.low + i] * 2**64) == t


@pytest.mark.parametrize("scale", [Fraction(65), Fraction(300), Fraction(10**4)], ids=str)
def test_rejection_gives_the_discrete_gaussian(scale: Fraction) -> None:
    """Rounded law × acceptance ∝ discrete law, in balls; and the float bound of the acceptance is below it."""
    rounded, discrete = RoundedGaussian(scale), DiscreteGaussian(scale)
    with exact.precision(256):
        constant = discrete.mass(0) / rounded.mass(0)
        for k in [0, 1, 2, int(scale), int(3 * scale), int(8 * scale)]:
            accept = exact.ball(-Fraction(k * k) / (2 * scale * scale)).exp() / (rounded.mass(k) / rounded.mass(0))
            assert (rounded.mass(k) * accept * constant).overlaps(discrete.mass(k))
            assert k == 0 or accept < 1
            assert k == 0 or accept > exact.ball(-Fraction(k * k) / (24 * scale**4)).exp()


def test_acceptance_is_decided_exactly() -> None:
    """The coin at the acceptance threshold, and one to each side."""
    law = DiscreteGaussian(Fraction(65))
    k = 500
    with exact.precision(256):
        rounded = RoundedGaussian(law.scale)
        chance = exact.ball(-Fraction(k * k) / (2 * law.scale**2)).exp() / (rounded.mass(k) / rounded.mass(0))
        place = exact.floor(chance * 2**64)
    assert law._accept(k, place - 1, Seeded(1))
    assert not law._accept(k, place + 1, Seeded(1))


def test_pmf_and_tail_belong_together() -> None:
    for law in (RoundedGaussian(Fraction(7, 2)), DiscreteGaussian(Fraction(7, 2))):
        with exact.precision(128):
            for k in range(1, 30):
                assert (law.beyond(k) - law.beyond(k + 1)).overlaps(2 * law.mass(k))
            assert (law.mass(0) + law.beyond(1)).overlaps(exact.ball(1))


def test_too_wide() -> None:
    with pytest.raises(Invalid, match="coarser unit"):
        RoundedGaussian(Fraction(2) ** 60).sample(1, Seeded(1))
