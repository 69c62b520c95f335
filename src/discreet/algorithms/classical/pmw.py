"""Private multiplicative weights: answer queries as they come, and pay only for those the hypothesis gets wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Floats, Integers, private_histogram
from discreet.algorithms.classical.rounds import Answer, ThresholdRounds, measure_total, query_row, share_rounds
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.weights import Weights, most_updates
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private


@final
@frozen(kw_only=True)
class PMW:
    """Answer linear queries one by one, each within accuracy·n, and pay only where the hypothesis is wrong.

    Give epsilon, or epsilon and delta, or rho. Without `records` neighbours differ by one record more or less, and their number is
    measured first. With `records`, the public number of them, neighbours differ by one record replaced. `updates` limits the rounds, if
    they should be fewer than the theorem asks for: when all are used only the hypothesis answers, and says so.

    Theorem (Hardt & Rothblum 2010; Dwork & Roth 2014, sec. 4.2).
        All answers together, to any number of queries chosen after seeing earlier answers, cost at most `loss`: the number of
        records and C rounds (see `ThresholdRounds`), which is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see `BudgetShare`).

    Accuracy.
        Let α = accuracy, C = 1 + ⌊2 ln N/α²⌋ and n ≥ `needs`. With probability 1 − β all of k answers are within αn, and no round is
        missing. `error(confidence, size=n)` is αn where this holds at that confidence; with fewer rounds or records it is infinite.

    Proof.
        With confidence 1 − β every test is right within t, every count within Z ≤ αn, and n within ν, where 4(t + 2ν + 1) ≤ αn. The
        threshold is ¾αn̂. A miss is within ¾αn̂ + t + 1 ≤ αn. A hit has a gap of at least (¾αn̂ − t − ν − 1)/n ≥ α/2 on the side that
        was told, so its update of rate 2α lowers the potential of `Weights` by α²/2: there are fewer than C.

    >>> online = PMW(domain=4, epsilon=40, accuracy=0.2, queries_expected=100, beta=0.001)
    >>> run = online.open(Private([70000, 10000, 10000, 10000]))
    >>> run.ask([1, 0, 0, 0]).source, round(run.ask([1, 1, 0, 0]).value, -4)
    ('paid', 80000.0)
    """

    domain: int = field(converter=arguments.domain)
    top: int = field(default=1, converter=arguments.top)
    accuracy: Fraction = field(converter=arguments.accuracy, repr=str)
    queries_expected: int = field(converter=arguments.queries_expected)
    beta: Fraction = field(default=Fraction(1, 20), converter=arguments.beta, repr=str)
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)
    updates: int | None = field(default=None, converter=arguments.updates)

    def __attrs_post_init__(self) -> None:
        _ = self.budget

    @property
    def most_updates(self) -> int:
        """C, the number of rounds."""
        return self._proven_updates if self.updates is None else self.updates

    @property
    def _proven_updates(self) -> int:
        return 1 + most_updates(self.domain, float(self.accuracy) / 2)

    @property
    def budget(self) -> BudgetShare:
        """What may be spent in all, as ε or as ρ."""
        return BudgetShare.of(self.epsilon, self.rho, self.delta, parts=self.most_updates)

    @property
    def counting(self) -> Laplace | Gaussian | None:
        """How the number of records is measured, unless it is public: out of a twentieth of the budget."""
        return self.budget.part(20).count(1) if self.records is None else None

    @property
    def rounds(self) -> ThresholdRounds:
        """The rounds share the rest, a tenth of it for the counts: they may be αn off, the tests only αn/4."""
        return share_rounds(self.budget, self.counting is None, self.most_updates, self.top)

    @property
    def loss(self) -> Loss:
        """What the run can cost in all, whatever is asked."""
        return compose(([] if self.counting is None else [self.counting.loss]) + self.most_updates * [self.rounds.each])

    def error(self, confidence: Number | None = None, size: int = 1) -> float:
        """How far off any of the expected answers may be for `size` records, as a count; without a confidence, with 1 − β."""
        level = 1 - self.beta if confidence is None else exact.confidence_level(confidence)
        n = exact.whole(size, "size")
        enough = self.updates is None or self.updates >= self._proven_updates
        return float(self.accuracy * n) if enough and n >= self.needs(1 - level) else math.inf

    def slack(self, beta: Number | None = None) -> tuple[float, float, float]:
        """t, Z and ν of the accuracy statement, as counts: each holds for all steps with probability 1 − β/3."""
        third, rounds, top = (self.beta if beta is None else arguments.beta(beta)) / 3, self.rounds, self.top
        test = rounds.stream(0).error(1 - third / rounds.rounds, 2 * self.queries_expected) / top
        told = rounds.telling_count.error(1 - third, rounds.rounds) / top
        return test, told, 0.0 if self.counting is None else self.counting.error(1 - third)

    def needs(self, beta: Number | None = None) -> int:
        """From how many records on the accuracy statement holds, at this β instead of the mechanism's own."""
        test, told, off = self.slack(beta)
        return math.ceil(max(4 * (test + 2 * off + 1), told) / float(self.accuracy))

    def open(self, data: Private[Any] | Any) -> PMWRun:
        """Measure the number of records, unless it is public, and wait for queries."""
        return PMWRun(self, private_histogram(data, self.domain, self.top))


@final
class PMWRun:
    """One stream of linear queries."""

    def __init__(self, mechanism: PMW, data: Private[Integers]) -> None:
        self.mechanism = mechanism
        self.hits = 0
        self.total, self.losses = measure_total(mechanism.counting, mechanism.records, data)
        self._weights = Weights.uniform(mechanism.domain)
        threshold = math.ceil(mechanism.accuracy * self.total * mechanism.top * 3 / 4)
        self._guard = mechanism.rounds.open(data, threshold, self.losses)

    @property
    def hypothesis(self) -> Floats:
        """The distribution learnt so far."""
        return self._weights.distribution

    @property
    def spent(self) -> bool:
        """Whether all rounds are used up."""
        return self._guard.spent

    def ask(self, query: Any) -> Answer:
        """Answer a query, given by its whole values from 0 to top."""
        mechanism = self.mechanism
        row = query_row(query, mechanism.domain, mechanism.top)
        values = row / mechanism.top
        estimate = round(self.total * mechanism.top * self._weights.mean(values))
        refused = self.spent
        verdict = self._guard.ask(row, estimate)
        if not verdict.side:
            return Answer(estimate / mechanism.top, "refused" if refused else "hypothesis", verdict.charged)
        self.hits += 1
        self._weights = self._weights.update(values, verdict.side, 2 * float(mechanism.accuracy))
        return Answer(verdict.noisy / mechanism.top, "paid", verdict.charged)
