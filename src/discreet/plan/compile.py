"""Compile a question into a plan before any private row is read: `PASSES` decide, then the plan is resolved and priced."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import final

from attrs import evolve, frozen

from discreet.errors import Invalid, Refused
from discreet.loss.loss import NOTHING
from discreet.plan.discover import plan_discoveries
from discreet.plan.discovery import BoundDiscovery, Discovered, Discovery, KeyValues, LimitDiscovery
from discreet.plan.noise import choose_noise
from discreet.plan.price import plan_loss
from discreet.plan.resolve import imagined, resolve
from discreet.plan.steps import Budget, Steps
from discreet.query.question import Question
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.origin import origin, private_tables
from discreet.tables.catalog import Catalog
from discreet.tables.column import MOST_KEYS
from discreet.tables.kind import Value
from discreet.tables.table import MOST_CONTRIBUTED, Contributions

Lookup = Callable[[str, str], tuple[Value, ...]]  # the values of a public table's column
_LEAST, _MOST_STATISTICS = Fraction(1, 10**5), 100
_FAR = Fraction(2**40)  # discovered bounds lie within ±this


@final
@frozen
class Draft:
    """A partial plan: the question, its price, and the decisions of the passes already run."""

    question: Question
    catalog: Catalog
    epsilon: Fraction
    delta: Fraction  # the most δ the plan may use
    lookup: Lookup
    contributions: Contributions = Contributions()
    groups: KeyValues | None = None
    discoveries: tuple[Discovery, ...] = ()
    budget: Budget | None = None
    notes: tuple[str, ...] = ()


def compile_plan(question: Question, catalog: Catalog, epsilon: Fraction, delta: Fraction, lookup: Lookup) -> Steps:
    """Decide everything that can be decided without data."""
    draft = Draft(question, catalog, epsilon, delta, lookup)
    for decide in PASSES:
        draft = decide(draft)
    return _finished(draft)


# ── the passes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def check_size(draft: Draft) -> Draft:
    """Refuse an ε that is too small, or too many statistics."""
    if draft.epsilon < _LEAST:
        raise Invalid(f"epsilon must be at least {_LEAST} for a question, or noise hides every answer: give a larger epsilon")
    if len(draft.question.statistics) > _MOST_STATISTICS:
        raise Refused(f"at most {_MOST_STATISTICS} statistics are answered at once: ask some of them in another question")
    return draft


def limit_contributions(draft: Draft) -> Draft:
    """Take limits from the question first, then from the tables it reads."""
    if draft.question.contributions:
        return evolve(draft, contributions=draft.question.contributions)
    tables = private_tables(draft.question.relation)
    return evolve(draft, contributions=next((table.contributions for table in tables if table.contributions), Contributions()))


def list_public_groups(draft: Draft) -> Draft:
    """List all groups where every key's values are public, in their declared order, with empty groups."""
    groups = public_groups(draft.question, draft.lookup)
    if groups is None and draft.delta == 0:
        unknown = [name for name, expr in draft.question.keys if _values(draft.question, expr, draft.lookup) is None]
        raise Refused(
            f"the groups of {', '.join(unknown)} are not declared, and discovering them privately needs a delta above 0: declare them with "
            f'keys={{"{unknown[0]}": [...]}}, or give the budget a delta such as 1e-6'
        )
    return evolve(draft, groups=groups)


def discover_the_rest(draft: Draft) -> Draft:
    """Plan discoveries for what is not declared: limits, groups, bounds."""
    found = plan_discoveries(draft.question, draft.catalog.adjacency, draft.contributions, draft.groups is None, draft.epsilon, draft.delta)
    return evolve(draft, discoveries=found)


def split_budget(draft: Draft) -> Draft:
    """Choose the noise with the least error, and split the budget that discoveries leave."""
    rest = draft.epsilon - sum((one.epsilon for one in draft.discoveries), Fraction(0))
    taken = sum((one.delta for one in draft.discoveries), Fraction(0))
    return evolve(draft, budget=choose_noise(draft.question, draft.contributions, rest, draft.delta, taken))


def add_notes(draft: Draft) -> Draft:
    """Collect what a reader of the plan should know."""
    return evolve(draft, notes=(*draft.question.notes, *_left_out(draft.question, draft.groups)))


PASSES: tuple[Callable[[Draft], Draft], ...] = (
    check_size,
    limit_contributions,
    list_public_groups,
    discover_the_rest,
    split_budget,
    add_notes,
)


def _finished(draft: Draft) -> Steps:
    """The plan with its price, resolved where nothing is left to be discovered."""
    assert draft.budget is not None
    plan = Steps(
        question=draft.question,
        epsilon=draft.epsilon,
        delta=sum((one.delta for one in draft.discoveries), draft.budget.delta),
        adjacency=draft.catalog.adjacency,
        policy=draft.catalog.digest,
        version=draft.catalog.version,
        protected=draft.catalog.protected,
        contributions=draft.contributions,
        budget=draft.budget,
        discoveries=draft.discoveries,
        public_groups=draft.groups,
        loss=NOTHING,
        notes=draft.notes,
    )
    # with discoveries, resolve for the largest possible outcome: a plan that cannot be computed is refused now, not after paying
    resolved = resolve(plan, imagined(plan, _most_rows, _furthest) if plan.discoveries else Discovered())
    if not plan.discoveries:
        plan = resolved
    assert resolved.of is not None
    remarks = [f"{name} {said}" for name, statistic in draft.question.additive.items() for said in statistic.remarks(resolved.of)]
    return evolve(plan, loss=plan_loss(plan), notes=(*plan.notes, *remarks))


def _most_rows(_: LimitDiscovery) -> int:
    return MOST_CONTRIBUTED


def _furthest(discovery: BoundDiscovery) -> Fraction:
    return _FAR if discovery.end == "high" else -_FAR


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def public_groups(question: Question, lookup: Lookup) -> KeyValues | None:
    """All groups, where every key's values are public: in their declared order, including empty ones."""
    values = [_values(question, expr, lookup) for _, expr in question.keys]
    if any(found is None for found in values):
        return None
    if math.prod(len(found or ()) for found in values) > MOST_KEYS:
        raise Refused(f"the keys make more than {MOST_KEYS:,} groups: group by fewer of them")
    return tuple(itertools.product(*(found or () for found in values)))


def _values(question: Question, expr: Expr, lookup: Lookup) -> tuple[Value | None, ...] | None:
    declared = field_of(expr, question.schema).public_keys
    if declared is not None:
        return declared
    found = origin(question.relation, expr)
    return None if found is None else lookup(*found)


def _left_out(question: Question, groups: KeyValues | None) -> list[str]:
    """Note where rows without a key are left out."""
    missing = []
    for place, (name, expr) in enumerate(question.keys):
        if groups is not None and field_of(expr, question.schema).nullable and all(group[place] is not None for group in groups):
            missing.append(f"rows without {name} (NULL) are left out: its public values do not include None")
    return missing
