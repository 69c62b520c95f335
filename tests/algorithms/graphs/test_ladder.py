"""The ladder distribution: its law, its quantiles, and the steepest rate that costs ε."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from algorithms.graphs.every import law
from mechanisms.shake import Shake, fits, tally
from scripted import Scripted

from discreet import exact
from discreet.algorithms.graphs.ladder import LadderDistribution, Piece, steepest

LADDERS = [
    LadderDistribution((Piece(0, 0, 1),), Fraction(1, 2)),
    LadderDistribution((Piece(0, 3, 1),), Fraction(1, 2)),
    LadderDistribution((Piece(0, 2, 5, 1), Piece(2, 9, 5, 1), Piece(3, 11, 5, 1)), Fraction(1)),
]


@pytest.mark.parametrize("ladder", LADDERS)
def test_the_chance_of_each_rung(ladder: LadderDistribution) -> None:
    chances = law(ladder, 120)
    for k in (0, 1, 2, 3, 4, 7):
        far = ladder.span(k)
        expected = sum(chance for z, chance in chances.items() if abs(z) > far)
        assert exact.bounds(lambda k=k: ladder.beyond(k))[0] == pytest.approx(expected, rel=1e-9)  # type: ignore[misc]


@pytest.mark.parametrize("ladder", LADDERS)
def test_samples_have_the_law(ladder: LadderDistribution) -> None:
    assert fits(tally(ladder.sample, 6_000, "ladder"), law(ladder, 60))


def test_a_uniform_on_the_edge_is_looked_at_more_closely() -> None:
    """A word that is just ⌊2⁶⁴·p⌋ for p = P[rung above 0] leaves it open: the next word decides."""
    ladder = LADDERS[1]
    with exact.precision(256):
        p = exact.floor(ladder.beyond(0) * 2**128)
    assert p is not None
    high, low = divmod(p, 2**64)
    assert ladder.sample(Scripted(singles=[high, low + 1])) == 0
    assert ladder.sample(Scripted(singles=[high, low - 1])) != 0


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.99"])
def test_the_quantile_is_exact(ladder: LadderDistribution, confidence: str) -> None:
    chances = law(ladder, 120)
    t = ladder.quantile(Fraction(confidence))
    assert sum(chance for z, chance in chances.items() if abs(z) > t) <= 1 - float(confidence) + 1e-12
    if t:
        assert sum(chance for z, chance in chances.items() if abs(z) >= t) > 1 - float(confidence)


@pytest.mark.parametrize("rate", ["1e-9", "1e-3", "50", "1e6"])
def test_extreme_rates(rate: str) -> None:
    for ladder in (
        LadderDistribution((Piece(0, 10**12, 1),), Fraction(rate)),
        LadderDistribution((Piece(0, 0, 3, 1), Piece(5, 100, 3, 1)), Fraction(rate)),
    ):
        t = ladder.quantile(Fraction(999_999_999, 10**9))
        assert abs(ladder.sample(Shake(rate))) <= t
        assert (t == 0) == (Fraction(rate) >= 50)


def worst_loss(rate: Fraction, least: int) -> float:
    """The largest |ln| of the ratio of two neighbours' laws: steps from J and J′ = J or J + 1, counts that differ by at most J."""
    worst = 0.0
    for j in (least, least + 1, least + 4):
        one = law(LadderDistribution((Piece(0, j, 1),), rate), 90)
        for other in (j, j + 1):
            two = law(LadderDistribution((Piece(0, other, 1),), rate), 90)
            near = [z for z in range(-200, 201) if z in one]
            worst = max(worst, *(abs(math.log(one[z] / two[z + d])) for d in range(-j, j + 1) for z in near if z + d in two))
    return worst


@pytest.mark.parametrize(("epsilon", "least"), [(1, 1), (1, 2), (2, 1), (2, 5)])
def test_the_steepest_rate_costs_epsilon_and_not_less(epsilon: int, least: int) -> None:
    rate = steepest(Fraction(epsilon), least)
    assert epsilon / 2 <= rate < epsilon
    assert epsilon - 1e-6 < worst_loss(rate, least) <= epsilon + 1e-9


def test_a_rate_that_forgets_how_the_total_moves_is_caught() -> None:
    assert worst_loss(Fraction(1), 2) > 1 + 1e-3
    assert worst_loss(steepest(Fraction(1), 6), 2) > 1 + 1e-3  # the rate of wider steps


@pytest.mark.parametrize(("epsilon", "least"), [(1, 1), (1, 2), (2, 1), (2, 5), (Fraction(1, 10), 20), (20, 1)])
def test_the_steepest_rate_fits_in_balls(epsilon: Any, least: int) -> None:
    """rate + ln(Z(least + 1)/Z(least)) ≤ ε holds exactly, and for a millionth more it does not."""

    def fits(rate: Fraction) -> bool:
        with exact.precision(256):
            weights = [1 + 2 * LadderDistribution((Piece(0, j, 1),), rate).weights()[0] for j in (least, least + 1)]
            return bool(exact.ball(rate) + (weights[1] / weights[0]).log() <= exact.ball(epsilon))

    rate = steepest(Fraction(epsilon), least)
    assert fits(rate)
    assert not fits(rate * (1 + Fraction(1, 10**6)))
