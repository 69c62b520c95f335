"""Rounds of threshold tests: private counts are compared with public estimates, and each round is charged when it opens."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, final

import numpy as np
from attrs import frozen

from discreet.algorithms.classical.arguments import Integers
from discreet.algorithms.classical.shares import BudgetShare
from discreet.errors import Invalid
from discreet.loss.loss import NOTHING, Loss, compose
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams.sparse_vector import SparseVector, SparseVectorRun
from discreet.private import Private

Source = Literal["hypothesis", "paid", "refused"]


class Answer(NamedTuple):
    """A count, its source, and its cost; "refused": all rounds are used up, and the hypothesis alone answers."""

    value: float
    source: Source
    cost: Loss


class Verdict(NamedTuple):
    """The side of the estimate on which the count lies (0: near it, or not tested), the noisy count of a hit, and the charge."""

    side: Literal[-1, 0, 1]
    noisy: int
    charged: Loss


@final
@frozen(kw_only=True)
class ThresholdRounds:
    """Compare private counts with public estimates, in rounds of one threshold stream and one noisy count at its hit.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Hardt & Rothblum 2010).
        A round costs one stream and one count, for any number of questions: misses are free, a hit ends the stream, and its count is a
        fresh release. Both questions, count − estimate and estimate − count, change by at most 1 with one record. Parameters are fixed in
        advance, so all rounds together cost at most `rounds` times one; a round is charged when it opens.
    """

    test_share: BudgetShare
    count_share: BudgetShare
    rounds: int
    top: int

    def stream(self, threshold: int) -> SparseVector:
        """The threshold test of one round, in units of 1/top."""
        return self.test_share.test(threshold, self.top)

    @property
    def noisy_count(self) -> Laplace | Gaussian:
        """The noise for the count at a hit, in units of 1/top."""
        return self.count_share.count(self.top)

    @property
    def each(self) -> Loss:
        """The loss of one round."""
        return compose((self.stream(0).loss, self.noisy_count.loss))

    def open(self, data: Private[Integers], threshold: int, losses: list[Loss]) -> Guard:
        """Start; nothing is charged before the first question. Charges are added to `losses` before the data is used."""
        return Guard(self, data, threshold, losses)


@final
class Guard:
    """The only access of a hypothesis to the data: one threshold stream and one count per round."""

    def __init__(self, rules: ThresholdRounds, data: Private[Integers], threshold: int, losses: list[Loss]) -> None:
        self.opened = 0
        self.rules = rules
        self.losses = losses
        self._data = data
        self._threshold = threshold
        self._stream: SparseVectorRun | None = None

    @property
    def spent(self) -> bool:
        """Whether all rounds are used up."""
        return self._stream is None and self.opened == self.rules.rounds

    def ask(self, row: Integers, estimate: int) -> Verdict:
        """Compare a query's count with an estimate, both in units of 1/top."""
        if self.spent:
            return Verdict(0, 0, NOTHING)
        charged = NOTHING
        if self._stream is None:
            charged = self.rules.each
            self.losses.append(charged)
            self.opened += 1
            self._stream = self.rules.stream(self._threshold).open()
        count = self._data.map(lambda counts: int(row @ counts))
        if self._stream.ask(count.map(lambda c: c - estimate)).above:
            return self._hit(1, count, charged)
        if self._stream.ask(count.map(lambda c: estimate - c)).above:
            return self._hit(-1, count, charged)
        return Verdict(0, 0, charged)

    def _hit(self, side: Literal[-1, 1], count: Private[int], charged: Loss) -> Verdict:
        self._stream = None
        return Verdict(side, int(self.rules.noisy_count.release(count)), charged)


def share_rounds(budget: BudgetShare, is_known: bool, rounds: int, top: int) -> ThresholdRounds:
    """Rounds from the budget that remains after the number of records."""
    rest = budget if is_known else budget.part(20, 19)
    return ThresholdRounds(test_share=rest.part(10 * rounds, 9), count_share=rest.part(10 * rounds), rounds=rounds, top=top)


def measure_total(counting: Laplace | Gaussian | None, records: int | None, data: Private[Integers]) -> tuple[int, list[Loss]]:
    """The number of records, public or measured (at least 1), and the loss of that."""
    if counting is None:
        return records or 1, []
    return max(1, int(counting.release(data.map(lambda counts: int(counts.sum()))))), [counting.loss]


def query_row(query: Any, domain: int, top: int) -> Integers:
    """A query as whole numbers from 0 to top, one for each value of the domain."""
    row = np.asarray(query)
    if row.shape != (domain,) or row.dtype.kind not in "biu" or row.min() < 0 or row.max() > top:
        raise Invalid(f"a query must have a whole number from 0 to {top} for each of the domain's {domain} values")
    return row.astype(np.int64)
