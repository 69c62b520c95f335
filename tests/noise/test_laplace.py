"""The Laplace laws: exact thresholds, enumerated prefixes, boundary words, and a second implementation."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet import exact
from discreet.errors import Invalid
from discreet.noise.laplace import DiscreteLaplace, Geometric, RoundedLaplace

SCALES = [Fraction(1, 7), Fraction(1), Fraction(22, 7), Fraction(1000, 3), Fraction(10**6, 7), Fraction(2) ** 30]
LAWS = {"geometric": Geometric, "discrete": DiscreteLaplace, "rounded": RoundedLaplace}
OFFSETS = [0, 1, 2, 3, 2**10, 2**20, 2**30, 2**40]


def magnitudes(law: object, halves: np.ndarray) -> np.ndarray:
    """The samples made from the given 63 bits of U, with the sign that makes them non-negative."""
    return law.sample(len(halves), Scripted(halves.astype(np.uint64) << np.uint64(1)))  # type: ignore[attr-defined]


def upper_chance(law: object, k: int) -> Callable[[], object]:
    """P[sample made with the non-negative sign ≥ k], for k ≥ 1, as a function of U alone."""
    scale = law.scale  # type: ignore[attr-defined]
    if isinstance(law, RoundedLaplace):
        return lambda: (exact.ball(Fraction(1, 2) - k) / exact.ball(scale)).exp()
    return lambda: law.beyond(k)  # type: ignore[attr-defined]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", LAWS)
def test_thresholds_are_exact(name: str, scale: Fraction) -> None:
    """For each k, bisect over the 63-bit words for the last one that gives a sample ≥ k: it is ⌊2⁶³ P[≥ k]⌋, to the bit."""
    law = LAWS[name](scale)
    top = max(2, int(12 * scale))
    ks = np.array(sorted({1, 2, 3, *np.geomspace(1, top, 40).astype(int).tolist()}))
    low, high = np.zeros(len(ks), np.int64), np.full(len(ks), 2**63 - 1, np.int64)  # sample(low) ≥ k > sample(high)
    while (high - low).max() > 1:
        middle = low + (high - low) // 2
        reaches = magnitudes(law, middle) >= ks
        low, high = np.where(reaches, middle, low), np.where(reaches, high, middle)
    for k, word in zip(ks.tolist(), low.tolist(), strict=True):
        with exact.precision(256):
            true = upper_chance(law, k)() * 2**63
            assert word <= true <= word + 2, (name, scale, k)  # a word whose cell the threshold cuts may go either way


@pytest.mark.parametrize("scale", SCALES[:5], ids=str)
@pytest.mark.parametrize("name", LAWS)
def test_enumerated_prefixes_bracket_the_law(name: str, scale: Fraction) -> None:
    """All 2²⁰ prefixes of U: a sample is certain where the prefix's ends agree; the masses bracket every probability."""
    law = LAWS[name](scale)
    first = np.arange(2**20, dtype=np.int64) << 43
    lowest, highest = magnitudes(law, first), magnitudes(law, first | (2**43 - 1))
    assert (lowest >= highest).all()  # larger U, smaller sample
    sure = lowest == highest
    signed = name != "geometric"
    for k in range(int(min(6 * scale, 60)) + 2):
        below = int((sure & (lowest == k)).sum()) / 2**20
        above = below + int((~sure & (lowest >= k) & (highest <= k)).sum()) / 2**20
        low, high = law.pmf(k)
        both = 2 if signed and k > 0 else 1
        assert below <= both * high, (k, below, both * high)
        assert above >= both * low, (k, above, both * low)


def boundary_words(law: object, rng: random.Random, count: int) -> list[int]:
    """Words at and around the places where the sample changes."""
    words = []
    for _ in range(count):
        k = rng.randrange(1, max(2, int(12 * law.scale) + 2))  # type: ignore[attr-defined]
        with exact.precision(256):
            place = exact.floor(upper_chance(law, k)() * 2**63)
        for offset in OFFSETS:
            words += [w for w in (place - offset, place + offset) if 0 < w < 2**63]
    return words


