"""MWEM: its price step by step, its law by enumeration, its accuracy, and variants that are wrong."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.classical.tape import Strayed, Tape, histograms, neighbours
from mechanisms.shake import Shake, fits
from scripted import Seeded
from theorems import laws

from discreet import exact
from discreet.algorithms.classical import mwem
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.mwem import MWEM, estimates, update_step
from discreet.algorithms.classical.weights import Weights
from discreet.errors import Invalid
from discreet.loss.loss import compose
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private

BUDGETS: list[dict[str, Any]] = [{"epsilon": "3/2"}, {"rho": "1/7"}, {"epsilon": 2, "records": 4}, {"rho": 1, "records": 4}]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_steps_add_up(budget: dict[str, Any]) -> None:
    learn = MWEM(queries=Queries.thresholds(4), rounds=3, **budget)
    learnt = learn.release(Private([1, 0, 2, 1]))
    assert compose(learnt.losses) == learn.loss
    if "epsilon" in budget:
        assert learn.loss.epsilon == sum(loss.epsilon or 0 for loss in learnt.losses) == learn.epsilon
    else:
        assert learn.rho is not None
        assert learn.rho * Fraction(98, 100) < (learn.loss.rho or 0) <= learn.rho


# ── privacy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("queries", [Queries.thresholds(3), Queries([[0, 3, 1], [2, 2, 0]], top=3)], ids=["counts", "averages"])
def test_all_noise_replayed_on_neighbours(budget: dict[str, Any], queries: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every touch of the data is by a mechanism of the right sensitivity, these cost the claim, and nothing else depends on the data."""
    learn = MWEM(queries=queries, rounds=4, sweeps=2, **budget)
    for seed, given in enumerate([(2, 1, 1), (4, 0, 0), (0, 3, 1)]):
        with monkeypatch.context() as patch:
            tape = Tape(patch, seed)
            first = learn.release(Private(given))
            assert tape.loss == learn.loss
            for other in neighbours(given, replace="records" in budget):
                tape.rewind()
                again = learn.release(Private(other))
                assert (again.total, again.measured, again.losses) == (first.total, first.measured, first.losses)
                assert (again.average == first.average).all()
                assert (again.last == first.last).all()


def test_half_the_sensitivity_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    learn = MWEM(queries=Queries.thresholds(3), rounds=2, epsilon=1)
    monkeypatch.setattr(MWEM, "choosing", property(lambda self: self._share.choice(Fraction(1, 2))))
    tape = Tape(monkeypatch, 0)
    with pytest.raises(AssertionError, match="moves by 1"):
        tape.same(lambda data: learn.release(data).measured, (2, 1, 1))


def test_estimates_from_the_data_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hypothesis that begins at the data's own distribution."""
    learn = MWEM(queries=Queries.thresholds(3), rounds=2, epsilon=1, records=4)
    tape = Tape(monkeypatch, 0)
    seen: list[Any] = []
    original = mwem.read_histogram
    monkeypatch.setattr(mwem, "read_histogram", lambda given, domain, top: seen.append(np.array(given)) or original(given, domain, top))
    monkeypatch.setattr(mwem, "estimates", lambda queries, weights, total: estimates(queries, weights, total) - queries.answers(seen[-1]))
    with pytest.raises((AssertionError, Strayed)):
        tape.same(lambda data: learn.release(data).average.tolist(), (2, 1, 1), replace=True)


def worst(learn: MWEM, domain: int, n: int, *, rate_factor: int = 1) -> float:
    """The largest log-ratio of two rounds' whole outputs over all data sets of n records and all that differ by one replaced."""
    queries, rate = learn.queries, rate_factor * learn.choosing.epsilon / (2 * learn.choosing.sensitivity)
    scale = float(learn.measuring.scale)
    found = 0.0
    start = Weights.uniform(domain)

    def log_chances(given: tuple[int, ...], weights: Weights) -> np.ndarray[Any, Any]:
        return np.log(laws.softmax(np.abs(queries.answers(given) - estimates(queries, weights, n)).tolist(), rate))

    for first in itertools.product(range(queries.size), range(-3, n + 4)):
        after = update_step(queries, start, first, n, 0.0)
        for given in (h for h in histograms(domain, n) if sum(h) == n):
            one, two = log_chances(given, start), log_chances(given, after)
            here = queries.answers(given)
            for other in neighbours(given, replace=True):
                there = queries.answers(other)
                q, m = first
                ratio = one[q] - log_chances(other, start)[q] + (abs(m - there[q]) - abs(m - here[q])) / scale
                last = two - log_chances(other, after) + np.abs(here - there) / scale  # the worst second count
                found = max(found, float((ratio + last).max()))
    return found


def test_no_output_of_two_rounds_tells_more_than_epsilon() -> None:
    learn = MWEM(queries=Queries.thresholds(3), rounds=2, epsilon=1, records=3)
    assert 0.6 < worst(learn, 3, 3) < 1
    assert worst(learn, 3, 3, rate_factor=4) > 1  # selection at four times its rate is seen


