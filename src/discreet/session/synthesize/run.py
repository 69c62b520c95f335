"""A synthetic table is bought: discover what is not declared, decide, pay, count, measure, fit, store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from discreet.algorithms.marginals.methods import method_of
from discreet.algorithms.marginals.result import Progress, Result
from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.ledger.chain import Entry
from discreet.ledger.receipt import CONFIDENCE
from discreet.query.fluent import QueryBuilder
from discreet.query.relation.node import Relation
from discreet.session.pipeline import Pipeline
from discreet.session.release import Release
from discreet.session.run import is_known
from discreet.session.run import release as release_question
from discreet.session.synthesize.codes import Coding
from discreet.session.synthesize.counted import EngineCounts
from discreet.session.synthesize.discover import discover
from discreet.session.synthesize.plan import Decided, SynthesisPlan
from discreet.session.synthesize.progress import to_screen
from discreet.session.synthesize.synthetic import Synthetic


def release(plan: SynthesisPlan, pipeline: Pipeline, progress: Callable[[str, float], None] | None) -> Synthetic:
    """Give the stored table; else reserve the whole price, charge each step before it reads, and store the table."""
    if progress is not None and not callable(progress):
        raise Invalid("progress must be a function of what was done and the share of the work that is done")
    pipeline.payments.require_open()
    stored = pipeline.payments.knows(plan.priced.question)
    unpaid = [] if stored else [one.loss for one in plan.discovery if not is_known(one, pipeline)]
    with pipeline.payments.reserved([*unpaid, plan.table_loss]) if unpaid else nullcontext():
        return _release(plan, pipeline, progress)


def _release(plan: SynthesisPlan, pipeline: Pipeline, progress: Callable[[str, float], None] | None) -> Synthetic:
    def answer(place: int) -> Release:
        return release_question(plan.discovery[place], pipeline, CONFIDENCE, plan.questions.priced[place][0], lambda _: None)

    found, before = discover(plan.questions, answer)
    decided = plan.decide(found)
    coded = with_codes(plan.spec.table, decided.codings)  # before paying: what cannot be written is refused here
    show = progress or to_screen(f"synthetic {plan.spec.name}")

    def run(paid: Entry) -> Synthetic:
        made = make(decided, coded, plan, pipeline.engine, show)
        told = plan.priced.receipt(paid, discovered=decided.told, steps=made.losses, notes=plan.notes, before=before)
        return Synthetic.of(told, made)

    return pipeline.payments.pay_once(decided, plan.priced.question, f"synthesize {plan.spec.name}", run, Synthetic.from_text)


def with_codes(table: QueryBuilder[Any], codings: Sequence[Coding]) -> Relation:
    """The table with a column of codes for each coding."""
    names = code_names(table.relation, len(codings))
    return table.with_columns(**{name: coding.sql for name, coding in zip(names, codings, strict=True)}).relation


def make(decided: Decided, coded: Relation, plan: SynthesisPlan, engine: Engine, progress: Progress) -> Result:
    """Count inside the engine, measure, and fit."""
    names = code_names(plan.spec.relation, len(decided.codings))
    counts = EngineCounts(engine, coded, names, decided.domain, decided.rows, plan.priced.adjacency)
    counts.progress = lambda done, of: progress(f"counted {done:,} of {of:,} marginals", 0.3 * done / max(of, 1))
    method = method_of(decided.method, decided.budget, decided.workload)
    found = method.run(counts, lambda what, share: progress(what, 0.3 + 0.69 * share))
    progress("done", 1.0)
    return found


def code_names(relation: Relation, count: int) -> list[str]:
    """Names for the columns of codes that no column of the table has."""
    prefix = "code"
    while any(name.lower().startswith(prefix) for name in relation.schema):
        prefix += "_x"
    return [f"{prefix}_of_{place}" for place in range(count)]
