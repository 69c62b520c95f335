"""The notes' mechanisms, each run 300 times against its stated error: no more failures than the confidence allows.

A true bound fails in each run with probability at most 0.1 independently; more than `ALLOWED` failures then have a probability below
10⁻⁶. Where the bound is an exact quantile, far fewer than a tenth would also be wrong, and is looked at too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scripted import Seeded

from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax, TopK
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease, StableMode
from discreet.mechanisms.robust.sample_and_aggregate import SampleAndAggregate
from discreet.mechanisms.staircase import Staircase
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.mechanisms.streams.tree import Tree
from discreet.mechanisms.truncated_geometric import TruncatedGeometric

RUNS, CONFIDENCE = 300, 0.9
ALLOWED = next(k for k in range(RUNS) if stats.binom.sf(k, RUNS, 1 - CONFIDENCE) < 1e-6)
EXPECTED = next(k for k in range(RUNS) if stats.binom.cdf(k, RUNS, 1 - CONFIDENCE) > 1e-6)  # fewer: the quantile is not exact
DELTA: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
SCORES = np.array([100, 97, 96, 96, 90, 80, 80, 60])

Promise = tuple[Callable[[Any], float], float]  # what one run with these coins is off by, and what is stated


def largest(made: Any, size: int) -> Promise:
    zeros: Any = 0 if size == 1 else np.zeros(size, np.int64)
    return lambda bits: float(np.abs(made.sample(zeros, bits)).max()), made.error(CONFIDENCE, size)


def behind(made: Any) -> Promise:
    return lambda bits: float(SCORES.max() - SCORES[made.sample(SCORES, bits)]), made.error(CONFIDENCE, len(SCORES))


def top(made: Any) -> Promise:
    best = np.sort(SCORES)[::-1]
    return lambda bits: float((best[:3] - SCORES[made.sample(SCORES, bits)]).max()), made.error(CONFIDENCE, len(SCORES))


def sparse() -> Promise:
    """A stream in which nothing is clear: how far below the threshold a hit was, or above it a miss."""
    made, answers = SparseVector(epsilon=1, threshold=50), list(range(0, 60, 3)) * 2

    def run(bits: Any) -> float:
        told = made.sample(answers, bits)
        return max(50 - a if o.above else a - 50 for a, o in zip(answers, told, strict=False))

    return run, made.error(CONFIDENCE, len(answers))


def responses() -> Promise:
    made, truth = RandomizedResponse(epsilon=1), np.repeat([0, 1], [300, 100])
    return lambda bits: float(abs(made.estimate(made.sample(truth, bits))[0] - 0.75)), made.error(CONFIDENCE, 400)


def ranks() -> Promise:
    made, values = Quantile(epsilon=1, q="0.5", lower=0, upper=1000), np.arange(1000)
    return lambda bits: float(abs((values <= made.sample(values, bits)).sum() - 500)), made.error(CONFIDENCE) + 1


def shown(made: Any, data: Callable[[int], Any], is_shown: Callable[[Any], bool]) -> Promise:
    """Groups, leads or distances from the stated size on are shown: a run is off by 1 where that one is not."""
    least = int(made.error(CONFIDENCE))
    return lambda bits: float(not is_shown(made.sample(data(least), bits))), 0.5


def proposed() -> Promise:
    made = ProposeTestRelease(bound=1, statistic=Robust.median(lower=0, upper=1000), **DELTA)
    values = np.repeat(np.arange(400, 601), 100)  # far from where one record could move the median by more
    return lambda bits: abs(float(made.sample(values, bits) or 0) - 500), made.error(CONFIDENCE)


def aggregated() -> Promise:
    made = SampleAndAggregate(epsilon=1, estimator=lambda rows: 7.0, blocks=40, lower=0, upper=10, aggregate="mean")
    return lambda bits: abs(made.sample(np.arange(400), bits) - 7.0), made.error(CONFIDENCE)


def totals(made: Any) -> Promise:
    return lambda bits: float(np.abs(made.sample([0] * 32, bits)).max()), made.error(CONFIDENCE, 32)


EXACT: dict[str, Callable[[], Promise]] = {
    "Laplace": lambda: largest(Laplace(epsilon=1, sensitivity=50, whole=True), 1),
    "Laplace, 20 answers": lambda: largest(Laplace(epsilon=1, sensitivity=50, whole=True), 20),
    "Staircase": lambda: largest(Staircase(epsilon=1, sensitivity=50), 1),
    "Staircase, 20 answers": lambda: largest(Staircase(epsilon=1, sensitivity=50), 20),
    "Gaussian": lambda: largest(Gaussian(sensitivity=9, whole=True, **DELTA), 1),
    "Gaussian, 20 answers": lambda: largest(Gaussian(sensitivity=9, whole=True, **DELTA), 20),
    "PartitionSelection": lambda: shown(PartitionSelection(**DELTA), lambda n: {"a": n}, bool),
    "StableMode": lambda: shown(StableMode(**DELTA), lambda n: {"a": 100 + n, "b": 100}, lambda told: told == "a"),
}
BOUNDS: dict[str, Callable[[], Promise]] = {
    "TruncatedGeometric": lambda: largest(TruncatedGeometric(**DELTA), 1),
    "Exponential": lambda: behind(Exponential(epsilon=1)),
    "NoisyMax, exponential": lambda: behind(NoisyMax(epsilon=1)),
    "NoisyMax, gumbel": lambda: behind(NoisyMax(epsilon=1, noise="gumbel")),
    "NoisyMax, laplace": lambda: behind(NoisyMax(epsilon=1, noise="laplace")),
    "NoisyMax, geometric": lambda: behind(NoisyMax(epsilon=1, noise="geometric")),
    "TopK": lambda: top(TopK(epsilon=1, k=3)),
    "SparseVector": sparse,
    "RandomizedResponse": responses,
    "Quantile": ranks,
    "ProposeTestRelease": proposed,
    "SampleAndAggregate": aggregated,
    "Tree": lambda: totals(Tree(epsilon=1, horizon=32)),
    "Tree, Gaussian": lambda: totals(Tree(horizon=32, **DELTA)),
}


def failures(promise: Promise) -> int:
    run, bound = promise
    assert 0 < bound < 10**6
    return sum(run(Seeded(seed)) > bound for seed in range(RUNS))


@pytest.mark.parametrize("name", [*EXACT, *BOUNDS])
def test_three_hundred_runs_keep_the_promise(name: str) -> None:
    failed = failures((EXACT | BOUNDS)[name]())
    assert failed <= ALLOWED < 0.25 * RUNS
    if name.startswith(("Laplace", "Gaussian")):
        assert failed >= EXPECTED > 0  # whole noise this wide attains its quantile


def test_a_bound_that_is_too_small_is_noticed() -> None:
    for name in ("Laplace", "Gaussian, 20 answers", "SparseVector", "Exponential", "SampleAndAggregate"):
        run, bound = (EXACT | BOUNDS)[name]()
        assert failures((run, bound / 4)) > ALLOWED, name
