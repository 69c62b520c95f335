"""From noisy totals to statistics with their errors, computed from public numbers alone, for all groups at once.

A statistic is a function of independent noisy totals. Near its value it is linear, so its error is Σ gᵢZᵢ with gᵢ its slope in total i, and
the law of that sum is known: a half-width is its exact quantile. The same function forecasts (at an imagined group) and reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.plan.steps import Total
from discreet.plan.total import Form, Stat
from discreet.query.question import Measure

Floats: TypeAlias = NDArray[np.float64]
Cells: TypeAlias = Mapping[Stat, Floats]  # each total of every group, in its own units
_STEP = 0.1  # of a noise's scale: slopes are taken over this distance


def statistic(measure: Measure, cells: Cells, clipped: bool = True) -> Floats:
    """The value of a statistic in every group; clipped to where it must lie, or as the noise left it."""
    of = {(stat.form, stat.expr): stat for stat in cells}

    def total(form: Form) -> Floats:
        return cells[of[form, measure.expr]]

    def count() -> Floats:
        return total("present") if ("present", measure.expr) in of else cells[of["rows", None]]

    match measure.function:
        case "count":
            return _not_negative(cells[of["rows", None]], clipped)
        case "count_of":
            return _not_negative(count(), clipped)
        case "count_units":
            return _not_negative(cells[of["units", None] if ("units", None) in of else of["rows", None]], clipped)
        case "count_distinct":
            return _not_negative(total("distinct"), clipped)
        case "sum" if ("plain", measure.expr) in of:
            return total("plain")
        case "sum":
            return total("total") + _middle(of["total", measure.expr]) * count()
        case "mean":
            stat = of["total", measure.expr]
            mean = total("total") / (np.maximum(count(), 1.0) if stat.size is None else float(stat.size))
            return _middle(stat) + (np.clip(mean, -_half(stat), _half(stat)) if clipped else mean)
        case "variance" | "stddev":
            return _variance(measure, total("squares"), total("total"), count(), _half(of["total", measure.expr]), clipped)
        case _:
            raise AssertionError(measure.function)


def _not_negative(values: Floats, clipped: bool) -> Floats:
    return np.maximum(values, 0.0) if clipped else values


def _variance(measure: Measure, squares: Floats, centred: Floats, count: Floats, half: float, clipped: bool) -> Floats:
    n = np.maximum(count, 2.0)
    correction = 1.0 if measure.population else n / (n - 1)
    value = (squares / n - (centred / n) ** 2) * correction
    if clipped:
        value = np.clip(value, 0.0, half * half * correction)
    if measure.function == "variance":
        return np.asarray(value)
    return np.sign(value) * np.sqrt(np.abs(value))


def _middle(stat: Stat) -> float:
    assert stat.grid is not None
    return float(stat.grid.mid)


def _half(stat: Stat) -> float:
    assert stat.grid is not None
    return float(stat.grid.half)


def plausible(measure: Measure, cells: Cells) -> tuple[float, float]:
    """Where a statistic must lie, whatever the noise."""
    stat = next((stat for stat in cells if stat.expr == measure.expr and stat.form == "total"), None)
    match measure.function:
        case "mean" if stat is not None:
            return _middle(stat) - _half(stat), _middle(stat) + _half(stat)
        case "sum":
            return -math.inf, math.inf
        case "stddev" | "variance" if stat is not None:
            most = _half(stat) * math.sqrt(2)
            return 0.0, most if measure.function == "stddev" else most**2
        case _:
            return 0.0, math.inf


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def half_widths(output: Callable[[Cells], Floats], cells: Cells, totals: Sequence[Total], confidence: float) -> Floats:
    """How far an output may be off in every group, with this confidence; what floats cannot hold is not finite."""
    with np.errstate(all="ignore"):
        return _half_widths(output, cells, totals, confidence)


def _half_widths(output: Callable[[Cells], Floats], cells: Cells, totals: Sequence[Total], confidence: float) -> Floats:
    moving = []
    for total in totals:
        step = np.maximum(total.scale * _STEP, np.abs(cells[total.stat]) * 1e-5)  # so far that floats see it
        ahead, behind = (output({**cells, total.stat: cells[total.stat] + sign * step}) for sign in (1, -1))
        slopes = np.abs(ahead - behind) / (2 * step)
        slopes = np.where(np.abs(slopes - 1) < 1e-6, 1.0, slopes)  # so that a count's ends are whole
        if np.any(slopes > 0):
            moving.append((slopes, total))
    if not moving:
        return np.zeros(len(output(cells)))
    if len(moving) == 1:
        slopes, total = moving[0]
        return slopes * (float(total.unit) * total.mechanism.error(confidence))
    widths = [slopes * total.scale for slopes, total in moving]
    if moving[0][1].is_gaussian:
        return np.sqrt(sum(width**2 for width in widths)) * NormalDist().inv_cdf((1 + confidence) / 2)
    return laplace_sum_quantile(np.array(widths), confidence)


def laplace_sum_quantile(scales: Floats, confidence: float) -> Floats:
    """The t with P[|Σ Zⱼ| ≤ t] = confidence, for independent Laplace noise; one row of scales for each Zⱼ.

    The characteristic function Π 1/(1 + bⱼ²t²) falls into partial fractions, so P[|Σ Zⱼ| > t] = Σ Aⱼ e^(−t/bⱼ) with
    Aⱼ = Π_{k≠j} bⱼ²/(bⱼ² − b_k²). Scales that are nearly equal are moved apart by 0.2 %, which moves t by no more than that.

    >>> laplace_sum_quantile(np.array([[1.0, 2.0], [1.0, 0.0]]), 0.95).round(2)
    array([4.12, 5.99])
    """
    apart = np.sort(scales, axis=0)
    apart[0] = np.maximum(apart[0], apart[-1] * 1e-6)
    for j in range(1, len(apart)):
        apart[j] = np.maximum(apart[j], apart[j - 1] * 1.002)
    square = apart**2
    parts = [np.prod([square[j] / (square[j] - square[k]) for k in range(len(apart)) if k != j], axis=0) for j in range(len(apart))]

    def beyond(t: Floats) -> Any:
        return sum(part * np.exp(-t / scale) for part, scale in zip(parts, apart, strict=True))

    low, high = np.zeros(apart.shape[1]), apart.sum(axis=0) * (2 - math.log(1 - confidence))
    for _ in range(50):
        middle = (low + high) / 2
        far = beyond(middle) > 1 - confidence
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.asarray(high)
