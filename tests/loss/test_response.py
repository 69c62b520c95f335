"""Reports whose privacy loss is ε, 0 or −ε: the certified supremum over all orders, and every way's own law by enumeration."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import exact
from discreet.algorithms.local.randomizers import LocalRandomizer, SubsetSelection, UnaryEncoding
from discreet.errors import Invalid
from discreet.loss import response
from discreet.loss.convert import pure_to_gdp, pure_to_zcdp
from discreet.loss.leaves import Pure, RandomizedResponseLoss, Response
from discreet.loss.record import from_json, to_json

WAYS: list[LocalRandomizer] = [
    SubsetSelection(Fraction(1), 6, 2), SubsetSelection(Fraction(1, 4), 7, 3), SubsetSelection(Fraction(3), 5, 1),
    SubsetSelection(Fraction(1), 4, 3), SubsetSelection(Fraction(1), 8, 1),
    UnaryEncoding(Fraction(1), 5), UnaryEncoding(Fraction(1, 10), 3), UnaryEncoding(Fraction(5), 4),
]  # fmt: skip
EXAMPLES = [(1, 1, 9), (1, 1, 49), ("1/100", 1, 49), (8, 1, 10**6), (5, 2, 2), ("1/10", 2, 2), (20, 2, 2), ("1/2", "49/40", "49/10")]


def law(way: LocalRandomizer) -> dict[float, float]:
    """The privacy loss between the choices 0 and 1, and its probabilities under 0, from the probability of every set."""
    found: Counter[float] = Counter()
    with exact.precision(128):
        for named in itertools.chain.from_iterable(itertools.combinations(range(way.k), size) for size in range(way.k + 1)):
            p, q = (float(way.mass(true, named)) for true in (0, 1))
            if p:
                found[round(math.log(p / q), 9)] += p
    return dict(found)


def slopes(losses: dict[float, float]) -> float:
    """The largest D_α/α on a fine grid of orders: not above the truth."""
    s = np.exp(np.linspace(-10, 12, 20_001))
    logs = [math.log(p) + s * loss for loss, p in losses.items()]
    return float((np.logaddexp.reduce(logs, axis=0)[s > 1e-3] / (s * (1 + s))[s > 1e-3]).max())


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_each_way_has_three_losses_and_this_price(way: LocalRandomizer) -> None:
    losses, e, price = law(way), float(way.epsilon), way.loss
    assert set(losses) <= {round(e, 9), 0.0, round(-e, 9)}
    assert price.epsilon == way.epsilon
    found = slopes(losses)
    assert found * (1 - 1e-9) <= float(price.rho or 0) <= found * (1 + 1e-3)
    knot = stats.norm.isf(losses[round(-e, 9)]) + stats.norm.ppf(losses[round(e, 9)])
    assert float(price.mu_squared or 0) == pytest.approx(knot**2, rel=1e-7)
    for at in (0.0, e / 3, 0.9 * e):
        truth = math.fsum(p * max(0.0, -math.expm1(at - loss)) for loss, p in losses.items())
        assert truth * (1 - 1e-7) <= price.delta_at(at) <= truth * (1 + 1e-3)


@pytest.mark.parametrize(("epsilon", "steep", "flat"), EXAMPLES)
def test_the_supremum_is_certified_and_near(epsilon: object, steep: object, flat: object) -> None:
    price = Response(epsilon, steep, flat)  # type: ignore[arg-type]
    e, a, b = float(price.epsilon), float(price.steep), float(price.flat)
    w = a * math.exp(e) + b
    losses = {e: math.exp(e) / w, -e: 1 / w, 0.0: 1 - (math.exp(e) + 1) / w}
    mean = e * math.expm1(e) / w
    truth = max(slopes(losses), mean)
    assert truth * (1 - 1e-9) <= float(price.rho) <= truth * (1 + 2e-5)
    with exact.precision(128):  # what certifies it does not certify less
        weight = exact.ball(price.steep) * exact.ball(price.epsilon).exp() + exact.ball(price.flat)
        assert response._is_bound(price.rho, price.epsilon, weight)
        assert not response._is_bound(price.rho * (1 - Fraction(1, 10**4)), price.epsilon, weight)


def test_the_figures_that_were_promised() -> None:
    fifty = RandomizedResponseLoss(1, choices=50)
    assert float(fifty.rho) == pytest.approx(0.0737, abs=5e-5)
    assert math.expm1(1) / (math.e + 49) == pytest.approx(0.0332, abs=5e-5)  # the mean loss: no bound
    assert float(pure_to_zcdp(Fraction(1)) / fifty.rho) == pytest.approx(6.27, abs=0.01)
    assert float(pure_to_zcdp(Fraction(1)) / RandomizedResponseLoss(1, choices=5).rho) == pytest.approx(1.81, abs=0.01)
    unary = UnaryEncoding(Fraction(1), 50).loss
    assert float(pure_to_zcdp(Fraction(1)) / (unary.rho or 0)) == pytest.approx(2.0, abs=0.01)
    assert float(pure_to_gdp(Fraction(1)) / (unary.mu_squared or 0)) == pytest.approx(2.4, abs=0.4)


def test_a_failed_search_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where floats find too small a number the certificate fails, and a larger one is tried; in the end ε·tanh(ε/2) holds anyway."""
    response._largest_slope.cache_clear()
    monkeypatch.setattr(response, "_near", lambda epsilon, w: 1e-9)
    low = Response(1, 1, 49).rho
    assert low == Pure(1).rho
    response._largest_slope.cache_clear()


def test_larger_epsilon_dominates_and_records() -> None:
    small, large = Response("1/2", 2, 2), Response(1, 2, 2)
    assert small.below(large)
    assert not large.below(small)
    assert not small.below(Response(1, 2, 3))
    for loss in (small, small.group(3), RandomizedResponseLoss(2, 9)):
        assert from_json(json.loads(json.dumps(to_json(loss)))) == loss
    assert Response(0, 2, 2).epsilon_at(0) == 0
    assert Response(10**6, 2, 2).rho <= 10**6
    with pytest.raises(Invalid, match="at least 1"):
        Response(1, "1/2", 2)
