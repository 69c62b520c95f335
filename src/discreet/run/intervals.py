"""Half-widths of intervals, computed from public numbers alone, for all groups at once.

A statistic is a function of independent noisy totals. Near its value it is nearly linear, so its error is Σ gᵢZᵢ with gᵢ its slope in
total i, and the law of that sum is known: a half-width is its exact quantile. Where a statistic is not nearly linear within the
noise (as a ratio of variances), the quantile is taken over the noise's own law instead, at fixed points. Forecasts and releases share it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.plan.steps import EstimatedTotal, NoisyTotal
from discreet.query.removed import Correction
from discreet.query.totals import Cells, Floats

_STEP = 0.1  # of a noise's scale: slopes are taken over this distance
_NEARLY_NORMAL = 200  # equal Laplace noises whose sum is as good as normal
_FEW = 4  # Laplace noises whose sum is inverted by partial fractions
_POINTS, _FEWEST, _MOST = 1024, 256, 20_000  # at which curved statistics are evaluated
_AT_ONCE = 2**18  # values that are computed at a time
QUICK, SLOW = 2**22, 2**17  # values that are computed in all: of a statistic, and of an expression that is evaluated row by row


def half_widths(
    output: Callable[[Cells], Floats],
    cells: Cells,
    totals: Sequence[NoisyTotal | EstimatedTotal],
    confidence: float,
    curved: bool = False,
    most: int = QUICK,
) -> Floats:
    """The half-width of an output's interval in every group, at this confidence; not finite where it is unbounded.

    A curved output is evaluated at many points at once: its cells then hold all groups several times, one time after the other.
    """
    with np.errstate(all="ignore"):
        return _along_the_curve(output, cells, totals, confidence, most) if curved else _by_slopes(output, cells, totals, confidence)


def _by_slopes(output: Callable[[Cells], Floats], cells: Cells, totals: Sequence[NoisyTotal | EstimatedTotal], confidence: float) -> Floats:
    moving = []
    for noisy in totals:
        step = np.maximum(noisy.scale * _STEP, np.abs(cells[noisy.total]) * 1e-9)  # large enough to change the float
        ahead, behind = (output({**cells, noisy.total: cells[noisy.total] + sign * step}) for sign in (1, -1))
        slopes = np.abs(ahead - behind) / (2 * step)
        slopes = np.where(np.abs(slopes - 1) < 1e-6, 1.0, slopes)  # so that a count's interval has whole ends
        if np.any(slopes > 0):
            moving.append((slopes, noisy))
    if not moving:
        return np.zeros(len(output(cells)))
    slopes, noisy = moving[0]
    if len(moving) == 1 and isinstance(noisy, NoisyTotal) and not noisy.combined:
        return np.asarray(slopes * (float(noisy.unit) * noisy.mechanism.error(confidence)))
    widths = [slopes * scale for slopes, noisy in moving for scale in noisy.scales]
    if noisy.is_gaussian:
        return _whole_where_nearly(np.sqrt(sum(width**2 for width in widths)) * NormalDist().inv_cdf((1 + confidence) / 2))
    return laplace_sum_quantile(np.array(widths), confidence)


def _whole_where_nearly(widths: Floats) -> Floats:
    """A half-width that is whole up to rounding, as of sums of whole noises, ends at whole numbers."""
    whole = np.rint(widths)
    return np.where(np.abs(widths - whole) <= 1e-9 * np.abs(whole), whole, widths)


def corrected_widths(widths: Floats, found: Correction, confidence: float) -> Floats:
    """The half-width of a corrected statistic: noise and the error of the correction are independent, what is allowed for comes on top."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return np.asarray(np.hypot(widths, z * found.sd) + found.allowance)


# ── curved statistics ────────────────────────────────────────────────────────────────────────────────────────────────


