"""MWEM, multiplicative weights and the exponential mechanism: learn a distribution from the worst-answered queries."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Floats, Integers, check_histogram, read_histogram
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.weights import Weights
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits

_TRUSTED = Fraction(99, 100)  # a past answer is replayed if its error exceeds twice the noise at this confidence


@final
@frozen(eq=False)
class Learnt:
    """The result: the number of records, the average of the rounds' distributions, the last one, the measurements and losses."""

    total: int
    average: Floats = field(repr=False)
    last: Floats = field(repr=False)
    measured: tuple[tuple[int, int], ...] = field(repr=False)  # index of the query, and its noisy count times `top`
    losses: tuple[Loss, ...] = field(repr=False)

    def answers(self, queries: Queries, *, last: bool = False) -> Floats:
        """The counts under the average, or the last distribution; any queries over the domain may be asked, at no cost."""
        return np.asarray(self.total * queries.means(self.last if last else self.average))


@final
@frozen(kw_only=True)
class MWEM(Mechanism[Learnt]):
    """Learn a distribution over the domain that answers all queries, in rounds that choose the worst query and measure it.

    Give epsilon, or epsilon and delta, or rho. Without `records`, neighbours differ by adding or removing one record, and the number of
    records is measured first. With `records`, the public number of records, neighbours differ by replacing one record.

    Theorem (Hardt, Ligett & McSherry 2012).
        One record changes each score |q(x) − estimate| by at most 1, for any estimate, which is public; and so each count. The choices and
        counts (and the measured n) compose to `loss`, which is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see
        `BudgetShare`); the rest is post-processing.

    Accuracy.
        Let T = rounds, and with confidence 1 − β let every choice be within S of the worst query, every noise at most Z, and n within ν.
        The average answers all queries within n√(ln N/2T) + S + (Z + ν)·n/(n − ν) + 3ν + 1; `error(confidence, size=n)`.

    Proof.
        Let d be the true gap of the chosen query over n, and d + e the measured one. An update of rate 4|d + e| lowers the potential of
        `Weights` by at least 4(d + e)d − 2(d + e)² = 2(d² − e²). So the mean of d² is at most ln N/2T + max e², where |e| ≤ (Z + ν)/(n −
        ν); the worst query's gap is at most d + (S + 2ν + 1)/n; and the average's gaps are at most the mean gaps. A replayed answer with
        error g, where |g| > 2|e|, lowers the potential too, by 2g(g − 2e) ≥ 0. (The published constant is 2n√(ln N/T).)

    >>> learn = MWEM(queries=Queries.thresholds(8), rounds=6, epsilon=30)
    >>> learnt = learn.release([0, 500, 0, 0, 0, 300, 200, 0])
    >>> abs(learnt.total - 1000) < 50, learn.loss.epsilon
    (True, Fraction(30, 1))
    >>> bool(np.abs(learnt.answers(learn.queries) - [0, 500, 500, 500, 500, 800, 1000, 1000]).max() < learn.error(0.999999, size=1000))
    True
    """

    queries: Queries
    rounds: int = field(converter=arguments.rounds)
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)
    sweeps: int = field(default=0, converter=arguments.sweeps)

    def __attrs_post_init__(self) -> None:
        _ = self.budget

    @property
    def _parts(self) -> int:
        return 2 * self.rounds + (self.records is None)

    @property
    def budget(self) -> BudgetShare:
        """The whole budget, as ε or as ρ."""
        return BudgetShare.of(self.epsilon, self.rho, self.delta, parts=self._parts)

    @property
    def _share(self) -> BudgetShare:
        """The equal share of each choice, each count and the number of records."""
        return self.budget.part(self._parts)

    @property
    def counting(self) -> Laplace | Gaussian | None:
        """The noise for the number of records; None if the number is public."""
        return self._share.count(1) if self.records is None else None

    @property
    def choosing(self) -> Exponential:
        """The mechanism that chooses a query in each round."""
        return self._share.choice(self.queries.top)

    @property
    def measuring(self) -> Laplace | Gaussian:
        """The noise for the chosen query of each round."""
        return self._share.count(self.queries.top)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of each step, in order."""
        first = () if self.counting is None else (self.counting.loss,)
        return first + self.rounds * (self.choosing.loss, self.measuring.loss)

    @property
    def loss(self) -> Loss:
        return compose(self.losses)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The largest error of any query for `size` records, as a count."""
        n, top = exact.whole(size, "size"), self.queries.top
        beta = 1 - exact.confidence_level(confidence)
        noisy = 1 - _TRUSTED if self.sweeps else beta / 3
        left = beta - 2 * noisy
        off = self._off(1 - noisy)
        if left <= 0 or off >= n:
            return n + off
        chosen = self.choosing.error(1 - left / self.rounds, self.queries.size) / top
        noise = self.measuring.error(1 - noisy, self.rounds) / top
        slow = n * math.sqrt(math.log(self.queries.domain) / (2 * self.rounds))
        return min(n + off, slow + chosen + (noise + off) * n / (n - off) + 3 * off + 1)

    def _off(self, confidence: Fraction) -> float:
        return 0.0 if self.counting is None else self.counting.error(confidence)

    def check(self, answer: Any) -> None:
        check_histogram(answer, self.queries.domain)

    def sample(self, answer: Any, bits: Bits) -> Learnt:
        counts = read_histogram(answer, self.queries.domain, self.queries.top)
        losses: list[Loss] = []
        total = self.records
        if self.counting is not None:
            total = max(1, int(self.counting.sample(int(counts.sum()), bits)))
            losses.append(self.counting.loss)
        assert total is not None
        true = self.queries.answers(counts)  # private: used below only through the two mechanisms
        choosing, measuring = self.choosing, self.measuring
        weights, average, measured = Weights.uniform(self.queries.domain), np.zeros(self.queries.domain), []
        for _ in range(self.rounds):
            average += weights.distribution / self.rounds
            estimate = estimates(self.queries, weights, total)
            chosen = choosing.sample(np.abs(true - estimate), bits)
            measured.append((chosen, int(measuring.sample(int(true[chosen]), bits))))
            losses += [choosing.loss, measuring.loss]
            weights = self._learn(weights, measured, total)
        return Learnt(total, average, weights.distribution, tuple(measured), tuple(losses))

    def _learn(self, weights: Weights, measured: list[tuple[int, int]], total: int) -> Weights:
        """Update by the newest answer, then replay the past answers whose error exceeds what noise explains."""
        weights = update_step(self.queries, weights, measured[-1], total, 0.0)
        if self.sweeps:
            explained = 2 * (self.measuring.error(_TRUSTED, self.rounds) / self.queries.top + self._off(_TRUSTED)) / total
            for _ in range(self.sweeps):
                for past in measured:
                    weights = update_step(self.queries, weights, past, total, explained)
        return weights


def estimates(queries: Queries, weights: Weights, total: int) -> Integers:
    """The counts under a distribution, times `top`, rounded to whole numbers: it is public, so rounding is free."""
    return np.rint(total * queries.top * queries.means(weights.distribution)).astype(np.int64)


def update_step(queries: Queries, weights: Weights, measured: tuple[int, int], total: int, least: float) -> Weights:
    """One update by a measured answer, at the best rate, if its error exceeds `least`."""
    values = queries.matrix[measured[0]] / queries.top
    gap = measured[1] / queries.top / total - weights.mean(values)
    return weights.update(values, 1 if gap > 0 else -1, 4 * abs(gap)) if abs(gap) > least else weights
