"""The median mechanism: small databases vote, and those that a paid answer contradicts leave."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Floats, Integers, private_histogram
from discreet.algorithms.classical.linear import small_databases
from discreet.algorithms.classical.rounds import Answer, ThresholdRounds, measure_total, query_row, share_rounds
from discreet.algorithms.classical.shares import BudgetShare
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private

_MOST = 10**6  # candidates that are listed


def all_databases(domain: int, rows: int) -> Integers:
    """Every database of so many rows, as histograms.

    Theorem (Blum, Ligett & Roth 2008).
        If rows > ln(2|Q|)/(2λ²) then for every data set one of them is within λ of it on all of |Q| averaging queries.

    Proof. Draw the rows from the data: by Hoeffding and a union bound a draw fails with probability below 1.

    >>> all_databases(2, 3).tolist()
    [[3, 0], [2, 1], [1, 2], [0, 3]]
    """
    count = small_databases(domain, rows)
    if count > _MOST:
        raise Invalid(f"there are {count:,} databases of {rows} rows: give a sample of them as candidates")
    chosen = np.array(list(combinations_with_replacement(range(domain), rows)))
    out = np.zeros((count, domain), np.int64)
    np.add.at(out, (np.arange(count)[:, None], chosen), 1)
    return out


def rows_needed(queries: int, accuracy: Number) -> int:
    """How many rows suffice for a database within accuracy/4 on so many queries."""
    apart = float(exact.positive(accuracy, "accuracy")) / 4
    return 1 + math.floor(math.log(2 * exact.whole(queries, "queries")) / (2 * apart**2))


def _candidates(given: Any) -> Integers:
    array = np.asarray(given)
    if array.ndim != 2 or not array.size or array.dtype.kind not in "biu" or array.min() < 0 or array.sum(axis=1).min() < 1:
        raise Invalid("candidates are histograms of small databases, one in each row, each with some record")
    out = array.astype(np.int64)
    out.setflags(write=False)
    return out


@final
@frozen(kw_only=True, eq=False)
class MedianMechanism:
    """Answer linear queries one by one with the median of candidate databases, and pay where the median is wrong.

    The candidates are public: all small databases, or any sample made without looking at the data. Give epsilon, or epsilon and delta,
    or rho; `records` as in PMW, which is the better algorithm and the one to use. This one came first.

    Theorem (Roth & Roughgarden 2010).
        All answers together cost at most `loss`: the number of records and 1 + ⌊log₂|candidates|⌋ rounds (see `ThresholdRounds`), for
        candidates leave by released answers only. That is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see `BudgetShare`).

    Accuracy.
        Let α = accuracy, n ≥ `needs`, and let some candidate be within α/4 of the data on all queries asked (see `all_databases`). With
        probability 1 − β all of k answers are within αn, and no round is missing. `error(confidence, size=n)` is αn where this is known at
        that confidence: n is large enough, and the candidates are all databases of m > ln(2k)/(2(α/4)²) rows. Else it is infinite.

    Proof.
        With confidence 1 − β every test is right within t, every count within Z, and n within ν, where αn ≥ 4(t + Z + 2ν + 1). The
        threshold is ¾αn̂, and a hit with count a keeps the candidates within ½αn̂ of a. The good one stays: it is at most
        αn̂/4 + Z + ν + ½ away. The median is at least ¾αn̂ − t − Z away, so it leaves with all on its other side: at least half.
        A miss is within ¾αn̂ + t ≤ αn.

    >>> online = MedianMechanism(candidates=all_databases(3, 8), epsilon=40, accuracy=0.4, queries_expected=50)
    >>> run = online.open(Private([3000, 500, 500]))
    >>> round(run.ask([1, 0, 0]).value, -3), run.left < len(online.candidates)
    (3000.0, True)
    """

    candidates: Integers = field(converter=_candidates, repr=lambda c: f"<{len(c)} databases>")
    top: int = field(default=1, converter=arguments.top)
    accuracy: Fraction = field(converter=arguments.accuracy, repr=str)
    queries_expected: int = field(converter=arguments.queries_expected)
    beta: Fraction = field(default=Fraction(1, 20), converter=arguments.beta, repr=str)
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)

    def __attrs_post_init__(self) -> None:
        _ = self.budget

    @property
    def domain(self) -> int:
        """How many values a record may have."""
        return int(self.candidates.shape[1])

    @property
    def budget(self) -> BudgetShare:
        """What may be spent in all, as ε or as ρ."""
        return BudgetShare.of(self.epsilon, self.rho, self.delta, parts=len(self.candidates).bit_length())

    @property
    def counting(self) -> Laplace | Gaussian | None:
        """How the number of records is measured, unless it is public: out of a twentieth of the budget."""
        return self.budget.part(20).count(1) if self.records is None else None

    @property
    def rounds(self) -> ThresholdRounds:
        """The rounds share the rest, a tenth of it for the counts."""
        return share_rounds(self.budget, self.counting is None, len(self.candidates).bit_length(), self.top)

    @property
    def loss(self) -> Loss:
        """What the run can cost in all, whatever is asked."""
        return compose(([] if self.counting is None else [self.counting.loss]) + self.rounds.rounds * [self.rounds.each])

    def error(self, confidence: Number | None = None, size: int = 1) -> float:
        """How far off any of the expected answers may be for `size` records, as a count; without a confidence, with 1 − β."""
        level = 1 - self.beta if confidence is None else exact.confidence_level(confidence)
        n = exact.whole(size, "size")
        return float(self.accuracy * n) if self._covers and n >= self.needs(1 - level) else math.inf

    @property
    def _covers(self) -> bool:
        """Whether the candidates are all databases of enough rows, so that one of them is good whatever is asked."""
        rows = int(self.candidates[0].sum())
        if rows < rows_needed(self.queries_expected, self.accuracy) or (self.candidates.sum(axis=1) != rows).any():
            return False
        return len(np.unique(self.candidates, axis=0)) == small_databases(self.domain, rows)

    def needs(self, beta: Number | None = None) -> int:
        """From how many records on the accuracy statement holds, at this β instead of the mechanism's own."""
        third, rounds = (self.beta if beta is None else arguments.beta(beta)) / 3, self.rounds
        test = rounds.stream(0).error(1 - third / rounds.rounds, 2 * self.queries_expected) / self.top
        told = rounds.telling_count.error(1 - third, rounds.rounds) / self.top
        off = 0.0 if self.counting is None else self.counting.error(1 - third)
        return math.ceil(4 * (test + told + 2 * off + 1) / float(self.accuracy))

    def open(self, data: Private[Any] | Any) -> MedianRun:
        """Measure the number of records, unless it is public, and wait for queries."""
        return MedianRun(self, private_histogram(data, self.domain, self.top))


