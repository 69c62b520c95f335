"""The exponential mechanism: worked examples, stated accuracy, huge scores, and its interval form."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems import laws

from discreet.errors import Error, Invalid
from discreet.mechanisms import textbook
from discreet.mechanisms.exponential import Exponential, IntervalExponential
from discreet.private import Private


def test_selling_pumpkins() -> None:
    """Prices $1 and $2, ε = 0.2, one bidder moves the revenue by up to $2."""
    price = Exponential(epsilon=0.2, sensitivity=2)
    three = price.probabilities([3, 2])  # bids 1, 1, 2
    assert three.round(2).tolist() == [0.51, 0.49]
    assert three[0] == pytest.approx(1 / (1 + math.exp(-0.05)))
    hundred = price.probabilities([100, 20])  # 90 bid $1, 10 bid $2
    assert hundred.round(3).tolist() == [0.982, 0.018]
    assert hundred[1] == pytest.approx(1 / (1 + math.exp(4)))


def test_the_most_common_condition() -> None:
    """Counts 60, 45, 12 at ε = 0.1 under add/remove: counts move together, so e^(ε·count)."""
    chances = Exponential(epsilon=0.1, monotone=True).probabilities([60, 45, 12])
    assert chances == pytest.approx(np.exp([0, -1.5, -4.8]) / np.exp([0, -1.5, -4.8]).sum())


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("confidence", ["0.6", "0.95", "0.99"])
def test_the_error_is_attained_and_never_passed(size: int, confidence: str) -> None:
    """All others `error` behind: just the promised chance; over a box of scores never more."""
    mechanism = Exponential(epsilon=1)
    t = mechanism.error(confidence, size)
    beta = 1 - float(confidence)
    if t:
        assert mechanism.probabilities([0.0] + [-t] * (size - 1))[1:].sum() == pytest.approx(beta)
    for scores in itertools.product([0.0, -t / 2, -t - 1e-9, -2 * t - 1], repeat=size - 1):
        chances = mechanism.probabilities([0.0, *scores])
        assert sum(p for p, s in zip(chances[1:], scores, strict=True) if s <= -t - 1e-9) <= beta + 1e-9


def test_known_numbers() -> None:
    """d = 10, x = 3: the lecture's bound says 0.498, the truth is 0.309; d = 1000, x = 10: 0.0454 and 0.0434."""
    for d, x, lecture, truth in ((10, 3, 0.498, 0.309), (1000, 10, 0.0454, 0.0434)):
        mechanism = Exponential(epsilon=2)  # R = 2, so x = t
        assert textbook.exponential_tail(x, d, 2) == pytest.approx(lecture, abs=5e-4)
        assert mechanism.probabilities([x] + [0] * (d - 1))[1:].sum() == pytest.approx(truth, abs=5e-4)
        assert mechanism.error(1 - Fraction(truth).limit_denominator(10**4), d) == pytest.approx(x, abs=0.02)


@pytest.mark.parametrize("d", [2, 10, 1000])
def test_the_textbook_is_never_tighter(d: int) -> None:
    for beta in (0.3, 0.05, 1e-4):
        t = Exponential(epsilon=1, sensitivity=3).error(1 - Fraction(beta), d)
        assert textbook.exponential_tail(t, d, 1, 3) >= beta


def test_one_candidate_has_no_error() -> None:
    assert Exponential(epsilon=1).error(0.99, 1) == 0
    assert Exponential(epsilon=1).release(Private([-math.inf])) == 0


