"""Certified scalars: on the safe side, and close."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.exact import ball
from discreet.loss import certify

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@settings(max_examples=100, deadline=None)
@given(positive, st.integers(2, 80))
def test_short_is_above_and_close(value: Fraction, bits: int) -> None:
    short = certify.short_above(value, bits)
    assert value <= short <= value * (1 + Fraction(2, 2**bits))
    assert -certify.short_above(-value, bits) <= value


@settings(max_examples=50, deadline=None)
@given(positive)
def test_squares_of_roots_are_above_and_close(value: Fraction) -> None:
    above = certify.rational_above(lambda: ball(value).sqrt())
    assert value <= above**2 <= value * (1 + Fraction(1, 2**60)) ** 2


def test_what_floats_cannot_hold() -> None:
    assert certify.float_above(lambda: ball(10**9).exp()) == math.inf
    assert 0 < certify.float_above(lambda: ball(-(10**18)).exp()) < 1e-300
    assert certify.float_up_or_infinite(Fraction(10**400)) == math.inf
    assert certify.log_inverse(Fraction(1, 10**400)) == pytest.approx(400 * math.log(10), rel=1e-15)


@settings(max_examples=60, deadline=None)
@given(positive)
def test_greatest_stops_just_below(edge: Fraction) -> None:
    found = certify.greatest(lambda x: x <= edge, Fraction(10**30))
    assert edge * (1 - Fraction(1, 2**50)) <= found <= edge


def test_greatest_of_nothing_is_zero() -> None:
    assert certify.greatest(lambda x: False, Fraction(1)) == 0
    assert certify.greatest(lambda x: True, Fraction(1)) == 1


def test_least_float_and_golden() -> None:
    found = certify.least_float(lambda x: x * x >= 2, 0.0, 1.0)
    assert found * found >= 2
    assert found == pytest.approx(math.sqrt(2), rel=1e-14)
    assert certify.least_float(lambda x: False, 0.0, 1.0) == math.inf
    assert certify.golden(lambda x: (x - 3) ** 2, 0, 10) == pytest.approx(3, abs=1e-6)
