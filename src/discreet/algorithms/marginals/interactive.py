"""Answer counts and averages interactively and consistently, and pay only for what is not known yet."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, inf, nan
from statistics import NormalDist
from typing import Literal, final

import numpy as np
from attrs import evolve, field, frozen

from discreet import exact
from discreet.algorithms.marginals.counts import Counts, Marginals
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.hypothesis import Hypothesis
from discreet.algorithms.marginals.knowledge import BITS, Knowledge, ResidualPurchase
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.algorithms.marginals.residual import Residual
from discreet.errors import BudgetExceeded, Invalid
from discreet.exact import Number
from discreet.loss.loss import NOTHING, Loss, compose
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.streams.sparse_vector import SparseVector, SparseVectorRun
from discreet.private import Private

Source = Literal["cached", "posterior", "hypothesis", "paid"]
Guarding = Literal["auto", "always", "never"]
Pay = Callable[[str, Loss], None]  # called before data is read; it may raise BudgetExceeded

_GRAIN = 16  # threshold tests are made in sixteenths of a count
_SHARED, _WIDEST = 3, 8  # residuals may cost this many times one number: with their cost shared by later questions, and without
_ROOM = 0.05  # the model is not used if less than this share of the accuracy is left
_MARGINALS = 64  # kept in memory
_SPENT = "the budget does not admit a measurement: this is the model's estimate, not tested against the data"


def _accuracy(value: Number | None) -> Fraction | None:
    return None if value is None else exact.positive(value, "accuracy")


def _share(value: Number | None) -> Fraction | None:
    return None if value is None else exact.positive(value, "share")


def _beta(value: Number) -> Fraction:
    return exact.confidence_level(value, "beta")


def _questions(value: int) -> int:
    return exact.whole(value, "questions")


def _guarding(value: Guarding) -> Guarding:
    if value not in ("auto", "always", "never"):
        raise Invalid('guarding must be "auto", "always" or "never"')
    return value


@final
@frozen
class InteractiveAnswer:
    """An answer in records and as a share of all records, with its source, error bound and cost.

    cached: the same question was answered before. posterior: earlier releases determine it precisely enough. hypothesis: the model's
    estimate, confirmed by a threshold test; or, with a note, unconfirmed, if the budget admits no measurement. paid: measured
    for this question.
    """

    value: float
    share: float
    source: Source
    error: float
    cost: Loss = field(default=NOTHING)
    note: str = field(default="")


@final
@frozen(kw_only=True)
class Interactive:
    """Answer linear queries, each within `accuracy` records, or within `share` of all records.

    Each question is answered by the first source that can: (1) earlier answers; (2) what is known: residuals with their exact variances,
    and the model fitted to them; (3) the model's estimate, if a threshold test is open and confirms it; (4) a measurement: of the residuals
    of the question's columns, as precisely as this question needs and shared by later questions, or of the one number asked for, if that is
    cheaper. A round of threshold tests costs as much as hundreds of marginals, so one is opened only when twice its price was spent on
    measurements since the last; after each round that was not worth its price, four times as much is required. With `guarding="always"` a
    round is opened as soon as every column was measured alone, with "never" none is.

    Theorem (adaptive composition; Dwork et al. 2009; Hardt & Rothblum 2010; Rogers et al. 2016).
        All answers together cost the sum of the losses that were paid, by any rule that admits adaptively chosen losses (filter.py): every
        access to the data is a mechanism that was paid for, and its parameters depend on earlier releases only.

    Proof.
        A round is one sparse vector with one hit. Its scores are ±(⌊16·Σ weight·count/top⌋ − e), where e is the estimate, public and
        rounded before. One unit changes Σ weight·count/top by at most Δ, the one-sided sensitivity of the marginal, because weights are at
        most top; so it changes the score, a whole number, by at most 16Δ, for every query. Misses are free, a hit ends the round. A
        residual changes by at most its stated sensitivity (`Knowledge`), one number by `LinearQuery.sensitivity`; Gaussian noise prices
        both. The rest is post-processing.

    Accuracy.
        With probability 1 − β the first `questions` answers are all within their stated errors, which are at most the accuracy unless the
        budget admits no measurement. Half of β goes to estimates: a Gaussian's tail at β/(2·questions) each. The other half goes to
        threshold tests: round r has β/(2r(r + 1)) for 2·questions tests. A share is of the number of records, by its lower confidence
        bound.

    >>> from discreet.algorithms.marginals.counts import CodedTable
    >>> from discreet.algorithms.marginals.domain import Domain
    >>> domain = Domain.of({"age": 3, "sex": 2})
    >>> table = CodedTable(domain, {"age": [0, 1, 2] * 1000, "sex": [0, 0, 1] * 1000})
    >>> run = Interactive(accuracy=100).open(table, lambda what, loss: None)
    >>> old = LinearQuery.where(domain, {"age": 2, "sex": 1})
    >>> run.ask(old).source, run.ask(old).source, run.ask(LinearQuery.where(domain, {"age": 1, "sex": 0})).source
    ('paid', 'cached', 'posterior')
    """

    accuracy: Fraction | None = field(default=None, converter=_accuracy, repr=str)
    share: Fraction | None = field(default=None, converter=_share, repr=str)
    beta: Fraction = field(default=Fraction(1, 20), converter=_beta, repr=str)
    questions: int = field(default=10_000, converter=_questions)

    guarding: Guarding = field(default="auto", converter=_guarding)

    def __attrs_post_init__(self) -> None:
        if (self.accuracy is None) == (self.share is None) or (self.share is not None and self.share >= 1):
            raise Invalid("give either accuracy=, in records, or share=, between 0 and 1")

    @property
    def z(self) -> float:
        """The half-width of an estimate, in standard deviations."""
        return NormalDist().inv_cdf(1 - float(self.beta) / (4 * self.questions))

    def alone(self, accuracy: Fraction, one: int, sensitivity: int) -> Gaussian:
        """Gaussian noise for one number, whose record weighs `one`; half a unit of the accuracy is reserved for rounding."""
        width = accuracy * one
        scale = max(width - Fraction(1, 2), width / 2) / Fraction(ceil(self.z * 2**20), 2**20)
        short = Fraction(max(1, int(scale * 2**10)), 2**10)
        return Gaussian(scale=short, sensitivity=sensitivity, whole=True)

    def guard(self, accuracy: Fraction, counts: Counts, round_number: int) -> SparseVector | None:
        """The threshold test of a round: half of the accuracy is its threshold, half its noise; None if whole numbers are too coarse."""
        width = int(accuracy * counts.one * _GRAIN)
        threshold, confidence = width // 2, 1 - self.beta / (2 * round_number * (round_number + 1))
        if (slack := width - threshold - 2) < 4:
            return None
        sensitivity = _GRAIN * counts.one_sided_sensitivity
        once = SparseVector(epsilon=1, threshold=threshold, sensitivity=sensitivity).error(confidence, 2 * self.questions)
        epsilon = Fraction(ceil(once / slack * 10**6), 10**6)  # the error is inversely proportional to ε
        return SparseVector(epsilon=epsilon, threshold=threshold, sensitivity=sensitivity)

    def open(self, counts: Counts, pay: Pay) -> InteractiveRun:
        """Start a run; if a share was given, the number of records is measured now."""
        return InteractiveRun(self, counts, pay)


@final
class InteractiveRun:
    """One stream of questions."""

    def __init__(self, rules: Interactive, counts: Counts, pay: Pay) -> None:
        self.rules, self.losses = rules, list[tuple[str, Loss]]()
        self.rounds = self.hits = 0
        self.knowledge = Knowledge(counts, rules.questions)
        self.hypothesis = Hypothesis(self.knowledge)
        self._counts, self._account = counts, pay
        self._answers: dict[LinearQuery, InteractiveAnswer] = {}
        self._held: dict[Clique, Private[Marginals]] = {}
        self._stream: SparseVectorRun | None = None
        self._measured = Fraction(0)  # ρ spent on measurements since the last round
        self._saved = Fraction(0)  # ρ that the round's answers would have cost as measurements
        self._patience = 2  # a round is opened when this many times its price was spent on measurements
        self._wanted = rules.accuracy if rules.accuracy is not None else self._share()

    @property
    def accuracy(self) -> float:
        """The largest error of an answer, in records."""
        return float(self._wanted)

    def ask(self, query: LinearQuery) -> InteractiveAnswer:
        """Answer a question."""
        query.check(self._counts.domain)
        if (answer := self._answers.get(query)) is not None:
            return InteractiveAnswer(answer.value, answer.share, "cached", answer.error)
        if (answer := self._posterior(query, "posterior")) is None:
            before = len(self.losses)
            try:
                answer = self._guarded(query) or self._paid(query)
            except BudgetExceeded:
                answer = self._refused(query)
            answer = evolve(answer, cost=compose(loss for _, loss in self.losses[before:]))
        if not answer.note:  # otherwise the budget may admit it later
            self._answers[query] = answer
        return answer

    # ── the sources of answers ───────────────────────────────────────────────────────────────────────────────────────

    def _posterior(self, query: LinearQuery, source: Source) -> InteractiveAnswer | None:
        """The model's estimate, clamped to within the accuracy of the direct estimate; None if that is not precise enough."""
        direct = self.knowledge.direct(query)
        width = direct.half_width(self.rules.z)
        if (room := self.accuracy - width) < 0:
            return None
        value = direct.value
        if room > _ROOM * self.accuracy:
            value = min(max(self.hypothesis.estimate(query), value - room), value + room)
        return self._tell(value, source, abs(value - direct.value) + width)

    def _guarded(self, query: LinearQuery) -> InteractiveAnswer | None:
        """The model's estimate, if an open threshold test confirms it."""
        if not self.hypothesis.is_trained(query.clique):
            return None
        if self._stream is None:
            guard = self.rules.guard(self._wanted, self._counts, self.rounds + 1)
            if guard is None or not self._is_worth_it(guard):
                return None
            try:
                self._pay("a round of threshold tests", guard.loss)
            except BudgetExceeded:
                return None  # a measurement may cost less
            self.rounds += 1
            self._stream, self._measured, self._saved = guard.open(), Fraction(0), Fraction(0)
        one = self._counts.one * _GRAIN
        estimate = round(self.hypothesis.estimate(query) * one)
        gap = self._marginal(query.clique).map(lambda held: query.of_marginal(held[query.clique]) * _GRAIN // query.top - estimate)
        if not self._stream.ask(gap).above and not self._stream.ask(gap.map(lambda score: -score)).above:
            self._saved += self._alone(query).loss.rho or 0
            return self._tell(estimate / one, "hypothesis", self.accuracy)
        if self._saved < (self._stream.mechanism.loss.rho or 0):
            self._patience *= 4
        self._stream, self.hits = None, self.hits + 1
        return None

    def _is_worth_it(self, guard: SparseVector) -> bool:
        """Whether enough was spent on measurements since the last round."""
        enough = self._measured >= self._patience * (guard.loss.rho or 0)
        return self.rules.guarding == "always" or (self.rules.guarding == "auto" and enough)

    def _paid(self, query: LinearQuery) -> InteractiveAnswer:
        """Measure what the question needs."""
        alone = self._alone(query)
        plan = self._plan(query, alone)
        if plan is None:
            self._pay(query.shown(self._counts.domain), alone.loss)
            number = self._marginal(query.clique).map(lambda held: query.of_marginal(held[query.clique]))
            one = query.top * self._counts.one
            value, error = float(alone.release(number)) / one, (self.rules.z * float(alone.scale) + 0.5) / one
            self._measured += alone.loss.rho or 0
            return self._tell(value, "paid", error)
        self._buy(plan)
        direct = self.knowledge.direct(query)
        return self._posterior(query, "paid") or self._tell(direct.value, "paid", direct.half_width(self.rules.z))

    def _refused(self, query: LinearQuery) -> InteractiveAnswer:
        """The model's estimate, with an error bound if one is known."""
        direct = self.knowledge.direct(query)
        value, error = self.hypothesis.estimate(query), inf
        if (width := direct.half_width(self.rules.z)) < inf:
            value = min(max(value, direct.value - width), direct.value + width)
            error = abs(value - direct.value) + width
        return self._tell(value, "hypothesis", error, _SPENT)

    # ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _alone(self, query: LinearQuery) -> Gaussian:
        """Gaussian noise for the one number asked for."""
        return self.rules.alone(self._wanted, query.top * self._counts.one, query.sensitivity(self._counts))

    def _plan(self, query: LinearQuery, alone: Gaussian) -> ResidualPurchase | None:
        """The residuals to buy; None if the one number is much cheaper, even with the residuals' cost shared by later questions."""
        if not self.knowledge.fits(query.clique):
            return None
        plan = self.knowledge.plan(query, self.accuracy, self.rules.z)
        price, single = plan.loss.rho, alone.loss.rho
        assert price is not None
        assert single is not None
        return plan if plan.shared <= _SHARED * single and price <= _WIDEST * single else None

    def _buy(self, plan: ResidualPurchase) -> None:
        """Pay for residuals, then measure them."""
        domain = self._counts.domain
        self._pay(f"marginal of {domain.shown(plan.clique)}", plan.loss)
        self._measured += plan.loss.rho or 0
        held = self._marginal(plan.clique)
        for part, mechanism in plan.steps:
            axes = tuple(axis for axis, i in enumerate(plan.clique) if i not in part)
            residual = Residual(domain, part, BITS)

            def answer(marginals: Marginals, axes: tuple[int, ...] = axes, residual: Residual = residual) -> object:
                return residual.of(np.asarray(marginals[plan.clique].reshape(domain.shape(plan.clique)).sum(axis=axes)))

            self.knowledge.learn(part, np.asarray(mechanism.release(held.map(answer)), np.float64), mechanism)

    def _share(self) -> Fraction:
        """Measure the number of records with increasing precision, until within an eighth; accuracy is a share of its lower bound."""
        deviation = Fraction(4**10)
        while True:
            mechanism = self.knowledge.total_mechanism(deviation)
            self._pay("number of records", mechanism.loss)
            noisy = mechanism.release(self._marginal(()).map(lambda held: held[()]))
            self.knowledge.learn((), np.asarray(noisy, np.float64), mechanism)
            off = self.rules.z * self.knowledge.known[()].precision ** -0.5
            if off <= self.knowledge.total / 8 or deviation <= 4:
                assert self.rules.share is not None
                lower = max(self.knowledge.total - off, 1.0)
                return self.rules.share * Fraction(ceil(lower))
            deviation /= 4

    def _marginal(self, clique: Clique) -> Private[Marginals]:
        if clique not in self._held:
            if len(self._held) >= _MARGINALS:
                del self._held[next(iter(self._held))]
            self._held[clique] = self._counts.marginals([clique])
        return self._held[clique]

    def _pay(self, what: str, loss: Loss) -> None:
        self._account(what, loss)
        self.losses.append((what, loss))

    def _tell(self, value: float, source: Source, error: float, note: str = "") -> InteractiveAnswer:
        share = value / self.knowledge.total if () in self.knowledge.known else nan  # unknown until the number of records is measured
        return InteractiveAnswer(value, share, source, error, NOTHING, note)
