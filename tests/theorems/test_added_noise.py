"""Added noise, coins and thresholds: exact laws over all small inputs, and the code draws from them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake, fits, numbered
from scipy import stats
from theorems import laws
from theorems.checker import Floats, Vector, hockey_stick, profile_excess, worst_delta, worst_log_ratio

from discreet.errors import Invalid
from discreet.mechanisms import sensitivity
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.noise import lattice

TIGHT = 1 + 1e-9
SMALL = [0.0, 0.2, 0.5, 0.8]


def shifted(law: dict[int, float], by: int, window: range) -> Floats:
    return np.array([law.get(k - by, 0.0) for k in window])


# ── Laplace ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("moved", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_discrete_laplace(epsilon: str, moved: int) -> None:
    """One whole number that moves by up to Δ: the ratio is ε exactly at Δ, and the loss's profile covers each move."""
    mechanism = Laplace(epsilon=epsilon, sensitivity=moved)
    noise = laws.discrete_laplace(1 / float(mechanism.scale), 300)
    window = range(-150, 151)  # both laws are whole here; what lies outside has the same ratios

    def law(at: Vector) -> Floats:
        return shifted(noise, at[0], window)

    pairs = [((0,), (k,)) for k in range(1, moved + 1)]
    assert worst_log_ratio(law, pairs) == pytest.approx(float(mechanism.epsilon), rel=1e-9)
    assert 0.99 < profile_excess(law, pairs, mechanism.loss, [float(mechanism.epsilon) * e for e in SMALL]) <= 1 + 1e-6


@pytest.mark.parametrize("moved", [1, 2])
def test_histograms_under_both_adjacencies(moved: int) -> None:
    """Two cells of a histogram: (±1, 0) under add/remove, (1, −1) under replacement; sensitivity 2 covers the second, 1 does not."""
    adjacency = "add/remove" if moved == 1 else "replace-one"
    mechanism = Laplace(epsilon=1, sensitivity=sensitivity.histogram(adjacency).l1)
    noise = laws.discrete_laplace(1 / float(mechanism.scale), 90)
    window = range(-40, 41)

    def law(cells: Vector) -> Floats:
        return np.outer(shifted(noise, cells[0], window), shifted(noise, cells[1], window)).ravel()

    pairs = [((0, 0), (1, 0))] if moved == 1 else [((0, 1), (1, 0)), ((0, 0), (1, 0))]
    assert worst_log_ratio(law, pairs) == pytest.approx(1, rel=1e-9)
    assert profile_excess(law, pairs, mechanism.loss, SMALL) <= TIGHT
    if moved == 1:  # the same noise sold under replacement
        assert worst_log_ratio(law, [((0, 1), (1, 0))]) == pytest.approx(2)


@pytest.mark.parametrize("centre", [Fraction(0), Fraction(1, 3), Fraction(12345, 64)])
def test_real_laplace_is_the_rounded_continuous_law(centre: Fraction) -> None:
    """Bins of the released multiples of the step, against the integral of the continuous law over just those cells."""
    mechanism = Laplace(epsilon=2, sensitivity="1/2")
    step = lattice.step(mechanism.scale)
    f = float(centre)
    noisy = np.asarray(mechanism.sample(np.full(40_000, f), Shake(f)))
    assert (np.mod(noisy, float(step)) == 0).all()
    edges = f + float(mechanism.scale) * np.array([-6, -3, -1.5, -0.5, 0, 0.5, 1.5, 3, 6])
    cut = (np.floor(edges / float(step)) + 0.5) * float(step)  # bins end between grid points
    seen = Counter(np.searchsorted(cut, noisy).tolist())
    chances = np.diff(stats.laplace.cdf(cut, loc=f, scale=float(mechanism.scale)), prepend=0, append=1)
    assert fits(seen, numbered(chances))
    assert not fits(seen, numbered(np.diff(stats.laplace.cdf(cut, loc=f, scale=1.1 * float(mechanism.scale)), prepend=0, append=1)))


