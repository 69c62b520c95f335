"""Nested random parts of many queries: the loss and the error of each level of DNRRV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple, final

from attrs import evolve, field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.rounds import ThresholdRounds, share_rounds
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.small import log_small_databases
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace


def most_missed(queries: int, part: int, databases: float, beta: float) -> int:
    """The largest number of queries answered badly by a database that is accurate for a random part of them; `databases` is ln|Y|.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009, generalisation by counting; without replacement).
        Let Y be finite, and S a random set of k of |Q| queries. With probability 1 − β no y in Y is accurate for all of S and inaccurate
        for more than h of Q, where h is the least with |Y|·C(|Q| − h − 1, k)/C(|Q|, k) ≤ β.

    Proof. A y that is inaccurate for h + 1 queries or more is accurate for all of S with at most that probability; add up over Y.

    >>> most_missed(1000, 200, databases=30, beta=0.01)
    142
    """

    def log_choose(n: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(part + 1) - math.lgamma(n - part + 1)

    margin = 1e-6 + 1e-15 * math.lgamma(queries + 1)  # for the rounding of floats

    def surely(h: int) -> bool:
        return queries - h - 1 < part or databases + log_choose(queries - h - 1) - log_choose(queries) <= math.log(beta) - margin

    return exact.least_whole(surely)


class Level(NamedTuple):
    """One level: its number of queries, its rounds of tests, their threshold, and the errors of its answers and its database."""

    queries: int
    rounds: ThresholdRounds | None  # none at the bottom, where all are measured
    threshold: int
    answers: float
    database: float


def part_sizes(value: Sequence[int]) -> tuple[int, ...]:
    """The number of queries of each part."""
    return tuple(exact.whole(size, "each of the sizes") for size in value)


@final
@frozen(kw_only=True)
class Nested:
    """The public part of DNRRV: `size` queries over a domain, parts of them, and a budget that the levels share.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; the price in exact terms).
        The parts are drawn without looking at the data. Measuring k queries covers changes of k in ℓ₁, √k in ℓ₂. A level with at most h
        exceptions costs h rounds (see `ThresholdRounds`), which are charged whether they are used or not. All levels compose to ε pure, or
        to at most ρ of zCDP, or (ε, δ) by the better of the two (see `BudgetShare`).

    Accuracy.
        With probability 1 − β all noise at the bottom is at most E, and ν for n̂; on each level all tests are right within t, all counts
        within Z, and there are at most h exceptions. With λ the error of the database from below, the tests' threshold is λ + t, answers
        are within a = max(Z, λ + 2t), and the database fitted to them within 2a + ν + n̂√(2 ln(2|Q|)/m). So each level doubles the error:
        with |Q|^(1/d) as the ratio of neighbouring parts that is |Q|^o(1)·√n for the best d.

    Proof.
        A test whose gap is at most λ is below λ + t by t, so it is no hit; by `most_missed` at most h queries have larger gaps. A miss is
        within λ + 2t, a hit is measured. For the fit see `few_rows`: the data's own distribution at n̂ is within a + ν of the answers.
    """

    size: int = field(converter=arguments.size)
    domain: int = field(converter=arguments.domain)
    top: int = field(default=1, converter=arguments.top)
    rows: int = field(converter=arguments.rows)
    sizes: tuple[int, ...] = field(default=(), converter=part_sizes)
    beta: Fraction = field(default=Fraction(1, 20), converter=arguments.beta, repr=str)
    epsilon: Fraction | None = field(default=None, converter=arguments.epsilon, repr=str)
    delta: Fraction | None = field(default=None, converter=arguments.delta, repr=str)
    rho: Fraction | None = field(default=None, converter=arguments.rho, repr=str)
    records: int | None = field(default=None, converter=arguments.records)

    def __attrs_post_init__(self) -> None:
        if any(below >= above for above, below in pairwise((self.size, *self.sizes))):
            raise Invalid(
                "sizes must decrease, from below the number of queries: each part is drawn from the previous one, as in (100, 10)"
            )
        _ = self.budget

    # ── price ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _each(self) -> Fraction:
        """β of each event of the accuracy statement: n̂ and the bottom's noise, and three on each level above."""
        return self.beta / (2 + 3 * len(self.sizes))

    @property
    def hits(self) -> tuple[int, ...]:
        """The number of exceptions for which each level above the bottom has rounds, the lowest level first."""
        databases, each = log_small_databases(self.domain, self.rows), float(self._each)
        levels = list(pairwise((self.size, *self.sizes)))[::-1]
        return tuple(max(1, most_missed(above, below, databases, each)) for above, below in levels)

    @property
    def budget(self) -> BudgetShare:
        """The whole budget, as ε or as ρ."""
        return BudgetShare.of(self.epsilon, self.rho, self.delta, parts=(self.size, *self.sizes)[-1] + sum(self.hits))

    @property
    def _level_share(self) -> BudgetShare:
        """The equal share of each level, after the number of records."""
        return (self.budget if self.records is not None else self.budget.part(20, 19)).part(1 + len(self.sizes))

    @property
    def counting(self) -> Laplace | Gaussian | None:
        """The noise for the number of records; None if the number is public."""
        return self.budget.part(20).count(1) if self.records is None else None

    @property
    def measuring(self) -> Laplace | Gaussian:
        """The noise for the smallest part, in units of 1/top."""
        count, share = (self.size, *self.sizes)[-1], self._level_share
        root = count if share.rho is None else exact.rational_up(lambda: exact.ball(count).sqrt())
        return share.count(self.top * root)

    @property
    def rounds(self) -> tuple[ThresholdRounds, ...]:
        """The tests of each level, the lowest first; nine tenths for the tests, the rest for the counts at their hits."""
        share = self._level_share
        return tuple(share_rounds(share, True, hits, self.top) for hits in self.hits)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of each step, in order."""
        first = () if self.counting is None else (self.counting.loss,)
        return (*first, self.measuring.loss, *(rounds.each for rounds in self.rounds for _ in range(rounds.rounds)))

    # ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def levels(self, total: float) -> list[Level]:
        """All levels from the bottom upwards if n̂ is `total`, in units of 1/top."""
        each, top = self._each, self.top
        off = 0.0 if self.counting is None else top * self.counting.error(1 - each)

        def fitted(queries: int, answers: float) -> float:
            return answers + off + max(answers, off) + total * top * math.sqrt(2 * math.log(2 * queries) / self.rows) + 0.5

        sizes = (self.size, *self.sizes)[::-1]
        noise = self.measuring.error(1 - each, sizes[0])
        found = [Level(sizes[0], None, 0, noise, fitted(sizes[0], noise))]
        for rounds, (below, size) in zip(self.rounds, pairwise(sizes), strict=True):
            test = rounds.stream(0).error(1 - each / rounds.rounds, 2 * (size - below))
            threshold = math.floor(found[-1].database + test) + 1
            answers = max(rounds.noisy_count.error(1 - each, rounds.rounds), threshold + test)
            found.append(Level(size, rounds, threshold, answers, fitted(size, answers)))
        return found

    def top_level(self, confidence: Number, size: int) -> Level:
        """The level of all queries, for `size` records; its errors are infinite above confidence 1 − β, as thresholds are set for β."""
        n = exact.whole(size, "size")
        if exact.confidence_level(confidence) > 1 - self.beta:
            return Level(self.size, None, 0, math.inf, math.inf)
        return self.levels(n + (0.0 if self.counting is None else self.counting.error(1 - self._each)))[-1]

    # ── the best parts ───────────────────────────────────────────────────────────────────────────────────────────────

    def best(self, size: int, most_rows: int) -> Nested:
        """The parts, at most two, and the number of rows with the least error: an approximate search, then an exact comparison."""
        halves = [self.size >> i for i in range(1, 2 * self.size.bit_length() // 3) if self.size >> i]
        rows = [2**i for i in range(4, max(5, most_rows.bit_length()), 2)]
        tried: list[tuple[tuple[int, ...], int]] = [((), rows[-1])]
        tried += [(sizes, m) for k in (1, 2) for sizes in combinations(halves, k) for m in rows]
        made = sorted(tried, key=lambda shape: self._roughly(shape[0], shape[1], size))[:3]
        return min((evolve(self, sizes=sizes, rows=m) for sizes, m in [*made, tried[0]]), key=lambda one: one._measure(size))

    def _measure(self, size: int) -> float:
        return self.top_level(1 - self.beta, size).answers

    def _roughly(self, sizes: tuple[int, ...], rows: int, size: int) -> float:
        """The error without the number of records, by the leading terms of the tails."""
        whole, each = (self.size, *sizes)[::-1], float(self.beta) / (2 + 3 * len(sizes))
        databases = log_small_databases(self.domain, rows)
        hits = [max(1, round(above * min(1.0, (databases - math.log(each)) / below))) for below, above in pairwise(whole)]
        share = BudgetShare.of(self.epsilon, self.rho, self.delta, parts=whole[0] + sum(hits)).part(1 + len(sizes))
        pure, rho = float(share.epsilon or 0), float(share.rho or 0)
        k = whole[0]
        off = k / pure * math.log(k / each) if pure else math.sqrt(k / rho * math.log(2 * k / each))
        for h, (below, above) in zip(hits, pairwise(whole), strict=True):
            test = 3.26 * math.log(2 * above * h / each) / (0.9 * pure / h if pure else math.sqrt(1.8 * rho / h))
            off = 2 * off + size * math.sqrt(2 * math.log(2 * below) / rows) + 2 * test
        return off * self.top
