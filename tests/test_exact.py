"""Exact numbers: parameters as they are typed, rounding in the stated direction, balls that contain the truth."""

from __future__ import annotations

import math
import os
import threading
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import exact
from discreet.errors import Invalid

rationals = st.fractions(min_value=-(10**6), max_value=10**6)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        ("1/3", Fraction(1, 3)),
        ("1e-40", Fraction(1, 10**40)),
        (Decimal("0.30"), Fraction(3, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (2**200, Fraction(2**200)),
    ],
    ids=str,
)
def test_numbers_mean_what_they_print_as(typed: Any, read: Fraction) -> None:
    assert exact.rational(typed) == read


@pytest.mark.parametrize(
    "wrong", [True, None, "x", "", math.nan, math.inf, Decimal("nan"), Decimal("inf"), "1/0", [1], "1e6000", "1e-6000"], ids=str
)
def test_what_is_no_number_is_invalid_and_named(wrong: Any) -> None:
    with pytest.raises(Invalid, match="the price"):
        exact.rational(wrong, "the price")


def test_readers_keep_their_ranges() -> None:
    assert exact.positive("1e-300") > 0
    assert exact.non_negative(0) == 0
    assert exact.probability(0) == 0
    assert exact.confidence_level(0.95) == Fraction(19, 20)
    for reader, wrong in ((exact.positive, 0), (exact.non_negative, -1), (exact.probability, 1), (exact.probability, -0.1)):
        with pytest.raises(Invalid):
            reader(wrong)
    for wrong in (0, 1):
        with pytest.raises(Invalid, match=r"0\.95"):
            exact.confidence_level(wrong)


def test_the_complement_of_a_confidence_is_never_zero() -> None:
    assert exact.miss(Fraction(19, 20)) == 0.05
    assert exact.miss(1 - Fraction(1, 10**400)) > 0


@pytest.mark.parametrize("wrong", [True, 0, 1.0, "1", None, Fraction(1)])
def test_integers_are_integers(wrong: Any) -> None:
    assert exact.whole(np.int64(3)) == 3
    with pytest.raises(Invalid, match="k must be a whole number, at least 1"):
        exact.whole(wrong, "k")


@given(st.integers(0, 10**9), st.integers(-1, 50))
def test_the_least_integer_is_the_least(threshold: int, above: int) -> None:
    found = exact.least_whole(lambda n: n >= threshold, start=max(above + 1, 1), above=above)
    assert found == max(threshold, above + 1)


@given(rationals)
def test_floats_and_the_grid_round_as_they_say(value: Fraction) -> None:
    assert exact.float_down(value) <= value <= exact.float_up(value)
    assert math.nextafter(exact.float_up(value), -math.inf) < value or exact.float_up(value) == value
    assert math.nextafter(exact.float_down(value), math.inf) > value or exact.float_down(value) == value
    step = Fraction(1, exact.GRID)
    assert value - step < exact.grid_down(value) <= value <= exact.grid_up(value) < value + step
    assert exact.GRID % exact.grid_up(value).denominator == 0


@given(rationals)
def test_short_text_is_read_back_exactly(value: Fraction) -> None:
    assert exact.rational(exact.short(value)) == value
    assert ("/" in exact.short(value)) == bool(exact.GRID % value.denominator)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=20))
def test_balls_contain_the_truth_at_any_precision(value: Fraction) -> None:
    with exact.precision(400):
        true = exact.ball(value).log()
        for bits in (20, 64, 200):
            with exact.precision(bits):
                coarse = exact.ball(value).log()
                assert coarse.contains(true)
                assert exact.lower(coarse) <= exact.upper(coarse)
        low, high = exact.bounds(lambda: exact.ball(value).log())
        assert exact.point(low) <= true <= exact.point(high)
        assert high - low <= 4 * math.ulp(high)


def test_rounding_of_balls_is_directed() -> None:
    third = lambda: exact.ball(Fraction(1, 3))  # noqa: E731
    assert exact.rational_down(third) < Fraction(1, 3) < exact.rational_up(third)
    assert exact.rational_up(third) - exact.rational_down(third) < Fraction(1, 2**60)


def test_a_floor_is_known_only_if_all_numbers_share_it() -> None:
    with exact.precision(64):
        assert exact.floor(exact.ball(Fraction(7, 2))) == 3
        assert exact.floor(exact.ball(3)) == 3
        assert exact.floor(exact.cell(3, 1)) is None  # [3/2, 2] contains 2
        assert exact.floor(exact.cell(6, 2) + exact.ball(Fraction(1, 10))) == 1  # [1.6, 1.85]


def test_a_cell_contains_its_uniforms_and_no_others() -> None:
    with exact.precision(128):
        cell = exact.cell(5, 3)
        for inside in (Fraction(5, 8), Fraction(11, 16), Fraction(3, 4)):
            assert cell.contains(exact.ball(inside))
        for outside in (Fraction(5, 8) - Fraction(1, 10**9), Fraction(3, 4) + Fraction(1, 10**9)):
            assert not cell.contains(exact.ball(outside))


def test_the_working_precision_is_restored() -> None:
    before = exact.working_precision()
    with exact.precision(999):
        assert exact.working_precision() == 999
    with suppress(ZeroDivisionError), exact.precision(998):
        raise ZeroDivisionError
    assert exact.working_precision() == before


def test_threads_do_not_change_each_others_precision() -> None:
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(200):
            with exact.precision(bits):
                if exact.working_precision() != bits:
                    wrong.append(bits)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (64, 128, 256)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process forks here")
def test_a_fork_within_a_block_does_not_lock_the_child() -> None:
    with exact.precision(100):
        if not (child := os.fork()):
            ready = threading.Event()

            def work() -> None:  # another thread than the one that held the lock
                with exact.precision(70):
                    ready.set()

            threading.Thread(target=work, daemon=True).start()
            os._exit(0 if ready.wait(10) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_normal_distribution_function_is_accurate_in_both_tails() -> None:
    with exact.precision(128):
        assert exact.normal_cdf(exact.ball(0)).contains(exact.ball(Fraction(1, 2)))
        left, right = exact.normal_cdf(exact.ball(-30)), exact.normal_cdf(exact.ball(30))
        assert 0 < left < exact.ball(Fraction(1, 10**197))
        assert (left + right).contains(exact.ball(1))
