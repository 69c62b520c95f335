"""Intervals that include the sampling error: their coverage, exactly for Poisson samples and by simulation of units with several rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from attrs import evolve
from plan.questions import catalog, steps

from discreet.plan.steps import Steps
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.run.intervals import half_widths
from discreet.run.sampling_error import SamplingError, sampling_error_through, with_sampling_error
from discreet.run.tables import noisy_totals_of
from discreet.tables.catalog import Catalog

RATE = Fraction(1, 100)
DRAWS = 20_000


def sampled(sql: str, tables: Catalog, epsilon: int = 1000) -> Steps:
    plan = steps(sql, tables, Fraction(epsilon), Fraction(0))
    totals = tuple(evolve(one, unit=one.unit / RATE) for one in plan.totals)
    return evolve(plan, question=evolve(plan.question, sample=RATE), totals=totals)


def behind(plan: Steps) -> Totals:
    assert plan.available_totals is not None
    return plan.available_totals


# ── few units in the sample, exactly ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999])
def test_counts_of_few_sampled_units_are_covered(confidence: float) -> None:
    """The number in the sample is Poisson in the limit of a small rate: its law is summed over, for means from almost none to many."""
    plan = sampled("SELECT COUNT(*) AS n FROM t", catalog({"rows": 1}), 10**9)
    seen = np.arange(400)
    cells: Cells = {one.total: seen / float(RATE) for one in plan.totals}
    widths = with_sampling_error(plan, plan.question.additive["n"], behind(plan), cells, np.zeros(len(seen)), confidence) * float(RATE)
    for mean in [0.01, 0.1, *np.linspace(0.2, 30, 600), 100.0]:
        log_law = seen * math.log(mean) - mean - np.array([math.lgamma(k + 1) for k in seen])
        inside = np.abs(seen - mean) <= widths / math.sqrt(1 - RATE)  # the exact variance is smaller by 1 − q
        assert np.exp(log_law)[inside].sum() >= confidence


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.9999])
@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 3.0, 10.0])
def test_squares_of_half_widths_of_laplace_noise_and_sampling_error_may_be_added(confidence: float, ratio: float) -> None:
    plan = sampled("SELECT COUNT(*) AS n FROM t", catalog({"rows": 1}))
    noise = np.array([-math.log(1 - confidence)])
    width = float(SamplingError(plan, confidence).together(noise, NormalDist().inv_cdf((1 + confidence) / 2) * ratio * np.ones(1))[0])
    at = np.linspace(-40, 40, 40_001)
    inside = [NormalDist(0, ratio).cdf(width - x) - NormalDist(0, ratio).cdf(-width - x) for x in at]
    law = np.exp(-np.abs(at)) / 2 * (at[1] - at[0])
    assert float((law * inside).sum()) >= confidence - 1e-4


# ── units with several rows, by simulation ───────────────────────────────────────────────────────────────────────────


def simulated(plan: Steps, truth: Mapping[Total, Floats], seed: int) -> Cells:
    """Draws of the totals, from what each unit adds to them: every draw takes the place of a group."""
    coins = np.random.default_rng(seed)
    units = len(next(iter(truth.values())))
    drawn = {total: np.zeros(DRAWS) for total in truth}
    for start in range(0, DRAWS, 500):
        chosen = coins.random((500, units)) < float(RATE)
        for total, adds in truth.items():
            drawn[total][start : start + 500] = chosen @ adds / float(RATE)
    return {one.total: drawn[one.total] + coins.laplace(0, one.scale, DRAWS) for one in plan.totals}


def covered(plan: Steps, name: str, cells: Cells, truth: float) -> float:
    statistic, of = plan.question.additive[name], behind(plan)
    noise = half_widths(lambda at: statistic.value(of, at, clipped=False), cells, noisy_totals_of([statistic], plan), 0.95)
    widths = with_sampling_error(plan, statistic, of, cells, noise, 0.95)
    return float((np.abs(statistic.value(of, cells, clipped=True) - truth) <= widths).mean())


SLACK = 5 * math.sqrt(0.05 * 0.95 / DRAWS)  # beyond with probability 6e-7


@pytest.mark.parametrize("bounds", [(0, 100), (-20, 100)])
@pytest.mark.parametrize("units", [150, 3000])
def test_counts_sums_and_means_are_covered(units: int, bounds: tuple[int, int]) -> None:
    rows = 4
    tables = catalog({"rows": rows}, bounds=bounds, nullable=False)
    plan = sampled("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t", tables, 20)
    coins = np.random.default_rng(units)
    size = coins.integers(1, rows + 1, units).astype(float)
    values = np.clip(coins.exponential(15, units) + bounds[0] / 4, *bounds)  # the same in all rows of a unit: the worst case
    truth = {}
    for one in plan.totals:
        centre = float(one.total.factors[0].grid.mid) if one.total.factors else 0.0
        truth[one.total] = size * (values - centre) if one.total.factors else size
    cells = simulated(plan, truth, units + 1)
    total = float((size * values).sum())
    assert covered(plan, "n", cells, float(size.sum())) >= 0.95 - SLACK
    assert covered(plan, "s", cells, total) >= 0.95 - SLACK
    assert covered(plan, "m", cells, total / float(size.sum())) >= 0.95 - SLACK


def test_equal_units_leave_no_room() -> None:
    """Each unit adds as much as it may, so the interval is about as wide as it must be."""
    plan = sampled("SELECT COUNT(*) AS n FROM t", catalog({"rows": 1}), 1000)
    (one,) = plan.totals
    found = covered(plan, "n", simulated(plan, {one.total: np.ones(5_000)}, 3), 5_000.0)
    assert 0.95 - SLACK <= found <= 0.97


def test_the_interval_of_the_noise_alone_would_not_hold() -> None:
    plan = sampled("SELECT COUNT(*) AS n FROM t", catalog({"rows": 1}), 1000)
    (one,) = plan.totals
    cells = simulated(plan, {one.total: np.ones(5_000)}, 3)
    alone = evolve(plan, question=evolve(plan.question, sample=None))
    assert covered(alone, "n", cells, 5_000.0) < 0.5


def test_the_error_of_a_computed_column_is_at_most_the_sum_of_its_parts() -> None:
    plan = sampled("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", catalog({"rows": 1}, nullable=False))
    of, statistics = behind(plan), plan.question.additive
    cells = {one.total: np.array([5e6 if one.total.factors else 1e5]) for one in plan.totals}
    found = sampling_error_through(plan, statistics, of, cells, np.zeros(1), 0.95, lambda at: at["s"] / at["n"])
    mean = float(statistics["s"].value(of, cells, clipped=False)[0]) / 1e5
    parts = [with_sampling_error(plan, one, of, cells, np.zeros(1), 0.95)[0] for one in statistics.values()]
    assert found[0] == pytest.approx(parts[1] / 1e5 + mean * parts[0] / 1e5, rel=0.01)


def test_a_plan_that_reads_all_units_keeps_its_widths() -> None:
    plan = steps("SELECT COUNT(*) AS n FROM t", catalog({"rows": 1}))
    noise = np.array([3.0])
    assert with_sampling_error(plan, plan.question.additive["n"], behind(plan), {}, noise, 0.95) is noise


@pytest.mark.parametrize("bounds", [(0, 100), (-20, 100), (-30, -5), (40, 60)])
@pytest.mark.parametrize("seed", range(20))
def test_every_statistic_bounds_the_squares_of_what_rows_add(bounds: tuple[int, int], seed: int) -> None:
    coins = np.random.default_rng(seed)
    plan = sampled("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t", catalog({"rows": 1}, bounds=bounds, nullable=False))
    weights, ends = coins.random(50), coins.random()
    values = np.where(coins.random(50) < ends, bounds[0], np.where(coins.random(50) < ends, bounds[1], coins.uniform(*bounds, 50)))
    count, mean = float(weights.sum()), float((weights * values).sum() / weights.sum())
    cells = {}
    for one in plan.totals:
        grid = one.total.factors[0].grid if one.total.factors else None
        cells[one.total] = np.array([count if grid is None else float((weights * (values - float(grid.mid))).sum())])
    added = {"n": np.ones(50), "s": values, "m": (values - mean) / count}
    for name, adds in added.items():
        found = plan.question.additive[name].squares(behind(plan), cells, cells, np.zeros(1))
        assert found[0] >= float((weights * adds**2).sum()) * (1 - 1e-9)