@pytest.mark.parametrize("name", LAWS)
def test_boundary_words_agree_with_balls(name: str) -> None:
    """At decision boundaries the float path must agree with pure ball arithmetic, or refine: ≥ 30,000 words, 0 disagreements."""
    rng, tested = random.Random(7), 0
    for scale in SCALES:
        law = LAWS[name](scale)
        words = [*boundary_words(law, rng, 420), 1, 2, 3, 2**63 - 1, 2**63 - 2]
        found = magnitudes(law, np.array(words))
        with exact.precision(256):
            t = exact.ball(scale)
            shift = {
                "geometric": exact.ball(0),
                "discrete": t * (2 / (1 + (-1 / t).exp())).log(),
                "rounded": exact.ball(Fraction(1, 2)),
            }[name]
            for word, sample in zip(words, found.tolist(), strict=True):
                truth = exact.floor(shift - t * exact.cell(word, 63).log())
                if truth is not None:  # otherwise the boundary lies inside the word's cell and more bits decide
                    assert sample == truth, (name, scale, word)
                    tested += 1
    assert tested >= 30_000


def test_a_wrong_margin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: without a margin the boundary test finds disagreements."""
    monkeypatch.setattr("discreet.noise.refine.margin", lambda scale: 0.0)
    monkeypatch.setattr("discreet.noise.laplace._constants", DiscreteLaplace._resolve.__globals__["_constants"].__wrapped__)
    with pytest.raises(AssertionError):
        test_boundary_words_agree_with_balls("discrete")


@pytest.mark.parametrize("offset", [Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(2**52 - 1, 2**52)], ids=str)
def test_rounding_around_an_offset(offset: Fraction) -> None:
    """round(f + Z) for real f at boundary words, both signs, against balls."""
    law, rng, tested = RoundedLaplace(Fraction(9, 2)), random.Random(3), 0
    words, expected = [], []
    with exact.precision(256):
        for _ in range(300):
            side, k = rng.choice([1, -1]), rng.randrange(1, 30)
            # f + side·t·E = side·k − ½, so that rounding changes there
            distance = (side * k - Fraction(1, 2) - offset) * side
            if distance <= 0:
                continue
            place = exact.floor((-exact.ball(distance) / exact.ball(law.scale)).exp() * 2**63)
            for delta in (-(2**30), -3, -1, 0, 1, 3, 2**30):
                if not 0 < place + delta < 2**63:
                    continue
                u = exact.cell(place + delta, 63)
                truth = exact.floor(exact.ball(offset + Fraction(1, 2)) - side * exact.ball(law.scale) * u.log())
                if truth is not None:
                    words.append((place + delta) << 1 | (side < 0))
                    expected.append(truth)
                    tested += 1
    found = law.around(np.full(len(words), float(offset)), lambda _: offset, Scripted(np.array(words, np.uint64)))
    assert found.tolist() == expected
    assert tested > 1_500


def test_the_draw_of_one_is_the_draw_of_many() -> None:
    words = Seeded(5).words(5_000)
    law = DiscreteLaplace(Fraction(17, 3))
    many = law.sample(len(words), Scripted(words)).tolist()
    assert [law.draw(Scripted(singles=[int(w)])) for w in words] == many


def test_scales_beyond_64_bits() -> None:
    with pytest.raises(Invalid, match="coarser unit"):
        DiscreteLaplace(Fraction(2) ** 60).sample(3, Seeded(1))
    wide = DiscreteLaplace(Fraction(2) ** 200)  # one at a time, any width
    assert abs(wide.draw(Seeded(1))).bit_length() > 190


@pytest.mark.parametrize("scale", [Fraction(2) ** 40, Fraction(2) ** 50])
def test_wide_scales_take_the_exact_path(scale: Fraction) -> None:
    words = Seeded(9).words(50)
    found = DiscreteLaplace(scale).sample(50, Scripted(words))
    with exact.precision(256):
        t = exact.ball(scale)
        c = (2 / (1 + (-1 / t).exp())).log()
        for word, sample in zip(words.tolist(), found.tolist(), strict=True):
            truth = exact.floor(t * (c - exact.cell(word >> 1, 63).log()))
            assert truth is None or abs(sample) == truth
