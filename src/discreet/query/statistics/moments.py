"""Central moments from noisy totals of powers: what variances, skewness and kurtosis have in common."""

from __future__ import annotations

import math

import numpy as np

from discreet.query.relation.expr import Expr
from discreet.query.statistics.statistic import OFF_CENTRE
from discreet.query.totals import Cells, Floats, Total, Totals


def powers(of: Totals, expr: Expr, highest: int) -> dict[Total, float]:
    """The totals of all powers up to the highest, and the count.

    In (x − m)ʰ the (h − j)-th power of x has the coefficient binom(h, j)·mʲ, which is the effect of its error on the moment of order h.
    """
    totals = {of.product((expr, highest - j), order=highest): math.comb(highest, j) * OFF_CENTRE**j for j in range(highest)}
    return totals | {of.count(expr): OFF_CENTRE}


def central(of: Totals, cells: Cells, expr: Expr, highest: int, least: float) -> tuple[Floats, list[Floats]]:
    """The count, at least `least`, and the central moments of order 2 to the highest."""
    n = np.maximum(cells[of.count(expr)], least)
    raw = [np.ones_like(n), *(cells[of.product((expr, power), order=highest)] / n for power in range(1, highest + 1))]
    mean = raw[1]
    second = raw[2] - mean**2
    moments = [second]
    if highest >= 3:
        moments.append(raw[3] - 3 * mean * raw[2] + 2 * mean**3)
    if highest >= 4:
        moments.append(raw[4] - 4 * mean * raw[3] + 6 * mean**2 * raw[2] - 3 * mean**4)
    return n, moments


def spread(variance: Floats, step: float) -> Floats:
    """A variance to divide by; NaN where the noise left none, or where values lie within a step or two of their grid."""
    return np.where(variance > 4 * step**2, variance, np.nan)
