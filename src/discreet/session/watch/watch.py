"""Threshold questions on a session: misses are free, each hit ends a round that was paid for when it opened."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any, NamedTuple, final

from discreet import parameter
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.exact import Number
from discreet.ledger.ledger import Ledger
from discreet.ledger.receipt import Receipt
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams.sparse_vector import SparseVectorRun
from discreet.plan.steps import Steps
from discreet.plots.page import html_lines
from discreet.query.fluent import QueryBuilder
from discreet.run.output_column import OutputColumn
from discreet.session.pipeline import Pipeline
from discreet.session.query import Query
from discreet.session.stateful import StepPayments
from discreet.session.transcript import Transcript
from discreet.session.watch.plan import WatchPlan
from discreet.session.watch.total import Measured

_FURTHEST, _UNITS = 10**250, 2**62  # of a threshold: itself, and in units of what one protected unit moves; no count goes there


def threshold_of(value: Number) -> Fraction:
    """A threshold as people give it."""
    read = parameter.threshold(value)
    if abs(read) > _FURTHEST:  # what is told of a hit is a float
        raise Invalid("the threshold is too large or too small: rescale what is summed, as in SUM(x / 1000)")
    return read


class Outcome(NamedTuple):
    """Whether an answer is above its threshold; and, where that was asked for, its noisy value or by how much it beat the threshold."""

    above: bool
    value: float | None = None
    error: float | None = None  # how far the value may be off, with 95 % confidence
    gap: float | None = None

    def __repr__(self) -> str:
        if self.value is not None:
            return f"Outcome(above, value ≈ {self.value:,.6g} ± {self.error:,.3g})"
        return f"Outcome(above, by ≈ {self.gap:,.6g})" if self.gap is not None else f"Outcome({'above' if self.above else 'below'})"


@final
class Watch:
    """A stream of threshold questions: say of each total whether it is above its threshold; only those that are use up what was paid.

    A round is one run of the sparse vector technique with one hit. It is charged, for `epsilon`, when the first question after the opening
    or after a hit is asked, before anything is read; questions whose answer is below cost nothing more, however many.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017).
        A round is ε-DP, for questions chosen one by one with all earlier outcomes known, each with its own threshold and sensitivity.

    Proof. Let q be a question's bounded total and Δ how far one unit moves it; both Δ and the threshold T are fixed before the data is
        read. Then r = (q − T)/Δ moves by at most 1 between neighbours, and q ≥ T exactly when r ≥ 0: so all questions of a round are
        questions of sensitivity 1 with threshold 0, and `SparseVector` is ε-DP for them. Without the division a question of Δ > 1 would
        move by more than the noise was made for. If no total can fall when a unit comes (counts; sums of what is never negative), all r
        move in the same direction, dividing by Δ > 0 does not change it, and the noise may be smaller (`monotone=True`). A fresh value
        and a gap are those of r, times Δ: post-processing.

    Repeats. The ledger keeps payments and no outcomes, and a question asked again is the stream's next question, with noise
        of its own. That is free while answers are below, and needs a new round after a hit, like any other question.

    Accuracy. `error`: with that confidence, in a round of so many questions every hit has q ≥ T − Δ·t and every miss q ≤ T + Δ·t.

    >>> import discreet, polars
    >>> rows = polars.DataFrame({"id": range(4000), "dept": ["er"] * 3000 + ["ward"] * 1000})
    >>> db = discreet.connect({"visits": rows}, unit="id", epsilon=2, ledger=":memory:", one_row_per_unit=True)
    >>> stream = db.watch(epsilon=1, threshold=2000, rounds=2)
    >>> stream.ask("SELECT COUNT(*) FROM visits WHERE dept = 'ward'")
    Outcome(below)
    >>> stream.ask("SELECT COUNT(*) FROM visits WHERE dept = 'er'")
    Outcome(above)
    >>> stream
    Watch(1 of 2 rounds left; 2 questions asked; ε = 1 so far, 1 for each round)
    """

    def __init__(self, plan: WatchPlan, pipeline: Pipeline) -> None:
        self.plan, self.mechanism, self.rounds = plan, plan.mechanism, plan.rounds
        self.asked, self.opened = 0, 0
        self._pipeline, self._steps = pipeline, StepPayments(plan.priced, pipeline.payments, "stream")
        self._run: SparseVectorRun | None = None
        self._transcript: list[tuple[str, float, Outcome]] = []
        self._lock = threading.Lock()

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, question: Any, threshold: Number | None = None) -> Outcome:
        """Say whether a total is above the threshold: in SQL, or as `db.sql(...)` or `db.table(...)` make it."""
        self._steps.require_own_process()  # both copies have the round's noise: each could have its hit
        asked = self._measured(question)
        limit = self.plan.threshold if threshold is None else threshold_of(threshold)
        if abs(limit) > _UNITS * asked.sensitivity:
            raise Invalid("this threshold is beyond any possible total, so the answer is known without asking: give one within reach")
        with self._lock:  # two questions at once might both be the hit
            run = self._run or self._open()
            answer = asked.read(self._pipeline.engine).map(lambda total: asked.normalised(total, limit))
            self.asked += 1
            self._run = None  # if anything goes wrong from here on, noise was drawn: the round is over
            above, extra = run.ask(answer)
            if not above:
                self._run = run
            told = self._told(asked, limit, above, extra)
            self._transcript.append((_text(question), float(limit), told))
        return told

    def _told(self, asked: Measured, limit: Fraction, above: bool, extra: float | None) -> Outcome:
        if extra is None:
            return Outcome(above)
        if self.mechanism.value_epsilon is None:
            return Outcome(True, gap=float(asked.sensitivity) * extra)
        return Outcome(True, *asked.told(extra, limit, Laplace(epsilon=self.mechanism.value_epsilon, whole=False)))

    def error(self, confidence: Number = 0.95, questions: int = 1, question: Any = None) -> float:
        """How far on the wrong side of its threshold an answer may be, in a round of so many questions; nothing is spent.

        In a question's own units if one is given, else in units of the question's sensitivity.
        """
        reach = self.plan.error(confidence, questions)
        return reach if question is None else reach * float(self._measured(question).sensitivity)

    def _compiled(self, question: Any) -> Steps:
        """A question's plan at any price: its total and its sensitivity are what matters here."""
        if not isinstance(question, str | Query | QueryBuilder):
            raise Invalid("a question is SQL text, or comes from db.sql(...) or db.table(...)")
        asked = Query.of_text(self._pipeline, question).question if isinstance(question, str) else question.question
        return Query.of_question(self._pipeline, asked).plan_at_price(Fraction(1), Fraction(0)).steps

    def _measured(self, question: Any) -> Measured:
        self._pipeline.payments.require_open()
        asked = Measured.of(self._compiled(question))
        if self.mechanism.monotone and not asked.rises:
            raise Refused("adding a unit may lower this total: open the stream without monotone=True, or declare a lower bound of 0")
        return asked

    # ── paying ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> SparseVectorRun:
        """Pay for a round, then draw its threshold's noise."""
        if self.opened == self.rounds:
            raise BudgetExceeded(
                f"all {self.rounds} rounds of this stream are used, one for each hit: open another stream. Nothing was read or charged."
            )
        self._steps.pay(self.plan.round, f"watch: round {self.opened + 1} of {self.rounds}")
        self.opened += 1
        self._run = self.mechanism.open()
        return self._run

    @property
    def spent(self) -> Fraction:
        """The ε of all rounds so far."""
        return self.opened * self.mechanism.epsilon

    @property
    def left(self) -> int:
        """How many hits there may still be."""
        return self.rounds - self.opened + (self._run is not None)

    @property
    def receipt(self) -> Receipt:
        """What was paid so far, round by round."""
        return self._steps.receipt

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check that receipt, and with a ledger that every round was paid there; raise Invalid or LedgerError if not."""
        self.receipt.verify(ledger)

    def release(self) -> Transcript:
        """Everything that was asked and answered so far, with the receipt; free."""
        with self._lock:
            said = list(self._transcript)
            told = [one for _, _, one in said]
            columns = [OutputColumn("asked", [asked for asked, _, _ in said]), OutputColumn("threshold", [limit for _, limit, _ in said])]
            columns.append(OutputColumn("above", [one.above for one in told]))
            if self.plan.values is True:
                columns.append(OutputColumn("value", [one.value for one in told], None, [one.error for one in told]))
            elif self.plan.values == "gap":
                columns.append(OutputColumn("gap", [one.gap for one in told]))
            return Transcript(tuple(columns), self.receipt)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a stream cannot be copied or pickled, because copies would share their noise: open another with db.watch(...)")

    def __repr__(self) -> str:
        return (
            f"Watch({self.left} of {self.rounds} rounds left; {self.asked:,} questions asked; ε = {float(self.spent):g} so far, "
            f"{float(self.mechanism.epsilon):g} for each round)"
        )

    def _repr_html_(self) -> str:
        return html_lines(repr(self), self.plan.explain().splitlines())


def _text(question: Any) -> str:
    """A question as it was asked."""
    return question if isinstance(question, str) else question.text or repr(question) if isinstance(question, Query) else repr(question)