@final
class MedianRun:
    """One stream of linear queries."""

    def __init__(self, mechanism: MedianMechanism, data: Private[Integers]) -> None:
        self.mechanism = mechanism
        self.hits = 0
        self.total, self.losses = measure_total(mechanism.counting, mechanism.records, data)
        self._alive = np.arange(len(mechanism.candidates))
        threshold = math.ceil(mechanism.accuracy * self.total * mechanism.top * 3 / 4)
        self._guard = mechanism.rounds.open(data, threshold, self.losses)

    @property
    def left(self) -> int:
        """How many candidates have not been contradicted."""
        return len(self._alive)

    @property
    def hypothesis(self) -> Floats:
        """The average of the candidates that are left, as a distribution."""
        alive = self.mechanism.candidates[self._alive]
        return np.asarray((alive / alive.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def spent(self) -> bool:
        """Whether all rounds are used up."""
        return self._guard.spent

    def ask(self, query: Any) -> Answer:
        """Answer a query, given by its whole values from 0 to top."""
        mechanism = self.mechanism
        row = query_row(query, mechanism.domain, mechanism.top)
        alive = mechanism.candidates[self._alive]
        votes = np.rint(self.total * ((alive @ row) / alive.sum(axis=1))).astype(np.int64)
        estimate = int(np.partition(votes, len(votes) // 2)[len(votes) // 2])
        refused = self.spent
        verdict = self._guard.ask(row, estimate)
        if not verdict.side:
            return Answer(estimate / mechanism.top, "refused" if refused else "hypothesis", verdict.charged)
        self.hits += 1
        near = np.abs(votes - verdict.noisy) <= mechanism.accuracy * self.total * mechanism.top / 2
        if near.any():  # else no candidate is good, and the accuracy statement is void; privacy is not
            self._alive = self._alive[near]
        return Answer(verdict.noisy / mechanism.top, "paid", verdict.charged)
