"""Noisy answers to all queries, then the nearest distribution: post-processing for accuracy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Floats, Integers, check_histogram, read_histogram
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.nearest import nearest_l2, nearest_linf, sure_l2, sure_linf, to_rows
from discreet.algorithms.classical.shares import BudgetShare
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits

Norm = Literal["linf", "l2"]
_PAIRS = 2 * 10**8  # entries examined to compare all pairs of columns


@final
@frozen(eq=False)
class Projected:
    """The nearest distribution, the number of records, the noisy counts times `top`, and the optimality gap, as a count."""

    total: int
    distribution: Floats = field(repr=False)
    noisy: Integers = field(repr=False)
    gap: float
    losses: tuple[Loss, ...] = field(repr=False)

    def answers(self, queries: Queries) -> Floats:
        """The counts under the distribution; any queries over the domain may be asked, at no cost."""
        return np.asarray(self.total * queries.means(self.distribution))

    def rows(self, rows: int) -> Integers:
        """A database of this many rows, as a histogram; see `to_rows`."""
        return to_rows(self.distribution, rows)


@final
@frozen(kw_only=True)
class Projection(Mechanism[Projected]):
    """Measure all queries at once, and release the distribution nearest to the noisy answers.

    Give epsilon (Laplace noise), or rho (Gaussian noise), or epsilon and delta (whichever of the two has the smaller error). Without
    `records`, neighbours differ by adding or removing one record, and the number of records is one more answer; with `records`, the public
    number of records, neighbours differ by replacing one record.

    The paper goes further: fit few rows to a random part of the queries only. What fits there fits nearly all the others, as there are few
    such databases. That recursion is `DNRRV`.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; least squares: Nikolov, Talwar & Zhang 2013).
        The noise covers the sensitivity of the vector of all answers, in ℓ₁ for ε and in ℓ₂ for ρ. What follows is post-processing.

    Accuracy.
        With confidence 1 − β let all noise be at most E. linf: every query is within 2E + gap, and 3E + gap if n was measured. l2: the root
        of the mean squared error is at most E + 2ν + √gap, and for Gaussian noise of scale σ also at most 2ν + √(2(n + ν)(σL₂√(2 ln(2N/β))
        + ½L₁)/|Q| + gap), where the Lᵢ are the largest norms of one record's contribution and ν ≤ E is the error of n: as good for a
        million queries as for few. `error(confidence, size=n, gap=released.gap)`. Before the release the gap is not known, and `error`
        takes the largest that the solver can leave: the tolerance, or if its steps run out (n + ν)√(2 ln(2|Q|)/steps) for linf and (n +
        ν)√(27/(4(steps + 2))) for l2.

    Proof.
        The data's own distribution is within E (2E) of the noisy answers, so the nearest is; the triangle inequality does the rest.
        (Clipping the noisy answers to the range of n̂ records moves them nearer to those of the data's distribution at n̂, and leaves them
        within E of the truth.) For l2 let a be the noisy answers, y the data's at n̂ and z the projection: ‖z − y‖² ≤ ⟨a − y, z − y⟩ + gap,
        and ⟨noise, z − y⟩ is at most 2n̂ max_v |⟨noise, M_v⟩|, with Gaussian noise rounded by at most ½.

    >>> fit = Projection(queries=Queries.thresholds(4), epsilon=50)
    >>> near = fit.release([30, 0, 20, 10])
    >>> bool(np.abs(near.answers(fit.queries) - [30, 30, 50, 60]).max() <= fit.error(0.999999, size=60))
    True
    """

    queries: Queries
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)
    norm: Norm = "linf"
    tolerance: float | None = None
    steps: int = field(default=10_000, converter=arguments.steps)

    def __attrs_post_init__(self) -> None:
        BudgetShare.of(self.epsilon, self.rho, self.delta)
        if self.norm not in ("linf", "l2"):
            raise Invalid('norm must be "linf" or "l2"')
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise Invalid("tolerance must be a finite count of at least 0")

    @property
    def measured(self) -> Integers:
        """The measured rows: all queries, and the number of records unless it is public."""
        matrix = self.queries.matrix
        return matrix if self.records is not None else np.vstack([matrix, np.full(matrix.shape[1], self.queries.top)])

    @property
    def measuring(self) -> Laplace | Gaussian:
        """The noise for all answers together."""
        if self.epsilon is None:
            return BudgetShare.of(rho=self.rho).count(self._sensitivity(2))
        laplace = BudgetShare.of(self.epsilon).count(self._sensitivity(1))
        if not self.delta:
            return laplace
        gaussian = Gaussian(epsilon=self.epsilon, delta=self.delta, sensitivity=self._sensitivity(2), whole=True)
        return min(laplace, gaussian, key=lambda noise: noise.error(size=len(self.measured)))

    def _sensitivity(self, order: Literal[1, 2]) -> Fraction:
        """The ℓ₁ or ℓ₂ sensitivity of all answers together."""
        norm = max(1, largest_column(self.measured, order) if self.records is None else largest_difference(self.measured, order))
        return Fraction(norm) if order == 1 else exact.rational_up(lambda: exact.ball(norm).sqrt())

    @property
    def close(self) -> float:
        """The tolerance, as a count: as given, or a quarter of one answer's median noise."""
        return max(self.measuring.error(Fraction(1, 2)), 1) / self.queries.top / 4 if self.tolerance is None else self.tolerance

    @property
    def loss(self) -> Loss:
        return self.measuring.loss

    def error(self, confidence: Number = 0.95, size: int = 1, gap: float | None = None) -> float:
        """The largest error of any query (linf), or the root mean squared error (l2), as a count; `gap` is a release's own gap."""
        n, top, noise = exact.whole(size, "size"), self.queries.top, self.measuring
        level = exact.confidence_level(confidence)
        rounded = 0.5 if self.records is None and top > 1 else 0.0  # n̂ is a whole number
        if self.norm == "linf":
            all_noise = noise.error(level, len(self.measured)) / top
            off = all_noise + rounded if self.records is None else 0.0
            return (2 + (self.records is None)) * all_noise + rounded + self._gap(gap, n + off)
        off = 0.0 if self.records is not None else noise.error((1 + level) / 2) / top + rounded
        left = self._gap(gap, n + off)
        plain = noise.error((1 + level) / 2, len(self.measured)) / top + 2 * off + left
        if isinstance(noise, Laplace):
            return plain
        far = math.sqrt(2 * math.log(4 * self.queries.domain / exact.miss(level)))
        matrix = self.queries.matrix
        spread = float(noise.scale) * math.sqrt(largest_column(matrix, 2)) * far + largest_column(matrix, 1) / 2
        return min(plain, 2 * off + math.sqrt(2 * (n + off) * spread / top**2 / len(matrix) + left**2))

    def _gap(self, known: float | None, total: float) -> float:
        """The optimality gap, as a count for `total` records: as released, or the largest that the solver can leave."""
        if known is not None:
            return known
        count = self.queries.size
        sure = sure_linf(count, self.steps) if self.norm == "linf" else math.sqrt(sure_l2(count, self.steps) / count)
        return max(self.close, total * sure)

    def check(self, answer: Any) -> None:
        check_histogram(answer, self.queries.domain)

    def sample(self, answer: Any, bits: Bits) -> Projected:
        true = self.measured @ read_histogram(answer, self.queries.domain, self.queries.top)
        noise = self.measuring
        noisy = np.asarray(noise.sample(true, bits), np.int64)
        size, top = self.queries.size, self.queries.top
        total = self.records if self.records is not None else max(1, round(int(noisy[-1]) / top))
        matrix, targets = self.queries.matrix / top, noisy[:size] / (top * total)
        if self.norm == "linf":
            found = nearest_linf(matrix, np.clip(targets, 0, 1), self.close / total, self.steps)
            gap = found.gap * total
        else:
            found = nearest_l2(matrix, targets, size * (self.close / total) ** 2, self.steps)
            gap = math.sqrt(found.gap / size) * total
        return Projected(total, found.distribution, noisy, gap, (noise.loss,))


def largest_column(rows: Integers, order: Literal[1, 2] | int) -> int:
    """The sensitivity of the answers under add/remove: Σ|·| or Σ(·)²."""
    return int((rows**order).sum(axis=0).max())


def largest_difference(rows: Integers, order: Literal[1, 2] | int) -> int:
    """The sensitivity of the answers under replace-one: exact if all pairs can be compared, otherwise a bound."""
    if rows.shape[1] * rows.size > _PAIRS:
        return min(len(rows) * int(rows.max()) ** order, 2 * largest_column(rows, order))
    return max(int((np.abs(rows - rows[:, [v]]) ** order).sum(axis=0).max()) for v in range(rows.shape[1]))
