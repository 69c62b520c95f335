"""Every algorithm of the history, run many times at (ε, δ): no more errors beyond its stated bound than the confidence allows.

With confidence 0.9 a true bound fails in each of N independent runs with probability at most 0.1; `allowed` is the least number that
more failures than it have a probability below 10⁻⁶. So a true bound fails the test with less than that, and a bound that is wrong in
half of all runs hardly ever passes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scripted import Seeded

from discreet.algorithms.classical.bands import BLRThresholds
from discreet.algorithms.classical.blr import BLR
from discreet.algorithms.classical.boosting import Boosting
from discreet.algorithms.classical.dnrrv import DNRRV
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.median import MedianMechanism, all_databases, rows_needed
from discreet.algorithms.classical.mwem import MWEM
from discreet.algorithms.classical.pmw import PMW
from discreet.algorithms.classical.projection import Projection
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private

RUNS, CONFIDENCE = 60, 0.9
Run = Callable[[Any], float]  # one run with these coins: by how much its worst answer is off
BUDGETS: dict[str, dict[str, Any]] = {"pure": {"epsilon": 1}, "approximate": {"epsilon": 1, "delta": "1e-6"}}
QUERIES = Queries([*Queries.thresholds(6).matrix, *Queries.points(6).matrix, [1, 0, 1, 0, 1, 0]])
DATA = np.array([700, 0, 100, 1100, 0, 100])
MANY = 500 * DATA  # a million records, for the algorithms whose bounds need them


def allowed(runs: int = RUNS) -> int:
    return next(k for k in range(runs) if stats.binom.sf(k, runs, 1 - CONFIDENCE) < 1e-6)


def worst(told: Any, data: Any = DATA, queries: Queries = QUERIES) -> float:
    return float(np.abs(np.asarray(told) - queries.answers(data)).max())


def failures(run: Run, bound: float, runs: int = RUNS) -> int:
    assert 0 < bound < math.inf
    return sum(run(Seeded(seed)) > bound for seed in range(runs))


def online(mechanism: Any, rows: Any, data: Any) -> float:
    """All rows asked one by one, with coins of the system: an online algorithm takes no others."""
    stream = mechanism.open(Private(data))
    return max(abs(stream.ask(row).value - int(row @ data)) for row in rows)


def noise(budget: dict[str, Any]) -> tuple[Run, float]:
    size = QUERIES.size
    made = (
        Laplace(sensitivity=size, whole=True, **budget)
        if len(budget) == 1
        else Gaussian(sensitivity=math.isqrt(size) + 1, whole=True, **budget)
    )
    return lambda bits: worst(made.sample(QUERIES.answers(DATA), bits)), made.error(CONFIDENCE, size)


def blr(budget: dict[str, Any]) -> tuple[Run, float]:
    made = BLR(queries=QUERIES, rows=5, **budget)
    return lambda bits: worst(made.sample(DATA, bits).answers(QUERIES)), made.error(CONFIDENCE, 2000)


def blr_candidates(budget: dict[str, Any]) -> tuple[Run, float]:
    """Its bound is what it adds to the best candidate's error."""
    candidates = all_databases(6, 4)
    made = BLR(queries=QUERIES, rows=4, sampler="candidates", candidates=candidates, **budget)
    best = float(np.abs(candidates @ QUERIES.matrix.T * (2000 / 4) - QUERIES.answers(DATA)).max(axis=1).min())
    return lambda bits: worst(made.sample(DATA, bits).answers(QUERIES)) - best, made.error(CONFIDENCE, 2000)


def blr_thresholds(budget: dict[str, Any]) -> tuple[Run, float]:
    made, asked = BLRThresholds(domain=6, rows=8, **budget), Queries.thresholds(6)
    return lambda bits: worst(made.sample(DATA, bits).answers(asked), queries=asked), made.error(CONFIDENCE, 2000)


def mwem(budget: dict[str, Any]) -> tuple[Run, float]:
    made = MWEM(queries=QUERIES, rounds=8, **budget)
    return lambda bits: worst(made.sample(DATA, bits).answers(QUERIES)), made.error(CONFIDENCE, 2000)


def pmw(budget: dict[str, Any]) -> tuple[Run, float]:
    made = PMW(domain=6, accuracy="0.4", queries_expected=QUERIES.size, **budget)
    return lambda bits: online(made, QUERIES.matrix, MANY), made.error(CONFIDENCE, 10**6)


def median(budget: dict[str, Any]) -> tuple[Run, float]:
    rows, data = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]]), np.array([800_000, 0, 200_000])
    made = MedianMechanism(
        candidates=all_databases(3, rows_needed(3, "0.6")), accuracy="0.6", queries_expected=3, **budget
    )  # fmt: skip
    return lambda bits: online(made, rows, data), made.error(CONFIDENCE, 10**6)


