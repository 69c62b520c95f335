"""Boosting for queries: from answers that are good for most queries to answers that are good for all."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.classical import given
from discreet.classical.given import Integers, check_histogram, histogram
from discreet.classical.linear import Queries, small_databases
from discreet.classical.projection import few_rows
from discreet.classical.shares import Share
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniforms


class Base(Protocol):
    """Synthesise answers to all queries from a few drawn ones, at a price."""

    @property
    def loss(self) -> Loss:
        """What one synthesis costs, whichever queries were drawn."""

    def sample(self, data: Any, drawn: Integers, bits: Bits) -> Integers:
        """Whole answers to all queries, hopefully good for most of the weight that the drawn ones were drawn by."""

    def check(self, data: Any) -> None:
        """Report a slip in plain data."""


@final
@frozen(kw_only=True)
class FewRows:
    """Measure the drawn queries and the number of records, and fit a database of few rows to them.

    Theorem (Dwork, Rothblum & Vadhan 2010, base synthesis by generalisation).
        It costs what its noise costs: each of the k drawn queries and the number of records move by at most 1 with one record. Let
        Y be all databases of m rows, and k ≥ ln(|Y|/β)/ln(1/(½ + η)). With probability 1 − β, if the drawn queries are all within
        λ of the truth, so are queries of more than ½ + η of the weight.

    Proof. A database that is good for less passes k draws with probability at most (½ + η)ᵏ; there are |Y| of them, and the measured
        number of records does not depend on the draws.

    Accuracy.
        If all noise is at most E, the drawn queries are within 5E + (n + E)√(2 ln(2k)/m) + 2; see `few_rows`.
    """

    queries: Queries
    rows: int = field(converter=given.rows)
    draws: int = field(converter=given.draws)
    share: Share

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

    def check(self, data: Any) -> None:
        check_histogram(data, self.queries.domain)

    def sample(self, data: Any, drawn: Integers, bits: Bits) -> Integers:
        if len(drawn) != self.draws:
            raise Invalid("the base is made for another number of drawn queries")
        top = self.queries.top
        counts = histogram(data, self.queries.domain, top)
        rows = np.vstack([self.queries.matrix[drawn], np.full(self.queries.domain, top)])
        noisy = np.asarray(self.measuring.sample(rows @ counts, bits), np.int64)
        total = max(1, round(int(noisy[-1]) / top))
        fit = few_rows(rows[:-1] / top, np.clip(noisy[:-1] / (top * total), 0, 1), self.rows)
        return np.rint(top * total * self.queries.means(fit)).astype(np.int64)


def draws_needed(domain: int, rows: int, beta: Number, edge: Number = Fraction(1, 4)) -> int:
    """How many draws `FewRows` needs for its theorem."""
    miss = exact.miss(1 - exact.positive(beta, "beta"))
    return math.ceil((math.log(small_databases(domain, rows)) - math.log(miss)) / -math.log(0.5 + float(_edge(edge))))


def _edge(value: Number) -> Fraction:
    if not 0 < (read := exact.rational(value, "edge")) < Fraction(1, 2):
        raise Invalid("edge must lie strictly between 0 and 1/2")
    return read


def _step(edge: Fraction) -> Fraction:
    """½ ln((1 + 2η)/(1 − 2η)), to six places: any number is private, this one learns fastest."""
    return max(exact.rational(round(math.atanh(2 * float(edge)), 6)), Fraction(1, 10**6))


def rounds_needed(size: int, edge: Number = Fraction(1, 4)) -> int:
    """The least T with size·(cosh α − 2η sinh α)ᵀ < 1; about ln(size)/(2η²)."""
    eta = _edge(edge)
    step = float(_step(eta))
    return 1 + math.floor(math.log(exact.whole(size, "size")) / -math.log(math.cosh(step) - 2 * float(eta) * math.sinh(step)) + 1e-9)


@final
@frozen(eq=False)
class Boosted:
    """Whole answers to all queries, the medians of the rounds' answers, which are there too, and what each step cost."""

    answers: Integers = field(repr=False)
    rounds: Integers = field(repr=False)
    losses: tuple[Loss, ...] = field(repr=False)


