"""Half-widths against brute force: the quantile of the error over many draws of the noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from plan.questions import catalog, steps

from discreet.plan.steps import NoisyTotal
from discreet.query.totals import Cells, Floats
from discreet.run.intervals import half_widths, laplace_sum_quantile, many_laplace_quantile, sum_half_width

LEVEL, DRAWS = 0.95, 40_000


def noise(totals: list[NoisyTotal], draws: int) -> dict[Any, Floats]:
    draw = np.random.default_rng(7)
    return {one.total: (draw.normal if one.is_gaussian else draw.laplace)(0, one.scale, draws) for one in totals}


@pytest.mark.parametrize("scales", [[1.0], [1.0, 1.0], [3.0, 1.0, 0.2], [5.0, 5.0, 5.0, 5.0]], ids=str)
def test_sums_of_laplace_noise(scales: list[float]) -> None:
    draw = np.random.default_rng(1)
    total = np.sum([draw.laplace(0, scale, 400_000) for scale in scales], axis=0)
    width = laplace_sum_quantile(np.array(scales)[:, None], LEVEL)[0]
    assert np.mean(np.abs(total) <= width) == pytest.approx(LEVEL, abs=0.003)


@pytest.mark.parametrize(("curved", "spread"), [(True, 2.0), (True, 8.0), (True, 1000.0), (False, 1000.0)])
def test_widths_cover_the_truth_as_often_as_they_claim(curved: bool, spread: float) -> None:
    """A ratio of two noisy totals, from nearly linear (a large denominator) to strongly curved (a small one)."""
    totals = list(steps("SELECT COUNT(*), SUM(x) FROM t", catalog({"rows": 1})).totals)
    top, bottom = totals
    truth: Cells = {top.total: np.array([50.0 * top.scale]), bottom.total: np.array([spread * bottom.scale])}

    def ratio(at: Cells) -> Floats:
        return np.asarray(at[top.total] / np.where(at[bottom.total] > 0, at[bottom.total], np.nan))

    drawn = noise(totals, DRAWS if not curved else 3000)
    noisy: Cells = {total: truth[total] + z for total, z in drawn.items()}
    widths = half_widths(ratio, noisy, totals, LEVEL, curved)
    with np.errstate(all="ignore"):
        off = np.abs(ratio(noisy) - ratio(truth)[0])
    defined = ~np.isnan(off)
    covered = np.mean(off[defined] <= widths[defined])
    assert covered >= LEVEL - 0.02
    if spread == 1000.0:
        assert covered <= LEVEL + 0.02


def test_the_same_points_every_time_and_nothing_for_a_constant() -> None:
    totals = list(steps("SELECT COUNT(*) FROM t", catalog({"rows": 1})).totals)
    cells: Cells = {totals[0].total: np.array([10.0, 500.0])}
    again = [half_widths(lambda at: np.sqrt(at[totals[0].total]), cells, totals, LEVEL, True) for _ in range(2)]
    assert again[0].tolist() == again[1].tolist()
    assert half_widths(lambda at: np.zeros(2), cells, totals, LEVEL).tolist() == [0, 0]
    assert half_widths(lambda at: at[totals[0].total], cells, totals, LEVEL)[0] == float(totals[0].unit) * totals[0].mechanism.error(LEVEL)


def test_undefined_points_are_infinitely_far() -> None:
    totals = list(steps("SELECT COUNT(*) FROM t", catalog({"rows": 1})).totals)
    cells: Cells = {totals[0].total: np.array([totals[0].scale * 0.1, math.nan])}
    widths = half_widths(lambda at: np.log(at[totals[0].total]), cells, totals, LEVEL, True)
    assert math.isinf(widths[0])
    assert math.isnan(widths[1])


def test_many_laplace_noises_by_their_characteristic_function() -> None:
    few = np.array([1.0, 2.0, 3.5])
    assert many_laplace_quantile(few, 0.95) == pytest.approx(float(laplace_sum_quantile(few[:, None], 0.95)[0]), rel=1e-3)
    equal = np.full(1000, 3.0)
    assert many_laplace_quantile(equal, 0.95) == pytest.approx(1.96 * 3 * (2 * 1000) ** 0.5, rel=1e-3)
    one = np.array([5.0, *[0.001] * 20])  # one of them is far larger
    assert many_laplace_quantile(one, 0.95) == pytest.approx(5 * np.log(20), rel=1e-2)
    assert many_laplace_quantile(equal * 2, 0.99) == pytest.approx(2 * many_laplace_quantile(equal, 0.99))


def test_a_sum_of_noises_has_the_law_of_its_noises() -> None:
    nothing, own = np.zeros(3), np.full(3, 3.0)
    assert sum_half_width(nothing, own, False, 0.95) == 0
    assert sum_half_width(np.array([0.0, 2.0, 0.0]), own, False, 0.95) == 6.0
    assert sum_half_width(np.array([3.0, 4.0, 0.0]), own, True, 0.95) == pytest.approx(5 * 1.959964)
    drawn = np.random.default_rng(3).laplace(size=(200_000, 8)) @ np.arange(1.0, 9.0)
    expected = float(np.quantile(np.abs(drawn), 0.95))
    assert sum_half_width(np.arange(1.0, 9.0), np.full(8, 3.0), False, 0.95) == pytest.approx(expected, rel=0.02)
    assert np.isnan(sum_half_width(np.array([1.0, np.nan]), np.ones(2), False, 0.95))
