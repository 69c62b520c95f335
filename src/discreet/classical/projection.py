"""Noisy answers to all queries, then the nearest distribution: what a sanitiser does with its noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.classical import given
from discreet.classical.given import Floats, Integers, check_histogram, histogram
from discreet.classical.linear import Queries
from discreet.classical.shares import Share
from discreet.classical.weights import Weights
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits

Norm = Literal["linf", "l2"]
_RATE = 2.0  # of both players: found to be quick, and the certificate does not depend on it
_PAIRS = 2 * 10**8  # entries looked at to compare all pairs of columns


class Nearest(NamedTuple):
    """A distribution, and how much nearer than it another could be at most: a certificate by duality."""

    distribution: Floats
    gap: float


# ── solvers: public in, public out ───────────────────────────────────────────────────────────────────────────────────


def nearest_linf(matrix: Floats, targets: Floats, tolerance: float, steps: int = 10_000) -> Nearest:
    """The distribution p with the least max |q(p) − target|, within a tolerance, for queries with values in [0, 1].

    Theorem (Freund & Schapire 1999; optimistic steps: Rakhlin & Sridharan 2013).
        It is a game between p and a distribution over signed queries. For any signed weights u, |u|₁ ≤ 1, the least entry of Mᵀu, less
        u·target, is a lower bound. If both play optimistic multiplicative weights the averages' bounds meet; beginning anew at the
        averages, whenever these have halved the gap, is quicker. The bounds hold in any case.
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
    return Nearest(chosen, max(0.0, best - lower))


