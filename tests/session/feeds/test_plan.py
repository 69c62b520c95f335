"""The plan of a feed: its mechanism fits what one unit moves, and the explanation says so."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from session.feeds.visits import day, feed_of, session

from discreet.mechanisms.streams.toeplitz import Toeplitz, measurement_sensitivity
from discreet.mechanisms.streams.toeplitz_factor import UNIT, ToeplitzFactor
from discreet.mechanisms.streams.tree import Tree


def test_the_mechanism_is_made_for_that() -> None:
    with session([]) as db:
        feed = feed_of(db, value="cost", days=100)
        mechanism = feed.mechanism
        assert isinstance(mechanism, Toeplitz)
        assert (mechanism.sensitivity, mechanism.contributions, mechanism.horizon) == (20, 3, 100)
        assert feed.loss.basic == (1, feed.plan.delta)
        assert feed.plan.delta == Fraction(1, 32000)
        pure = feed_of(db, delta=0).mechanism
        assert isinstance(pure, Tree)
        assert (pure.sensitivity, pure.contributions, pure.loss.epsilon) == (2, 3, 1)


def test_a_replacement_moves_by_what_is_said() -> None:
    """For all pairs of units on five days: ‖C(v − v′)‖² is at most twice ‖Cv‖² if nothing is negative, else four times."""
    factor, size, k = ToeplitzFactor.of(5), 5, 2
    pairs = list(zip(factor.weights, factor.rates, strict=True))
    c = [sum((Fraction(w * r**n, 2 ** (UNIT * (n + 1))) for w, r in pairs), Fraction(0)) for n in range(size)]

    def worst(levels: tuple[int, ...]) -> Fraction:
        units = [v for v in itertools.product(levels, repeat=size) if sum(map(bool, v)) <= k]
        differences = {tuple(a - b for a, b in zip(v, w, strict=True)) for v in units for w in units}
        return max(sum(sum(c[t - s] * v[s] for s in range(t + 1)) ** 2 for t in range(size)) for v in differences)

    alone = factor.sensitivity(k) ** 2
    assert worst((0, 1)) <= 2 * alone
    assert 2 * alone < worst((-1, 0, 1)) <= 4 * alone  # the root of two would not do for values of both signs


@pytest.mark.parametrize(("value", "times"), [(None, Fraction(14143, 10000)), ("cost", Fraction(2))])
def test_replacing_costs_more_noise(value: str | None, times: Fraction) -> None:
    with session([]) as db, session([], adjacency="replace-one") as other:
        one, two = (feed_of(each, value=value, days=200).mechanism for each in (db, other))
        assert isinstance(one, Toeplitz)
        assert isinstance(two, Toeplitz)
        assert float(two.scale / one.scale) == pytest.approx(float(times), rel=1e-4)
        assert (two.exchanged, two.sensitivity / one.sensitivity) == ((True, 1) if value is None else (False, 2))
        lengths = [measurement_sensitivity(200, each.sensitivity, 3, each.exchanged) for each in (one, two)]
        assert lengths[1] ** 2 >= (2 if value is None else 4) * lengths[0] ** 2 * (1 - Fraction(1, 2**60))
        trees = [feed_of(each, value=value, delta=0).mechanism for each in (db, other)]
        assert trees[1].sensitivity == 2 * trees[0].sensitivity


def test_the_explanation_tells_who_and_how_much() -> None:
    with session([]) as db:
        feed = feed_of(db, windows=(7,))
        text = feed.explain()
        assert "each id, over all of these days" in text
        assert "first 3 days with any rows, on each of them 2 rows at most" in text
        assert "for 2 units together: ε = " in text
        assert "for 10 units together: " in text
        assert "the last 7 days" in text
        summed = feed_of(db, value="cost")
        assert "its first 3 days with a value that is not missing, on each of them 20 at most" in summed.explain()
        assert summed.release(until=day(0)).receipt.notes == ("of each unit its first 3 days with a value that is not missing count",)
        assert "(paid)" not in text
        feed.release(until=day(0))
        assert "(paid)" in feed.explain()
