"""The distribution nearest to given answers, and small databases near them: public inputs, public outputs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from discreet import exact
from discreet.algorithms.classical.arguments import Floats, Integers
from discreet.algorithms.classical.weights import Weights

_RATE = 2.0  # of both players: fast in practice, and the certificate does not depend on it


class Nearest(NamedTuple):
    """A distribution, and a certificate by duality: at most how much nearer another distribution could be."""

    distribution: Floats
    gap: float


def nearest_linf(matrix: Floats, targets: Floats, tolerance: float, steps: int = 10_000) -> Nearest:
    """The distribution p with the least max |q(p) − target|, within a tolerance, for queries with values in [0, 1].

    Theorem (Freund & Schapire 1999; optimistic steps: Rakhlin & Sridharan 2013).
        It is a game between p and a distribution over signed queries. For any signed weights u, |u|₁ ≤ 1, the least entry of Mᵀu, less
        u·target, is a lower bound. If both play optimistic multiplicative weights the averages' bounds meet; restarting at the averages,
        whenever these have halved the gap, is faster. The bounds hold in any case. If the steps run out and the targets lie in [0, 1], as
        many rows of `few_rows` are tried too: then the gap is at most `sure_linf`.
    """
    count = len(matrix)
    p, y = Weights.uniform(matrix.shape[1]), Weights.uniform(2 * count)
    best, lower, chosen, last = math.inf, -math.inf, p.distribution, math.inf
    cost, off = np.zeros(matrix.shape[1]), np.zeros(count)
    sum_p, sum_y, begun = np.zeros(matrix.shape[1]), np.zeros(2 * count), 0
    for step in range(1, steps + 1):
        now, signed = p.distribution, y.distribution
        sum_p, sum_y = sum_p + now, sum_y + signed
        fresh_cost, fresh_off = matrix.T @ (signed[:count] - signed[count:]), matrix @ now - targets
        move = 2 * fresh_off - off
        p, y = Weights(p.logs - _RATE * (2 * fresh_cost - cost)), Weights(y.logs + _RATE * np.concatenate([move, -move]))
        cost, off = fresh_cost, fresh_off
        if step % 16 and step < steps:
            continue
        mean_p, mean_y = sum_p / (step - begun), sum_y / (step - begun)
        u = mean_y[:count] - mean_y[count:]
        mean_cost, mean_off = matrix.T @ u, matrix @ mean_p - targets
        value, bound = float(np.abs(mean_off).max()), float(mean_cost.min() - u @ targets)
        if value < best:
            best, chosen = value, mean_p / mean_p.sum()
        lower = max(lower, bound, 0.0)
        if best - lower <= tolerance:
            break
        if value - bound <= last / 2 or step - begun >= max(64, 2 * step // 5):
            last, begun, cost, off = value - bound, step, mean_cost, mean_off
            p, y = Weights(np.log(np.maximum(mean_p, 1e-300))), Weights(np.log(np.maximum(mean_y, 1e-300)))
            sum_p, sum_y = np.zeros_like(sum_p), np.zeros_like(sum_y)
    gap = max(0.0, best - lower)
    if gap > tolerance and 0 <= targets.min() <= targets.max() <= 1:
        slow = few_rows(matrix, targets, steps) / steps
        if (value := float(np.abs(matrix @ slow - targets).max())) < best:
            best, chosen = value, slow
        gap = max(0.0, min(best - lower, sure_linf(count, steps)))
    return Nearest(chosen, gap)


def sure_linf(queries: int, steps: int) -> float:
    """The largest gap of `nearest_linf` for this many queries, if the tolerance is not reached in this many steps."""
    return math.sqrt(2 * math.log(2 * queries) / steps)


def nearest_l2(matrix: Floats, targets: Floats, tolerance: float, steps: int = 10_000) -> Nearest:
    """The distribution p with the least ½‖Mp − target‖², within a tolerance.

    Theorem (Frank & Wolfe 1956; steps between a pair of values: Lacoste-Julien & Jaggi 2015).
        With gradient g at p the least value is at least the present one minus g·p − min g, which is the gap. If the steps run out, as many
        plain steps of 2/(t + 2) are tried (Jaggi 2013): the least of their gaps is at most `sure_l2`, for M with entries in [0, 1].
    """
    p = np.full(matrix.shape[1], 1 / matrix.shape[1])
    off, gap = matrix @ p - targets, math.inf
    for _ in range(steps):
        slope = matrix.T @ off
        to, away = int(slope.argmin()), int(np.where(p > 0, slope, -np.inf).argmax())
        gap = float(slope @ p - slope[to])
        if gap <= tolerance:
            break
        line = matrix[:, to] - matrix[:, away]
        size = min(float(p[away]), float((slope[away] - slope[to]) / max(line @ line, 1e-300)))
        p[to], p[away] = p[to] + size, (0.0 if size == p[away] else p[away] - size)
        off = off + size * line
    if gap > tolerance:
        slow = _plain_steps(matrix, targets, steps)
        if slow.gap < gap:
            return slow
    return Nearest(p / p.sum(), max(gap, 0.0))


def _plain_steps(matrix: Floats, targets: Floats, steps: int) -> Nearest:
    """Plain Frank–Wolfe steps: the point with the least gap among steps + 1."""
    p = np.full(matrix.shape[1], 1 / matrix.shape[1])
    best, chosen = math.inf, p
    for step in range(steps + 1):
        slope = matrix.T @ (matrix @ p - targets)
        to = int(slope.argmin())
        if (gap := float(slope @ p - slope[to])) < best:
            best, chosen = gap, p
        p = p * (1 - 2 / (step + 2))
        p[to] += 2 / (step + 2)
    return Nearest(chosen / chosen.sum(), max(best, 0.0))


def sure_l2(queries: int, steps: int) -> float:
    """The largest gap of `nearest_l2`: 27C/(4(steps + 2)), where ‖M(p − p′)‖² ≤ C ≤ |Q|."""
    return 27 * queries / (4 * (steps + 2))


def few_rows(matrix: Floats, targets: Floats, rows: int) -> Integers:
    """A database of few rows near to targets in [0, 1] on all queries, as a histogram.

    Theorem (Freund & Schapire 1996, multiplicative weights over the queries).
        Let K queries be given, and some distribution within λ of all targets. Each row is the best response to the weighted signed queries;
        after m rows, max |q(y) − target| ≤ λ + √(2 ln(2K)/m).
    """
    rate = math.sqrt(2 * math.log(2 * len(matrix)) / rows)
    total, out = np.zeros(len(matrix)), np.zeros(matrix.shape[1], np.int64)
    for _ in range(rows):
        most = np.abs(total).max()
        plus, minus = np.exp(rate * (total - most)), np.exp(rate * (-total - most))
        row = int((matrix.T @ (plus - minus)).argmin())
        out[row] += 1
        total = total + matrix[:, row] - targets
    return out


def to_rows(distribution: Any, rows: int) -> Integers:
    """Round a distribution to a database of this many rows, in the domain's order and with low discrepancy.

    Theorem (cumulative rounding).
        Each prefix has at most ½ row more or less than its share, each interval at most 1, and a query at most ½ Σ |q(v) − q(v+1)|.

    Proof. The last by summation by parts.

    >>> to_rows([0.25, 0.3, 0.1, 0.35], 10).tolist()
    [3, 3, 1, 3]
    """
    shares = np.asarray(distribution, np.float64)
    edges = np.floor(exact.whole(rows, "rows") * np.cumsum(shares / shares.sum()) + 0.5).astype(np.int64)
    edges[-1] = rows
    return np.diff(np.minimum(edges, rows), prepend=0)
