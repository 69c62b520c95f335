"""The road of a synthetic table: find what is open, decide, pay, count, measure, fit, remember."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import Name, choose, method_of
from discreet.algorithms.marginals.result import Progress, Result
from discreet.engines.engine import Engine
from discreet.errors import Invalid, Refused
from discreet.ledger.chain import Entry
from discreet.ledger.chain import digest as seal_of
from discreet.ledger.payment import Payments
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.loss import Loss
from discreet.loss.promise import Promised
from discreet.query.fluent import Ask
from discreet.query.relation.node import Relation
from discreet.session.synthesize.codes import Coding
from discreet.session.synthesize.counted import EngineCounts
from discreet.session.synthesize.discover import Discovery, Questions, codings_of, discover
from discreet.session.synthesize.plan import Recipe, budget_for
from discreet.session.synthesize.progress import to_screen
from discreet.session.synthesize.request import Order
from discreet.session.synthesize.synthetic import Synthetic
from discreet.tables.catalog import Catalog

FORMAT = 1


def synthesize(
    order: Order, catalog: Catalog, engine: Engine, payments: Payments, find: Discovery, progress: Callable[[str, float], None] | None
) -> Synthetic:
    """The whole road. The whole price is reserved before the first step, and each step is charged before it reads."""
    if progress is not None and not callable(progress):
        raise Invalid("progress must be a function of what was done and the share of the work that is done")
    steps = losses(order, find)
    with payments.reserved(steps) if steps else nullcontext():
        return _synthesize(order, catalog, engine, payments, find, progress)


def losses(order: Order, find: Discovery) -> list[Loss]:
    """What the steps of an order cost that finds something first; none if all of that was found before."""
    questions = asked_first(order)
    if not questions.things.questions:
        return []
    unknown = [loss for loss in (find.price(*one) for one in questions.priced) if loss is not None]
    return [*unknown, table_price(order)] if unknown else []


def table_price(order: Order) -> Loss:
    """What the table itself costs, by whichever method is chosen when its columns are known."""
    epsilon, delta = order.rest
    methods: tuple[Name, ...] = ("residuals", "aim") if order.method == "auto" else (order.method,)
    return Charge.either(Promised(budget_for(method, epsilon, delta).loss, epsilon, delta) for method in methods)


def asked_first(order: Order) -> Questions:
    """What is asked before the table is made."""
    return Questions(order.open, order.name, tuple(order.relation.schema), *order.finding)


def _synthesize(
    order: Order, catalog: Catalog, engine: Engine, payments: Payments, find: Discovery, progress: Callable[[str, float], None] | None
) -> Synthetic:
    recipe = decide(order, catalog, find)
    coded = with_codes(recipe.table_asked, recipe.codings)  # before paying: what cannot be written is refused here
    show = progress or to_screen(f"synthetic {recipe.table}")

    def run(paid: Entry) -> Synthetic:
        return remembered(recipe, make(recipe, coded, engine, show), paid, order.price)

    return payments.pay_once(recipe, recipe.question, f"synthesize {recipe.table}", run, Synthetic.from_text)


def decide(order: Order, catalog: Catalog, find: Discovery) -> Recipe:
    """Find what is open, for its share of the price, then decide everything else."""
    epsilon, finding = order.price[0], order.finding
    found = discover(asked_first(order), find)
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
        *order.rest,
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
