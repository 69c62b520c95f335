"""The algebra of losses: composition, parallel composition and groups."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.loss import divergence
from discreet.loss.leaves import (
    Approx,
    BoundedRange,
    DiscreteLaplaceLoss,
    GaussianLoss,
    Gdp,
    LaplaceLoss,
    Pure,
    RandomizedResponseLoss,
    Revealed,
    Zcdp,
)
from discreet.loss.loss import NOTHING, Group, Loss, compose, parallel

small = st.fractions(min_value=0, max_value=2, max_denominator=20)
tiny = st.fractions(min_value=0, max_value=Fraction(1, 100), max_denominator=10**6)
leaves = st.one_of(
    small.map(Pure),
    st.builds(Approx, small, tiny),
    small.map(Zcdp),
    small.map(Gdp),
    small.map(LaplaceLoss),
    st.builds(DiscreteLaplaceLoss, small.filter(bool), st.integers(0, 4)),
    small.map(GaussianLoss),
    small.map(BoundedRange),
    st.builds(RandomizedResponseLoss, small, st.integers(2, 5)),
)
losses = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, k: k * a, inner, st.integers(0, 3)),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a, k: a.group(k), inner, st.integers(1, 3)),
    ),
    max_leaves=4,
)
few = settings(max_examples=40, deadline=None)


@few
@given(losses, losses, losses)
def test_composition_is_a_commutative_monoid(a: Loss, b: Loss, c: Loss) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert 0 + a == a == a + NOTHING
    assert sum([a, b, c]) == compose([c, a, b])
    assert hash(a + b) == hash(b + a)


@few
@given(losses, st.integers(0, 5))
def test_times_is_repeated_plus(a: Loss, k: int) -> None:
    assert k * a == a * k == compose([a] * k)
    assert (k + 1) * a == k * a + a


@few
@given(losses, losses, losses)
def test_alternatives_are_a_commutative_idempotent_monoid(a: Loss, b: Loss, c: Loss) -> None:
    assert (a | b) | c == a | (b | c)
    assert a | b == b | a
    assert (a | a) | a == a | a
    assert a | a == a or not a.closed


@few
@given(losses, tiny, tiny)
def test_epsilon_falls_as_delta_grows(a: Loss, first: Fraction, second: Fraction) -> None:
    low, high = sorted((first, second))
    assert a.epsilon_at(high) <= a.epsilon_at(low) * (1 + 1e-4) + 1e-4
    assert a.epsilon_at(1) == 0


@few
@given(losses, losses, tiny)
def test_more_costs_more(a: Loss, b: Loss, delta: Fraction) -> None:
    slack = 1e-3  # routes carry their own small pessimism
    assert a.epsilon_at(delta) <= (a + b).epsilon_at(delta) * (1 + slack) + slack
    assert a.epsilon_at(delta) <= (a | b).epsilon_at(delta) * (1 + slack) + slack
    assert (a | b).epsilon_at(delta) <= (a + b).epsilon_at(delta) * (1 + slack) + slack


def test_parallel_rules() -> None:
    parts = (Pure(1), Pure(3), Pure(2))
    assert parallel(*parts).epsilon == 3
    assert parallel(*parts, adjacency="replace-one").epsilon == 5
    assert parallel(*[LaplaceLoss(1)] * 7) == LaplaceLoss(1)
    assert parallel(*[LaplaceLoss(1)] * 7, adjacency="replace-one").epsilon == 2
    assert parallel() == NOTHING
    assert (GaussianLoss(1) | GaussianLoss(2)).laws == GaussianLoss(2).laws
    mixed = GaussianLoss(1) | LaplaceLoss(1)
    assert mixed.epsilon_at(1e-6) == max(GaussianLoss(1).epsilon_at(1e-6), LaplaceLoss(1).epsilon_at(1e-6))
    assert (3 * mixed).epsilon_at(1e-6) >= max((3 * GaussianLoss(1)).epsilon_at(1e-6), (3 * LaplaceLoss(1)).epsilon_at(1e-6))
    with pytest.raises(Invalid):
        parallel(Pure(1), adjacency="swap")  # type: ignore[arg-type]


def test_replace_one_moves_between_two_parts() -> None:
    """A unit that leaves one part and enters another changes both randomised responses: look at the outcomes."""
    odds = [Fraction(3), Fraction(2)]
    up = [o / (o + 1) for o in odds]
    p = [a * b for a in (up[0], 1 - up[0]) for b in (1 - up[1], up[1])]
    q = [a * b for a in (1 - up[0], up[0]) for b in (up[1], 1 - up[1])]
    truth = divergence.max_divergence(p, q)
    bounds = [Fraction(math.ceil(math.log(o) * 10**9), 10**9) for o in odds]
    assert parallel(*map(Pure, bounds)).epsilon_at(0) < truth
    assert truth <= parallel(*map(Pure, bounds), adjacency="replace-one").epsilon_at(0) <= truth + 1e-8


@few
@given(losses, st.integers(1, 4), tiny)
def test_groups_cost_more(a: Loss, k: int, delta: Fraction) -> None:
    assert a.group(1) == a
    assert a.group(0) == NOTHING or a.group(0).epsilon == 0
    assert a.group(k).epsilon_at(delta) >= a.epsilon_at(delta) * (1 - 1e-3) - 1e-3


def test_group_rules() -> None:
    assert Pure(1).group(3) == Pure(3)
    assert Zcdp(1).group(3) == Zcdp(9)
    assert GaussianLoss(1).group(3) == GaussianLoss(9)
    assert DiscreteLaplaceLoss(2, 1).group(3) == DiscreteLaplaceLoss(2, 3)
    generic = RandomizedResponseLoss(1).group(3)
    assert isinstance(generic, Group)
    assert generic.epsilon == 3
    assert generic.rho == Pure(3).rho < 9 * RandomizedResponseLoss(1).rho
    assert generic.mu_squared == Pure(3).mu_squared < 9 * RandomizedResponseLoss(1).mu_squared
    assert RandomizedResponseLoss("1/10").group(2).rho == Pure("1/5").rho
    ten = Group(10, RandomizedResponseLoss(1))
    assert 9.99 < float(ten.rho) < 10 < 46 < float(100 * RandomizedResponseLoss(1).rho)
    approx = Approx(1, 1e-6).group(3)
    truth = 1e-6 * math.expm1(3) / math.expm1(1)
    assert approx.epsilon == 3
    assert truth * (1 - 1e-12) <= float(approx.delta) <= truth * (1 + 1e-12)
    assert Approx(10, 1e-6).group(9) == Revealed()
    assert (Pure(1) + Zcdp(1)).group(2) == Pure(2) + Zcdp(4)
