"""The median mechanism: small databases vote, and those that a released count contradicts are eliminated."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical.arguments import Floats, Integers, private_histogram, whole_matrix
from discreet.algorithms.classical.linear import small_databases
from discreet.algorithms.classical.online import OnlineMechanism, OnlineRun
from discreet.algorithms.classical.rounds import Verdict
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.private import Private

_MOST = 10**6  # candidates to enumerate


def all_databases(domain: int, rows: int) -> Integers:
    """Every database of this many rows, as histograms.

    Theorem (Blum, Ligett & Roth 2008).
        If rows > ln(2|Q|)/(2λ²) then for every data set one of them is within λ of it on all of |Q| averaging queries.

    Proof. Draw the rows from the data: by Hoeffding and a union bound a draw fails with probability below 1.

    >>> all_databases(2, 3).tolist()
    [[3, 0], [2, 1], [1, 2], [0, 3]]
    """
    count = small_databases(domain, rows)
    if count > _MOST:
        raise Invalid(f"there are {count:,} databases of {rows} rows, too many to enumerate: pass a sample of them as candidates")
    chosen = np.array(list(combinations_with_replacement(range(domain), rows)))
    out = np.zeros((count, domain), np.int64)
    np.add.at(out, (np.arange(count)[:, None], chosen), 1)
    return out


def rows_needed(queries: int, accuracy: Number) -> int:
    """The number of rows that suffice for a database within accuracy/4 on this many queries."""
    apart = float(exact.positive(accuracy, "accuracy")) / 4
    return 1 + math.floor(math.log(2 * exact.whole(queries, "queries")) / (2 * apart**2))


def _candidates(histograms: Any) -> Integers:
    problem = "candidates must be a matrix of whole numbers with the histogram of one small database in each row, none of them empty"
    matrix = whole_matrix(histograms, problem)
    if matrix.min() < 0 or matrix.sum(axis=1).min() < 1:
        raise Invalid(problem)
    return matrix


@final
@frozen(kw_only=True, eq=False)
class MedianMechanism(OnlineMechanism):
    """Answer linear queries one by one with the median of candidate databases, and pay only where the median is wrong.

    The candidates are public: all small databases, or any sample made without looking at the data. Give epsilon, or epsilon and delta, or
    rho; `records` is as in `PMW`, which is the better algorithm and the one to use. This one came first.

    Theorem (Roth & Roughgarden 2010).
        All answers together cost at most `loss`: the number of records and 1 + ⌊log₂|candidates|⌋ rounds (see `ThresholdRounds`), because
        candidates are eliminated by released answers only. That is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see
        `BudgetShare`).

    Accuracy.
        Let α = accuracy, n ≥ `needs`, and let some candidate be within α/4 of the data on all queries asked (see `all_databases`). With
        probability 1 − β all of k answers are within αn, and no round is missing. `error(confidence, size=n)` is αn where this is known at
        that confidence: n is large enough, and the candidates are all databases of m > ln(2k)/(2(α/4)²) rows. Otherwise it is infinite.

    Proof.
        With confidence 1 − β every test is right within t, every count within Z, and n within ν, where αn ≥ 4(t + Z + 2ν + 1). The
        threshold is ¾αn̂, and a hit with count a keeps the candidates within ½αn̂ of a. The good one stays: it is at most αn̂/4 + Z + ν + ½
        away. The median is at least ¾αn̂ − t − Z away, so it is eliminated with all on its other side: at least half. A miss is within ¾αn̂
        + t ≤ αn.

    >>> online = MedianMechanism(candidates=all_databases(3, 8), epsilon=40, accuracy=0.4, queries_expected=50)
    >>> run = online.open(Private([3000, 500, 500]))
    >>> round(run.ask([1, 0, 0]).value, -3), run.left < len(online.candidates)
    (3000.0, True)
    """

    candidates: Integers = field(converter=_candidates, repr=lambda c: f"<{len(c)} databases>")

    @property
    def domain(self) -> int:
        return int(self.candidates.shape[1])

    @property
    def most_updates(self) -> int:
        """1 + ⌊log₂|candidates|⌋, the number of rounds."""
        return len(self.candidates).bit_length()

    @property
    def _is_covered(self) -> bool:
        """Whether the candidates are all databases of enough rows, so that one of them is accurate for any queries."""
        rows = int(self.candidates[0].sum())
        if rows < rows_needed(self.queries_expected, self.accuracy) or (self.candidates.sum(axis=1) != rows).any():
            return False
        return len(np.unique(self.candidates, axis=0)) == small_databases(self.domain, rows)

    def needs(self, beta: Number | None = None) -> int:
        test, count, total = self.slack(beta)
        return math.ceil(4 * (test + count + 2 * total + 1) / float(self.accuracy))

    def open(self, data: Private[Any] | Any) -> MedianRun:
        """Measure the number of records, unless it is public, and wait for queries."""
        return MedianRun(self, private_histogram(data, self.domain, self.top))


@final
class MedianRun(OnlineRun[MedianMechanism]):
    """One stream of linear queries; the hypothesis is the set of candidates that no released count has contradicted."""

    def __init__(self, mechanism: MedianMechanism, data: Private[Integers]) -> None:
        super().__init__(mechanism, data)
        self._alive = np.arange(len(mechanism.candidates))

    @property
    def left(self) -> int:
        """The number of candidates that no released count has contradicted."""
        return len(self._alive)

    @property
    def hypothesis(self) -> Floats:
        """The average of the remaining candidates, as a distribution."""
        alive = self.mechanism.candidates[self._alive]
        return np.asarray((alive / alive.sum(axis=1, keepdims=True)).mean(axis=0))

    def _votes(self, row: Integers) -> Integers:
        """The count that each remaining candidate gives a query, in units of 1/top."""
        alive = self.mechanism.candidates[self._alive]
        return np.asarray(np.rint(self.total * ((alive @ row) / alive.sum(axis=1))), np.int64)

    def _estimate(self, row: Integers) -> int:
        votes = self._votes(row)
        return int(np.partition(votes, len(votes) // 2)[len(votes) // 2])

    def _update(self, row: Integers, verdict: Verdict) -> None:
        near = np.abs(self._votes(row) - verdict.noisy) <= self.mechanism.accuracy * self.total * self.mechanism.top / 2
        if near.any():  # otherwise no candidate is accurate and the accuracy statement is void; the privacy statement is not
            self._alive = self._alive[near]
