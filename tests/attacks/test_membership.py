"""Membership inference: false accusations are as rare as promised, participants are found, and no private release exceeds its bound."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet.attacks.membership import membership_bound, membership_inference, tracing_scores
from discreet.errors import Invalid
from discreet.loss import divergence
from discreet.private import Private


def study(seed: int, people: int, columns: int) -> tuple[Any, Any, Any]:
    """Participants, strangers, and the population's shares; fixed coins."""
    dice = np.random.default_rng(seed)
    shares = dice.uniform(0.1, 0.9, columns)
    inside, outside = (dice.random((2, people, columns)) < shares).astype(int)
    return inside, outside, shares


def test_scores_by_hand() -> None:
    people, released, population = [[1, 0], [0, 0], [1, 1]], [0.6, 0.1], [0.5, 0.25]
    by_hand = [sum((x - p) * (m - p) for x, m, p in zip(row, released, population, strict=True)) for row in people]
    assert tracing_scores(people, released, population) == pytest.approx(by_hand)


def test_the_moments_of_the_theorem() -> None:
    """Three columns, two participants and a stranger: mean and variance of the scores by enumeration of all worlds."""
    shares = [Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)]
    member = stranger = Fraction(0)
    for world in itertools.product((0, 1), repeat=9):
        rows = [world[i : i + 3] for i in (0, 3, 6)]
        chance = math.prod((p if x else 1 - p for row in rows for x, p in zip(row, shares, strict=True)), start=Fraction(1))
        means = [Fraction(rows[0][j] + rows[1][j], 2) for j in range(3)]
        score = [sum((row[j] - shares[j]) * (means[j] - shares[j]) for j in range(3)) for row in rows]
        member, stranger = member + chance * score[0], stranger + chance * score[2]
    assert stranger == 0
    assert member == sum(p * (1 - p) for p in shares) / 2


@pytest.mark.parametrize("released", [[1, 0, 1, 1, 0, 1], [0.4, 0.7, 0.9, 0.1, 0.5, 0.6], [5, -3, 0.5, 0.5, 0.5, 0.5]])
@pytest.mark.parametrize("level", ["0.3", "0.05"])
def test_few_strangers_are_accused_by_enumeration(released: list[float], level: str) -> None:
    """All 64 strangers of six independent columns with their probabilities, for releases of any kind."""
    shares = np.array([0.2, 0.5, 0.7, 0.4, 0.5, 0.1])
    everyone = np.array(list(itertools.product((0, 1), repeat=6)))
    chances = np.where(everyone == 1, shares, 1 - shares).prod(axis=1)
    accused = membership_inference(everyone, released, population=shares, false_positives=level).accused
    assert chances[accused].sum() <= float(level)


def test_ranks_among_strangers_are_exact() -> None:
    """Any of m + 1 exchangeable people is as likely to be the candidate: the share accused is at most the level, with ties too."""
    dice = np.random.default_rng(5)
    people = dice.integers(0, 2, (20, 4))
    for level in ("0.05", "0.1", "0.4"):
        accused = 0
        for i in range(20):
            rest = np.delete(people, i, axis=0)
            accused += int(
                membership_inference(
                    people[i : i + 1], [0.9, 0.2, 0.5, 0.6], population=[0.5] * 4, strangers=rest, false_positives=level
                ).accused[0]
            )
        assert accused <= 20 * float(level)
    clear = membership_inference([[1, 1]], [1, 1], population=[0.5, 0.5], strangers=[[0, 0]] * 19, false_positives="0.05")
    assert clear.accused.tolist() == [True]  # p = 1/20 is small enough
    assert not membership_inference([[1, 1]], [1, 1], population=[0.5, 0.5], strangers=[[0, 0]] * 18, false_positives="0.05").accused[0]


def test_participants_are_found_in_exact_means() -> None:
    """60 people, 1,500 markers: nearly all are found, and hardly a stranger is accused."""
    inside, outside, shares = study(3, 60, 1500)
    means = inside.mean(axis=0)
    plain = membership_inference(inside, means, population=shares)
    assert plain.accused.mean() > 0.9
    assert membership_inference(outside, means, population=shares).accused.mean() <= 0.05
    strangers = (np.random.default_rng(9).random((400, 1500)) < shares).astype(int)
    assert membership_inference(inside, means, population=shares, strangers=strangers).accused.mean() > 0.9


def test_private_means_hide_participants() -> None:
    """One participant in each of 300 private releases at ε = 1: no more are found than the theorem admits, up to a chance of 10⁻⁷."""
    inside, _, shares = study(1, 60, 300)
    means = Private(inside.mean(axis=0))
    noise = discreet.Gaussian(epsilon=1, delta=1e-6, sensitivity=round(300**0.5 / 60 + 1e-6, 6), whole=False)
    found = sum(int(membership_inference(inside[i % 60 :][:1], noise.release(means), population=shares).accused[0]) for i in range(300))
    assert found <= stats.binom.ppf(1 - 1e-7, 300, membership_bound("0.01", epsilon=1, delta="1e-6"))


def test_the_bound_is_the_best_test_against_randomised_response() -> None:
    """The trade-off curve of randomised response meets the bound at its corner, and never exceeds it."""
    truth = [Fraction(3, 4), Fraction(1, 4)]  # ε = ln 3
    epsilon = Fraction(math.log(3)).limit_denominator(10**12) + Fraction(1, 10**11)
    knots = divergence.trade_off(truth[::-1], truth)
    for false, missed in knots:
        assert float(1 - missed) <= membership_bound(false, epsilon=epsilon) + 1e-12
    assert membership_bound("1/4", epsilon=epsilon) == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize(
    ("rate", "epsilon", "delta", "bound"),
    [(0, 1, 0, 0), (0, 1, "0.1", 0.1), (1, 1, 0, 1), ("0.5", 0, 0, 0.5), ("0.2", 3, 0, 1 - math.exp(-3) * 0.8), ("0.95", 1, "0.1", 1)],
)
def test_the_bound_by_hand(rate: Any, epsilon: Any, delta: Any, bound: float) -> None:
    told = membership_bound(rate, epsilon=epsilon, delta=delta)
    assert bound - 1e-15 <= told <= bound + 1e-12


def test_slips_are_reported() -> None:
    good: dict[str, Any] = {"candidates": [[1, 0]], "released": [0.5, 0.5], "population": [0.4, 0.6]}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"released": Private([0.5, 0.5])}, "released must be public"),
        ({"released": [0.5]}, "one mean for each released mean"),
        ({"candidates": [1, 0]}, "one row per person"),
        ({"candidates": [[1]]}, "one column for each of the 2 released means"),
        ({"candidates": [["a", "b"]]}, "must be numbers"),
        ({"population": [0.4, math.nan]}, "finite number"),
        ({"candidates": [[3, 0]]}, "between 0 and 1"),
        ({"false_positives": 0}, "strictly between 0 and 1"),
    ]
    for change, says in wrong:
        with pytest.raises(Invalid, match=says):
            membership_inference(**{**good, **change})
    with pytest.raises(Invalid, match="between 0 and 1"):
        membership_bound(2, epsilon=1)
    assert membership_inference([[3, 0]], [1, 0], population=[1, 0], strangers=[[1, 1]]).p_values.tolist() == [1.0]
    assert membership_inference([[1, 0]], [0.4, 0.6], population=[0.4, 0.6]).p_values.tolist() == [1.0]


def test_the_public_names() -> None:
    assert discreet.attacks.membership_inference is membership_inference
    assert discreet.attacks.tracing_scores is tracing_scores
    assert discreet.attacks.membership_bound is membership_bound