def test_real_laplace_covers_any_move() -> None:
    """round(f + Z) for moves of any part of Δ: exact cell masses, the ratio reaches ε and never passes it."""
    mechanism = Laplace(epsilon=1, sensitivity="1/2")

    def law(at: Vector) -> Floats:
        return np.array(list(laws.rounded_laplace(float(mechanism.scale) * 8, float(at[0]) * 8, 40).values()))  # in eighths

    worst = worst_log_ratio(law, [((a,), (a + m,)) for a in (0, 0.3, 0.5) for m in (0.125, 0.3, 0.5)])
    assert 0.999 < worst <= 1 + 1e-7  # floats of the cdf


def test_discrete_laplace_is_what_the_code_draws() -> None:
    mechanism = Laplace(epsilon="1/2", sensitivity=2)
    law = laws.discrete_laplace(0.25, 120)
    seen = Counter((np.asarray(mechanism.sample(np.full(40_000, 7), Shake(1))) - 7).tolist())
    single = Shake(2)
    one = Counter(int(mechanism.sample(7, single)) - 7 for _ in range(8_000))
    assert fits(seen, law)
    assert fits(one, law)
    assert not fits(one, laws.discrete_laplace(0.5, 120))


# ── Gaussian ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("parameters", [{"epsilon": 1, "delta": 1e-3}, {"rho": 0.5}, {"scale": 2, "sensitivity": 2}], ids=str)
def test_rounded_gaussian(parameters: Any) -> None:
    """Whole answers that move by Δ: the rounded law's profile is at most the loss's, and close to it."""
    mechanism = Gaussian(**parameters)
    moved = int(mechanism.sensitivity)
    noise = laws.rounded_gaussian(float(mechanism.scale), 200)
    window = range(-150, 151)

    def law(at: Vector) -> Floats:
        return shifted(noise, at[0], window)

    epsilons = [0.0, 0.3, 1.0, 2.0]
    assert 0.9 < profile_excess(law, [((0,), (moved,))], mechanism.loss, epsilons) <= 1 + 1e-6
    if "delta" in parameters:
        assert worst_delta(law, [((0,), (moved,))], [float(parameters["epsilon"])])[0] <= parameters["delta"]


def test_rounded_gaussian_is_what_the_code_draws() -> None:
    mechanism = Gaussian(scale="5/2")
    seen = Counter((np.asarray(mechanism.sample(np.full(40_000, -3), Shake(3))) + 3).tolist())
    assert fits(seen, laws.rounded_gaussian(2.5, 40))
    assert not fits(seen, laws.rounded_gaussian(2.6, 40))
    real = np.asarray(mechanism.sample(np.full(40_000, 0.1), Shake(4)))
    assert stats.kstest(real, stats.norm(loc=0.1, scale=2.5).cdf).pvalue > 1e-6


# ── truncated geometric ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("moved", [1, 2, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("1/4", "1e-3"), ("3", "1e-2"), ("1", "0.2")])
def test_truncated_geometric(epsilon: str, delta: str, moved: int) -> None:
    """Every move up to Δ: δ at ε is at most what was asked; with a bound one smaller it is not."""
    mechanism = TruncatedGeometric(epsilon=epsilon, delta=delta, sensitivity=moved)
    rate = float(mechanism.epsilon) / moved

    def worst(bound: int) -> float:
        noise = laws.truncated_geometric(rate, bound)
        window = range(-bound - moved, bound + moved + 1)
        shifts = [shifted(noise, k, window) for k in range(moved + 1)]
        return max(hockey_stick(shifts[i], shifts[j], float(mechanism.epsilon)) for i in range(moved + 1) for j in range(moved + 1))

    assert worst(mechanism.bound) <= float(mechanism.delta) * TIGHT
    if mechanism.bound > moved:
        assert worst(mechanism.bound - 1) > float(mechanism.delta)
    assert mechanism.loss.delta_at(mechanism.epsilon) <= float(mechanism.delta) * TIGHT


