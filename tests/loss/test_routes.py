"""Every conversion against brute force on tiny finite mechanisms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loss.test_loss import few, losses

from discreet.errors import Invalid
from discreet.loss import divergence
from discreet.loss.leaves import (
    Approx,
    GaussianLoss,
    Pure,
)
from discreet.loss.loss import NOTHING, Loss


@few
@given(losses, st.fractions(min_value=0, max_value=3, max_denominator=8))
def test_delta_and_epsilon_agree(a: Loss, epsilon: Fraction) -> None:
    delta = a.delta_at(epsilon)
    assert 0 <= delta <= 1
    if 1e-12 < delta < 1:
        assert a.epsilon_at(Fraction(delta) * Fraction(101, 100)) <= float(epsilon) + 1e-3


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=2, max_size=3), st.integers(1, 4), st.integers(1, 40))
def test_no_route_is_below_brute_force(weights: list[tuple[int, int]], k: int, percent: int) -> None:
    """Compose k copies of an explicit mechanism and look at the outcomes themselves."""
    p = [Fraction(a, sum(a for a, _ in weights)) for a, _ in weights]
    q = [Fraction(b, sum(b for _, b in weights)) for _, b in weights]
    ratio = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    bound = Fraction(math.ceil(math.log(ratio) * 10**9) + 1, 10**9)
    both = [list(itertools.product(law, repeat=k)) for law in (p, q)]
    total_p, total_q = ([math.prod(outcome, start=Fraction(1)) for outcome in side] for side in both)
    delta = Fraction(percent, 100)
    truth = divergence.tight_epsilon(total_p, total_q, delta)
    for name, found in (k * Pure(bound)).routes(delta).items():
        assert found >= truth * (1 - 1e-12), name
    exact_delta = divergence.tight_delta(total_p, total_q, Fraction(1, 2))
    assert (k * Pure(bound)).delta_at(Fraction(1, 2)) >= exact_delta * (1 - Fraction(1, 10**12))


def test_revealing_with_some_probability_is_covered_exactly() -> None:
    """Approx is attained by: reveal with probability δ, else randomised response; compose two and look."""
    delta, odds = Fraction(1, 20), 3
    epsilon = Fraction(math.ceil(math.log(odds) * 10**12), 10**12)
    yes, no = (1 - delta) * Fraction(odds, odds + 1), (1 - delta) / (odds + 1)
    p, q = {"P": delta, "+": yes, "-": no}, {"Q": delta, "+": no, "-": yes}
    pair_p = {(a, b): p[a] * p[b] for a in p for b in p}
    pair_q = {(a, b): q[a] * q[b] for a in q for b in q}
    loss = 2 * Approx(epsilon, delta)
    for at in (Fraction(1, 9), Fraction(1, 5), Fraction(1, 3)):
        truth = divergence.tight_epsilon(pair_p, pair_q, at)
        assert truth * (1 - 1e-9) <= loss.epsilon_at(at) <= truth * 1.05 + 0.02
    assert loss.delta_at(1) >= divergence.tight_delta(pair_p, pair_q, 1) * (1 - Fraction(1, 10**9))


def test_delta_at_the_edges() -> None:
    assert NOTHING.epsilon_at(0) == 0
    assert NOTHING.delta_at(0) == 0
    assert GaussianLoss(1).epsilon_at(0) == math.inf
    assert Pure(1).epsilon_at(0) == 1
    with pytest.raises(Invalid):
        Pure(1).epsilon_at(-0.1)
    with pytest.raises(Invalid):
        Pure(-1)
    with pytest.raises(Invalid):
        Pure(1) * -1