def test_the_measured_number_of_records_is_covered() -> None:
    """One round under add/remove, in balls: ln of n̂'s ratio, the choice's and the count's, for all data sets of up to 4 records."""
    learn = MWEM(queries=Queries.points(2), rounds=1, epsilon="6/5")
    assert isinstance(learn.counting, Laplace)
    assert isinstance(learn.measuring, Laplace)
    rate = learn.choosing.epsilon / 2
    top = Fraction(0)
    for given in histograms(2, 4):
        for other in neighbours(given):
            for n in range(-2, 8):
                guess = estimates(learn.queries, Weights.uniform(2), max(1, n))
                scores = [np.abs(learn.queries.answers(h) - guess).tolist() for h in (given, other)]
                for q in range(2):

                    def chance(row: list[int], q: int = q) -> Any:
                        return (exact.ball(rate) * (row[q] - row[1 - q])).exp() / (1 + (exact.ball(rate) * (row[q] - row[1 - q])).exp())

                    with exact.precision(100):
                        chosen = exact.upper((chance(scores[0]) / chance(scores[1])).log())
                    count = Fraction(abs(n - sum(other)) - abs(n - sum(given))) / learn.counting.scale
                    told = Fraction(abs(given[q] - other[q])) / learn.measuring.scale
                    top = max(top, chosen + count + told)
    assert Fraction(9, 10) < top <= Fraction(6, 5)


def test_the_law_of_one_round() -> None:
    """Choice and count, drawn 6000 times, against the product of their laws."""
    learn = MWEM(queries=Queries.thresholds(3), rounds=1, epsilon=2, records=6)
    given, bits = [4, 0, 2], Shake("mwem")
    true = learn.queries.answers(given)
    chances = laws.softmax(np.abs(true - estimates(learn.queries, Weights.uniform(3), 6)).tolist(), learn.choosing.epsilon / 2)
    q = math.exp(-1 / float(learn.measuring.scale))
    law = {(i, int(true[i]) + z): float(chances[i]) * (1 - q) / (1 + q) * q ** abs(z) for i in range(3) for z in range(-40, 41)}
    drawn = [learn.sample(given, bits).measured[0] for _ in range(6000)]
    assert fits({d: drawn.count(d) for d in set(drawn)}, law)


# ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def skewed(domain: int, n: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, rng.dirichlet(np.full(domain, 0.1)))


@pytest.mark.parametrize("sweeps", [0, 3])
@pytest.mark.parametrize("budget", [{"epsilon": 2}, {"rho": "1/2"}, {"rho": "1/2", "records": 20_000}], ids=str)
def test_the_error_holds(budget: dict[str, Any], sweeps: int) -> None:
    """64 values, 2080 intervals: 10 runs with fixed coins stay within the error at 0.95, which says something."""
    queries = Queries.intervals(64)
    learn = MWEM(queries=queries, rounds=30, sweeps=sweeps, **budget)
    bound = learn.error(0.95, 20_000)
    assert bound < 20_000 / 2
    for seed in range(10):
        data = skewed(64, 20_000, seed)
        assert np.abs(learn.sample(data, Seeded(seed)).answers(queries) - queries.answers(data)).max() <= bound


def test_without_noise_the_potential_argument_is_the_error() -> None:
    """ε so large that only n√(ln N/2T) is left; the published bound 2n√(ln N/T) is 2.8 times as much."""
    queries, n = Queries.thresholds(256), 10**6
    for rounds in (5, 20, 80):
        learn = MWEM(queries=queries, rounds=rounds, epsilon=10**6, records=n)
        slow = n * math.sqrt(math.log(256) / (2 * rounds))
        assert learn.error(0.99, n) == pytest.approx(slow, abs=20)
        data = skewed(256, n, rounds)
        assert np.abs(learn.sample(data, Seeded(1)).answers(queries) - queries.answers(data)).max() <= slow + 20


def test_replaying_the_past_helps() -> None:
    queries, n = Queries.marginals((2,) * 6, 3), 10_000
    off = {}
    for sweeps in (0, 10):
        learn = MWEM(queries=queries, rounds=12, rho="1/2", records=n, sweeps=sweeps)
        runs = [(skewed(64, n, s), Seeded(s)) for s in range(5)]
        off[sweeps] = np.mean([np.abs(n * queries.means(learn.sample(d, b).last) - queries.answers(d)).mean() for d, b in runs])
    assert off[10] < off[0]


def test_few_records_have_a_trivial_error() -> None:
    learn = MWEM(queries=Queries.points(4), rounds=2, epsilon="1/100")
    assert learn.error(0.95, 5) >= 5
    assert MWEM(queries=Queries.points(4), rounds=2, epsilon=1, sweeps=1).error(0.999, 50) >= 50


# ── input ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"epsilon": None}, {"rho": 1}, {"records": 0}, {"sweeps": -1}, {"epsilon": -1}], ids=str)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        MWEM(**({"queries": Queries.points(3), "rounds": 2, "epsilon": 1} | wrong))


@pytest.mark.parametrize("wrong", [[1, 2], [1, 2, -3], [0.5, 1, 1], 3])
def test_wrong_histograms(wrong: Any) -> None:
    with pytest.raises(Invalid):
        MWEM(queries=Queries.points(3), rounds=2, epsilon=1).release(wrong)


def test_private_histograms_are_total() -> None:
    for given in ([math.nan, 1, 2], [0, 0, 0], [2**40, 0, 1]):
        MWEM(queries=Queries.points(3), rounds=2, epsilon=1).release(Private(given))


def test_selection_is_not_monotone() -> None:
    assert MWEM(queries=Queries.points(3), rounds=2, epsilon=1).choosing == Exponential(epsilon=Fraction(1, 5))
