"""Release a synthetic table: discover what is not declared, decide, pay, count, measure, fit, store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from discreet.algorithms.marginals.methods import method_of
from discreet.algorithms.marginals.result import Progress, Result
from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.ledger.chain import Entry
from discreet.ledger.receipt import Paid
from discreet.query.fluent import QueryBuilder
from discreet.query.relation.node import Relation
from discreet.session.pipeline import Pipeline
from discreet.session.profile.run import release as release_profile
from discreet.session.synthesize.counted import EngineCounts
from discreet.session.synthesize.domains import Coding, Domains
from discreet.session.synthesize.others import about_clipped, about_others, shares_of_others
from discreet.session.synthesize.plan import Decided, SynthesisPlan, notes_on
from discreet.session.synthesize.profiled import discovered_domains
from discreet.session.synthesize.progress import to_screen
from discreet.session.synthesize.synthetic import Synthetic


def release(plan: SynthesisPlan, pipeline: Pipeline, progress: Callable[[str, float], None] | None) -> Synthetic:
    """Return the stored table; if there is none, reserve the whole price, charge each step before it reads, and store the table."""
    if progress is not None and not callable(progress):
        raise Invalid("progress must be a function of two arguments, the step that was done and the share of the work that is done")
    payments, first = pipeline.payments, plan.discovery
    payments.require_open()
    if first is None or payments.knows(plan.priced.question):
        return _release(plan, pipeline, progress)
    with payments.in_turn(plan.priced.question):  # the same table asked for at once is one purchase
        known = payments.knows(plan.priced.question) or payments.knows(first.priced.question)
        with nullcontext() if known else payments.reserved([first.loss, plan.table_loss]):
            return _release(plan, pipeline, progress)


def _release(plan: SynthesisPlan, pipeline: Pipeline, progress: Callable[[str, float], None] | None) -> Synthetic:
    show = progress or to_screen(f"synthetic {plan.spec.name}")
    found, before, public = Domains(), tuple[Paid, ...](), None
    if plan.discovery is not None:
        profile = release_profile(plan.discovery, pipeline, lambda what, share: show(what, 0.2 * share))
        public, before = profile.table, profile.receipt.payments
        found = discovered_domains(public, plan.spec.undeclared.columns, plan.spec.bins)
    decided = plan.decide(found, public)
    coded = with_codes(decided.table, decided.codings)  # what cannot be written is refused before the table is paid for

    def run(paid: Entry) -> Synthetic:
        made = make(decided, coded, plan, pipeline.engine, show)
        not_known = about_others(shares_of_others(decided.codings, made.model)) + about_clipped(decided.codings, decided.beyond)
        late = [note for note in notes_on(decided.columns) if note not in plan.notes]
        notes = (*plan.notes, *late, decided.choice(plan.spec.method), *made.notes, *not_known)
        told = plan.priced.receipt(paid, discovered=decided.told, steps=made.losses, notes=notes, before=before)
        return Synthetic.of(told, made)

    return pipeline.payments.pay_once(decided, plan.priced.question, f"synthesize {plan.spec.name}", run, Synthetic.from_text)


def with_codes(table: QueryBuilder[Any], codings: Sequence[Coding]) -> Relation:
    """The table with a column of codes for each coding, without the rows that have no code.

    A row is kept or left out by its own values only, so the rows of a unit still depend on that unit alone.
    """
    names = code_names(table.relation, len(codings))
    coded = table.with_columns(**{name: coding.sql for name, coding in zip(names, codings, strict=True)})
    kept = [f"{name} >= 0" for name, coding in zip(names, codings, strict=True) if coding.leaves_out]
    return (coded.where(" AND ".join(kept)) if kept else coded).relation


def make(decided: Decided, coded: Relation, plan: SynthesisPlan, engine: Engine, progress: Progress) -> Result:
    """Count inside the engine, measure, and fit."""
    names = code_names(plan.spec.relation, len(decided.codings))
    counts = EngineCounts(engine, coded, names, decided.domain, decided.rows, plan.priced.adjacency)
    counts.progress = lambda done, of: progress(f"counted {done:,} of {of:,} marginals", 0.3 * done / max(of, 1))
    method = method_of(decided.method, decided.budget, decided.workload, decided.device, decided.limit)
    found = method.run(counts, lambda what, share: progress(what, 0.3 + 0.69 * share))
    progress("done", 1.0)
    return found


def code_names(relation: Relation, count: int) -> list[str]:
    """Names for the columns of codes that no column of the table has."""
    prefix = "code"
    while any(name.lower().startswith(prefix) for name in relation.schema):
        prefix += "_x"
    return [f"{prefix}_of_{place}" for place in range(count)]
