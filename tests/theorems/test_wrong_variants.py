"""Mechanisms known to be wrong, each caught by the checker that passes the right ones: the checker can fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from theorems import laws
from theorems.checker import Floats, OutputLaw, Vector, box, neighbours, worst_log_ratio
from theorems.laws import grid, laplace_below, laplace_density

from discreet.mechanisms.laplace import Laplace

TIGHT = 1 + 1e-9
EPSILON = 1.0

# ── the six sparse vectors of Lyu, Su & Li 2017 (Δ = 1, threshold 0) ─────────────────────────────────────────────────


def algorithm_1(hits: int) -> OutputLaw:
    """Theirs: ρ ~ Lap(1/ε₁), ν ~ Lap(2c/ε₂), stop after c."""
    return lambda q: _values(laws.sparse_vector(q, 2 / EPSILON, 4 * hits / EPSILON, hits, noise="laplace"))


def algorithm_2(hits: int) -> OutputLaw:
    """Dwork & Roth's book: ρ ~ Lap(c/ε₁) drawn again after each hit, ν ~ Lap(2c/ε₂)."""

    def law(q: Vector) -> Floats:
        chances = []
        for pattern in laws.patterns(len(q), hits):
            chance, start = 1.0, 0
            while start < len(pattern):  # one piece for each threshold
                stop = next((i + 1 for i in range(start, len(pattern)) if pattern[i]), len(pattern))
                piece = laws.sparse_vector(q[start:stop], 2 * hits / EPSILON, 4 * hits / EPSILON, 1, noise="laplace")
                chance *= piece[pattern[start:stop]]
                start = stop
            chances.append(chance)
        return np.array(chances)

    return law


def algorithm_3(values: Sequence[float]) -> OutputLaw:
    """Roth's 2011 notes, one hit: ν ~ Lap(1/ε₂), and the noisy answer that was compared is itself released."""
    scale = 2 / EPSILON

    def law(q: Vector) -> Floats:
        densities = []
        for value in values:  # output: all below but the last, which shows `value` ≥ ρ
            x, w = grid([*q, 0.0], -90.0, value, 1.0)
            below = np.prod([laplace_below((x - a) / scale) for a in q[:-1]], axis=0)
            told = float(laplace_density(np.array((value - q[-1]) / scale))) / scale
            densities.append(float((w * laplace_density(x / scale) / scale * below).sum()) * told)
        return np.array(densities)

    return law


def algorithm_4(hits: int) -> OutputLaw:
    """Lee & Clifton 2014: ε₁ = ε/4, and ν ~ Lap(1/ε₂) whatever the number of hits."""
    return lambda q: _values(laws.sparse_vector(q, 4 / EPSILON, 4 / (3 * EPSILON), hits, noise="laplace"))


def algorithm_5(q: Vector) -> Floats:
    """Stoddard et al. 2014: no noise on the answers, no stop."""
    scale, chances = 2 / EPSILON, []
    for pattern in laws.patterns(len(q), None):
        low = max([a for a, above in zip(q, pattern, strict=True) if not above], default=-math.inf)  # below: ρ > answer
        high = min([a for a, above in zip(q, pattern, strict=True) if above], default=math.inf)  # above: ρ ≤ answer
        mass = laplace_below(np.array([high / scale, low / scale]))
        chances.append(max(0.0, float(mass[0] - mass[1])) if low < high else 0.0)
    return np.array(chances)


def algorithm_6(q: Vector) -> Floats:
    """Chen et al. 2015: noise for one hit, and no stop."""
    return _values(laws.sparse_vector(q, 2 / EPSILON, 2 / EPSILON, None, noise="laplace"))


def _values(law: dict[tuple[int, ...], float]) -> Floats:
    return np.array(list(law.values()))


STREAMS = list(neighbours(box((-150.0, 0.0, 2.0), 3), (-1, 0, 1)))


@pytest.mark.parametrize("hits", [1, 2])
@pytest.mark.parametrize("algorithm", [algorithm_1, algorithm_2])
def test_the_right_ones_pass(algorithm: object, hits: int) -> None:
    worst = worst_log_ratio(algorithm(hits), STREAMS)  # type: ignore[operator]
    assert 0.3 < worst <= EPSILON * TIGHT  # two-sided noise wastes much of ε on short streams


def test_algorithm_3_tells_by_the_value() -> None:
    """⊥ᵐ then the value 0: all m answers below push the threshold up, and the value pushes it down; the loss grows with m."""
    worst = [worst_log_ratio(algorithm_3([-3.0, 0.0]), [((0.0,) * m + (1.0,), (1.0,) * m + (0.0,))]) for m in (2, 4, 8)]
    assert EPSILON < worst[1] < worst[2]
    assert worst[0] < worst[1]


