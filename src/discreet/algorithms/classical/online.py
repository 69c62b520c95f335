"""What online algorithms share: linear queries arrive one by one, and the data is consulted only by rounds of threshold tests."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Floats, Integers
from discreet.algorithms.classical.rounds import Answer, ThresholdRounds, Verdict, measure_total, query_row, share_rounds
from discreet.algorithms.classical.shares import BudgetShare
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private


@frozen(kw_only=True, eq=False)
class OnlineMechanism(ABC):
    """The parameters of an online algorithm, its budget and its rounds.

    Without `records`, neighbours differ by adding or removing one record, and the number of records is measured first. With `records`,
    the public number of records, neighbours differ by replacing one record.
    """

    top: int = field(default=1, converter=arguments.top)
    accuracy: Fraction = field(converter=arguments.accuracy, repr=str)
    queries_expected: int = field(converter=arguments.queries_expected)
    beta: Fraction = field(default=Fraction(1, 20), converter=arguments.beta, repr=str)
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)

    def __attrs_post_init__(self) -> None:
        _ = self.budget  # raises if the parameters do not state one

    @property
    @abstractmethod
    def domain(self) -> int:
        """The number of values a record may have."""

    @property
    @abstractmethod
    def most_updates(self) -> int:
        """The number of rounds, each of which ends with one update of the hypothesis."""

    @abstractmethod
    def needs(self, beta: Number | None = None) -> int:
        """The least number of records for which the accuracy statement holds, at this β instead of the mechanism's own."""

    @property
    @abstractmethod
    def _is_covered(self) -> bool:
        """Whether the accuracy statement applies, given enough records."""

    @property
    def budget(self) -> BudgetShare:
        """The whole budget, as ε or as ρ."""
        return BudgetShare.of(self.epsilon, self.rho, self.delta, parts=self.most_updates)

    @property
    def counting(self) -> Laplace | Gaussian | None:
        """The noise for the number of records, from a twentieth of the budget; None if the number is public."""
        return self.budget.part(20).count(1) if self.records is None else None

    @property
    def rounds(self) -> ThresholdRounds:
        """The rounds share the rest of the budget: a tenth of it for the counts, nine tenths for the tests."""
        return share_rounds(self.budget, self.counting is None, self.most_updates, self.top)

    @property
    def loss(self) -> Loss:
        """The largest loss of a run, for any queries."""
        return compose(([] if self.counting is None else [self.counting.loss]) + self.most_updates * [self.rounds.each])

    def error(self, confidence: Number | None = None, size: int = 1) -> float:
        """The largest error of the expected answers for `size` records, as a count; the default confidence is 1 − β."""
        level = 1 - self.beta if confidence is None else exact.confidence_level(confidence)
        n = exact.whole(size, "size")
        return float(self.accuracy * n) if self._is_covered and n >= self.needs(1 - level) else math.inf

    def slack(self, beta: Number | None = None) -> tuple[float, float, float]:
        """t, Z and ν of the accuracy statement, as counts: each holds for all steps with probability 1 − β/3."""
        third, rounds, top = (self.beta if beta is None else arguments.beta(beta)) / 3, self.rounds, self.top
        test = rounds.stream(0).error(1 - third / rounds.rounds, 2 * self.queries_expected) / top
        count = rounds.noisy_count.error(1 - third, rounds.rounds) / top
        return test, count, 0.0 if self.counting is None else self.counting.error(1 - third)


Rules = TypeVar("Rules", bound=OnlineMechanism)


class OnlineRun(ABC, Generic[Rules]):
    """One stream of linear queries: each is answered by the hypothesis, or by a noisy count where a test finds the hypothesis wrong."""

    def __init__(self, mechanism: Rules, data: Private[Integers]) -> None:
        self.mechanism = mechanism
        self.hits = 0
        self.total, self.losses = measure_total(mechanism.counting, mechanism.records, data)
        threshold = math.ceil(mechanism.accuracy * self.total * mechanism.top * 3 / 4)
        self._guard = mechanism.rounds.open(data, threshold, self.losses)

    @property
    @abstractmethod
    def hypothesis(self) -> Floats:
        """The current hypothesis, as a distribution over the domain."""

    @abstractmethod
    def _estimate(self, row: Integers) -> int:
        """The hypothesis's count for a query, in units of 1/top."""

    @abstractmethod
    def _update(self, row: Integers, verdict: Verdict) -> None:
        """Update the hypothesis by the released outcome of a hit."""

    @property
    def spent(self) -> bool:
        """Whether all rounds are used up."""
        return self._guard.spent

    def ask(self, query: Any) -> Answer:
        """Answer a query, given as one whole number from 0 to top for each value of the domain."""
        mechanism = self.mechanism
        row = query_row(query, mechanism.domain, mechanism.top)
        estimate, is_refused = self._estimate(row), self.spent
        verdict = self._guard.ask(row, estimate)
        if not verdict.side:
            return Answer(estimate / mechanism.top, "refused" if is_refused else "hypothesis", verdict.charged)
        self.hits += 1
        self._update(row, verdict)
        return Answer(verdict.noisy / mechanism.top, "paid", verdict.charged)
