"""A question on a session: planning is free, releasing costs budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.explain.forecast import Forecast, confidence_of
from discreet.explain.target import least_epsilon, target_errors
from discreet.hints import suggests_arguments
from discreet.ledger.receipt import CONFIDENCE
from discreet.plan.bias import bias_question
from discreet.plan.compile import compile_plan
from discreet.plots.page import html_lines
from discreet.query.canonical import plain
from discreet.query.fluent import NOT_COPIED
from discreet.query.parameters import Values, with_values
from discreet.query.question import Question
from discreet.query.relation.origin import tables_in
from discreet.session.pipeline import Pipeline
from discreet.session.plan import Plan
from discreet.session.release import Release
from discreet.session.run import dry_run, is_known, release
from discreet.tables.table import Contributions

_LONGEST_NOTE = 1000
_PLANS = 8  # that a query remembers
_SHORT = 100  # characters of a query that its repr shows


@final
@frozen(repr=False)
class Query:
    """A question on a session. `plan` is free and reads no private row; `release` pays and answers."""

    pipeline: Pipeline = field()
    question: Question
    text: str = ""
    _plans: dict[tuple[Fraction, Fraction, Fraction], Plan] = field(factory=dict, init=False, eq=False)  # that were made last

    @classmethod
    def of_text(
        cls, pipeline: Pipeline, text: str, dialect: str = "duckdb", other: bool = False, contributions: Mapping[str, int] | None = None,
        values: Values | None = None, sample: Number | None = None, minimise: Any = None,
    ) -> Query:  # fmt: skip
        """Parse a question in SQL; `other` adds one group for all rows whose group is not shown."""
        from discreet.query.sql.read import read

        question = read(text, pipeline.catalog, dialect, values)
        if other and not question.keys:
            raise Invalid("other=True needs groups: add GROUP BY, or leave other out")
        if contributions is not None:
            question = evolve(question, contributions=Contributions.of(contributions))
        if sample is not None:
            share = parameter.sample_rate(sample)
            if question.sample not in (None, share):
                raise Invalid("sample is given twice, with another value in the question's OPTIONS: leave one of them out")
            question = evolve(question, sample=share)
        if minimise is not None:
            chosen = question.minimising(minimise)
            if question.minimise not in (None, chosen.minimise):
                raise Invalid("minimise is given twice, with another value in the question's OPTIONS: leave one of them out")
            question = chosen
        return cls(pipeline, evolve(question, other=True) if other else question, with_values(text, values))

    @classmethod
    def of_question(cls, pipeline: Pipeline, question: Question) -> Query:
        """A question that was built in Python; its tables must be this session's."""
        pipeline.require_own(question.relation)
        return cls(pipeline, question, question.said)

    # ── planning ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @suggests_arguments("plan")
    def plan(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> Plan:
        """What would happen at this price; reads and spends nothing. The ends of quantiles' intervals are chosen for this confidence.

        If no δ is given and the budget does not admit the default one, plans with the δ that is left, and then with δ = 0, are tried.
        """
        level = confidence_of(confidence)
        return self.plan_at_price(self._price(epsilon), self.delta_for(epsilon, delta, level), level)

    def explain(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> Any:
        """What would happen at this price, in words; the same as `plan(…).explain()`."""
        return self.plan(epsilon, delta, confidence=confidence).explain()

    def delta_for(self, epsilon: Number | None = None, delta: Number | None = None, confidence: Fraction = CONFIDENCE) -> Fraction:
        """The δ with which `plan` plans: the one that is stated, or else one that the budget admits now."""
        self.pipeline.payments.require_open()
        price, said = self._price(epsilon), parameter.price_delta(delta) if delta is not None else self.question.delta
        if said is not None:
            return said
        live, usual = self.pipeline.payments.allowance, self.pipeline.default_delta
        plan = self.plan_at_price(price, usual, confidence)
        if is_known(plan, self.pipeline) or live.admits(plan.loss):
            return usual
        for left in (live.remaining.delta, Fraction(0)):
            other = self._plan_or_none(price, left, confidence)
            if other is not None and live.admits(other.loss):
                return left
        return usual

    def _price(self, epsilon: Number | None) -> Fraction:
        price = parameter.price_epsilon(epsilon) if epsilon is not None else self.question.epsilon
        if self.question.epsilon not in (None, price):
            raise Invalid("epsilon is given twice, with another value in the question's OPTIONS: leave one of them out")
        if price is None:
            raise Invalid("the price is missing: give epsilon=0.1, or in SQL WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1)")
        return price

    def plan_at_price(self, epsilon: Fraction, delta: Fraction, confidence: Fraction = CONFIDENCE) -> Plan:
        """The plan at exactly this price, whether or not the budget admits it."""
        pipeline, price = self.pipeline, (epsilon, delta, confidence)
        if (known := self._plans.get(price)) is not None:
            return known
        steps = compile_plan(self.question, pipeline.catalog, epsilon, delta, pipeline.public_values, confidence)
        if len(self._plans) >= _PLANS:
            self._plans.clear()
        return self._plans.setdefault(price, Plan(steps, pipeline.engine.dialect))

    def _plan_or_none(self, epsilon: Fraction, delta: Fraction, confidence: Fraction) -> Plan | None:
        try:
            return self.plan_at_price(epsilon, delta, confidence)
        except Refused:
            return None  # groups cannot be discovered without a δ

    @suggests_arguments("price")
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
        """The least ε, to three digits, at which every output meets its target error, for every true value, or for those in `at`; free."""
        targets = target_errors(error, self.question)

        def forecast(epsilon: Fraction) -> Forecast:
            return self.plan(epsilon, delta).error(confidence, size, at=at, assume=assume)

        return exact.DecimalFraction(least_epsilon(forecast, targets, surely=at is None))

    # ── releasing ────────────────────────────────────────────────────────────────────────────────────────────────────

    @suggests_arguments("release")
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
        """Pay and release the answers; the same question at the same price is free the second time.

        `error={"mean_cost": 5}` replaces epsilon: the least ε is paid at which each output is within its target error, in a group of `size`
        rows, for every true value. `at={"mean_cost": 120}` gives the true values to assume instead.
        """
        level = confidence_of(confidence)
        if error is not None:
            if epsilon is not None:
                raise Invalid("give epsilon or error, not both: one follows from the other")
            epsilon = self.price(error, size=size, confidence=level, delta=delta, at=at, assume=assume)
        return release(self.plan(epsilon, delta, confidence=level), self.pipeline, level, self.text[:_LONGEST_NOTE], progress)

    def stored(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> Release | None:
        """The answer at this price, if this session has it already; None if it would have to be paid for. Nothing is charged."""
        plan = self.plan(epsilon, delta, confidence=confidence)
        return self.release(epsilon, delta, confidence=confidence) if is_known(plan, self.pipeline) else None

    def bias(self, epsilon: Number, delta: Number = 0, *, of: Release | None = None) -> Release:
        """Pay to learn how many units bounding and clipping affect: units with more rows than the limit, or values out of bounds.

        Bounds and limits are those that were declared or come from a profile; `of` gives a release of this question that found others.
        """
        steps = self.plan(epsilon, None if self.pipeline.default_delta else 0).steps
        limits = steps.contributions
        found: dict[str, dict[str, Fraction]] = {}
        if of is not None:
            if not isinstance(of, Release) or of.receipt.request != plain(steps.question):
                raise Invalid("of= must be a release of this question: give what its release(...) returned")
            told = of.receipt.discovered
            found = {name: {end: exact.rational(value) for end, value in ends.items()} for name, ends in told.get("bounds", {}).items()}
            limits = evolve(limits, **{what: limit for what, limit in told.get("limits", {}).items() if getattr(limits, what) is None})
        return Query(self.pipeline, bias_question(self.question, limits, found), f"bias of: {self.text}").release(epsilon, delta)

    def dry_run(self, epsilon: Number | None = None, delta: Number | None = None) -> Release:
        """Run end to end on mock data of the declared schema; free, and marked as a dry run."""
        from discreet.engines.duckdb.engine import DuckDB

        plan = self.plan(epsilon if epsilon is not None or self.question.epsilon is not None else 1, delta)
        with DuckDB.mock(self.pipeline.catalog.tables) as engine:
            return dry_run(plan, engine)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        text = " ".join(self.text.split()) or ", ".join(self._outputs) + f" of {', '.join(self._tables)}"
        shown, share = text if len(text) <= _SHORT else text[: _SHORT - 1] + "…", self.question.sample
        told = "sample=" in shown.replace(" ", "") or "with_sample(" in shown
        sampled = "" if share is None or told else f", sample={exact.short(share)}"
        return f"Query({shown}{sampled})"

    def _repr_html_(self) -> str:
        lines = [
            f"outputs: {', '.join(self._outputs)}",
            f"tables: {', '.join(self._tables)}",
            f"protects {self.pipeline.catalog.protected}",
        ]
        return html_lines(repr(self), [*lines, ".plan(epsilon=…) shows the error and spends nothing; .release(epsilon=…) pays"])

    @property
    def is_priced(self) -> bool:
        """Whether its text states an epsilon."""
        return self.question.epsilon is not None

    @property
    def _outputs(self) -> list[str]:
        return [name for name, _ in self.question.outputs]

    @property
    def _tables(self) -> list[str]:
        return list(dict.fromkeys(table.name for table in tables_in(self.question.relation)))


def remembering(most: int = 16) -> Callable[..., Query]:
    """`Query.of_text`, which does not read a text again that was asked lately."""
    recent = lru_cache(most)(Query.of_text)

    def query(
        pipeline: Pipeline, text: str, dialect: str, other: bool, contributions: Mapping[str, int] | None, values: Values | None,
        sample: Number | None = None, minimise: Any = None,
    ) -> Query:  # fmt: skip
        if all(given is None for given in (values, contributions, sample, minimise)) and isinstance(text, str) and isinstance(dialect, str):
            return recent(pipeline, text, dialect, bool(other))
        return Query.of_text(pipeline, text, dialect, other, contributions, values, sample, minimise)

    return query
