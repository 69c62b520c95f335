"""Private multiplicative weights: answer queries as they arrive, and pay only for those the hypothesis gets wrong."""

from __future__ import annotations

import math
from typing import Any, final

from attrs import field, frozen

from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Floats, Integers, private_histogram
from discreet.algorithms.classical.online import OnlineMechanism, OnlineRun
from discreet.algorithms.classical.rounds import Verdict
from discreet.algorithms.classical.weights import Weights, most_updates
from discreet.exact import Number
from discreet.private import Private


@final
@frozen(kw_only=True)
class PMW(OnlineMechanism):
    """Answer linear queries one by one, each within accuracy·n, and pay only where the hypothesis is wrong.

    Give epsilon, or epsilon and delta, or rho. Without `records`, neighbours differ by adding or removing one record, and the number of
    records is measured first. With `records`, the public number of records, neighbours differ by replacing one record. `updates` limits the
    rounds to fewer than the theorem requires: once all are used, only the hypothesis answers, and answers say so.

    Theorem (Hardt & Rothblum 2010; Dwork & Roth 2014, sec. 4.2).
        All answers together, to any number of adaptively chosen queries, cost at most `loss`: the number of records and C rounds (see
        `ThresholdRounds`), which is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see `BudgetShare`).

    Accuracy.
        Let α = accuracy, C = 1 + ⌊2 ln N/α²⌋ and n ≥ `needs`. With probability 1 − β all of k answers are within αn, and no round is
        missing. `error(confidence, size=n)` is αn where this holds at that confidence; with fewer rounds or records it is infinite.

    Proof.
        With confidence 1 − β every test is right within t, every count within Z ≤ αn, and n within ν, where 4(t + 2ν + 1) ≤ αn. The
        threshold is ¾αn̂. A miss is within ¾αn̂ + t + 1 ≤ αn. A hit has a gap of at least (¾αn̂ − t − ν − 1)/n ≥ α/2 on the side that was
        released, so its update of rate 2α lowers the potential of `Weights` by α²/2: there are fewer than C.

    >>> online = PMW(domain=4, epsilon=40, accuracy=0.2, queries_expected=100, beta=0.001)
    >>> run = online.open(Private([70000, 10000, 10000, 10000]))
    >>> run.ask([1, 0, 0, 0]).source, round(run.ask([1, 1, 0, 0]).value, -4)
    ('paid', 80000.0)
    """

    domain: int = field(converter=arguments.domain)
    updates: int | None = field(default=None, converter=arguments.updates)

    @property
    def most_updates(self) -> int:
        """C, the number of rounds."""
        return self._proven_updates if self.updates is None else self.updates

    @property
    def _proven_updates(self) -> int:
        return 1 + most_updates(self.domain, float(self.accuracy) / 2)

    @property
    def _is_covered(self) -> bool:
        return self.updates is None or self.updates >= self._proven_updates

    def needs(self, beta: Number | None = None) -> int:
        test, count, total = self.slack(beta)
        return math.ceil(max(4 * (test + 2 * total + 1), count) / float(self.accuracy))  # counts may be αn off, tests only αn/4

    def open(self, data: Private[Any] | Any) -> PMWRun:
        """Measure the number of records, unless it is public, and wait for queries."""
        return PMWRun(self, private_histogram(data, self.domain, self.top))


@final
class PMWRun(OnlineRun[PMW]):
    """One stream of linear queries; the hypothesis is a distribution held by `Weights`."""

    def __init__(self, mechanism: PMW, data: Private[Integers]) -> None:
        super().__init__(mechanism, data)
        self._weights = Weights.uniform(mechanism.domain)

    @property
    def hypothesis(self) -> Floats:
        return self._weights.distribution

    def _estimate(self, row: Integers) -> int:
        top = self.mechanism.top
        return round(self.total * top * self._weights.mean(row / top))

    def _update(self, row: Integers, verdict: Verdict) -> None:
        assert verdict.side  # a hit
        self._weights = self._weights.update(row / self.mechanism.top, verdict.side, 2 * float(self.mechanism.accuracy))
