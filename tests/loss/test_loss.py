"""The algebra, and every route against brute force on tiny finite mechanisms."""

from __future__ import annotations

import itertools
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


@few
@given(losses, st.fractions(min_value=0, max_value=3, max_denominator=8))
def test_delta_and_epsilon_agree(a: Loss, epsilon: Fraction) -> None:
    delta = a.delta_at(epsilon)
    assert 0 <= delta <= 1
    if 1e-12 < delta < 1:
        assert a.epsilon_at(Fraction(delta) * Fraction(101, 100)) <= float(epsilon) + 1e-3


laws = st.lists(st.integers(1, 30), min_size=2, max_size=4)


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


def test_budgets_are_ceilings() -> None:
    assert (10 * Pure(0.1)).within(Pure(1))
    assert not (10 * Pure(0.1) + Pure("1e-30")).within(Pure(1))
    assert (10 * Approx(0.1, 1e-10)).within(Approx(1, 1e-9))
    assert not (11 * Approx(0, 1e-10)).within(Approx(1, 1e-9))
    assert Pure(1).within(Approx(1, 0))
    assert (2 * Zcdp("1/4")).within(Zcdp("1/2"))
    assert not (2 * Zcdp("1/4") + Approx(0, 1e-20)).within(Zcdp("1/2"))
    assert (25 * Gdp("1/5")).within(Gdp(1))
    assert not (26 * Gdp("1/5")).within(Gdp(1))
    assert not Revealed().within(Approx(100, 0.999))
    assert NOTHING.within(Pure(0))
    assert (1000 * GaussianLoss("1/2500") + 1000 * LaplaceLoss("1/100")).within(Approx("3.307", 1e-6))
    with pytest.raises(Invalid, match="cannot serve as a budget"):
        Pure(1).within(LaplaceLoss(1))


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


def test_zero_noise_is_infinite_loss() -> None:
    for loss in (Revealed(), Revealed() + Pure(1), 3 * Revealed(), Revealed() | Pure(1), Revealed().group(2)):
        assert loss.epsilon_at(0.999) == math.inf
        assert loss.delta_at(1000) == 1
    assert 0 * Revealed() == NOTHING


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