def _along_the_curve(
    output: Callable[[Cells], Floats], cells: Cells, totals: Sequence[NoisyTotal | EstimatedTotal], confidence: float, most: int
) -> Floats:
    """The quantile of |f(T − Z) − f(T)|, for the noisy totals T and noise Z: the distance to the true value, given the released one.

    Noise is symmetric, so the totals without noise are T − Z. Points at which the statistic is undefined have infinite distance. The
    points are fixed, so the result is deterministic.
    """
    centre = output(cells)
    groups = len(centre)
    fewest = _POINTS if most >= QUICK else _FEWEST
    count = min(max(_POINTS, math.ceil(20 / (1 - confidence))), _MOST, max(fewest, most // max(groups, 1)))
    points = _points(sum(len(one.scales) for one in totals), count, totals[0].is_gaussian if totals else False)
    far = np.empty((count, groups))
    block = max(_AT_ONCE // max(groups, 1), 1)
    for start in range(0, count, block):
        some = points[start : start + block]
        drawn = iter(some.T[:, :, None])  # a column of standard noise for each scale
        moved = {one.total: (cells[one.total] - sum(scale * next(drawn) for scale in one.scales)).ravel() for one in totals}
        still = {total: np.tile(values, len(some)) for total, values in cells.items() if total not in moved}
        far[start : start + block] = np.abs(output({**still, **moved}).reshape(len(some), groups) - centre)
    far[np.isnan(far)] = np.inf
    place = math.ceil(confidence * count) - 1
    return np.where(np.isnan(centre), np.nan, np.partition(far, place, axis=0)[place])


@lru_cache(maxsize=32)
def _points(dimensions: int, count: int, gaussian: bool) -> Floats:
    """Points spread by the law of standard noise: a Kronecker sequence with the powers of the generalised golden ratio, then quantiles."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))  # the root of x^(d+1) = x + 1
    steps = ratio ** -np.arange(1, dimensions + 1)
    uniform = (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0
    if gaussian:
        law = NormalDist()
        return np.vectorize(law.inv_cdf, otypes=[float])(uniform) if uniform.size else uniform
    return np.asarray(-np.sign(uniform - 0.5) * np.log1p(-2 * np.abs(uniform - 0.5)))


def sum_half_width(scales: Floats, exact: Floats, gaussian: bool, confidence: float) -> float:
    """The half-width of Σ Zⱼ over many independent noises of these scales; `exact` is each one's own quantile over its scale."""
    if np.isnan(scales).any():
        return math.nan
    some = scales > scales.max(initial=0.0) * 1e-6
    count = int(some.sum())
    if count <= 1:
        return float((scales * exact).max(initial=0.0))
    if gaussian:
        return float(np.sqrt((scales**2).sum()) * NormalDist().inv_cdf((1 + confidence) / 2))
    if count <= _FEW:
        return float(laplace_sum_quantile(scales[some][:, None], confidence)[0])
    return many_laplace_quantile(scales[some], confidence)


def many_laplace_quantile(scales: Floats, confidence: float) -> float:
    """The t with P[|Σ Zⱼ| ≤ t] = confidence, for many independent Laplace noises, by inverting their characteristic function φ.

    P[|S| ≤ t] = (2/π) ∫ sin(ωt)/ω · φ(ω) dω over ω > 0, with φ(ω) = Π 1/(1 + bⱼ²ω²); cut off where φ < 10⁻¹⁰.

    >>> round(many_laplace_quantile(np.array([1.0, 1.1, 1.2, 1.3, 1.4]), 0.95), 2)
    7.66
    """
    different, times = np.unique(np.round(scales / math.sqrt(2 * float((scales**2).sum())), 9), return_counts=True)  # variance 1

    def logarithm(at: Floats) -> Floats:
        return np.asarray(-(times * np.log1p((different * at[..., None]) ** 2)).sum(axis=-1))

    end, most = 1.0, 2 - math.log(1 - confidence)
    while logarithm(np.array([end]))[0] > -23:
        end *= 1.25
    steps = 2 * math.ceil(end * most / 0.4) + 200
    at: Floats = np.asarray((np.arange(steps) + 0.5) * (end / steps), np.float64)
    weight = np.exp(logarithm(at)) / at * (end / steps) * 2 / math.pi
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float((np.sin(at * middle) * weight).sum()) < confidence else (low, middle)
    return high * math.sqrt(2 * float((scales**2).sum()))


@lru_cache(maxsize=256)
def laplace_excess(count: float, confidence: float) -> float:
    """How many times as wide an interval is as that of normal noise of the same variance, for a sum of so many equal Laplace noises.

    >>> laplace_excess(1.0, 0.95).__round__(3), laplace_excess(40.0, 0.95).__round__(3)
    (1.081, 1.003)
    """
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    if count < 1.5:
        return -math.log(1 - confidence) / math.sqrt(2) / normal
    if count > _NEARLY_NORMAL:
        return 1.0
    return many_laplace_quantile(np.ones(round(count)), confidence) / math.sqrt(2 * round(count)) / normal


@lru_cache(maxsize=256)
def whole_excess(scale: float, count: int, confidence: float) -> float:
    """The same for a sum of so many whole Laplace noises of this scale, whose interval ends at the least whole number that is enough.

    >>> whole_excess(1.0, 1, 0.95).__round__(3)  # ±3 has 97 %, ±2 has 93 %
    1.082
    """
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    if count > _NEARLY_NORMAL or scale > _NEARLY_NORMAL:
        return laplace_excess(float(count), confidence)
    reach = math.ceil(scale * (2 * math.sqrt(count) + 8) * (2 - math.log(1 - confidence)))
    at = np.arange(-reach, reach + 1)
    law = np.exp(-np.abs(at) / scale)
    wave = np.fft.rfft(np.roll(law / law.sum(), -reach))  # of one noise, around 0
    summed = np.fft.irfft(wave**count, 2 * reach + 1)
    inside = summed[0] + 2 * np.cumsum(summed[1 : reach + 1])
    least = 0 if summed[0] >= confidence else 1 + int(np.searchsorted(inside, confidence))
    return least / (scale * math.sqrt(2 * count) * normal)


def laplace_sum_quantile(scales: Floats, confidence: float) -> Floats:
    """The t with P[|Σ Zⱼ| ≤ t] = confidence, for independent Laplace noise; one row of scales for each Zⱼ.

    The characteristic function Π 1/(1 + bⱼ²t²) falls into partial fractions, so P[|Σ Zⱼ| > t] = Σ Aⱼ e^(−t/bⱼ) with
    Aⱼ = Π_{k≠j} bⱼ²/(bⱼ² − b_k²). Scales that are nearly equal are separated by 0.2 %, which changes t by no more than that.

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