def nearest_l2(matrix: Floats, targets: Floats, tolerance: float, steps: int = 10_000) -> Nearest:
    """The distribution p with the least ½‖Mp − target‖², within a tolerance.

    Theorem (Frank & Wolfe 1956; steps between a pair of values: Lacoste-Julien & Jaggi 2015).
        With gradient g at p the least value is at least the present one minus g·p − min g, which is the gap.
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
    return Nearest(p / p.sum(), max(gap, 0.0))


def few_rows(matrix: Floats, targets: Floats, rows: int) -> Integers:
    """A database of few rows near to targets in [0, 1] on all queries, as a histogram.

    Theorem (Freund & Schapire 1996, multiplicative weights over the queries).
        Let K queries be given, and some distribution within λ of all targets. Each row is the best reply to the weighted signed queries;
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
    """Round a distribution to a database of so many rows, in the domain's order and with low discrepancy.

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


# ── the mechanism ────────────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen(eq=False)
class Projected:
    """The nearest distribution, the number of records, the noisy counts times `top`, and how far from nearest it may be, as a count."""

    total: int
    distribution: Floats = field(repr=False)
    noisy: Integers = field(repr=False)
    gap: float
    losses: tuple[Loss, ...] = field(repr=False)

    def answers(self, queries: Queries) -> Floats:
        """The counts it stands for; any queries over the domain may be asked, at no cost."""
        return np.asarray(self.total * queries.means(self.distribution))

    def rows(self, rows: int) -> Integers:
        """A database of so many rows, as a histogram; see `to_rows`."""
        return to_rows(self.distribution, rows)


@final
@frozen(kw_only=True)
class Projection(Mechanism[Projected]):
    """Measure all queries at once, and give the distribution that is nearest to the noisy answers.

    Give epsilon (Laplace noise) or rho (Gaussian noise). Without `records` neighbours differ by one record more or less, and their number
    is one more answer; with `records`, the public number of them, neighbours differ by one record replaced.

    The paper went on: fit few rows to a random part of the queries only. What fits there fits nearly all the others, as there
    are few such databases; the rest are treated in the same way again, until none is left. Boosting has replaced this recursion.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; least squares: Nikolov, Talwar & Zhang 2013).
        The noise covers how far one record can move the vector of all answers, its ℓ₁ norm for ε and its ℓ₂ norm for ρ. What follows is
        post-processing.

    Accuracy.
        With confidence 1 − β let all noise be at most E. linf: every query is within 2E + gap, and 3E + gap if n was measured. l2: the
        root of the mean squared error is at most E + 2ν + √gap, and for Gaussian noise of scale σ also at most
        2ν + √(2(n + ν)(σL₂√(2 ln(2N/β)) + ½L₁)/|Q| + gap), where the Lᵢ are the largest norms of what one record adds and ν ≤ E is how
        far n may be off: as good for a million queries as for few. `error(confidence, size=n)`, if the solver reached its tolerance.

    Proof.
        The data's own distribution is within E (2E) of the noisy answers, so the nearest is; the triangle does the rest. For l2 let a be
        the noisy answers, y the data's at n̂ and z the projection: ‖z − y‖² ≤ ⟨a − y, z − y⟩ + gap, and ⟨noise, z − y⟩ is at most
        2n̂ max_v |⟨noise, M_v⟩|, with Gaussian noise rounded by at most ½.

    >>> fit = Projection(queries=Queries.thresholds(4), epsilon=50)
    >>> near = fit.release([30, 0, 20, 10])
    >>> bool(np.abs(near.answers(fit.queries) - [30, 30, 50, 60]).max() <= fit.error(0.999999, size=60))
    True
    """

    queries: Queries
    epsilon: Fraction | None = field(default=None, converter=given.epsilon, repr=str)
    rho: Fraction | None = field(default=None, converter=given.rho, repr=str)
    records: int | None = field(default=None, converter=given.records)
    norm: Norm = "linf"
    tolerance: float | None = None
    steps: int = field(default=10_000, converter=given.steps)

    def __attrs_post_init__(self) -> None:
        Share.of(self.epsilon, self.rho)
        if self.norm not in ("linf", "l2"):
            raise Invalid("norm must be linf or l2")
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise Invalid("tolerance must be a count that is not negative")

    @property
    def measured(self) -> Integers:
        """The rows that are measured: all queries, and the number of records unless it is public."""
        matrix = self.queries.matrix
        return matrix if self.records is not None else np.vstack([matrix, np.full(matrix.shape[1], self.queries.top)])

    @property
    def measuring(self) -> Laplace | Gaussian:
        """The noise for all answers together."""
        rows, order = self.measured, 1 if self.rho is None else 2
        norm = largest_column(rows, order) if self.records is None else largest_difference(rows, order)
        moved = Fraction(max(norm, 1)) if order == 1 else exact.rational_up(lambda: exact.ball(max(norm, 1)).sqrt())
        return Share.of(self.epsilon, self.rho).count(moved)

    @property
    def close(self) -> float:
        """The tolerance, as a count: what was asked for, or a quarter of one answer's median noise."""
        return max(self.measuring.error(Fraction(1, 2)), 1) / self.queries.top / 4 if self.tolerance is None else self.tolerance

    @property
    def loss(self) -> Loss:
        return self.measuring.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        n, top, noise = exact.whole(size, "size"), self.queries.top, self.measuring
        level = exact.confidence_level(confidence)
        rounded = 0.5 if self.records is None and top > 1 else 0.0  # n̂ is a whole number
        if self.norm == "linf":
            return (2 + (self.records is None)) * noise.error(level, len(self.measured)) / top + rounded + self.close
        off = 0.0 if self.records is not None else noise.error((1 + level) / 2) / top + rounded
        plain = noise.error((1 + level) / 2, len(self.measured)) / top + 2 * off + self.close
        if isinstance(noise, Laplace):
            return plain
        far = math.sqrt(2 * math.log(4 * self.queries.domain / exact.miss(level)))
        matrix = self.queries.matrix
        spread = float(noise.scale) * math.sqrt(largest_column(matrix, 2)) * far + largest_column(matrix, 1) / 2
        return min(plain, 2 * off + math.sqrt(2 * (n + off) * spread / top**2 / len(matrix) + self.close**2))

    def check(self, answer: Any) -> None:
        check_histogram(answer, self.queries.domain)

    def sample(self, answer: Any, bits: Bits) -> Projected:
        true = self.measured @ histogram(answer, self.queries.domain, self.queries.top)
        noise = self.measuring
        noisy = np.asarray(noise.sample(true, bits), np.int64)
        size, top = self.queries.size, self.queries.top
        total = self.records if self.records is not None else max(1, round(int(noisy[-1]) / top))
        matrix, targets = self.queries.matrix / top, noisy[:size] / (top * total)
        if self.norm == "linf":
            found = nearest_linf(matrix, targets, self.close / total, self.steps)
            gap = found.gap * total
        else:
            found = nearest_l2(matrix, targets, size * (self.close / total) ** 2, self.steps)
            gap = math.sqrt(found.gap / size) * total
        return Projected(total, found.distribution, noisy, gap, (noise.loss,))


def largest_column(rows: Integers, order: Literal[1, 2] | int) -> int:
    """How far one record more or less moves the answers: Σ|·| or Σ(·)²."""
    return int((rows**order).sum(axis=0).max())


def largest_difference(rows: Integers, order: Literal[1, 2] | int) -> int:
    """How far one record replaced moves the answers: exactly if all pairs can be looked at, else a bound."""
    if rows.shape[1] * rows.size > _PAIRS:
        return min(len(rows) * int(rows.max()) ** order, 2 * largest_column(rows, order))
    return max(int((np.abs(rows - rows[:, [v]]) ** order).sum(axis=0).max()) for v in range(rows.shape[1]))
