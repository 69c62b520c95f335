"""Rounds of threshold tests: when they are charged, when they end, and what they cost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.classical.rounds import Guard, measure_total, query_row, share_rounds
from discreet.algorithms.classical.shares import BudgetShare
from discreet.errors import Invalid
from discreet.loss.loss import NOTHING, Loss, compose
from discreet.private import Private

DATA = Private(np.array([700, 200, 100]))
FIRST = np.array([1, 0, 0])


def guard(rounds: int = 2, threshold: int = 100) -> tuple[Guard, list[Loss]]:
    """So large an ε that noise is never as large as 1: a test or a count is wrong with probability below e⁻¹⁰⁰⁰."""
    losses: list[Loss] = []
    return share_rounds(BudgetShare.of(epsilon=10**5), True, rounds, 1).open(DATA, threshold, losses), losses


def test_a_hit_on_either_side_tells_the_count_and_ends_the_round() -> None:
    tests, losses = guard()
    near = tests.ask(FIRST, 690)
    assert (near.side, near.noisy, near.charged) == (0, 0, tests.rules.each)
    assert tests.ask(FIRST, 710) == (0, 0, NOTHING)  # the round is open already
    assert tests.ask(FIRST, 500) == (1, 700, NOTHING)
    assert losses == [tests.rules.each]
    assert tests.ask(FIRST, 900) == (-1, 700, tests.rules.each)  # a new round
    assert losses == 2 * [tests.rules.each]
    assert tests.spent
    assert tests.ask(FIRST, 0) == (0, 0, NOTHING)  # no round is left: the data is not asked
    assert tests.opened == len(losses) == 2


def test_the_last_round_goes_on_until_its_hit() -> None:
    tests, _ = guard(rounds=1)
    for _ in range(5):
        assert tests.ask(FIRST, 700).side == 0
        assert not tests.spent
    assert tests.ask(FIRST, 0).side == 1
    assert tests.spent


@pytest.mark.parametrize("budget", [{"epsilon": 2}, {"rho": "1/3"}], ids=str)
@pytest.mark.parametrize("is_known", [True, False])
def test_all_rounds_cost_what_is_left_for_them(budget: dict[str, Any], is_known: bool) -> None:
    rounds = share_rounds(BudgetShare.of(**budget), is_known, 7, 3)
    whole, part = compose(7 * [rounds.each]), Fraction(1) if is_known else Fraction(19, 20)
    if "epsilon" in budget:
        assert whole.epsilon == 2 * part
    else:
        assert part / 3 * Fraction(99, 100) < (whole.rho or 0) <= part / 3


def test_the_number_of_records_is_public_or_measured() -> None:
    assert measure_total(None, 1000, DATA) == (1000, [])
    counting = BudgetShare.of(epsilon=10**5).count(1)
    assert measure_total(counting, None, DATA) == (1000, [counting.loss])
    assert measure_total(counting, None, Private(np.zeros(3, np.int64)))[0] == 1  # at least one, so that shares are defined


def test_queries_are_whole_numbers_up_to_top() -> None:
    assert query_row([True, False, True], 3, 1).tolist() == [1, 0, 1]
    assert query_row((0, 5, 2), 3, 5).dtype == np.int64
    for wrong in ([1, 0], [[1, 0, 1]], [0, 0, 2], [0, 0, -1], [0.5, 0, 0], "abc", None):
        with pytest.raises(Invalid, match="from 0 to 1 for each of the domain's 3 values"):
            query_row(wrong, 3, 1)
