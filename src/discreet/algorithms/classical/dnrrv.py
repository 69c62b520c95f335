"""DNRRV: measure a random part of the queries, fit a small database to it, and pay only for the other queries that it answers badly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Integers, check_histogram, read_histogram
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.nearest import few_rows
from discreet.algorithms.classical.nested import Nested, part_sizes
from discreet.algorithms.classical.rounds import ThresholdRounds
from discreet.algorithms.classical.small import SmallDatabase
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams.sparse_vector import SparseVectorRun
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniform
from discreet.private import Private

_MOST_ROWS = 2**12  # fitted one after the other on each level, in about a second


@final
@frozen(eq=False)
class Sanitised:
    """Whole-number answers to all queries (counts times `top`), a small database near them, and the number of exceptions on each level."""

    answers: Integers = field(repr=False)
    small: SmallDatabase
    hits: tuple[int, ...]
    losses: tuple[Loss, ...] = field(repr=False)


@final
@frozen(kw_only=True)
class DNRRV(Mechanism[Sanitised]):
    """Answer many linear queries by fitting small databases to nested random parts of them, from the smallest part upwards.

    The smallest part is measured, and a database of `rows` rows is fitted to it. There are few such databases, so what fits a random part
    fits nearly all of the part it was drawn from. The exceptions are found by threshold tests, which are free where the database is
    accurate, and are measured. Then a database is fitted to the larger part's answers; and so on, up to all queries. `sizes` are those of
    the parts, decreasing; without any, all queries are measured. Give epsilon, or epsilon and delta, or rho. Without `records` the number
    of records is measured first, from a twentieth of the budget. The neighbouring relation may be add/remove or replace-one.

    When to use it. Never for its error. Up to 10⁶ queries `proven` found no part that pays, and then this is plain noise on each query;
    with 10⁷ to 10¹³ queries, up to 10¹⁰ records and 2²⁰ values, `MWEM` or `BLR` has the smaller proved error wherever we looked (ε = 1). It
    is here to be read and compared: it introduced threshold tests, and the argument that a small database that fits a random part fits
    nearly all; boosting grew out of it.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; the price in exact terms).
        All levels (see `Nested`) compose to `loss`, which is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see
        `BudgetShare`). Fitting is post-processing.

    Accuracy.
        `error(confidence, size=n)` is that of the top level (see `Nested`), for confidence up to 1 − β; `small_error` is that of the small
        database.

    >>> queries = Queries.marginals((2,) * 3, 2)
    >>> sanitise = DNRRV(queries=queries, rows=1000, epsilon=100, sizes=(8,))
    >>> released = sanitise.release([500, 0, 0, 300, 0, 0, 0, 200])
    >>> bool(np.abs(released.answers - queries.answers([500, 0, 0, 300, 0, 0, 0, 200])).max() <= sanitise.error(size=1000))
    True
    """

    queries: Queries
    rows: int = field(converter=arguments.rows)
    sizes: tuple[int, ...] = field(default=(), converter=part_sizes)
    beta: Fraction = field(default=Fraction(1, 20), converter=arguments.beta, repr=str)
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)

    def __attrs_post_init__(self) -> None:
        _ = self.nested

    @classmethod
    def proven(
        cls,
        queries: Queries,
        *,
        size: int,
        confidence: Number = 0.95,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        records: int | None = None,
    ) -> DNRRV:
        """The one with the least `error(confidence, size)`, over the rows and up to two parts; often it is the one without parts."""
        beta = 1 - exact.confidence_level(confidence)
        found = Nested(
            size=queries.size, domain=queries.domain, top=queries.top, rows=1, beta=beta, epsilon=epsilon, delta=delta, rho=rho,
            records=records,
        ).best(exact.whole(size, "size"), _MOST_ROWS)  # fmt: skip
        return cls(queries=queries, rows=found.rows, sizes=found.sizes, beta=beta, epsilon=epsilon, delta=delta, rho=rho, records=records)

    @property
    def nested(self) -> Nested:
        """The levels: the loss and the error of each."""
        return Nested(
            size=self.queries.size, domain=self.queries.domain, top=self.queries.top, rows=self.rows, sizes=self.sizes, beta=self.beta,
            epsilon=self.epsilon, delta=self.delta, rho=self.rho, records=self.records,
        )  # fmt: skip

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of each step, in order."""
        return self.nested.losses

    @property
    def loss(self) -> Loss:
        return compose(self.losses)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The largest error of any answer for `size` records, in the answers' units: counts times `top`."""
        return self.nested.top_level(confidence, size).answers

    def small_error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The same for the small database."""
        return self.nested.top_level(confidence, size).database

    def check(self, answer: Any) -> None:
        check_histogram(answer, self.queries.domain)

    def sample(self, answer: Any, bits: Bits) -> Sanitised:
        top, everything = self.queries.top, np.arange(self.queries.size)
        parts = [everything]
        for size in self.sizes:
            parts.append(part_of(parts[-1], size, bits))
        counts = read_histogram(answer, self.queries.domain, top)
        true = self.queries.answers(counts)  # private: used below only through noise and tests
        total = self.records
        nested = self.nested
        if (counting := nested.counting) is not None:
            total = max(1, int(counting.sample(int(counts.sum()), bits)))
        assert total is not None
        levels, parts = nested.levels(total), parts[::-1]
        answered, hits = np.zeros(self.queries.size, np.int64), []
        answered[parts[0]] = nested.measuring.sample(true[parts[0]], bits)
        small = self._fit(answered, parts[0], total)
        for level, below, part in zip(levels[1:], parts[:-1], parts[1:], strict=True):
            assert level.rounds is not None
            answered[part] = np.rint(total * top * self.queries.means(small)).astype(np.int64)[part]
            hits.append(_correct(answered, true, np.setdiff1d(part, below), level.rounds, level.threshold, bits))
            small = self._fit(answered, part, total)
        return Sanitised(answered, SmallDatabase(histogram=small, records=total, steps=self.losses), tuple(hits), self.losses)

    def _fit(self, answered: Integers, part: Integers, total: int) -> Integers:
        top = self.queries.top
        return few_rows(self.queries.matrix[part] / top, np.clip(answered[part] / (top * total), 0, 1), self.rows)


def _correct(answered: Integers, true: Integers, untested: Integers, rounds: ThresholdRounds, threshold: int, bits: Bits) -> int:
    """Test each answer against the data from both sides, and measure those with a large error; returns their number."""
    hits, stream = 0, SparseVectorRun(rounds.stream(threshold), bits)
    for q in untested.tolist():
        gap = int(true[q] - answered[q])
        if not (stream.ask(Private(gap)).above or stream.ask(Private(-gap)).above):
            continue
        answered[q] = rounds.noisy_count.sample(int(true[q]), bits)
        hits += 1
        if hits == rounds.rounds:
            break
        stream = SparseVectorRun(rounds.stream(threshold), bits)
    return hits


def part_of(whole: Integers, size: int, bits: Bits) -> Integers:
    """A uniformly random part of this size, in order.

    Proof. Exchanging each of the first places with a uniform place at or behind it gives each ordered choice once.
    """
    left = whole.copy()
    for place in range(size):
        other = place + uniform(len(left) - place, bits)
        left[[place, other]] = left[[other, place]]
    return np.sort(left[:size])