def boosting(budget: dict[str, Any]) -> tuple[Run, float]:
    asked = Queries.thresholds(4)
    data = np.array([700_000, 0, 100_000, 200_000])
    made = Boosting.proven(asked, size=10**6, confidence=CONFIDENCE, most_rows=256, **budget)
    return lambda bits: worst(made.sample(data, bits).answers, data, asked), made.error(CONFIDENCE, 10**6)


def projection(budget: dict[str, Any]) -> tuple[Run, float]:
    made = Projection(queries=QUERIES, **budget)
    return lambda bits: worst(made.sample(DATA, bits).answers(QUERIES)), made.error(CONFIDENCE, 2000)


def projection_with_its_gap(budget: dict[str, Any]) -> tuple[Run, float]:
    """The bound with the gap that the release tells: what is beyond it, plus the bound without a gap."""
    made = Projection(queries=QUERIES, **budget)
    bare = made.error(CONFIDENCE, 2000, gap=0.0)

    def run(bits: Any) -> float:
        told = made.sample(DATA, bits)
        return worst(told.answers(QUERIES)) - told.gap

    return run, bare


def projection_mean_square(budget: dict[str, Any]) -> tuple[Run, float]:
    made = Projection(queries=QUERIES, norm="l2", **budget)

    def run(bits: Any) -> float:
        off = made.sample(DATA, bits).answers(QUERIES) - QUERIES.answers(DATA)
        return math.sqrt(float((off**2).mean()))

    return run, made.error(CONFIDENCE, 2000)


def dnrrv(budget: dict[str, Any]) -> tuple[Run, float]:
    made = DNRRV(queries=QUERIES, rows=300, sizes=(9, 6), beta="0.1", **budget)
    return lambda bits: worst(made.sample(DATA, bits).answers), made.error(CONFIDENCE, 2000)


def dnrrv_small(budget: dict[str, Any]) -> tuple[Run, float]:
    made = DNRRV(queries=QUERIES, rows=300, sizes=(8,), beta="0.1", **budget)
    return lambda bits: worst(made.sample(DATA, bits).small.answers(QUERIES)), made.small_error(CONFIDENCE, 2000)


QUICK = [noise, blr, blr_candidates, blr_thresholds, mwem, pmw, median, projection, projection_with_its_gap, projection_mean_square]
SLOW = [boosting, dnrrv, dnrrv_small]


@pytest.mark.parametrize("budget", ["pure", pytest.param("approximate", marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", QUICK, ids=lambda made: made.__name__)
def test_sixty_runs_keep_the_promise(algorithm: Any, budget: str) -> None:
    assert failures(*algorithm(BUDGETS[budget])) <= allowed() < RUNS / 2


@pytest.mark.parametrize("budget", ["pure", pytest.param("approximate", marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", SLOW, ids=lambda made: made.__name__)
def test_twenty_runs_keep_the_promise(algorithm: Any, budget: str) -> None:
    assert failures(*algorithm(BUDGETS[budget]), runs=20) <= allowed(20) < 20


def test_bounds_that_were_wrong_are_noticed() -> None:
    """Noise as if for one query; what Boosting used to say; what Projection used to say when its solver had stopped early."""
    single = Laplace(epsilon=1, whole=True)
    run, _ = noise(BUDGETS["pure"])
    assert failures(run, single.error(CONFIDENCE, QUERIES.size)) > allowed()

    asked, data = Queries.thresholds(4), np.array([700_000, 0, 100_000, 200_000])
    boost = Boosting.linear(asked, rounds=12, draws=4, rows=4, near=10, rho=10)
    assert failures(lambda bits: worst(boost.sample(data, bits).answers, data, asked), boost.near + boost.margin, 20) > allowed(20)

    early = Projection(queries=QUERIES, epsilon=100, steps=2)
    before = 3 * early.measuring.error(CONFIDENCE, QUERIES.size + 1) + early.close
    assert failures(lambda bits: worst(early.sample(DATA, bits).answers(QUERIES)), before) > allowed()
    assert failures(lambda bits: worst(early.sample(DATA, bits).answers(QUERIES)), early.error(CONFIDENCE, 2000)) <= allowed()


@pytest.mark.parametrize("budget", ["pure", pytest.param("approximate", marks=pytest.mark.slow)])
def test_what_they_cost_is_within_epsilon_and_delta(budget: str) -> None:
    given = BUDGETS[budget]
    for made in (
        BLR(queries=QUERIES, rows=3, **given),
        BLRThresholds(domain=6, rows=3, **given),
        MWEM(queries=QUERIES, rounds=8, **given),
        PMW(domain=6, accuracy="0.4", queries_expected=20, **given),
        MedianMechanism(candidates=all_databases(3, 3), accuracy="0.6", queries_expected=3, **given),
        Boosting.linear(QUERIES, rounds=5, draws=6, rows=4, near=3, **given),
        Projection(queries=QUERIES, **given),
        DNRRV(queries=QUERIES, rows=30, sizes=(6,), **given),
    ):
        assert made.loss.epsilon_at(given.get("delta", 0)) <= 1, made
        assert made.loss.epsilon_at(given.get("delta", 0)) > 0.8, made  # and what may be spent is spent
