"""Adding noise: one number and vectors, integers and reals, each exactly the answer plus the noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scripted import Seeded

from discreet.errors import Invalid
from discreet.mechanisms import additive
from discreet.noise import lattice
from discreet.noise.bits import Bits
from discreet.noise.laplace import RoundedLaplace
from discreet.noise.refine import Integers

BITS = Seeded(0)


def seven(bits: Bits) -> int:
    return 7


def counting(size: int, bits: Bits) -> Integers:
    return np.arange(1, size + 1)


@pytest.mark.parametrize(("answer", "noisy"), [(5, 12), (10**30, 10**30 + 7), (np.int64(5), 12), (np.array(5), 12), (2.9, 9), (None, 7)])
def test_one_integer_gets_one_draw(answer: Any, noisy: int) -> None:
    found = additive.add_whole(answer, seven, counting, BITS)
    assert (found, type(found)) == (noisy, int)


@pytest.mark.parametrize(
    ("answer", "noisy"),
    [([5, 6], [6, 8]), (np.array([5, 6], np.uint8), [6, 8]), ([2.9, math.nan], [3, 2]), ([10**30, -(10**30)], [2**62 + 1, -(2**62) + 2])],
)
def test_vectors_of_integers_are_clamped_and_get_one_draw_for_each(answer: Any, noisy: list[int]) -> None:
    found = additive.add_whole(answer, seven, counting, BITS)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == noisy


def test_reals_are_released_on_the_grid_of_the_scale() -> None:
    scale = Fraction(3, 7)
    step = lattice.step(scale)
    one = additive.add_real(math.pi, RoundedLaplace, scale, Seeded(1))
    assert isinstance(one, float)
    assert (Fraction(one) / step).denominator == 1
    many = additive.add_real([math.pi, 1.0, -4.5], RoundedLaplace, scale, Seeded(2))
    assert isinstance(many, np.ndarray)
    assert all((Fraction(value) / step).denominator == 1 for value in many.tolist())
    assert abs(many - [math.pi, 1.0, -4.5]).max() < 20
    exactly = additive.add_real(Fraction(1, 3), RoundedLaplace, scale, Seeded(3))
    assert isinstance(exactly, float)


def test_a_float_and_an_array_of_it_have_the_same_law() -> None:
    """One draw and a vector use different code; with the same bits they give the same release."""
    for seed in range(50):
        one = additive.add_real(0.3, RoundedLaplace, Fraction(2), Seeded(seed))
        many = additive.add_real(np.array([0.3]), RoundedLaplace, Fraction(2), Seeded(seed))
        assert isinstance(many, np.ndarray)
        assert many.tolist() == [one]


def test_plain_answers_are_checked() -> None:
    additive.check_answer([1, 2], whole=True)
    additive.check_answer([1.5, 2], whole=False)
    for answer, whole in ((1.5, True), ([1, math.inf], True), (math.nan, False), ([1, None], False), ("x", False), ([], False)):
        with pytest.raises(Invalid):
            additive.check_answer(answer, whole=whole)
