"""Selection is as private as it says: the exact law over all neighbours in a box, and the code draws from that law."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import fits, numbered, tally
from theorems import laws
from theorems.checker import Floats, OutputLaw, Vector, box, neighbours, profile_excess, worst_log_ratio

from discreet.mechanisms.exponential import Exponential, IntervalExponential
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax, TopK
from discreet.mechanisms.quantile import Quantile, Quantiles

TIGHT = 1 + 1e-9
SCORES = (0, 1, 30)  # 30: far ahead, where the exponential mechanism comes close to its ε
EPSILONS = [0.0, 0.1, 0.3, 0.6, 0.9]

MECHANISMS = [
    *(Exponential(epsilon=e, sensitivity=s, monotone=m) for e, s in ((1, 1), (1, 2), ("0.3", 1)) for m in (False, True)),
    *(
        NoisyMax(epsilon=1, sensitivity=s, noise=noise, monotone=m)
        for noise in ("exponential", "laplace", "gumbel", "geometric")
        for s in (1, 2)
        for m in (False, True)
    ),
]


def exposed_rate(mechanism: Exponential) -> Fraction:
    """The rate as the object's own chances show it: ln of the odds of two candidates one apart."""
    low, high = mechanism.probabilities([0, 1])
    return Fraction(math.log(high / low))


def law_of(mechanism: Any, faster: int = 1) -> OutputLaw:
    """The law of the chosen position; `faster` > 1 is a mechanism that believes in a smaller sensitivity."""
    if isinstance(mechanism, Exponential):
        rate = exposed_rate(mechanism) * faster
        return lambda scores: laws.softmax(scores, rate)
    return lambda scores: laws.noisy_max(scores, mechanism.rate * faster, mechanism.noise)


def pairs_for(mechanism: Any) -> list[tuple[Vector, Vector]]:
    moved = int(mechanism.sensitivity)
    return list(neighbours(box(SCORES, 3), (-moved, 0, moved), monotone=mechanism.monotone))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_no_output_tells_more_than_epsilon(mechanism: Any, record_property: Callable[[str, object], None]) -> None:
    """All neighbouring score vectors: the worst log-ratio is at most ε, and not far below."""
    worst = worst_log_ratio(law_of(mechanism), pairs_for(mechanism)) / float(mechanism.epsilon)
    record_property("worst over epsilon", worst)
    assert 0.93 < worst <= TIGHT


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_half_the_sensitivity_is_caught(mechanism: Any) -> None:
    """The same check fails for a mechanism of twice the rate, so it would notice a wrong factor."""
    assert worst_log_ratio(law_of(mechanism, faster=2), pairs_for(mechanism)) > 1.5 * float(mechanism.epsilon)


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if m.epsilon == 1], ids=str)
def test_the_loss_covers_the_whole_profile(mechanism: Any) -> None:
    """δ(ε) of every neighbouring pair is at most what the loss says, at every ε and not only at the pure one."""
    assert 0.3 < profile_excess(law_of(mechanism), pairs_for(mechanism), mechanism.loss, EPSILONS) <= TIGHT


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if m.epsilon == 1 and m.sensitivity == 1], ids=str)
def test_the_code_draws_from_the_law(mechanism: Any) -> None:
    """χ² of 8 000 draws with fixed coins, on ties, near ties and a loser."""
    scores = [0, 2, 2, -1]
    seen = tally(lambda bits: mechanism.sample(scores, bits), 8_000, str(mechanism))
    assert fits(seen, numbered(law_of(mechanism)(tuple(scores))))
    assert not fits(seen, numbered(law_of(mechanism, faster=2)(tuple(scores))))


def test_one_direction_matters() -> None:
    """A monotone mechanism is not private for scores that move apart: the two checks are different checks."""
    mechanism = Exponential(epsilon=1, monotone=True)
    both = neighbours(box(SCORES, 3), (-1, 0, 1))
    assert worst_log_ratio(law_of(mechanism), both) > 1.9


# ── the k best ───────────────────────────────────────────────────────────────────────────────────────────────────────


def top_law(k: int, rate: Fraction) -> OutputLaw:
    return lambda scores: np.array(list(laws.top_k(scores, rate, k).values()))