def test_algorithm_4_forgets_the_number_of_hits() -> None:
    """Fine for one hit of a monotone stream, but not for three."""
    pairs = [((0.0,) * 5, tuple(map(float, m))) for m in box((-1, 1), 5)]
    assert worst_log_ratio(algorithm_4(3), pairs) > 2.5 * EPSILON
    assert worst_log_ratio(algorithm_4(3), pairs) < (1 + 6 * 3) / 4 * EPSILON  # their bound


def test_algorithm_5_shows_the_order() -> None:
    """Without noise on the answers their order shows: some pattern is possible on one side only."""
    assert worst_log_ratio(algorithm_5, neighbours([(0.0, 1.0)], (-1, 0, 1))) == math.inf


def test_algorithm_6_never_stops() -> None:
    """The loss grows with the length of the stream."""
    worst = [worst_log_ratio(algorithm_6, [((0.0,) * (2 * m), (-1.0,) * m + (1.0,) * m)]) for m in (1, 2, 4)]
    assert worst[0] < EPSILON < worst[1] < worst[2]


# ── noisy max ────────────────────────────────────────────────────────────────────────────────────────────────────────


def largest_value(noise: str, rate: float) -> OutputLaw:
    """The density of the largest noisy value itself, at a few places (StatDP's v1b and v2b)."""
    density, below, _ = laws.NOISES[noise]
    places = np.array([-6.0, -2.0, 0.5, 2.0, 6.0])

    def law(scores: Vector) -> Floats:
        each = [below(rate * (places - s)) for s in scores]
        parts = [density(rate * (places - s)) * rate * np.prod(each[:i] + each[i + 1 :], axis=0) for i, s in enumerate(scores)]
        return np.sum(parts, axis=0)

    return law


@pytest.mark.parametrize(("noise", "least"), [("laplace", 2.0), ("exponential", math.inf)])
def test_the_largest_noisy_value_is_not_free(noise: str, least: float) -> None:
    """Its position is ε-DP with Lap(2/ε) or Exp(2/ε), its value is not: five scores that move together move it by 5·ε/2."""
    pairs = list(neighbours([(0, 0, 0, 0, 0)], (-1, 0, 1)))
    assert worst_log_ratio(lambda s: laws.noisy_max(s, EPSILON / 2, noise), pairs) <= EPSILON * TIGHT
    assert worst_log_ratio(largest_value(noise, EPSILON / 2), pairs) >= least * EPSILON


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel", "geometric"])
def test_noise_for_counts_is_too_little_for_scores_that_move_apart(noise: str) -> None:
    """Scale Δ/ε is right when all scores move in the same direction, and only then."""
    scores = [(0, 0, 0), (0, 0, 12), (0, 1, 12)]

    def law(s: Vector) -> Floats:
        return laws.noisy_max(s, EPSILON, noise)

    assert worst_log_ratio(law, neighbours(scores, (-1, 0, 1), monotone=True)) <= EPSILON * TIGHT
    assert worst_log_ratio(law, neighbours(scores, (-1, 0, 1))) > 1.5 * EPSILON


# ── added noise ──────────────────────────────────────────────────────────────────────────────────────────────────────


def histogram_law(mechanism: Laplace) -> OutputLaw:
    noise = laws.discrete_laplace(1 / float(mechanism.scale), 60)

    def law(cells: Vector) -> Floats:
        sides = [np.array([noise[k - c] for k in range(-30, 31)]) for c in cells]
        return np.outer(*sides).ravel()

    return law


def test_a_histogram_under_replacement_with_sensitivity_one() -> None:
    """One person moves from one cell to another: twice the ε."""
    replaced = [((3, 5), (4, 4))]
    assert worst_log_ratio(histogram_law(Laplace(epsilon=1, sensitivity=1)), replaced) == pytest.approx(2)
    assert worst_log_ratio(histogram_law(Laplace(epsilon=1, sensitivity=2)), replaced) == pytest.approx(1)


def test_one_point_zero_two_sold_as_one() -> None:
    """Laplace noise of scale 1/1.02 is caught by its exact ratio; the honest one passes."""

    def law(scale: Fraction) -> OutputLaw:
        noise = laws.discrete_laplace(float(1 / scale), 80)
        return lambda at: np.array([noise[k - at[0]] for k in range(-60, 61)])

    pairs = [((0,), (1,))]
    assert worst_log_ratio(law(Laplace(epsilon=1).scale), pairs) <= EPSILON * TIGHT
    assert worst_log_ratio(law(Fraction(100, 102)), pairs) == pytest.approx(1.02)
    assert worst_log_ratio(law(Laplace(epsilon=1).scale * Fraction(999_999_999, 10**9)), pairs) > EPSILON  # one part in 10⁹


def test_two_coins_sold_for_less() -> None:
    """Two fair coins are ln 3, which is more than 1."""
    law = {0: np.array([3 / 4, 1 / 4]), 1: np.array([1 / 4, 3 / 4])}
    assert worst_log_ratio(lambda x: law[x[0]], [((0,), (1,))]) == pytest.approx(math.log(3))
