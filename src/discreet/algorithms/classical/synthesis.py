"""Base synthesizers: answers to all queries from a few drawn ones, which boosting makes accurate for all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Integers, check_histogram, read_histogram
from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.algorithms.classical.nearest import few_rows
from discreet.algorithms.classical.shares import BudgetShare
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.bits import Bits


class Base(Protocol):
    """Synthesise answers to all queries from a few drawn ones, at a price."""

    @property
    def loss(self) -> Loss:
        """The loss of one synthesis, for any drawn queries."""

    def sample(self, data: Any, drawn: Integers, bits: Bits) -> Integers:
        """Whole-number answers to all queries, ideally accurate for most of the weight from which the queries were drawn."""

    def check(self, data: Any) -> None:
        """Report invalid plain data."""


class ErrorBound(NamedTuple):
    """The largest error of answers, in their own units; if it is infinite, the reason why no bound is known."""

    error: float
    reason: str = ""


@runtime_checkable
class BoundedBase(Protocol):
    """A base that states its error bound."""

    def error_bound(self, confidence: Fraction, size: int, edge: Fraction) -> ErrorBound:
        """The error that one synthesis keeps, with this confidence, for queries of more than ½ + edge of the weight."""


@final
@frozen(kw_only=True)
class FewRows:
    """Measure the drawn queries and the number of records, and fit a database of few rows to them.

    Theorem (Dwork, Rothblum & Vadhan 2010, base synthesis by generalisation).
        It costs what its noise costs: each of the k drawn queries and the number of records change by at most 1 with one record. Let Y be
        all databases of m rows, and k ≥ ln(|Y|/β)/ln(1/(½ + η)). With probability 1 − β, if the drawn queries are all within λ of the
        truth, so are queries of more than ½ + η of the weight.

    Proof. A database that is accurate for less passes k draws with probability at most (½ + η)ᵏ; there are |Y| of them, and the measured
        number of records does not depend on the draws.

    Accuracy.
        If all noise is at most E, the drawn queries are within λ = 5E + (n + E)√(2 ln(2k)/m) + 2; see `few_rows`. `error_bound` is λ where
        k is large enough for the theorem.
    """

    queries: Queries
    rows: int = field(converter=arguments.rows)
    draws: int = field(converter=arguments.draws)
    share: BudgetShare

    @property
    def measuring(self) -> Laplace | Gaussian:
        """The noise for the drawn queries and the number of records, in units of 1/top."""
        count, top = self.draws + 1, self.queries.top
        return self.share.count(top * count if self.share.rho is None else top * exact.rational_up(lambda: exact.ball(count).sqrt()))

    @property
    def loss(self) -> Loss:
        return self.measuring.loss

    def near(self, confidence: Number, size: int) -> int:
        """λ for `size` records, in units of 1/top."""
        top = self.queries.top
        noise = self.measuring.error(confidence, self.draws + 1) / top
        return math.ceil(top * (5 * noise + (size + noise) * math.sqrt(2 * math.log(2 * self.draws) / self.rows) + 2))

    def error_bound(self, confidence: Fraction, size: int, edge: Fraction) -> ErrorBound:
        """λ, where the theorem applies: half of the failure probability for the noise, half for unrepresentative draws."""
        half = (1 - confidence) / 2
        needed = draws_needed(self.queries.domain, self.rows, half, edge)
        if self.draws < needed:
            return ErrorBound(math.inf, f"{self.draws} drawn queries are too few to represent the others: use draws={needed}")
        return ErrorBound(self.near(1 - half, size))

    def check(self, data: Any) -> None:
        check_histogram(data, self.queries.domain)

    def sample(self, data: Any, drawn: Integers, bits: Bits) -> Integers:
        if len(drawn) != self.draws:
            raise Invalid(f"the base expects {self.draws} drawn queries: use the same draws= for both")
        top = self.queries.top
        counts = read_histogram(data, self.queries.domain, top)
        rows = np.vstack([self.queries.matrix[drawn], np.full(self.queries.domain, top)])
        noisy = np.asarray(self.measuring.sample(rows @ counts, bits), np.int64)
        total = max(1, round(int(noisy[-1]) / top))
        fit = few_rows(rows[:-1] / top, np.clip(noisy[:-1] / (top * total), 0, 1), self.rows)
        return np.rint(top * total * self.queries.means(fit)).astype(np.int64)


def draws_needed(domain: int, rows: int, beta: Number, edge: Number = Fraction(1, 4)) -> int:
    """The number of draws `FewRows` needs for its theorem."""
    miss = exact.miss(1 - exact.positive(beta, "beta"))
    return math.ceil((math.log(small_databases(domain, rows)) - math.log(miss)) / -math.log(0.5 + float(edge_of(edge))))


def edge_of(value: Number) -> Fraction:
    """η, the excess over half of the weight for which a base is accurate."""
    if not 0 < (read := exact.rational(value, "edge")) < Fraction(1, 2):
        raise Invalid("edge must lie strictly between 0 and 1/2, such as 1/4")
    return read
