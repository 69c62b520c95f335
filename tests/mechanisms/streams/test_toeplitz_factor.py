"""The factor of the running total: its sensitivity by enumeration in exact numbers, and its rows against a dense inverse."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mechanisms.streams.columns import coefficients, square, through, worst

from discreet.mechanisms.streams.toeplitz_factor import UNIT, ToeplitzFactor


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_columns_move_as_far_as_is_said_and_no_further(size: int, k: int) -> None:
    factor = ToeplitzFactor.of(size)
    longest, said = worst(coefficients(factor), k), factor.sensitivity(k)
    assert longest <= said**2 < longest * (1 + Fraction(1, 2**60))


@pytest.mark.parametrize("power", [Fraction(1, 20), Fraction(1, 4), Fraction(2, 5)])
def test_other_powers_keep_the_lemma(power: Fraction) -> None:
    factor = ToeplitzFactor.of(5, power)
    for k in (1, 3):
        longest, said = worst(coefficients(factor), k), factor.sensitivity(k)
        assert longest <= said**2 < longest * (1 + Fraction(1, 2**60))
    for size in (60, 1000):
        lengths = []
        for alpha in (float(power), 1 - float(power)):  # the power itself, and what is left of A
            powers = list(itertools.accumulate(range(1, size), lambda r, k: r * (k - 1 + alpha) / k, initial=1.0))  # noqa: B023
            lengths.append(math.hypot(*powers))
        near = ToeplitzFactor.of(size, power)
        assert lengths[0] * lengths[1] * 0.97 < float(near.sensitivity(1)) * near.row(size) < lengths[0] * lengths[1] * 1.03


@pytest.mark.parametrize(("size", "k"), [(365, 1), (365, 20), (365, 365), (1000, 100), (3, 2)])
def test_the_best_power_is_no_worse_than_the_root_or_noise_on_each_step(size: int, k: int) -> None:
    best, root = ToeplitzFactor.best(size, k), ToeplitzFactor.of(size)
    errs = float(best.sensitivity(k)) * best.row(size)
    assert errs <= float(root.sensitivity(k)) * root.row(size)
    assert errs <= math.sqrt(k) * math.sqrt(size) * 1.01
    assert (best == root) == (k == 1)


def test_one_column_is_not_enough_for_two() -> None:
    """The check sees a sensitivity that forgets how often a unit counts; √k times it would not do either."""
    longest = worst(coefficients(ToeplitzFactor.of(5)), 2)
    assert longest > ToeplitzFactor.of(5).sensitivity(1) ** 2 * 2


def test_coefficients_that_rise_would_break_the_lemma() -> None:
    """With c = (1, 0, 2) columns 0 and 2 together are longer than the first two: the enumeration sees that the lemma needs c to fall."""
    rising = [Fraction(1), Fraction(0), Fraction(2)]
    first = square(through(rising, [1, 1, 0]))
    assert worst(rising, 2) > first


@pytest.mark.parametrize(("size", "k"), [(64, 1), (64, 7), (64, 64), (64, 100), (300, 12)])
def test_the_closed_form_is_the_sum_of_columns(size: int, k: int) -> None:
    factor = ToeplitzFactor.of(size)
    c = coefficients(factor)
    exactly = square([sum(c[max(0, t - min(k, size) + 1) : t + 1], Fraction(0)) for t in range(size)])
    assert exactly <= factor.sensitivity(k) ** 2 < exactly * (1 + Fraction(1, 2**60))


@pytest.mark.parametrize("size", [1, 2, 3, 17, 365, 2**20, 2**40])
def test_the_factor_is_as_the_lemmas_need_it(size: int) -> None:
    factor = ToeplitzFactor.of(size)
    assert factor.rates[0] == 0
    assert all(a < b for a, b in itertools.pairwise(factor.rates))
    assert factor.rates[-1] < 2**UNIT
    assert all(weight > 0 for weight in factor.weights)
    assert sum(factor.weights) == 2**UNIT
    root = (math.log(size) / math.pi + 1.0664) if size > 300 else sum((math.comb(2 * k, k) / 4**k) ** 2 for k in range(size))
    assert root * 0.999 < float(factor.sensitivity(1)) * factor.row(size) < root * 1.01


def test_the_rows_are_those_of_the_inverse() -> None:
    size = 90
    factor = ToeplitzFactor.of(size)
    c = [float(one) for one in coefficients(factor)]
    dense = np.array([[c[t - s] if t >= s else 0.0 for s in range(size)] for t in range(size)])
    rows = np.tril(np.ones((size, size))) @ np.linalg.inv(dense)
    assert (rows[-1] > 0).all()
    assert (np.diff(rows[-1]) > 0).all()
    for t in (1, 2, 31, 90):
        assert factor.row(t) == pytest.approx(np.linalg.norm(rows[t - 1]), rel=1e-9)
    for w in (1, 7, 30):
        lengths = [np.linalg.norm(rows[t] - (rows[t - w] if t >= w else 0)) for t in range(size)]
        assert factor.row_of_window(w) == pytest.approx(lengths[-1], rel=1e-9)
        assert max(lengths) <= lengths[-1] * (1 + 1e-9)
    assert factor.row_sum == pytest.approx(rows[-1].sum(), rel=1e-9)