def test_truncated_geometric_is_what_the_code_draws() -> None:
    mechanism = TruncatedGeometric(epsilon=1, delta="0.01", sensitivity=2)
    seen = Counter((np.asarray(mechanism.sample(np.full(40_000, 5), Shake(5))) - 5).tolist())
    assert max(map(abs, seen)) <= mechanism.bound
    assert fits(seen, laws.truncated_geometric(0.5, mechanism.bound))
    assert not fits(seen, laws.truncated_geometric(0.55, mechanism.bound))


# ── randomised response ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("choices", [2, 3, 7])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_randomized_response(epsilon: str, choices: int) -> None:
    """All pairs of true choices, all responses; the ratio is ε exactly."""
    mechanism = RandomizedResponse(epsilon=epsilon, choices=choices)

    def law(true: Vector) -> Floats:
        return laws.randomized_response(float(mechanism.epsilon), choices, true[0])

    pairs = [((a,), (b,)) for a, b in itertools.permutations(range(choices), 2)]
    assert worst_log_ratio(law, pairs) == pytest.approx(float(mechanism.epsilon), rel=1e-12)
    assert 0.99 < profile_excess(law, pairs, mechanism.loss, [float(mechanism.epsilon) * e for e in SMALL]) <= 1 + 1e-6
    for true in range(min(choices, 3)):
        seen = Counter(np.asarray(mechanism.sample(np.full(20_000, true), Shake((epsilon, choices, true)))).tolist())
        assert fits(seen, numbered(law((true,))))


def test_people_randomise_independently() -> None:
    """Two people's responses are a product law: neither tells about the other's."""
    mechanism = RandomizedResponse(epsilon=1, choices=3)
    pairs = np.asarray(mechanism.sample(np.tile([0, 2], 20_000), Shake("pairs"))).reshape(-1, 2)
    joint = np.outer(laws.randomized_response(1, 3, 0), laws.randomized_response(1, 3, 2)).ravel()
    assert fits(Counter((pairs @ [3, 1]).tolist()), numbered(joint))


def test_people_in_a_table_randomise_independently() -> None:
    """A two-dimensional answer, whose rows might share coins, is refused; a flat one has its own coins for every entry."""
    mechanism = RandomizedResponse(epsilon=1)
    with pytest.raises(Invalid, match="one choice for each person"):
        mechanism.sample(np.zeros((40, 40), np.int64), Shake("table"))
    told = np.asarray(mechanism.sample(np.zeros(1600, np.int64), Shake("table"))).reshape(40, 40)
    assert len({tuple(row) for row in told.tolist()}) == 40


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("1/2", "1e-2"), ("2", "1e-3")])
def test_partition_selection(epsilon: str, delta: str) -> None:
    """Sizes n and n + 1 for all n of the curve: (ε, δ), attained from the first size on."""
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    last = int(mechanism.error("0.999999999")) + 40

    def law(size: Vector) -> Floats:
        shown = mechanism.chance(size[0])
        return np.array([shown, 1 - shown])

    for n in range(last):
        true = worst_delta(law, [((n,), (n + 1,))], [float(mechanism.epsilon)])[0]
        assert true <= float(mechanism.delta) + 1e-15
        assert n > 3 or true == pytest.approx(float(mechanism.delta), rel=1e-6)
    curve = laws.partition_curve(float(mechanism.epsilon), float(mechanism.delta), last)
    assert all(mechanism.chance(n) == pytest.approx(curve(n), abs=1e-12) for n in range(last))


def test_partition_selection_of_units_in_many_groups() -> None:
    """A unit in three groups: the product law of what is shown is (ε, δ) for any sizes."""
    mechanism = PartitionSelection(epsilon="3/2", delta="1e-2", partitions=3)
    sizes = range(int(mechanism.error("0.999")))

    def law(groups: Vector) -> Floats:
        joint = np.ones(1)
        for n in groups:
            shown = mechanism.chance(n)
            joint = np.outer(joint, [shown, 1 - shown]).ravel()
        return joint

    triples = itertools.combinations_with_replacement(sizes, 3)
    pairs = [(t, tuple(n + 1 for n in t)) for t in triples]
    worst = worst_delta(law, pairs, [float(mechanism.epsilon)])[0]
    assert 0.9 * float(mechanism.delta) < worst <= float(mechanism.delta) * TIGHT


