"""Boosting for queries: from answers that are accurate for most queries to answers that are accurate for all."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import evolve, field, frozen

from discreet import exact
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import Integers, read_histogram
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.synthesis import Base, BoundedBase, ErrorBound, FewRows, draws_needed, edge_of
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniforms


def _step(edge: Fraction) -> Fraction:
    """½ ln((1 + 2η)/(1 − 2η)), to six decimals: any value is private, and this one learns fastest."""
    return max(exact.rational(round(math.atanh(2 * float(edge)), 6)), Fraction(1, 10**6))


def rounds_needed(size: int, edge: Number = Fraction(1, 4)) -> int:
    """The least T with size·(cosh α − 2η sinh α)ᵀ < 1; about ln(size)/(2η²)."""
    eta = edge_of(edge)
    step = float(_step(eta))
    return 1 + math.floor(math.log(exact.whole(size, "size")) / -math.log(math.cosh(step) - 2 * float(eta) * math.sinh(step)) + 1e-9)


@final
@frozen(eq=False)
class Boosted:
    """Whole-number answers to all queries, which are medians over the rounds; the rounds' own answers; and the loss of each step."""

    answers: Integers = field(repr=False)
    rounds: Integers = field(repr=False)
    losses: tuple[Loss, ...] = field(repr=False)


