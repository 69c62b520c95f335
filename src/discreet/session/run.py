"""Release a question: pay, execute, store. Repeats are free."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.engines.engine import Engine
from discreet.explain.coverage import interval_note
from discreet.ledger.chain import Entry
from discreet.ledger.payment import Priced
from discreet.ledger.receipt import CONFIDENCE, Paid, Receipt
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import resolve
from discreet.plan.steps import Steps
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.remarks import release_notes
from discreet.run.totals import ReleasedTotals
from discreet.session.first_step import assumed_for_mock_data, discover_first, first_step_of, may_stop, parts_of
from discreet.session.pipeline import Pipeline
from discreet.session.plan import Plan
from discreet.session.refine import Asked
from discreet.session.release import Release


def is_known(plan: Plan, pipeline: Pipeline) -> bool:
    """Whether the ledger holds an answer at this price already; releasing it again is free."""
    return pipeline.payments.knows(plan.priced.question)


def release(plan: Plan, pipeline: Pipeline, confidence: Fraction, note: str, progress: Callable[[str], None]) -> Release:
    """Return the stored answer; if there is none, charge the ledger, then read the data, store the answer and return it."""
    question = plan.priced_at(confidence).question
    if may_stop(plan.steps) and not pipeline.payments.knows(question):
        found = _in_two_steps(plan, pipeline, confidence, note, progress)
    else:
        found = _draw(plan, plan.steps, plan, pipeline, confidence, note, progress)
    return evolve(found, question=Asked(plan.steps, pipeline, note))


def _in_two_steps(plan: Plan, pipeline: Pipeline, confidence: Fraction, note: str, progress: Callable[[str], None]) -> Release:
    """Reserve the whole price, discover, and go on if something was found. The same question asked at once is one purchase."""
    first, rest = parts_of(plan.steps)
    payments = pipeline.payments
    name = plan.priced_at(CONFIDENCE).question  # what is discovered does not depend on the confidence of intervals
    with payments.in_turn(name):
        known = payments.knows(first_step_of(name))
        with nullcontext() if known else payments.reserved([first.loss, rest.loss]):
            found = discover_first(plan.steps, name, pipeline, note, progress)
            found.require_found(note, pipeline.catalog)
            return _draw(plan, resolve(plan.steps, found.discovered), rest, pipeline, confidence, note, progress, (found.paid,))


def _draw(
    plan: Plan, steps: Steps, priced_part: Priced, pipeline: Pipeline, confidence: Fraction, note: str, progress: Callable[[str], None],
    before: tuple[Paid, ...] = (),
) -> Release:  # fmt: skip
    """Pay for the plan, or for what is left of it, and draw its answers."""
    priced = plan.priced_at(confidence)

    def run(paid: Entry) -> Release:
        answers = execute(steps, pipeline.engine, progress)
        columns = tuple(outcome(answers, float(confidence)))
        told = priced.receipt(paid, discovered=discovered(answers.plan), notes=release_notes(answers.plan, columns), before=before)
        return Release(columns, told, totals=None if plan.steps.question.selected else ReleasedTotals.of(answers, plan.steps))

    return pipeline.payments.pay_once(priced_part, priced.question, note, run, Release.from_text)


def dry_run(plan: Plan, engine: Engine) -> Release:
    """Run the plan on an engine with mock data; nothing is charged, and the receipt is marked as a dry run."""
    steps = resolve(plan.steps, assumed_for_mock_data(plan.steps, engine)) if may_stop(plan.steps) else plan.steps
    answers = execute(steps, engine)
    columns = tuple(outcome(answers, float(CONFIDENCE)))
    return Release(columns, Receipt(plan.priced, (), discovered(answers.plan), notes=release_notes(answers.plan, columns), dry_run=True))


def discovered(steps: Steps) -> dict[str, Any]:
    """The discovered limits and bounds, and what the intervals are for, as the receipt states them."""
    found = steps.discovered
    told: dict[str, dict[str, str]] = {}
    names = {one.expr: one.name for one in steps.discoveries if isinstance(one, RangeDiscovery)}
    for (expr, end), value in found.bounds.items():
        told.setdefault(names[expr], {})[end] = str(value)
    return {"limits": dict(found.limits), "bounds": told, "interval": interval_note(steps)}