def test_partition_selection_is_what_the_code_draws() -> None:
    mechanism = PartitionSelection(epsilon=1, delta="1e-2")
    for n in (0, 1, 3, 5, 8):
        shown = int(mechanism.decide(np.full(20_000, n), Shake(n)).sum())
        assert fits(Counter({1: shown, 0: 20_000 - shown}) + Counter(), {1: mechanism.chance(n), 0: 1 - mechanism.chance(n)})


def thresholded_law(mechanism: ThresholdedCounts, size: int, *, or_equal: bool = False) -> dict[int | None, float]:
    """None for not shown, else the noisy size; a group that nobody is in does not exist."""
    bound = mechanism.noise.bound
    law: dict[int | None, float] = {None: 0.0}
    if size == 0:
        return {None: 1.0}
    for z, p in laws.truncated_geometric(float(mechanism.noise.epsilon), bound).items():
        shown = size + z > bound or (or_equal and size + z == bound)
        key = size + z if shown else None
        law[key] = law.get(key, 0.0) + p
    return law


def thresholded_delta(mechanism: ThresholdedCounts, *, or_equal: bool = False) -> float:
    """The worst δ at ε over sizes n and n + 1."""
    worst = 0.0
    for n in range(2 * mechanism.noise.bound + 3):
        a, b = (thresholded_law(mechanism, k, or_equal=or_equal) for k in (n, n + 1))
        keys = [*sorted({*a, *b} - {None}), None]  # type: ignore[type-var,operator]
        p, q = (np.array([x.get(k, 0.0) for k in keys]) for x in (a, b))
        epsilon = float(mechanism.noise.epsilon)
        worst = max(worst, hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
    return worst


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("1/2", "1e-2"), ("2", "1e-3")])
def test_thresholded_counts(epsilon: str, delta: str) -> None:
    """All sizes: showing what exceeds the bound is (ε, δ); showing what reaches it is not (opendp#2922)."""
    mechanism = ThresholdedCounts(epsilon=epsilon, delta=delta)
    assert 0.1 * float(mechanism.delta) < thresholded_delta(mechanism) <= float(mechanism.delta) * TIGHT
    assert thresholded_delta(mechanism, or_equal=True) > 1.5 * float(mechanism.delta)


def test_thresholded_counts_is_what_the_code_draws() -> None:
    mechanism = ThresholdedCounts(epsilon=1, delta="1e-2")
    for n in (0, 1, 4, 9):
        found = mechanism.decide(np.full(20_000, n), Shake(n))
        told = Counter(int(s) if shown else None for shown, s in zip(found.selected, found.sizes, strict=True))
        assert fits(told, thresholded_law(mechanism, n))
        assert (found.sizes[~found.selected] == 0).all()


@pytest.mark.parametrize("partitions", [1, 4, 30])
def test_weighted_gaussian_selection(partitions: int) -> None:
    """New groups of one unit show with probability at most δ/2 in all, for every number of groups; weights have length at most 1."""
    mechanism = WeightedGaussianSelection(epsilon=1, delta="1e-4", partitions=partitions)
    width = float(mechanism.scale) * mechanism.unit
    worst = 0.0
    for t in range(1, partitions + 1):
        weight = mechanism.weight(t)
        assert t * weight**2 <= mechanism.unit**2
        hidden = stats.norm.sf((mechanism.threshold - weight + 0.5) / width)  # P[round(Z) > threshold − weight]
        worst = max(worst, -math.expm1(t * math.log1p(-hidden)))
    assert 0.99 * 0.5e-4 < worst <= 0.5e-4 * TIGHT
    assert mechanism.loss.delta_at(1) <= 1e-4 * TIGHT
