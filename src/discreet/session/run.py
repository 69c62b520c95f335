"""A question is paid for, executed and released; repeats are free."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.engines.engine import Engine
from discreet.ledger.chain import Entry
from discreet.ledger.receipt import CONFIDENCE, Receipt
from discreet.plan.discovery import BoundDiscovery, Discovered
from discreet.plan.steps import Steps
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.session.pipeline import Pipeline
from discreet.session.plan import Plan
from discreet.session.release import Release


def is_known(plan: Plan, pipeline: Pipeline) -> bool:
    """Whether the ledger holds an answer already, which costs nothing."""
    return pipeline.payments.knows(plan.priced.question)


def release(plan: Plan, pipeline: Pipeline, confidence: Fraction, note: str, progress: Callable[[str], None]) -> Release:
    """Give the stored answer; else charge the ledger, then read, then store, then answer."""
    priced = plan.priced_at(confidence)

    def run(paid: Entry) -> Release:
        answers = execute(plan.steps, pipeline.engine, progress)
        told = priced.receipt(paid, discovered=discovered(plan.steps, answers.plan.discovered), notes=plan.steps.notes)
        return Release(tuple(outcome(answers, float(confidence))), told)

    return pipeline.payments.pay_once(plan, priced.question, note, run, Release.from_text)


def dry_run(plan: Plan, engine: Engine) -> Release:
    """The same on an engine with made-up data: nothing is charged, and the receipt says so."""
    answers = execute(plan.steps, engine)
    told = Receipt(plan.priced, (), discovered(plan.steps, answers.plan.discovered), notes=plan.steps.notes, dry_run=True)
    return Release(tuple(outcome(answers, float(CONFIDENCE))), told)


def discovered(steps: Steps, found: Discovered) -> dict[str, Any]:
    """What was discovered privately on the way: limits, and the ends of ranges by the name of what they bound."""
    told: dict[str, dict[str, str]] = {}
    names = {one.expr: one.name for one in steps.discoveries if isinstance(one, BoundDiscovery)}
    for (expr, end), value in found.bounds.items():
        told.setdefault(names[expr], {})[end] = str(value)
    return {"limits": dict(found.limits), "bounds": told}
