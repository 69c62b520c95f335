"""Randomised response: two coins, unbiased estimates, stated error, answers of every kind."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from scipy import stats

from discreet.errors import Error, Invalid
from discreet.mechanisms import textbook
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.private import Private


def test_two_fair_coins_are_ln_3() -> None:
    mechanism = RandomizedResponse.with_truth("3/4")
    assert mechanism.loss.epsilon_at(0) == pytest.approx(math.log(3), rel=1e-12)
    assert mechanism.epsilon >= Fraction("1.098612288668109691395")  # ln 3 = 1.0986122886681096913952…
    assert textbook.randomized_response_epsilon(0.75) == pytest.approx(math.log(3))
    told = np.asarray(mechanism.sample(np.ones(40_000, np.int64), Shake(0)))
    assert stats.binomtest(int(told.sum()), 40_000, 0.75).pvalue > 1e-6


@pytest.mark.parametrize("choices", [2, 4])
def test_the_estimate_is_unbiased_and_within_its_error(choices: int) -> None:
    mechanism = RandomizedResponse(epsilon=1, choices=choices)
    true = np.arange(4_000) % 10 % choices
    share = np.bincount(true, minlength=choices) / len(true)
    estimates = np.array([mechanism.estimate(mechanism.sample(true, Shake(i))) for i in range(200)])
    t = mechanism.error(0.9, size=len(true))
    assert np.abs(estimates.mean(axis=0) - share).max() < t / 4
    assert (np.abs(estimates - share) > t).mean() <= 0.1
    assert estimates.sum(axis=1) == pytest.approx(np.ones(200))


def test_the_stated_error_bounds_the_exact_tail() -> None:
    """n = 40 people who all say yes: the count of yes is binomial, so the tail of the estimate is exact."""
    mechanism = RandomizedResponse(epsilon=1)
    p = math.e / (1 + math.e)
    for confidence in (0.5, 0.9, 0.99):
        t = mechanism.error(confidence, size=40)
        k = np.arange(41)
        estimates = np.array([mechanism.estimate([1] * int(i) + [0] * (40 - int(i)))[1] for i in k])
        assert stats.binom.pmf(k, 40, p)[np.abs(estimates - 1) > t].sum() <= 1 - confidence


@pytest.mark.parametrize("answer", [[None, 1], [math.nan, 1.0], [10**400, 1], [-5, 1], [2, 1], [0.5, 1], [math.inf, 1]], ids=str)
def test_a_private_answer_that_is_no_choice_counts_as_0(answer: list[Any]) -> None:
    mechanism = RandomizedResponse(epsilon=30)  # the truth, nearly always
    assert np.asarray(mechanism.sample(answer, Shake(1))).tolist() == [0, 1]


@pytest.mark.parametrize("wrong", [-1, 2, 1.0, "1", None, [], [0, 5], [0.5]])
def test_wrong_plain_answers(wrong: Any) -> None:
    with pytest.raises(Invalid):
        RandomizedResponse(epsilon=1).release(wrong)


@pytest.mark.parametrize("wrong", [{"choices": 1}, {"choices": 0}, {"choices": 2.5}])
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        RandomizedResponse(**({"epsilon": 1} | wrong))


@pytest.mark.parametrize("probability", ["1/2", 1, 0, "1/3", "nan"])
def test_the_truth_must_be_the_likeliest_and_not_certain(probability: Any) -> None:
    with pytest.raises(Invalid):
        RandomizedResponse.with_truth(probability)


def test_the_loss_is_that_of_the_truth_told() -> None:
    with pytest.raises(Invalid, match="or truth, the probability"):
        RandomizedResponse(epsilon="1/10", truth=Fraction(999, 1000))
    assert math.log(999) <= RandomizedResponse(truth=Fraction(999, 1000)).loss.epsilon_at(0) < math.log(999) + 1e-9
    with pytest.raises(Invalid):
        RandomizedResponse(epsilon=1).estimate([0, 1, 5])
    assert RandomizedResponse(epsilon=30).release(Private([1, [0, 1]])).tolist() == [1, 0]


@pytest.mark.parametrize(("choices", "answer"), [(2**20, [None, 1]), (2, ["a", "b"]), (2**62, [1, 2])], ids=str)
def test_private_answers_never_fail_by_value(choices: int, answer: list[Any]) -> None:
    assert len(RandomizedResponse(epsilon=1, choices=choices).release(Private(answer))) == 2


def test_tables_are_refused() -> None:
    with pytest.raises(Error):
        RandomizedResponse(epsilon=1).release([[0, 1], [1, 0]])


def test_choices_of_every_whole_type() -> None:
    mechanism = RandomizedResponse(epsilon=30, choices=3)
    for answer in ([np.int64(1), np.int8(2)], np.array([1, 2], np.uint8), (1, 2), [True, 2.0]):
        assert mechanism.release(Private(answer)).tolist() == [1, 2]
    assert mechanism.release(Private([[1, 2], [1]])).tolist() == [0, 0]