@final
@frozen(kw_only=True)
class Boosting(Mechanism[Boosted]):
    """Answer many queries by the medians of a base's answers; the base is given badly answered queries more and more often.

    The queries may be any whole-number functions of the data with this `sensitivity`; `Boosting.linear` is for linear ones, under
    add/remove as well as under replace-one.

    Theorem (Dwork, Rothblum & Vadhan 2010; the price in exact terms).
        Let u(q) = Σ min(max(|q(x) − answer| − near, 0), margin) over the first j rounds, a whole number that one record changes by at most
        j·Δ. A draw with weight e^(2α·u/margin) is an exponential mechanism of ε = 4αjΔ/margin. So each round costs k of these and one base:
        with J = (T − 1)T(2T − 1)/6 at most 2kα²Δ²J/margin² + T·ρ_base of zCDP, and 2kαΔT(T − 1)/margin + T·ε_base pure.

    Accuracy.
        Let T ≥ `rounds_needed`. If in each round the base's answers are within `near` for queries of ½ + η of the weight, all medians are
        within near + margin. `error(confidence, size=n)` is this where the base guarantees it for n records, in each round except with
        probability β/T; otherwise it is infinite, and `error_bound` says why. All are in the answers' own units: counts times `top` for
        `linear`.

    Proof.
        Let a = 1 − 2·min(max(|q(x) − answer| − near, 0), margin)/margin, between −1 and 1; the weights are ∝ e^(−α Σ a). In each round the
        sum Σ_q e^(−α Σ a) shrinks by cosh α − 2η sinh α, by convexity; so after T rounds it is below 1. A query whose median has an error
        above near + margin has a = −1 in half of the rounds or more, and weighs at least 1.

    >>> from discreet.algorithms.classical.linear import Queries
    >>> boost = Boosting.linear(Queries.thresholds(4), rho=1000, rounds=10, draws=40, rows=200, near=80)
    >>> boost.release([300, 0, 200, 500]).answers.round(-2).tolist(), boost.loss.rho <= 1000
    ([300, 300, 500, 1000], True)
    """

    questions: Callable[[Any], Any] = field(repr=False)
    size: int = field(converter=arguments.size)
    base: Base
    rounds: int = field(converter=arguments.rounds)
    draws: int = field(converter=arguments.draws)
    near: int = field(converter=arguments.near)
    margin: int = field(converter=arguments.margin)
    edge: Fraction = field(default=Fraction(1, 4), converter=edge_of, repr=str)
    sensitivity: int = field(default=1, converter=arguments.sensitivity)

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
        delta: Number | None = None,
        rho: Number | None = None,
        edge: Number = Fraction(1, 4),
    ) -> Boosting:
        """Boost `FewRows` within a budget, half of it for the bases; near is in units of 1/top."""
        budget = BudgetShare.of(epsilon, rho, delta, parts=exact.whole(rounds, "rounds") * exact.whole(draws, "draws"))
        base = FewRows(queries=queries, rows=rows, draws=draws, share=budget.part(2 * exact.whole(rounds, "rounds")))
        scaled = _step(edge_of(edge)) * queries.top
        if budget.epsilon is not None:
            margin = math.ceil(4 * draws * scaled * rounds * (rounds - 1) / budget.epsilon)
        else:
            assert budget.rho is not None
            squares = Fraction((rounds - 1) * rounds * (2 * rounds - 1), 6)
            margin = math.isqrt(math.ceil(4 * draws * scaled**2 * squares / budget.rho)) + 1
        return cls(
            questions=lambda data: queries.answers(read_histogram(data, queries.domain, queries.top)),
            size=queries.size, base=base, rounds=rounds, draws=draws, near=near, margin=max(margin, 1), edge=edge, sensitivity=queries.top,
        )  # fmt: skip

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
        edge: Number = Fraction(1, 4),
        most_rows: int = 2**13,
    ) -> Boosting:
        """The boosting with the least `error(confidence, size)` among those the theorem covers, over the number of rows.

        Rows are fitted one after the other in each round: 2¹³ take about a second in total.

        >>> from discreet.algorithms.classical.linear import Queries
        >>> boost = Boosting.proven(Queries.thresholds(4), size=10**6, epsilon=1, delta="1e-6")
        >>> boost.error(size=10**6) < 10**5, boost.loss.epsilon_at(1e-6) <= 1
        (True, True)
        """
        rounds, share = rounds_needed(queries.size, edge), edge_of(edge)
        beta = (1 - exact.confidence_level(confidence)) / rounds
        found = []
        for rows in (2**i for i in range(exact.whole(most_rows, "most_rows").bit_length())):
            draws = draws_needed(queries.domain, rows, beta / 2, share)
            shape: dict[str, Any] = {"rounds": rounds, "draws": draws, "rows": rows, "edge": share}
            trial = cls.linear(queries, near=0, epsilon=epsilon, delta=delta, rho=rho, **shape)
            assert isinstance(trial.base, FewRows)
            near = trial.base.near(1 - beta / 2, size)
            found.append((near + trial.margin, evolve(trial, near=near)))
        return min(found, key=lambda pair: pair[0])[1]

    def drawing(self, past: int) -> Exponential:
        """The mechanism that draws a query after `past` rounds, at least one."""
        sensitivity = exact.whole(past, "past") * self.sensitivity
        return Exponential(epsilon=4 * _step(self.edge) * sensitivity / self.margin, sensitivity=sensitivity)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of each step, in order; the first draws are uniform and free."""
        draws = [self.draws * (self.drawing(past).loss,) if past else () for past in range(self.rounds)]
        return tuple(loss for drawn in draws for loss in (*drawn, self.base.loss))

    @property
    def loss(self) -> Loss:
        return compose(self.losses)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.error_bound(confidence, size).error

    def error_bound(self, confidence: Number = 0.95, size: int = 1) -> ErrorBound:
        """The largest error of any answer for `size` records; if it is infinite, the reason why no bound is known."""
        level, needed = exact.confidence_level(confidence), rounds_needed(self.size, self.edge)
        if self.rounds < needed:
            return ErrorBound(math.inf, f"{self.rounds} rounds are too few for {self.size} queries: use rounds={needed}")
        if not isinstance(self.base, BoundedBase):
            return ErrorBound(math.inf, "the base states no error bound: give it a method error_bound(confidence, size, edge)")
        bound = self.base.error_bound(1 - (1 - level) / self.rounds, exact.whole(size, "size"), self.edge)
        if bound.error == math.inf:
            return bound
        if bound.error > self.near:
            return ErrorBound(math.inf, f"the base's error may be {math.ceil(bound.error)}, above near: use near={math.ceil(bound.error)}")
        return ErrorBound(float(self.near + self.margin))

    def check(self, answer: Any) -> None:
        self.base.check(answer)

    def sample(self, answer: Any, bits: Bits) -> Boosted:
        true = np.asarray(self.questions(answer), np.int64)  # private: used below only through the draws
        missed, answered, losses = np.zeros(self.size, np.int64), [], []
        for past in range(self.rounds):
            if past:
                drawing = self.drawing(past)
                drawn = np.array([drawing.sample(missed, bits) for _ in range(self.draws)])
                losses += self.draws * [drawing.loss]
            else:
                drawn = uniforms(self.size, self.draws, bits)
            answered.append(self.base.sample(answer, drawn, bits))
            losses.append(self.base.loss)
            missed = missed + np.clip(np.abs(true - answered[-1]) - self.near, 0, self.margin)
        rounds = np.array(answered)
        return Boosted(np.sort(rounds, axis=0)[(self.rounds - 1) // 2], rounds, tuple(losses))
