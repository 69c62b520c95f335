"""Several questions asked together: planning is free, releasing costs one price for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.explain.coverage import interval_note
from discreet.explain.forecast import confidence_of
from discreet.explain.target import target_errors, width_of
from discreet.hints import suggest_and_list
from discreet.ledger.chain import Entry
from discreet.ledger.receipt import CONFIDENCE
from discreet.plan.batch import compile_batch
from discreet.plan.compile import LEAST
from discreet.plan.profiled_keys import counting_others
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED
from discreet.query.question import Question
from discreet.query.relation.expr import columns_of
from discreet.run.batch import results_by_question
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.output_column import OutputColumn
from discreet.run.remarks import release_notes
from discreet.session.batch.plan import BatchPlan
from discreet.session.batch.release import BatchRelease
from discreet.session.pipeline import Pipeline
from discreet.session.query import Query

MOST_QUESTIONS = 100
_LONGEST = 1000
_HIGHEST = Fraction(100)  # the largest ε that is tried for targets
_STEPS = 120  # prices that are tried for each power of ten
_EXAMPLE = 'db.batch({"visits": "SELECT COUNT(*) AS n FROM visits", "cost": "SELECT AVG(cost) AS m FROM visits"})'


@final
@frozen(eq=False, repr=False)
class BatchRequest:
    """Several questions: `plan` shows price and errors, `release` pays for all of them at once."""

    pipeline: Pipeline = field()
    questions: Mapping[str, Question]

    @classmethod
    def of(cls, pipeline: Pipeline, asked: Any, read: Callable[[str], Query]) -> BatchRequest:
        """Read questions: texts, queries or builders, in a list (then named q1, q2, …) or by name."""
        if isinstance(asked, str | bytes) or not isinstance(asked, Mapping | Sequence) or not 0 < len(asked) <= MOST_QUESTIONS:
            raise Invalid(f"a batch takes 1 to {MOST_QUESTIONS} questions, in a list or by name, as in {_EXAMPLE}")
        named = dict(asked) if isinstance(asked, Mapping) else {f"q{i}": one for i, one in enumerate(asked, 1)}
        if not all(isinstance(name, str) and name for name in named):
            raise Invalid(f"the names of a batch's questions are texts, as in {_EXAMPLE}")
        return cls(pipeline, {name: _question(pipeline, name, one, read) for name, one in named.items()})

    def plan(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        error: Mapping[str, Any] | None = None,
        size: int | None = None,
        confidence: Number = CONFIDENCE,
    ) -> BatchPlan:
        """What would happen at this price; reads and spends nothing.

        `error={"q1": 50, "q2": {"mean_cost": 5}}` splits the price so that all questions meet their targets at the same ε; without an
        epsilon, at the least one.
        """
        level = confidence_of(confidence)
        targets = None if error is None else self._targets(error)
        if epsilon is None:
            if targets is None:
                raise Invalid('the price is missing: give epsilon=0.5, or targets, as in error={"q1": 50, "q2": 5}')
            return self._cheapest(targets, delta, size, level)
        price, most = self.pipeline.price(epsilon, delta)
        return self._at(price, most, level, targets, size)

    def release(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        error: Mapping[str, Any] | None = None,
        size: int | None = None,
        confidence: Number = CONFIDENCE,
        progress: Callable[[str], None] = lambda _: None,
    ) -> BatchRelease:
        """Pay once, and release the answers to all questions; the same batch at the same price is free the second time."""
        plan = self.plan(epsilon, delta, error=error, size=size, confidence=confidence)

        def run(paid: Entry) -> BatchRelease:
            columns, told, notes = dict[str, tuple[OutputColumn, ...]](), dict[str, Any](), list[str]()
            for component in plan.steps.components:
                answers = execute(component.steps, self.pipeline.engine, progress)
                asked = [self.questions[name] for name in component.names]
                for name, one in zip(component.names, results_by_question(asked, answers, float(plan.confidence)), strict=True):
                    columns[name] = tuple(outcome(one, float(plan.confidence)))
                    found = release_notes(one.plan, columns[name])
                    told[name] = {"interval": interval_note(one.plan), "notes": list(found)}
                    notes += [f"{name}: {note}" for note in found]
            receipt = plan.priced.receipt(paid, discovered={name: told[name] for name in self.questions}, notes=notes)
            return BatchRelease({name: columns[name] for name in self.questions}, receipt)

        note = f"batch of {', '.join(self.questions)}"[:_LONGEST]
        return self.pipeline.payments.pay_once(plan, plan.priced.question, note, run, BatchRelease.from_text)

    # ── targets ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _targets(self, error: Mapping[str, Any]) -> dict[str, dict[str, float]]:
        """The target error of each output of each question; a number is the target of all of a question's outputs."""
        if isinstance(error, Mapping) and (unknown := [name for name in error if name not in self.questions]):
            said = str(unknown[0])[:80]
            raise Invalid(f"error has a target for {said!r}, which is no question of the batch; {suggest_and_list(said, self.questions)}")
        if not isinstance(error, Mapping) or set(error) != set(self.questions):
            every = ", ".join(f"{name!r}: 50" for name in self.questions)
            raise Invalid(f"give a target for each question, as in error={{{every}}}")
        found = {}
        for name, question in self.questions.items():
            said, statistics = error[name], {one for one, _ in question.statistics}
            outputs = [output for output, expr in question.outputs if columns_of(expr) & statistics]
            found[name] = target_errors(said if isinstance(said, Mapping) else dict.fromkeys(outputs, said), question)
        return found

    def _at(
        self, epsilon: Fraction, delta: Fraction, level: Fraction, targets: Mapping[str, Mapping[str, float]] | None, size: int | None
    ) -> BatchPlan:
        catalog, lookup = self.pipeline.catalog, self.pipeline.public_values
        compiled = partial(compile_batch, self.questions, catalog, epsilon, delta, lookup, level)
        if targets is None:
            return BatchPlan(compiled(), level)
        tried: list[tuple[float, int, BatchPlan]] = []
        for common in (True, False):
            ratios = dict.fromkeys(self.questions, 1.0)
            for _ in range(4):  # errors fall with the root of a share of Gaussian noise, and with a share of ε
                weights = {name: max(ratio, max(ratios.values()) / 100) ** (2 if common else 1) for name, ratio in ratios.items()}
                plan = BatchPlan(compiled(weights, common), level)
                found = self._ratios(plan, targets, size)
                tried.append((max(found.values()), len(tried), plan))
                ratios = {name: ratio * found[name] for name, ratio in ratios.items()}
        return min(tried)[2]

    def _ratios(self, plan: BatchPlan, targets: Mapping[str, Mapping[str, float]], size: int | None) -> dict[str, float]:
        """For each question, the largest ratio of an output's expected error to its target."""
        expected, found = plan.error(plan.confidence, size), {}
        for name, wanted in targets.items():
            worst = expected[name].worst
            found[name] = max(max(width_of(worst[output], output) / target for output, target in wanted.items()), 1e-9)
        return found

    def _cheapest(self, targets: Mapping[str, Mapping[str, float]], delta: Number | None, size: int | None, level: Fraction) -> BatchPlan:
        """The plan with the least ε, within 2 %, at which every question meets its targets."""
        low, high = math.floor(_STEPS * math.log10(LEAST * len(self.questions))), round(_STEPS * math.log10(_HIGHEST))
        most = self.pipeline.price(1, delta)[1]

        def at(steps: int) -> BatchPlan:
            return self._at(exact.rational(f"{10 ** (steps / _STEPS):.3g}"), most, level, targets, size)

        if missed := [name for name, ratio in self._ratios(at(high), targets, size).items() if ratio > 1]:
            raise self._out_of_reach({name: targets[name] for name in missed}, most, size, level)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if max(self._ratios(at(middle), targets, size).values()) <= 1 else (middle, high)
        return at(high)

    def _out_of_reach(self, targets: Mapping[str, Mapping[str, float]], most: Fraction, size: int | None, level: Fraction) -> Invalid:
        """Which of these targets no ε reaches, even for its question alone, and what the error comes from, where it is known."""
        never: dict[str, list[str]] = {}
        for name, wanted in targets.items():
            alone = BatchRequest(self.pipeline, {name: self.questions[name]})
            found = alone._at(_HIGHEST, most, level, {name: wanted}, size).error(level, size)[name]
            for output, target in wanted.items():
                if (width := width_of(found.worst[output], output)) > target:
                    never.setdefault(name, []).append(f"{output} is ± {width:,.4g} at ε = {_HIGHEST}{found.remark(output)}")
        if not never:
            names = ", ".join(targets)
            return Invalid(f"no ε reaches the targets of {names} together: ask for larger errors, or ask some questions by themselves")
        because = "; ".join(f"{name}: {', '.join(lines)}" for name, lines in never.items())
        instead = "ask for larger errors, or declare tighter bounds and contributions"
        return Invalid(f"no ε reaches the targets of {', '.join(never)}: {instead} ({because})")

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        names = ", ".join(self.questions)
        return f"BatchRequest({names if len(names) <= 100 else names[:99] + '…'})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows all errors and spends nothing; .release(epsilon=…) pays"])


def _question(pipeline: Pipeline, name: str, asked: Any, read: Callable[[str], Query]) -> Question:
    try:
        query = read(asked) if isinstance(asked, str) else asked.query if hasattr(asked, "query") else asked
    except Refused as error:
        raise type(error)(f"{name[:80]}: {error}") from None
    if not isinstance(query, Query):
        raise Invalid(f"{name[:80]} is not a question: give SQL, or what db.sql(...) or db.table(...) returned")
    if query.is_priced:
        raise Invalid(f"{name[:80]} states a price of its own: leave it out, for a batch has one price")
    if query.question.sample is not None:
        raise Refused(f"{name[:80]} reads a sample of its own: ask it by itself, or leave out sample=")
    pipeline.require_own(query.question.relation)
    return counting_others(query.question)  # before questions are merged: a cube without others is measured by itself
