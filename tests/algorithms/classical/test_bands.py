"""Band counting: equal to brute force, its draw equal to the law, private over all neighbours, broken variants caught."""

from __future__ import annotations

import math
import time
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from algorithms.classical.test_blr import Data, Law, all_data, all_within, ball_power, exponential, histograms, leak, levels, surprise
from scripted import Scripted, Seeded

from discreet import exact
from discreet.algorithms.classical.bands import Bands, BLRThresholds, geometric, heavy
from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.errors import Invalid
from discreet.private import Private


@pytest.mark.parametrize(("domain", "most", "rows"), [(1, 3, 2), (2, 5, 4), (3, 6, 3), (4, 5, 4), (5, 4, 2), (3, 7, 1)])
def test_counts_are_brute_force(domain: int, most: int, rows: int) -> None:
    """All data sets, all levels; and each place of a band is another path of it."""
    for x in all_data(domain, most, "add/remove"):
        true = levels(Queries.thresholds(domain), x, rows)
        bands = Bands(x, rows)
        assert bands.first == min(true.values())
        for level in range(sum(x) + 2):
            inside = {y for y, its in true.items() if its <= level}
            assert bands.count(level) == len(inside)
            assert {tuple(bands.path(level, place).tolist()) for place in range(len(inside))} == inside