def rate_of_top(mechanism: TopK) -> Fraction:
    """ε/(kR), from the public fields; the χ² below ties it to the code."""
    return mechanism.epsilon / mechanism.k / (mechanism.sensitivity if mechanism.monotone else 2 * mechanism.sensitivity)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k(k: int, monotone: bool) -> None:
    """Four candidates, all neighbours, all ordered outputs."""
    mechanism = TopK(epsilon=1, k=k, monotone=monotone)
    rate = rate_of_top(mechanism)
    pairs = list(neighbours([(0, 0, 0, 0), (0, 30, 30, 1), (30, 0, 0, 0), (0, 0, 30, 30)], (-1, 0, 1), monotone=monotone))
    assert 0.6 < worst_log_ratio(top_law(k, rate), pairs) <= TIGHT
    assert profile_excess(top_law(k, rate), pairs, mechanism.loss, EPSILONS) <= TIGHT
    seen = tally(lambda bits: tuple(mechanism.sample([0, 3, 1, 3], bits)), 6_000, (k, monotone))
    assert fits(seen, laws.top_k([0, 3, 1, 3], rate, k))
    assert not fits(seen, laws.top_k([0, 3, 1, 3], 2 * rate, k))


# ── intervals and quantiles ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("monotone", [False, True])
def test_interval(monotone: bool) -> None:
    """Three pieces on a grid of eleven points: every point weighs e^(rate·score), and the code agrees point by point."""
    mechanism = IntervalExponential(epsilon=1, sensitivity=1, lower=-1, upper=4, step="0.5", monotone=monotone)
    lengths = [2, 8, 1]
    assert mechanism.points == sum(lengths) == 11
    rate = mechanism.epsilon / (1 if monotone else 2)

    def law(scores: Vector) -> Floats:
        return laws.softmax(np.repeat(scores, lengths).tolist(), rate)

    pairs = list(neighbours(box(SCORES, 3), (-1, 0, 1), monotone=monotone))
    assert 0.9 < worst_log_ratio(law, pairs) <= TIGHT
    assert profile_excess(law, pairs, mechanism.loss, EPSILONS) <= TIGHT
    seen = tally(lambda bits: mechanism.sample(([0, 2, 10], [3, 1, 5]), bits), 8_000, monotone)
    assert fits(seen, {mechanism.lower + mechanism.step * i: p for i, p in enumerate(law((3, 1, 5)))})


def test_interval_pieces_may_be_empty_or_cut_anyhow() -> None:
    """The law belongs to the points, not to the pieces: cutting a piece in two, or adding an empty one, changes nothing."""
    mechanism = IntervalExponential(epsilon=2, lower=0, upper=5, step=1)
    law = dict(zip(map(Fraction, range(6)), laws.softmax([0, 0, 3, 3, 3, 1], mechanism.epsilon / 2), strict=True))
    for starts, scores in [([0, 2, 5], [0, 3, 1]), ([0, 1, 2, 3, 3, 5, 6], [0, 0, 3, 99, 3, 1, 99])]:
        assert fits(tally(lambda bits, s=starts, u=scores: mechanism.sample((s, u), bits), 6_000, len(starts)), law)


def databases(points: int, most: int) -> list[Vector]:
    return [d for n in range(most + 1) for d in combinations_with_replacement(range(points), n)]


def record_neighbours(points: int, most: int, adjacency: str) -> list[tuple[Vector, Vector]]:
    """All pairs of small databases on the grid that differ in one record."""
    pairs = []
    for d in databases(points, most):
        for x in range(points):
            if adjacency == "add/remove":
                pairs.append((d, tuple(sorted((*d, x)))))
            elif d:
                pairs += [(d, tuple(sorted((*d[:i], x, *d[i + 1 :])))) for i in range(len(d)) if d[i] != x]
    return pairs


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("q", ["1/2", "1/4", "9/10"])
def test_quantile(q: str, adjacency: Any) -> None:
    """Every database of up to three records (and one more) on a grid of seven points, and every neighbour."""
    mechanism = Quantile(epsilon=1, q=q, lower=0, upper=6, step=1, adjacency=adjacency)

    def law(points: Vector) -> Floats:
        return laws.softmax(laws.quantile_scores(points, mechanism.q, 0, mechanism.grid.points), mechanism.rate)

    pairs = record_neighbours(7, 3, adjacency)
    assert 0.4 < worst_log_ratio(law, pairs) <= TIGHT
    assert profile_excess(law, pairs, mechanism.loss, EPSILONS) <= TIGHT
    seen = tally(lambda bits: mechanism.sample([2, 2, 5, 7.3], bits), 8_000, (q, adjacency))
    assert fits(seen, numbered(law((2, 2, 5, 6))))


def offset_law(mechanism: Quantile, target: Callable[[Vector], Fraction | int]) -> OutputLaw:
    def law(points: Vector) -> Floats:
        return laws.softmax(laws.quantile_scores(points, mechanism.q, 0, mechanism.grid.points, target(points)), mechanism.rate)

    return law