@final
@frozen(kw_only=True)
class Boosting(Mechanism[Boosted]):
    """Answer all of many queries by the medians of a base's answers, which is shown more and more of those it answered badly.

    The queries may be any whole-number functions of the data that move by at most `sensitivity`; `Boosting.linear` is for linear ones,
    whether neighbours differ by one record more or less or by one replaced.

    Theorem (Dwork, Rothblum & Vadhan 2010; the price in exact terms).
        Let u(q) = Σ min(max(|q(x) − answer| − near, 0), margin) over the j rounds so far, a whole number that one record moves by at most
        j·Δ. A draw with weight e^(2α·u/margin) is an exponential mechanism of ε = 4αjΔ/margin. So each round costs k of these and one
        base: with J = (T − 1)T(2T − 1)/6 at most 2kα²Δ²J/margin² + T·ρ_base of zCDP, and 2kαΔT(T − 1)/margin + T·ε_base pure.

    Accuracy.
        Let T ≥ `rounds_needed`. If in each round the base's answers are within `near` for queries of ½ + η of the weight, all medians
        are within near + margin, which is `error`; else (too few rounds) ∞ .

    Proof.
        Let a = 1 − 2·min(max(|q(x) − answer| − near, 0), margin)/margin, between −1 and 1; the weights are ∝ e^(−α Σ a). In each round the
        sum Σ_q e^(−α Σ a) shrinks by cosh α − 2η sinh α, by convexity; so after T rounds it is below 1. A query whose median is
        further off than near + margin has a = −1 in half of the rounds or more, and weighs at least 1.

    >>> from discreet.classical.linear import Queries
    >>> boost = Boosting.linear(Queries.thresholds(4), rho=1000, rounds=10, draws=40, rows=200, near=80)
    >>> boost.release([300, 0, 200, 500]).answers.round(-2).tolist(), boost.loss.rho <= 1000
    ([300, 300, 500, 1000], True)
    """

    questions: Callable[[Any], Any] = field(repr=False)
    size: int = field(converter=given.size)
    base: Base
    rounds: int = field(converter=given.rounds)
    draws: int = field(converter=given.draws)
    near: int = field(converter=given.near)
    margin: int = field(converter=given.margin)
    edge: Fraction = field(default=Fraction(1, 4), converter=_edge, repr=str)
    sensitivity: int = field(default=1, converter=given.sensitivity)

    @classmethod
    def linear(
        cls,
        queries: Queries,
        *,
        rounds: int,
        draws: int,
        rows: int,
        near: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        edge: Number = Fraction(1, 4),
    ) -> Boosting:
        """Boost `FewRows` within a budget, half of it for the bases; near is in units of 1/top."""
        budget = Share.of(epsilon, rho)
        base = FewRows(queries=queries, rows=rows, draws=draws, share=budget.part(2 * exact.whole(rounds, "rounds")))
        reach = _step(_edge(edge)) * queries.top
        if budget.epsilon is not None:
            margin = math.ceil(4 * draws * reach * rounds * (rounds - 1) / budget.epsilon)
        else:
            assert budget.rho is not None
            squares = Fraction((rounds - 1) * rounds * (2 * rounds - 1), 6)
            margin = math.isqrt(math.ceil(4 * draws * reach**2 * squares / budget.rho)) + 1
        return cls(
            questions=lambda data: queries.answers(histogram(data, queries.domain, queries.top)),
            size=queries.size, base=base, rounds=rounds, draws=draws, near=near, margin=max(margin, 1), edge=edge, sensitivity=queries.top,
        )  # fmt: skip

    def drawing(self, past: int) -> Exponential:
        """How a query is drawn after so many rounds, at least one."""
        moved = exact.whole(past, "past") * self.sensitivity
        return Exponential(epsilon=4 * _step(self.edge) * moved / self.margin, sensitivity=moved)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What each step costs, in order; the first draws are uniform and free."""
        draws = [self.draws * (self.drawing(past).loss,) if past else () for past in range(self.rounds)]
        return tuple(loss for drawn in draws for loss in (*drawn, self.base.loss))

    @property
    def loss(self) -> Loss:
        return compose(self.losses)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return float(self.near + self.margin) if self.rounds >= rounds_needed(self.size, self.edge) else math.inf

    def check(self, answer: Any) -> None:
        self.base.check(answer)

    def sample(self, answer: Any, bits: Bits) -> Boosted:
        true = np.asarray(self.questions(answer), np.int64)  # met below only by the draws
        missed, told, losses = np.zeros(self.size, np.int64), [], []
        for past in range(self.rounds):
            if past:
                drawing = self.drawing(past)
                drawn = np.array([drawing.sample(missed, bits) for _ in range(self.draws)])
                losses += self.draws * [drawing.loss]
            else:
                drawn = uniforms(self.size, self.draws, bits)
            told.append(self.base.sample(answer, drawn, bits))
            losses.append(self.base.loss)
            missed = missed + np.clip(np.abs(true - told[-1]) - self.near, 0, self.margin)
        rounds = np.array(told)
        return Boosted(np.sort(rounds, axis=0)[(self.rounds - 1) // 2], rounds, tuple(losses))
