"""The staircase mechanism: the exact ratio over all neighbours, the exact error, and where it is not private."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems.checker import Floats, Vector, worst_log_ratio

from discreet.errors import Invalid
from discreet.loss.leaves import Pure
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.staircase import Staircase
from discreet.noise import staircase

TIGHT = 1 + 1e-9


def law_of(noise: staircase.Staircase, at: int, window: range) -> Floats:
    return np.array([noise.pmf(k - at)[0] for k in window])


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["1/2", "2", "5"])
def test_one_entry_that_changes_by_at_most_the_sensitivity(epsilon: str, sensitivity: int) -> None:
    mechanism = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    window = range(-30, 31)
    pairs: list[tuple[Vector, Vector]] = [((0,), (k,)) for k in range(1, sensitivity + 1)]
    worst = worst_log_ratio(lambda at: law_of(mechanism.noise, at[0], window), pairs)
    assert worst == pytest.approx(float(mechanism.epsilon), rel=1e-9)
    assert mechanism.loss == Pure(epsilon)


def test_a_larger_change_and_two_entries_are_caught() -> None:
    """One more than the sensitivity, and two entries that share it, each cross two steps."""
    noise, window = Staircase(epsilon=1, sensitivity=4).noise, range(-20, 21)
    assert worst_log_ratio(lambda at: law_of(noise, at[0], window), [((0,), (5,))]) > 1.9

    def two(at: Vector) -> Floats:
        return np.outer(law_of(noise, at[0], window), law_of(noise, at[1], window)).ravel()

    assert worst_log_ratio(two, [((0, 0), (2, 2))]) == pytest.approx(2, rel=1e-9)
    assert worst_log_ratio(two, [((0, 0), (4, 0))]) <= TIGHT


def test_the_error_is_the_least_that_holds() -> None:
    mechanism = Staircase(epsilon=3, sensitivity=10)
    for confidence in (0.5, 0.95, 0.999):
        k = int(mechanism.error(confidence))
        inside = [math.fsum(mechanism.noise.pmf(z)[0] for z in range(-j, j + 1)) for j in (k - 1, k)]
        assert inside[0] < confidence <= inside[1] + 1e-12
    assert mechanism.error(0.95, 10) >= mechanism.error(0.95)


def test_it_beats_laplace_noise_at_a_large_epsilon_and_not_at_a_small_one() -> None:
    for epsilon, better in (("1/10", False), ("10", True)):
        ours = Staircase(epsilon=epsilon, sensitivity=50).noise.mean_size()
        plain = Laplace(epsilon=epsilon, sensitivity=50, whole=True)
        theirs = 1 / math.sinh(1 / float(plain.scale))
        assert ours <= theirs * (1 + 1e-9)
        assert (ours < theirs / 2) == better


@pytest.mark.parametrize(("answer", "counts"), [([1, math.nan], [1, 0]), ([1, None], [1, 0]), ([1.5, -2.5], [1, -3])])
def test_private_answers_are_total(answer: Any, counts: list[int]) -> None:
    mechanism = Staircase(epsilon=1, sensitivity=3)
    assert mechanism.sample(answer, Shake(1)).tolist() == mechanism.sample(np.array(counts), Shake(1)).tolist()  # type: ignore[union-attr]


def test_whole_answers_stay_whole() -> None:
    mechanism = Staircase(epsilon=1, sensitivity=3)
    assert type(mechanism.release(3)) is int
    assert mechanism.release(10**400) > 10**399  # type: ignore[operator]
    with pytest.raises(Invalid, match="whole"):
        mechanism.release(1.5)
    with pytest.raises(Invalid, match="64-bit"):
        Staircase(epsilon="1e-12", sensitivity=10**9)
