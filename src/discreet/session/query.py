"""A question on a session: planned for nothing, released for a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.explain.forecast import Forecast, confidence_of
from discreet.explain.target import least_epsilon, target_errors
from discreet.plan.bias import bias_question
from discreet.query.fluent import NOT_COPIED
from discreet.query.question import Question
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.receipt import receipt
from discreet.session.plan import Plan
from discreet.session.release import Release
from discreet.tables.catalog import Catalog

CONFIDENCE = Fraction(95, 100)
_LONGEST_NOTE = 1000


class Road(Protocol):
    """What a question needs of its session."""

    _catalog: Catalog

    @property
    def _usual_delta(self) -> Fraction: ...

    def _plan(self, question: Question, epsilon: Number | None, delta: Number | None) -> Plan: ...

    def _release(self, plan: Plan, confidence: Fraction, note: str, progress: Callable[[str], None]) -> Release: ...


@final
@frozen
class Query:
    """A question on a session: plan it for nothing, release it for a price."""

    session: Road = field(repr=False)
    question: Question
    text: str = ""

    def plan(self, epsilon: Number | None = None, delta: Number | None = None) -> Plan:
        """What would happen at this price; reads and spends nothing."""
        return self.session._plan(self.question, epsilon, delta)

    def release(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        error: Mapping[str, float] | None = None,
        size: int | None = None,
        at: Mapping[str, float] | None = None,
        assume: Mapping[str, Any] | None = None,
        confidence: Number = CONFIDENCE,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Pay, and let the answers out; the same question at the same price again is free.

        With `error={"mean_cost": 5}` instead of epsilon the least ε is paid for which each output is that close, in a group of `size`,
        wherever it lies; `at={"mean_cost": 120}` says where it does.
        """
        level = confidence_of(confidence)
        if error is not None:
            if epsilon is not None:
                raise Invalid("give epsilon or error, not both: one follows from the other")
            epsilon = self.price(error, size=size, confidence=level, delta=delta, at=at, assume=assume)
        return self.session._release(self.plan(epsilon, delta), level, self.text[:_LONGEST_NOTE], progress)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def price(
        self,
        error: Mapping[str, float],
        *,
        size: int | None = None,
        confidence: Number = CONFIDENCE,
        delta: Number | None = None,
        at: Mapping[str, float] | None = None,
        assume: Mapping[str, Any] | None = None,
    ) -> Fraction:
        """The least ε, to three digits, at which every output is as close as wished, wherever it lies (or `at` a place); reads nothing."""
        wished = target_errors(error, self.question)

        def forecast(epsilon: Fraction) -> Forecast:
            return self.session._plan(self.question, epsilon, delta).error(confidence, size, at=at, assume=assume)

        return least_epsilon(forecast, wished, surely=at is None)

    def bias(self, epsilon: Number, delta: Number = 0) -> Release:
        """Pay to learn how many units bounding and clipping touched: those with more rows than count, or with values out of bounds."""
        limits = self.plan(epsilon, None if self.session._usual_delta else 0).steps.contributions
        return Query(self.session, bias_question(self.question, limits), f"bias of: {self.text}").release(epsilon, delta)

    def dry_run(self, epsilon: Number | None = None, delta: Number | None = None) -> Release:
        """Walk the whole road on made-up data of the declared schema; free, and shown as what it is."""
        from discreet.engines.duckdb.engine import DuckDB

        price = epsilon if epsilon is not None or self.question.epsilon is not None else 1
        plan = self.plan(price, delta)
        with DuckDB.mock(self.session._catalog.tables) as engine:
            answers = execute(plan.steps, engine)
        said = receipt(plan.steps, answers.plan.discovered, CONFIDENCE, "dry run on made-up data", 0, "")
        return Release(tuple(outcome(answers, float(CONFIDENCE))), float(CONFIDENCE), said | {"dry_run": True})