EDGES = [1e308, -1e308, 0.0, 1.0, -1e300, 5e-324, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("epsilon", ["1e-9", "1", "1e9"])
def test_huge_scores_never_fail(epsilon: str) -> None:
    """|u| up to 10³⁰⁸ and beyond, all triples: a choice each time, and a clear winner wins."""
    mechanism = Exponential(epsilon=epsilon)
    for scores in itertools.product(EDGES, repeat=3):
        assert mechanism.sample(list(scores), Shake(scores, limit=1 << 14)) in (0, 1, 2)
    assert mechanism.sample([-1e308, 1e308, 0.0], Shake(0)) == 1
    assert mechanism.release(Private([10**400, -(10**400), 0])) == 0


def test_chances_of_huge_scores() -> None:
    for scores in ([1e308, -1e308], [2**62, -(2**62)], [10**400, -(10**400)]):
        assert Exponential(epsilon=1).probabilities(scores).tolist() == [1, 0]
    assert Exponential(epsilon=1).probabilities([2**62, 2**62 - 1])[0] == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert Exponential(epsilon="1e-70").probabilities([1e70, -1e70])[0] == pytest.approx(1 / (1 + math.exp(-1)))


@pytest.mark.parametrize("wrong", [5, [], [[1, 2]], ["a"], None, [math.nan], [1, math.inf]])
def test_wrong_plain_scores(wrong: Any) -> None:
    with pytest.raises(Invalid):
        Exponential(epsilon=1).release(wrong)


def test_rates_out_of_reach() -> None:
    for epsilon, sensitivity in (("1e-200", 1), ("1e200", 1), (1, "1e200")):
        with pytest.raises(Invalid, match="unit"):
            Exponential(epsilon=epsilon, sensitivity=sensitivity)


# ── intervals ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_price_of_a_digital_good() -> None:
    """Revenue p·#{bids ≥ p} on a cent grid up to $10 is not constant between bids, so each cent is a piece of its own."""
    price = IntervalExponential(epsilon=5, sensitivity=10, lower="0.01", upper=10, step="0.01")
    bids = [3.0] * 60 + [7.5] * 40 + [9.99] * 3
    cents = range(1, price.points + 1)
    assert price.points == 1000
    revenue = [Fraction(c, 100) * sum(b >= c / 100 for b in bids) for c in cents]
    best = max(revenue)
    assert best == Fraction(750, 100) * 43
    told = [price.sample((list(range(1000)), [float(r) for r in revenue]), Shake(i)) for i in range(200)]
    lost = sorted(best - revenue[int(p * 100) - 1] for p in told)
    assert all((p * 100).denominator == 1 and price.lower <= p <= price.upper for p in told)
    assert lost[189] <= price.error(0.95)  # 190 of 200 within the stated error
    mean = float(sum(lost)) / 200
    exact = float(laws.softmax([float(r) for r in revenue], 0.25) @ [float(best - r) for r in revenue])
    assert mean == pytest.approx(exact, rel=0.2)


def test_interval_error_counts_every_point() -> None:
    mechanism = IntervalExponential(epsilon=1, lower=0, upper=10, step="0.01")
    assert mechanism.error(0.95) == Exponential(epsilon=1).error(0.95, 1001)
    assert IntervalExponential(epsilon=1, lower=0, upper="0.5", step=1).error(0.95) == 0  # one point


@pytest.mark.parametrize(
    "wrong", [([0, 5, 3], [1, 2, 3]), ([1, 2], [1, 2]), ([0], [1, 2]), ([0, 99], [1, 2]), ([0, -1], [1, 2]), ([0], [math.nan])]
)
def test_wrong_pieces(wrong: Any) -> None:
    with pytest.raises(Invalid):
        IntervalExponential(epsilon=1, lower=0, upper=10, step=1).release(wrong)


@pytest.mark.parametrize(
    "parameters", [{"lower": 1, "upper": 0}, {"lower": 0, "upper": 1e30, "step": 1}, {"step": 0}, {"lower": "x"}, {"upper": math.inf}]
)
def test_wrong_intervals(parameters: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        IntervalExponential(**({"epsilon": 1, "lower": 0, "upper": 1, "step": "0.1"} | parameters))


@pytest.mark.parametrize("pieces", [([0, 5, 3], [1, 2, 3]), ([1, 2], [1, 2]), ([0, 99], [1, 2]), ([0, -1], [1, 2])])
def test_private_pieces_are_total(pieces: Any) -> None:
    """The pieces may depend on the data, so no arrangement of them may raise."""
    assert 0 <= IntervalExponential(epsilon=1, lower=0, upper=10, step=1).release(Private(pieces)) <= 10


@pytest.mark.parametrize("starts", [[0, math.nan], [0, "secret"]])
def test_private_pieces_that_are_no_numbers(starts: Any) -> None:
    assert 0 <= IntervalExponential(epsilon=1, lower=0, upper=10, step=1).release(Private((starts, [1, 2]))) <= 10


@pytest.mark.parametrize("wrong", [5, None])
def test_wrong_shapes_of_pieces(wrong: Any) -> None:
    with pytest.raises(Error):
        IntervalExponential(epsilon=1, lower=0, upper=10, step=1).release(wrong)


@pytest.mark.parametrize("scores", [[1, math.inf, 2.5], [-1e308, math.inf, -1e308], [1, 10**400, 2]], ids=str)
def test_an_empty_piece_has_no_say(scores: list[Any]) -> None:
    """The second piece is empty; its score, however high, neither wins nor fails."""
    mechanism = IntervalExponential(epsilon=1, lower=0, upper=10, step=1)
    seen = {mechanism.release(Private(([0, 5, 5], scores))) for _ in range(200)}
    assert seen <= set(range(11))
    assert len(seen) > 3