def test_large_counts() -> None:
    """The whole band holds C(N+m−1, m) paths, and a path far inside goes back to its place's neighbours."""
    bands = Bands([3] * 300, 50)
    assert bands.count(10**30) == small_databases(300, 50)
    level = bands.first + 40
    size = bands.count(level)
    assert 2**64 < size < small_databases(300, 50)
    for place in (0, 1, size // 3, size - 1):
        y = bands.path(level, place)
        gaps = abs(50 * np.cumsum([3] * 300) - 900 * np.cumsum(y))
        assert y.sum() == 50
        assert y.min() >= 0
        assert gaps.max() <= 50 * level
    one, other = bands.path(level, size // 3), bands.path(level, size // 3 + 1)
    assert one.tolist() != other.tolist()


# ── the law of the draw ──────────────────────────────────────────────────────────────────────────────────────────────


def code_law(blr: BLRThresholds, x: Data, t: Any, *, accept: bool = True, tail: bool = True) -> Law:
    """What `choose` draws from, with t in place of e^(−rate), summed over all levels; optionally broken."""
    bands, s, J = Bands(x, blr.rows), blr.stride, blr.counted
    bound = blr.bound(bands) if tail else blr.bound(bands)[:-1]
    rises = [bound[0], *(b - a for a, b in pairwise(bound))]
    true = levels(Queries.thresholds(blr.domain), x, blr.rows)
    end = max(s * (J + 1), sum(x) + 1) + 1  # beyond it bound and count are all there are
    law: Law = dict.fromkeys(true, 0)
    for b in range(end + 1):
        chance = sum(rise * t ** (s * i) * t ** (b - s * i) for i, rise in enumerate(rises) if s * i <= b)
        if b == end:
            chance = chance / (1 - t)  # all levels from here on
        if not tail and b >= s * J:
            continue
        top = bound[min(b // s, J if tail else J - 1)]
        reach = bands.first + b if accept else bands.first + s * (b // s) + s - 1  # broken: a path of the bound itself
        for y, level in true.items():
            if level <= reach:
                law[y] += chance / top
    total = sum(law.values())
    return {y: p / total for y, p in law.items() if tail or p != 0}


@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "1.1", "5"])
def test_the_draw_is_the_law(epsilon: str) -> None:
    """Exactly, as a rational function: envelope, geometric and acceptance give ∝ t^level for all data sets."""
    for domain, most, rows in ((3, 6, 3), (4, 4, 2), (1, 2, 3)):
        blr = BLRThresholds(epsilon=epsilon, domain=domain, rows=rows)
        for x in all_data(domain, most, "add/remove"):
            assert code_law(blr, x, Fraction(3, 5)) == exponential(levels(Queries.thresholds(domain), x, rows), Fraction(3, 5))


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize(("domain", "most", "rows"), [(3, 6, 3), (4, 5, 2), (5, 4, 2)])
def test_private_over_all_neighbours(domain: int, most: int, rows: int, adjacency: Any) -> None:
    blr = BLRThresholds(epsilon=1, domain=domain, rows=rows, adjacency=adjacency)
    found = leak(lambda x: code_law(blr, x, ball_power(blr.rate)), all_data(domain, most, adjacency), adjacency)
    assert 0.2 < found <= blr.steps[-1].epsilon <= 1  # type: ignore[operator]


def test_five_values_six_records() -> None:
    """The largest case in exact fractions, with 1/2 for e^(−ε/2) and steps of four levels."""
    blr = BLRThresholds(epsilon="0.5", domain=5, rows=3, adjacency="replace-one")
    assert blr.stride == 4
    assert all_within(lambda x: code_law(blr, x, Fraction(1, 2)), Fraction(1, 2)) == 2520 * 35


def test_broken_draws_are_caught() -> None:
    """Leaving out the acceptance rounds levels from a start that moves with the data; leaving out the tail forbids some outputs."""
    blr = BLRThresholds(epsilon="0.25", domain=3, rows=6, adjacency="replace-one")
    data, t = histograms(3, 12), Fraction(1, 8)
    assert blr.rate == t
    assert leak(lambda x: code_law(blr, x, ball_power(t)), data, "replace-one") <= 0.25
    assert leak(lambda x: code_law(blr, x, ball_power(t), accept=False), data, "replace-one") > 0.25
    sharp = BLRThresholds(epsilon=4, domain=3, rows=2, adjacency="replace-one")
    assert sharp.stride == 1
    assert leak(lambda x: code_law(sharp, x, ball_power(sharp.rate), tail=False), histograms(3, 6), "replace-one") == math.inf


def test_draws_are_taken_often_enough() -> None:
    """The chance to be taken is at least 1/(e + 1), as stated."""
    for epsilon in ("0.1", "0.7", "1", "2", "7"):
        for x in ((5, 0, 9, 2), (30, 30, 1, 0), (0, 0, 0, 1), (100, 1, 100, 1)):
            blr = BLRThresholds(epsilon=epsilon, domain=4, rows=5)
            bands, r, s = Bands(x, 5), float(blr.rate), blr.stride
            bound = blr.bound(bands)
            steps = range(int(60 / r) + sum(x) + s * len(bound))
            whole = sum(bound[min(b // s, blr.counted)] * math.exp(-r * b) for b in steps)
            taken = sum(bands.count(bands.first + b) * math.exp(-r * b) for b in steps)
            assert taken / whole >= 1 / (math.e + 1)


def test_draws_follow_the_law() -> None:
    x = (4, 0, 3)
    for epsilon, rate in (("0.3", 0.15), (2, 1.0)):
        blr = BLRThresholds(epsilon=epsilon, domain=3, rows=2, adjacency="replace-one")
        law = exponential(levels(Queries.thresholds(3), x, 2), math.exp(-rate))
        assert surprise(lambda seed, blr=blr: tuple(blr.sample(x, Seeded(seed)).histogram.tolist()), law, 3000) > 1e-4


# ── the two small samplers ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("weights", [[1, 1], [3, 0, 10**40, 1], [10**200, 10**200, 5], [0, 0, 7, 10**30]])
@pytest.mark.parametrize("rate", ["1/3", "40"])
def test_heavy_cuts_where_it_should(weights: list[int], rate: str) -> None:
    """A word just below a cut gives one, just above it the next; the cuts are certified to 64 bits."""
    r = Fraction(rate)
    with exact.precision(2000):
        terms = [exact.ball(w) * (-exact.ball(r) * i).exp() for i, w in enumerate(weights)]
        total = sum(terms)
        cuts = [exact.floor(sum(terms[: i + 1]) / total * 2**64) for i in range(len(weights))]
    for i, cut in enumerate(cuts):
        if cut is not None and 2 <= cut <= 2**64 - 2:
            low, high = (heavy(weights, r, Scripted(singles=[cut + step], rest=1 << 63)) for step in (-1, 1))
            assert weights[low]
            assert weights[high]
            assert low <= i < high
    assert heavy([0, 0, 3], r, Scripted(singles=[0])) == 2


@pytest.mark.parametrize(("more", "chosen"), [(0, 0), (1 << 26, 0), (1 << 27, 1), (1 << 63, 1)])
def test_heavy_asks_for_more_bits(more: int, chosen: int) -> None:
    """Two weights of 1 at rate 10⁻³⁰: the cut is ½ + 2.5·10⁻³¹, between 2⁻¹⁰² and 2⁻¹⁰¹ above ½, where 64 bits do not reach."""
    assert heavy([1, 1], Fraction(1, 10**30), Scripted(singles=[1 << 63, more])) == chosen


def test_heavy_and_geometric_have_their_laws() -> None:
    bits = Seeded(3)
    drawn = Counter(heavy([5, 0, 2, 10], Fraction(1, 2), bits) for _ in range(4000))
    chances = {i: w * math.exp(-i / 2) for i, w in enumerate([5, 0, 2, 10]) if w}
    law = {i: c / sum(chances.values()) for i, c in chances.items()}
    told = iter([i for i, k in drawn.items() for _ in range(k)])
    assert surprise(lambda _: next(told), law, 4000) > 1e-4  # type: ignore[arg-type, return-value]
    drawn = Counter(min(geometric(Fraction(1, 2), bits), 8) for _ in range(4000))
    law = {k: math.exp(-k / 2) * (1 - math.exp(-0.5)) for k in range(8)} | {8: math.exp(-4)}
    told = iter([i for i, k in drawn.items() for _ in range(k)])
    assert surprise(lambda _: next(told), law, 4000) > 1e-4  # type: ignore[arg-type, return-value]
    assert geometric(Fraction(1), Scripted(singles=[0, 1])) == math.floor(128 * math.log(2))


# ── size, accuracy, slips ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_thousand_values_in_seconds() -> None:
    """|D| = 10³, n = 10⁴, 100 rows: 10¹⁴⁴ small databases; the count of levels is public and the error as stated."""
    generator = np.random.default_rng(1)
    x = np.bincount(np.clip(generator.normal(500, 120, 10**4), 0, 999).astype(np.int64), minlength=1000)
    blr = BLRThresholds(epsilon=1, domain=1000, rows=100)
    assert blr.size > 10**143
    assert blr.counted <= 2 * math.log(blr.size) + 1
    begun = time.perf_counter()
    small = blr.sample(x, Seeded(4))
    assert time.perf_counter() - begun < 20  # 0.3 s on a quiet core
    queries = Queries.thresholds(1000)
    assert abs(small.answers(queries) - queries.answers(x)).max() <= blr.error(0.999999, 10**4)


@pytest.mark.parametrize("x", [(40, 0, 0, 0), (10, 10, 10, 10), (1, 30, 2, 7)])
def test_the_stated_error_holds(x: Data) -> None:
    blr = BLRThresholds(epsilon=2, domain=4, rows=8, adjacency="replace-one")
    queries = Queries.thresholds(4)
    law = exponential(levels(queries, x, 8), math.exp(-1))
    for confidence in ("0.5", "0.9", "0.99"):
        bound = blr.error(confidence, 40)
        missed = sum(p for y, p in law.items() if max(abs(queries.answers(x) - 40 / 8 * queries.answers(y))) > bound)
        assert missed <= 1 - float(confidence)


def test_extreme_prices() -> None:
    for epsilon in ("1e-60", "1e-9", "1e9", "1e60"):
        small = BLRThresholds(epsilon=epsilon, domain=3, rows=4, adjacency="replace-one").sample([10, 20, 10], Seeded(0))
        assert small.rows == 4
        assert epsilon[2] == "-" or small.histogram.tolist() == [1, 2, 1]


def test_slips() -> None:
    for wrong, says in (({"rows": 0}, "rows"), ({"domain": 0}, "domain"), ({"domain": 10**6}, "coarser"), ({"epsilon": -1}, "epsilon")):
        with pytest.raises(Invalid, match=says):
            BLRThresholds(**{"epsilon": 1, "domain": 3, "rows": 20, **wrong})  # type: ignore[arg-type]
    blr = BLRThresholds(epsilon=1, domain=3, rows=2)
    for data in ([1, 2], [1, 2, -1], [0.5, 1, 1], None):
        with pytest.raises(Invalid):
            blr.release(data)
    for hidden in ([0, 0, 0], [2**80, 0, -3], [None, 1, math.nan]):
        assert blr.release(Private(hidden)).rows == 2


def test_the_price_adds_up() -> None:
    for adjacency in ("add/remove", "replace-one"):
        blr = BLRThresholds(epsilon="0.7", domain=3, rows=2, adjacency=adjacency)  # type: ignore[arg-type]
        small = blr.sample([3, 1, 0], Seeded(0))
        assert sum(step.epsilon or 0 for step in small.steps) == blr.loss.epsilon == Fraction(7, 10)
