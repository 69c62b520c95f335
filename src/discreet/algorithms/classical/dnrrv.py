"""DNRRV: measure a random part of the queries, fit a small database to it, and pay only for the others that it gets wrong."""

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

_MOST_ROWS = 2**12  # fitted one after the other on each level: about a second


@final
@frozen(eq=False)
class Sanitised:
    """Whole answers to all queries (counts times `top`), a small database near them, and how many queries each level paid for."""

    answers: Integers = field(repr=False)
    small: SmallDatabase
    hits: tuple[int, ...]
    losses: tuple[Loss, ...] = field(repr=False)


@final
@frozen(kw_only=True)
class DNRRV(Mechanism[Sanitised]):
    """Answer all of many linear queries by fitting small databases to nested random parts of them, from the smallest part upwards.

    The smallest part is measured, and a database of `rows` rows is fitted to it. As there are few such databases, what fits a random part
    fits nearly all of the part it was drawn from. The exceptions are found by threshold tests, which cost nothing where the database is
    good, and are measured; a database is fitted to the larger part's answers; and so on, up to all queries. `sizes` are those of the
    parts, falling; without any all queries are measured. Give epsilon, or epsilon and delta, or rho. Without `records` the number of
    records is measured first, out of a twentieth of the budget. Neighbours may differ by one record more or less or by one replaced.

    When to use it. Never for its error. Up to 10⁶ queries `proven` found no part that pays, and then this is plain noise on each query;
    with 10⁷ to 10¹³ queries, up to 10¹⁰ records and 2²⁰ values, `MWEM` or `BLR` has the smaller proved error wherever we looked (ε = 1).
    It is here to be read and compared: threshold tests, and the thought that what is small and fits a random part fits nearly all, come
    from it, and boosting came out of it.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; the price in exact terms).
        All levels (see `Nested`) compose to `loss`, which is ε pure, or at most ρ of zCDP, or (ε, δ) by the better of the two (see
        `BudgetShare`). Fitting is post-processing.

    Accuracy.
        `error(confidence, size=n)` is that of the top level (see `Nested`), for confidence up to 1 − β; `small_error` is that of the
        small database.

    >>> queries = Queries.marginals((2,) * 3, 2)
    >>> sanitise = DNRRV(queries=queries, rows=1000, epsilon=100, sizes=(8,))
    >>> told = sanitise.release([500, 0, 0, 300, 0, 0, 0, 200])
    >>> bool(np.abs(told.answers - queries.answers([500, 0, 0, 300, 0, 0, 0, 200])).max() <= sanitise.error(size=1000))
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
        """The one whose `error(confidence, size)` is least, over the rows and up to two parts; often it is that without any part."""
        beta = 1 - exact.confidence_level(confidence)
        found = Nested(
            size=queries.size, domain=queries.domain, top=queries.top, rows=1, beta=beta, epsilon=epsilon, delta=delta, rho=rho,
            records=records,
        ).best(exact.whole(size, "size"), _MOST_ROWS)  # fmt: skip
        return cls(queries=queries, rows=found.rows, sizes=found.sizes, beta=beta, epsilon=epsilon, delta=delta, rho=rho, records=records)

    @property
    def nested(self) -> Nested:
        """The levels: what each costs and how far off it may be."""
        return Nested(
            size=self.queries.size, domain=self.queries.domain, top=self.queries.top, rows=self.rows, sizes=self.sizes, beta=self.beta,
            epsilon=self.epsilon, delta=self.delta, rho=self.rho, records=self.records,
        )  # fmt: skip

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What each step costs, in order."""
        return self.nested.losses

    @property
    def loss(self) -> Loss:
        return compose(self.losses)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """How far off any answer may be for `size` records, in the answers' units: counts times `top`."""
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
        true = self.queries.answers(counts)  # met below only by noise and by tests
        total = self.records
        nested = self.nested
        if (counting := nested.counting) is not None:
            total = max(1, int(counting.sample(int(counts.sum()), bits)))
        assert total is not None
        levels, parts = nested.levels(total), parts[::-1]
        told, hits = np.zeros(self.queries.size, np.int64), []
        told[parts[0]] = nested.measuring.sample(true[parts[0]], bits)
        small = self._fit(told, parts[0], total)
        for level, below, part in zip(levels[1:], parts[:-1], parts[1:], strict=True):
            assert level.rounds is not None
            told[part] = np.rint(total * top * self.queries.means(small)).astype(np.int64)[part]
            hits.append(_correct(told, true, np.setdiff1d(part, below), level.rounds, level.threshold, bits))
            small = self._fit(told, part, total)
        return Sanitised(told, SmallDatabase(histogram=small, records=total, steps=self.losses), tuple(hits), self.losses)

    def _fit(self, told: Integers, part: Integers, total: int) -> Integers:
        top = self.queries.top
        return few_rows(self.queries.matrix[part] / top, np.clip(told[part] / (top * total), 0, 1), self.rows)


def _correct(told: Integers, true: Integers, asked: Integers, rounds: ThresholdRounds, threshold: int, bits: Bits) -> int:
    """Test each answer against the truth from both sides, and measure those that are far off; how many there were."""
    hits, stream = 0, SparseVectorRun(rounds.stream(threshold), bits)
    for q in asked.tolist():
        gap = int(true[q] - told[q])
        if not (stream.ask(Private(gap)).above or stream.ask(Private(-gap)).above):
            continue
        told[q] = rounds.telling_count.sample(int(true[q]), bits)
        hits += 1
        if hits == rounds.rounds:
            break
        stream = SparseVectorRun(rounds.stream(threshold), bits)
    return hits


def part_of(whole: Integers, size: int, bits: Bits) -> Integers:
    """A random part of this size, in order; each has the same chance.

    Proof. Shuffling the first places by exchanges with a uniform place at or behind each gives each ordered choice once.
    """
    left = whole.copy()
    for place in range(size):
        other = place + uniform(len(left) - place, bits)
        left[[place, other]] = left[[other, place]]
    return np.sort(left[:size])
