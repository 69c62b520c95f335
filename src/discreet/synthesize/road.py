"""The road of a synthetic table: find what is open, decide, pay, count, measure, fit, remember."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.ledger.chain import Entry
from discreet.ledger.chain import digest as seal_of
from discreet.loss import record
from discreet.loss.notions import Approx
from discreet.query import Ask
from discreet.relation.node import Relation
from discreet.synthesize.codes import Coding
from discreet.synthesize.counted import EngineCounts
from discreet.synthesize.discover import SHARE, Asker, codings_of, discover
from discreet.synthesize.order import Order
from discreet.synthesize.progress import to_screen
from discreet.synthesize.recipe import Recipe
from discreet.synthesize.synthetic import Synthetic
from discreet.synthetic.domain import Domain
from discreet.synthetic.methods import choose, method_of
from discreet.synthetic.result import Progress, Result
from discreet.tables.catalog import Catalog
from discreet.till import Till

FORMAT = 1
PATIENCE = 300  # seconds to wait for somebody who has just paid for the same table


def synthesize(
    order: Order, catalog: Catalog, engine: Engine, till: Till, ask: Asker, progress: Callable[[str, float], None] | None
) -> Synthetic:
    """The whole road."""
    epsilon, delta = order.price
    if order.open.questions and not till.allowance.admits(Approx(epsilon, delta)):
        raise BudgetExceeded("the budget does not admit this price, of which a part would go to what is not declared. Nothing was charged.")
    if progress is not None and not callable(progress):
        raise Invalid("progress must be a function of what was done and the share of the work that is done")
    recipe = decide(order, catalog, ask)
    coded = with_codes(recipe.table_asked, recipe.codings)  # before paying: what cannot be written is refused here
    show = progress or to_screen(f"synthetic {recipe.table}")

    def run(paid: Entry) -> Synthetic:
        return remembered(recipe, make(recipe, coded, engine, show), paid, order.price)

    return till.once(recipe, recipe.question, f"synthesize {recipe.table}", run, Synthetic.from_text, PATIENCE)


def decide(order: Order, catalog: Catalog, ask: Asker) -> Recipe:
    """Find what is open, for its share of the price, then decide everything else."""
    epsilon, delta = order.price
    finding = (epsilon * SHARE, delta / 2 if order.open.values else Fraction(0)) if order.open.questions else (Fraction(0), Fraction(0))
    found = discover(order.open, order.name, order.relation.schema, ask, *finding)
    codings = codings_of(order.columns, found, order.bins)
    domain = Domain(tuple(coding.name for coding in codings), tuple(coding.size for coding in codings))
    notes = [f"{column} is left out: {reason}" for column, reason in order.columns.left_out]
    if order.open.questions:
        notes.append(f"ε = {float(finding[0]):.3g} of the price went to what was not declared")
    workload = order.workload_over(domain)
    recipe = Recipe(
        order.name,
        order.table,
        codings,
        workload,
        choose(workload, order.method),
        epsilon - finding[0],
        delta - finding[1],
        order.rows or found.rows or 1,
        catalog.digest,
        catalog.version,
        catalog.protected,
        catalog.adjacency,
        tuple(notes),
    )
    if order.size is not None and order.size < recipe.records_needed:
        raise Refused(
            f"with {order.size:,} records and ε = {float(epsilon):.3g} this is no better than independent columns (about "
            f"{recipe.records_needed:,.0f} are needed): use fewer columns or bins, marginals of fewer columns (workload=2 or 1), "
            f"or a larger ε. {'Only what was not declared was paid for.' if order.open.questions else 'Nothing was spent.'}"
        )
    return recipe


def with_codes(table: Ask[Any], codings: Sequence[Coding]) -> Relation:
    """The table with a column of codes for each coding."""
    names = code_names(table.relation, len(codings))
    return table.with_columns(**{name: coding.sql for name, coding in zip(names, codings, strict=True)}).relation


def make(recipe: Recipe, coded: Relation, engine: Engine, progress: Progress) -> Result:
    """Count inside the engine, measure, and fit."""
    names = code_names(recipe.table_asked.relation, len(recipe.codings))
    counts = EngineCounts(engine, coded, names, recipe.domain, recipe.rows, recipe.adjacency)
    counts.progress = lambda done, of: progress(f"counted {done:,} of {of:,} marginals", 0.3 * done / max(of, 1))
    found = method_of(recipe.method, recipe.budget, recipe.workload).run(counts, lambda what, share: progress(what, 0.3 + 0.69 * share))
    progress("done", 1.0)
    return found


def code_names(relation: Relation, count: int) -> list[str]:
    """Names for the columns of codes that no column of the table has."""
    prefix = "code"
    while any(name.lower().startswith(prefix) for name in relation.schema):
        prefix += "_x"
    return [f"{prefix}_of_{place}" for place in range(count)]


def remembered(recipe: Recipe, result: Result, paid: Entry, whole_price: tuple[Fraction, Fraction]) -> Synthetic:
    """The synthetic table with its receipt: what was measured, and what each step cost."""
    said = {
        "format": FORMAT,
        "question": recipe.question,
        "table": recipe.table,
        "asked": recipe.asked,
        "epsilon": str(whole_price[0]),
        "delta": str(whole_price[1]),
        "protected": recipe.protected,
        "adjacency": recipe.adjacency,
        "policy": recipe.policy,
        "version": recipe.version,
        "loss": record.to_json(recipe.loss),
        "spent": [[what, record.to_json(loss)] for what, loss in result.losses],
        "notes": list(recipe.notes),
        "ledger": {"sequence": paid.sequence, "entry": paid.hash},
    }
    return Synthetic.of(said | {"hash": seal_of(said)}, result)