OFFSETS = [(q, offset) for q in ("1/2", "1/4", "9/10") for offset in (-5, -1, 2)]
QUICK = [("1/2", -5), ("9/10", 2)]


@pytest.mark.parametrize(("q", "offset"), [pytest.param(*one, marks=() if one in QUICK else pytest.mark.slow) for one in OFFSETS])
def test_a_quantile_with_an_offset_costs_no_more(q: str, offset: int) -> None:
    """A constant offset, within the ranks and beyond them; the code has the law point by point."""
    mechanism = Quantile(epsilon=1, q=q, lower=0, upper=6, step=1, offset=offset)
    law, pairs = offset_law(mechanism, lambda _: offset), record_neighbours(7, 3, "add/remove")
    assert worst_log_ratio(law, pairs) <= TIGHT
    assert profile_excess(law, pairs, mechanism.loss, EPSILONS) <= TIGHT
    seen = tally(lambda bits: mechanism.sample([2, 2, 5, 7.3], bits), 8_000, (q, offset))
    assert fits(seen, numbered(law((2, 2, 5, 6))))
    assert not fits(seen, numbered(offset_law(mechanism, lambda _: -offset)((2, 2, 5, 6))))


@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(-1, 4)])
def test_an_offset_that_is_a_share_of_the_records_would_be_seen(share: Fraction) -> None:
    """One more record moves such a target by itself."""
    mechanism = Quantile(epsilon=1, q="1/2", lower=0, upper=6, step=1)
    assert worst_log_ratio(offset_law(mechanism, lambda points: share * len(points)), record_neighbours(7, 3, "add/remove")) > 1.2


def quantiles_law(mechanism: Quantiles) -> OutputLaw:
    def law(points: Vector) -> Floats:
        return np.array(list(laws.quantiles(points, mechanism.qs, mechanism.grid.points, mechanism.each).values()))

    return law


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("qs", [("1/2",), ("1/4", "3/4"), pytest.param(("1/4", "1/2", "3/4"), marks=pytest.mark.slow)], ids=len)
def test_quantiles(qs: tuple[str, ...], adjacency: Any) -> None:
    """All small databases on a grid of five points; the outputs are all tuples of grid points that can come out."""
    mechanism = Quantiles(epsilon=1, qs=qs, lower=0, upper=4, step=1, adjacency=adjacency)
    worst = worst_log_ratio(quantiles_law(mechanism), record_neighbours(5, 2, adjacency))
    assert 0.3 < worst <= TIGHT
    seen = tally(lambda bits: tuple(mechanism.sample([0, 3, 3, 4], bits)), 4_000, (qs, adjacency))
    assert fits(seen, laws.quantiles((0, 3, 3, 4), mechanism.qs, 5, mechanism.each))


def test_quantiles_profile_add_remove() -> None:
    """The composed loss covers the true δ(ε)."""
    mechanism = Quantiles(epsilon=2, qs=("1/4", "1/2", "3/4"), lower=0, upper=4, step=1)
    assert profile_excess(quantiles_law(mechanism), record_neighbours(5, 2, "add/remove"), mechanism.loss, [0.2, 0.6, 1, 1.4]) <= TIGHT


def quantile_replacement_profile() -> float:
    """One record replaced inside one node: the scores of the points below and above the median move apart by 2."""
    mechanism = Quantiles(epsilon=2, qs=("1/2",), lower=0, upper=200, step=1, adjacency="replace-one")
    points = mechanism.grid.points
    half = Fraction(1, 2)

    def law(records: Vector) -> Floats:
        return laws.softmax(laws.quantile_scores(records, half, 0, points), mechanism.each / (2 * half))

    pairs = [((0, a, a + 1), (a, a + 1, 200)) for a in range(10, 190, 20)]
    return profile_excess(law, pairs, mechanism.loss, [0.5, 1.0, 1.5])


def test_quantiles_profile_replace_one() -> None:
    """Replacing a record inside one node is one mechanism of twice the range, not two mechanisms one after the other."""
    assert quantile_replacement_profile() <= TIGHT


def test_the_mechanisms_here_are_all_selection_mechanisms() -> None:
    """A new selection mechanism must be added to this file."""
    selections = {c.__name__ for c in Mechanism.__subclasses__() if c.__module__.split(".")[-1] in ("exponential", "noisy_max", "quantile")}
    assert selections == {"Exponential", "IntervalExponential", "NoisyMax", "NoisyMaxGap", "TopK", "Quantile", "Quantiles"}
