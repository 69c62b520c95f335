"""Projection: what the noise covers, solvers against linear programming, accuracy in both norms, rounding to rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.classical.tape import Tape, histograms, neighbours
from scripted import Seeded

from discreet.algorithms.classical import projection
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.projection import Projection
from discreet.errors import Invalid
from discreet.loss.loss import compose
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private

CLASSES = [Queries.thresholds(3), Queries.points(3), Queries([[0, 3, 1], [2, 2, 0]], top=3), Queries.intervals(3)]
BUDGETS: list[dict[str, Any]] = [{"epsilon": "3/2"}, {"rho": "1/7"}, {"epsilon": 2, "records": 4}, {"rho": 1, "records": 4}]


# ── privacy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("queries", CLASSES, ids=["thresholds", "points", "averages", "intervals"])
def test_the_noise_covers_just_what_one_record_moves(budget: dict[str, Any], queries: Queries) -> None:
    """The sensitivity is the largest move over all data sets and neighbours, neither less nor more (but for a root rounded up)."""
    fit = Projection(queries=queries, **budget)
    replace, order = "records" in budget, 1 if "epsilon" in budget else 2
    moves = [
        int((np.abs(fit.measured @ np.array(x) - fit.measured @ np.array(y)) ** order).sum())
        for x in histograms(3, 3)
        for y in neighbours(x, replace=replace)
    ]
    covered = fit.measuring.sensitivity**order
    assert max(moves) <= covered <= max(moves) * (1 + Fraction(1, 10**9))
    assert isinstance(fit.measuring, Laplace if order == 1 else Gaussian)
    if order == 1:
        assert fit.loss.epsilon == fit.epsilon
    else:
        assert fit.rho is not None
        assert fit.rho * Fraction(999, 1000) < (fit.loss.rho or 0) <= fit.rho


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_all_noise_replayed_on_neighbours(budget: dict[str, Any], norm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Projection(queries=Queries.thresholds(3), norm=norm, **budget)
    tape = Tape(monkeypatch, 5)
    first = fit.release(Private((2, 1, 1)))
    assert tape.loss == fit.loss == compose(first.losses)
    for other in neighbours((2, 1, 1), replace="records" in budget):
        tape.rewind()
        again = fit.release(Private(other))
        assert (again.total, again.gap, again.noisy.tolist()) == (first.total, first.gap, first.noisy.tolist())
        assert (again.distribution == first.distribution).all()


def test_a_sensitivity_of_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each query could be paid for alone."""
    monkeypatch.setattr(projection, "largest_column", lambda rows, order: 1)
    tape = Tape(monkeypatch, 5)
    fit = Projection(queries=Queries.thresholds(3), epsilon=1)
    with pytest.raises(AssertionError, match="moves by"):
        tape.same(lambda data: fit.release(data).distribution.tolist(), (2, 1, 1))


def test_a_bound_where_pairs_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for queries, order in itertools.product(CLASSES, (1, 2)):
        exactly = projection.largest_difference(queries.matrix, order)
        with monkeypatch.context() as patch:
            patch.setattr(projection, "_PAIRS", 0)
            assert projection.largest_difference(queries.matrix, order) >= exactly


def test_no_output_tells_more_than_epsilon() -> None:
    """The joint law of all noisy answers, in exact fractions: the log-ratio at any output is at most Σ|moves|/scale ≤ ε."""
    for queries in CLASSES:
        fit = Projection(queries=queries, epsilon="6/5")
        assert isinstance(fit.measuring, Laplace)
        worst = max(
            sum(abs(int(a)) for a in fit.measured @ (np.array(x) - np.array(y))) / fit.measuring.scale
            for x in histograms(3, 4)
            for y in neighbours(x)
        )
        assert worst == Fraction(6, 5)


# ── solvers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("steps", [1, 3, 20])
def test_a_solver_that_is_stopped_early_is_within_the_error(norm: Any, steps: int) -> None:
    """Nearly no noise and few steps: what the solver leaves is most of the error, and both statements include it."""
    queries = Queries.points(50) if norm == "l2" else Queries.thresholds(50)
    fit = Projection(queries=queries, epsilon=1000, steps=steps, tolerance=0.01, norm=norm)
    data = np.where(np.arange(50) < 7, 10**5 * (1 + np.arange(50)), 0)  # 2.8 million
    near = fit.sample(data, Seeded(1))
    off = np.abs(near.answers(queries) - queries.answers(data))
    error = off.max() if norm == "linf" else math.sqrt((off**2).mean())
    assert error > 1000 * 0.01  # as far off as the tolerance would never be
    assert error <= fit.error(0.999999, size=3 * 10**6, gap=near.gap) + 1e-6
    assert near.gap <= fit.error(0.999999, size=3 * 10**6)
    assert error <= fit.error(0.999999, size=3 * 10**6)


# ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def skewed(domain: int, n: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, rng.dirichlet(np.full(domain, 0.2)))


@pytest.mark.parametrize("budget", [{"epsilon": 2}, {"rho": "1/8"}, {"rho": "1/8", "records": 5000}], ids=str)
def test_every_query_is_within_the_error(budget: dict[str, Any]) -> None:
    queries = Queries.intervals(16)
    fit = Projection(queries=queries, **budget)
    for seed in range(5):
        data = skewed(16, 5000, seed)
        near = fit.sample(data, Seeded(seed))
        assert near.gap <= fit.close
        assert np.abs(near.answers(queries) - queries.answers(data)).max() <= fit.error(0.99, 5000)


@pytest.mark.parametrize("budget", [{"epsilon": 2}, {"rho": "1/8"}, {"rho": "1/8", "records": 3000}], ids=str)
def test_the_mean_square_is_within_the_error(budget: dict[str, Any]) -> None:
    queries = Queries.marginals((2,) * 6, 3)
    fit = Projection(queries=queries, norm="l2", **budget)
    for seed in range(5):
        data = skewed(64, 3000, seed)
        near = fit.sample(data, Seeded(seed))
        assert near.gap <= fit.close
        assert math.sqrt(((near.answers(queries) - queries.answers(data)) ** 2).mean()) <= fit.error(0.99, 3000)


def test_projecting_beats_the_noise_when_queries_are_many() -> None:
    """2000 random queries over 32 values: the noise of one answer is far above the projection's error, and so is the stated bound."""
    rng = np.random.default_rng(1)
    queries = Queries(rng.integers(0, 2, (2000, 32)))
    fit = Projection(queries=queries, rho="1/50", norm="l2", records=2000)
    data = skewed(32, 2000, 3)
    near = fit.sample(data, Seeded(3))
    off = math.sqrt(((near.answers(queries) - queries.answers(data)) ** 2).mean())
    raw = math.sqrt(((near.noisy - queries.answers(data)) ** 2).mean())
    assert off < raw / 3
    assert off <= fit.error(0.99, 2000) < raw * 2


# ── input ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong", [{"norm": "l1"}, {"tolerance": -1}, {"tolerance": math.nan}, {"steps": 0}, {"rho": 1}, {"epsilon": 0}], ids=str
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Projection(**({"queries": Queries.points(3), "epsilon": 1} | wrong))


def test_wrong_histograms() -> None:
    for wrong in ([1, 2], [1, 2, -1], [0.5, 1, 1]):
        with pytest.raises(Invalid):
            Projection(queries=Queries.points(3), epsilon=1).release(wrong)
    Projection(queries=Queries([[0, 0, 0]]), epsilon=1).release(Private([math.nan, 1, 0]))
