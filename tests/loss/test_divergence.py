"""Explicit distributions: exact values, and the inequalities between the languages."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.loss import divergence

weights = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=5)


def laws(pairs: list[tuple[int, int]]) -> tuple[list[Fraction], list[Fraction]]:
    left, right = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    assume(left > 0 and right > 0)
    return [Fraction(a, left) for a, _ in pairs], [Fraction(b, right) for _, b in pairs]


@settings(max_examples=150, deadline=None)
@given(weights, st.integers(0, 99))
def test_tight_epsilon_inverts_tight_delta(pairs: list[tuple[int, int]], percent: int) -> None:
    p, q = laws(pairs)
    delta = Fraction(percent, 100)
    e = divergence.tight_epsilon(p, q, delta)
    if math.isinf(e):
        assert divergence.tight_delta(p, q, 500) > delta
        return
    assert divergence.tight_delta(p, q, Fraction(e)) <= delta + Fraction(1, 10**15)
    assert divergence.indistinguishable(p, q, Fraction(e) + Fraction(1, 10**12), delta)
    if e > 1e-6:
        assert divergence.tight_delta(p, q, Fraction(e) * (1 - Fraction(1, 10**6))) > delta
        assert not divergence.indistinguishable(p, q, Fraction(e) * (1 - Fraction(1, 10**6)), delta)


@settings(max_examples=100, deadline=None)
@given(weights)
def test_inequalities(pairs: list[tuple[int, int]]) -> None:
    p, q = laws(pairs)
    tv, kl, worst = divergence.total_variation(p, q), divergence.kl(p, q), divergence.max_divergence(p, q)
    assert tv == divergence.tight_delta(p, q, 0)
    assert float(tv) <= math.sqrt(kl / 2) + 1e-12
    curve = [divergence.renyi(p, q, order) for order in ("1/2", 1, 2, 8)]
    assert all(low <= high * (1 + 1e-12) + 1e-15 for low, high in itertools.pairwise(curve))
    assert curve[-1] <= worst * (1 + 1e-12)
    if math.isfinite(worst):
        assert float(tv) <= math.tanh(worst / 2) + 1e-12
        assert kl <= worst * math.tanh(worst / 2) + 1e-12
    knots = divergence.trade_off(p, q)
    assert knots[0] == (0, 1)
    assert knots[-1] == (1, 0)
    assert min(a + b for a, b in knots) == 1 - tv
    slopes = [(b2 - b1) / (a2 - a1) for (a1, b1), (a2, b2) in itertools.pairwise(knots) if a2 > a1]
    assert slopes == sorted(slopes)


def test_dictionaries_and_disjoint_supports() -> None:
    assert divergence.total_variation({"x": 1}, {"y": 1}) == 1
    assert divergence.tight_epsilon({"x": 1}, {"y": 1}, 0.5) == math.inf
    assert divergence.kl({"x": 1}, {"y": 1}) == math.inf
    assert divergence.renyi({"x": 1}, {"y": 1}, "1/2") == math.inf
    assert divergence.tight_epsilon({"a": 0.5, "b": 0.5}, {"b": 0.5, "a": 0.5}) == 0


def test_what_is_no_distribution_is_invalid() -> None:
    for p, q in (([0.5, 0.6], [0.5, 0.5]), ([-0.5, 1.5], [0.5, 0.5]), ([1], [0.5, 0.5]), ([], []), ([math.nan], [1])):
        with pytest.raises(Invalid):
            divergence.tight_delta(p, q, 1)
