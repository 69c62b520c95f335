"""Compile a question into a plan before any private row is read: `PASSES` decide, then the plan is resolved and priced."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import final

from attrs import evolve, frozen

from discreet.errors import Invalid, Refused
from discreet.ledger.receipt import CONFIDENCE
from discreet.loss.loss import NOTHING
from discreet.plan.arrangement import Arrangement
from discreet.plan.budget import declared_size
from discreet.plan.discover import plan_discoveries
from discreet.plan.discovery import Discovered, Discovery, LimitDiscovery
from discreet.plan.found_keys import MOST_CELLS, OpenKeys
from discreet.plan.hierarchy import PublicValues, arrange
from discreet.plan.key_values import Combinations, KeyValues
from discreet.plan.noise import choose_noise
from discreet.plan.price import plan_loss
from discreet.plan.profiled_keys import counting_others, in_others, left_out
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import hypothetical_discoveries, resolve
from discreet.plan.sampling import check_sampled, inner_price, outside
from discreet.plan.steps import Budget, Steps
from discreet.query.question import Question
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.origin import origin, private_tables
from discreet.query.totals import Totals
from discreet.tables.catalog import Catalog
from discreet.tables.column import MOST_KEYS
from discreet.tables.kind import Value
from discreet.tables.table import MOST_CONTRIBUTED, Contributions

LEAST = Fraction(1, 10**5)  # the smallest ε of a question
_MOST_STATISTICS = 100
_FAR = Fraction(2**40)  # discovered bounds lie within ±this


@final
@frozen
class Draft:
    """A partial plan: the question, its price, and the decisions of the passes already run."""

    question: Question
    catalog: Catalog
    epsilon: Fraction
    delta: Fraction  # the most δ the plan may use
    lookup: PublicValues
    contributions: Contributions = Contributions()
    groups: KeyValues | None = None
    arrangement: Arrangement | None = None
    open_keys: OpenKeys | None = None  # of grouping sets; the arrangement is then that of made-up values
    discoveries: tuple[Discovery, ...] = ()
    budget: Budget | None = None
    notes: tuple[str, ...] = ()
    confidence: Fraction = CONFIDENCE


def compile_plan(
    question: Question, catalog: Catalog, epsilon: Fraction, delta: Fraction, lookup: PublicValues, confidence: Fraction = CONFIDENCE
) -> Steps:
    """Decide everything that can be decided without data; mechanisms that choose the ends of intervals need their confidence."""
    check_epsilon(epsilon)
    draft = Draft(question, catalog, *inner_price(question, epsilon, delta), lookup, confidence=confidence)
    for decide in PASSES:
        draft = decide(draft)
    return outside(_finished(draft), epsilon)


def check_epsilon(epsilon: Fraction) -> None:
    """Refuse an ε that is too small."""
    if epsilon < LEAST:
        raise Invalid(f"epsilon must be at least {LEAST} for a question, or noise hides every answer: give a larger epsilon")


# ── the passes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def check_size(draft: Draft) -> Draft:
    """Refuse too many statistics."""
    if len(draft.question.statistics) > _MOST_STATISTICS:
        raise Refused(f"at most {_MOST_STATISTICS} statistics are answered at once: ask some of them in another question")
    return draft


def limit_contributions(draft: Draft) -> Draft:
    """Take limits from the question first, then from the tables it reads."""
    return evolve(draft, contributions=stated_contributions(draft.question))


def stated_contributions(question: Question) -> Contributions:
    """The limits that a question states, or else one of its tables."""
    tables = private_tables(question.relation)
    return question.contributions or next((table.contributions for table in tables if table.contributions), Contributions())


def list_public_groups(draft: Draft) -> Draft:
    """List all groups where every key's values are public, in their declared order, with empty groups."""
    if draft.question.sets:
        return _arranged(draft)
    groups = public_groups(draft.question, draft.lookup)
    if groups is None and draft.delta == 0:
        unknown = [name for name, expr in draft.question.keys if _values(draft.question, expr, draft.lookup) is None]
        raise _needs_delta(unknown)
    return evolve(draft, groups=groups)


def _arranged(draft: Draft) -> Draft:
    """The cells of all grouping sets; of those over keys that are not public, how they will be found."""
    values = {name: _values(draft.question, expr, draft.lookup) for name, expr in draft.question.keys}
    unknown = [name for name, found in values.items() if found is None]
    if empty := [name for name, listed in values.items() if listed is not None and not listed]:
        raise Refused(f'no value of {", ".join(empty)} is known, so there are no tables: declare keys={{"{empty[0]}": [...]}}')
    if unknown:
        return _to_be_found(draft, list(values.values()), unknown)
    draft = evolve(draft, question=counting_others(draft.question))
    found = arrange(draft.question, [listed for listed in values.values() if listed is not None], draft.lookup)
    if found.layout.cells(found.layout.finest) > MOST_KEYS:
        raise Refused(f"the keys make more than {MOST_KEYS:,} groups: group by fewer of them")
    return evolve(draft, groups=found.groups(found.finest), arrangement=found)


def _to_be_found(draft: Draft, values: list[tuple[Value | None, ...] | None], unknown: list[str]) -> Draft:
    """Grouping sets over keys of which some are not declared: others are then shown, so that totals count every row."""
    if draft.delta == 0:
        raise _needs_delta(unknown)
    if math.prod(len(listed) + 1 for listed in values if listed is not None) > MOST_CELLS:
        raise Refused(f"the declared keys alone make more than {MOST_CELLS:,} groups: group by fewer of them")
    open_keys = OpenKeys.of(draft.question, values)
    return evolve(draft, open_keys=open_keys, arrangement=open_keys.arrangement(open_keys.supposed()))


def _needs_delta(unknown: list[str]) -> Refused:
    return Refused(
        f"the groups of {', '.join(unknown)} are not declared, and discovering them privately needs a delta above 0: declare them with "
        f'keys={{"{unknown[0]}": [...]}}, or give the budget a delta such as 1e-6'
    )


def discover_the_rest(draft: Draft) -> Draft:
    """Plan discoveries for what is not declared: limits, groups, bounds."""
    together = ((),) if draft.groups is None else ()
    searches = together if draft.open_keys is None else draft.open_keys.searches
    found = plan_discoveries(draft.question, draft.catalog.adjacency, draft.contributions, searches, draft.epsilon, draft.delta)
    rows = declared_size(draft.question)
    for one in found:
        if isinstance(one, RangeDiscovery) and rows is not None and rows < one.clear:
            raise Refused(
                f"the declared {rows:,} rows are too few to discover the range of {one.name} at this epsilon, for about {one.clear:,.0f} "
                f'are needed. Nothing was spent: declare bounds={{"{one.name}": (low, high)}}, or give a larger epsilon'
            )
    return evolve(draft, discoveries=found)


def check_sample(draft: Draft) -> Draft:
    """Refuse what cannot be answered from a sample."""
    check_sampled(draft.question, draft.discoveries)
    return draft


def split_budget(draft: Draft) -> Draft:
    """Choose the noise with the least error, and split the budget that discoveries leave."""
    rest = draft.epsilon - sum((one.epsilon for one in draft.discoveries), Fraction(0))
    taken = sum((one.delta for one in draft.discoveries), Fraction(0))
    return evolve(draft, budget=choose_noise(draft.question, draft.contributions, rest, draft.delta, taken, draft.arrangement))


def add_notes(draft: Draft) -> Draft:
    """Collect what a reader of the plan should know."""
    searched = () if draft.open_keys is None else draft.open_keys.searched
    return evolve(draft, notes=(*in_others(draft.question, searched), *notes_about(draft.question, draft.groups)))


PASSES: tuple[Callable[[Draft], Draft], ...] = (
    check_size,
    limit_contributions,
    list_public_groups,
    discover_the_rest,
    check_sample,
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
        arrangement=draft.arrangement if draft.open_keys is None else None,
        open_keys=draft.open_keys,
        loss=NOTHING,
        notes=draft.notes,
        confidence=draft.confidence,
    )
    # with discoveries, resolve for the largest possible outcome: a plan that cannot be computed is refused now, not after paying
    resolved = resolve(plan, hypothetical_discoveries(plan, _most_rows, _furthest) if plan.discoveries else Discovered())
    if not plan.discoveries:
        plan = resolved
    of = resolved.available_totals
    assert of is not None
    return evolve(plan, loss=plan_loss(plan), notes=(*plan.notes, *remarks_on(draft.question, of)))


def _most_rows(_: LimitDiscovery) -> int:
    return MOST_CONTRIBUTED


def _furthest(_: RangeDiscovery, end: str) -> Fraction:
    return _FAR if end == "high" else -_FAR


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def public_groups(question: Question, lookup: PublicValues) -> KeyValues | None:
    """All groups, where every key's values are public: in their declared order, including empty ones."""
    values = [_values(question, expr, lookup) for _, expr in question.keys]
    if any(found is None for found in values):
        return None
    if math.prod(len(found or ()) for found in values) > MOST_KEYS:
        raise Refused(f"the keys make more than {MOST_KEYS:,} groups: group by fewer of them")
    return Combinations(tuple(found or () for found in values))


def _values(question: Question, expr: Expr, lookup: PublicValues) -> tuple[Value | None, ...] | None:
    declared = field_of(expr, question.schema).public_keys
    if declared is not None:
        return declared
    found = origin(question.relation, expr)
    return None if found is None else lookup(found.table, found.column)


def notes_about(question: Question, groups: KeyValues | None) -> tuple[str, ...]:
    """What a reader should know about a question: remarks on its SQL, rows that are left out, profiles that are used."""
    return (*question.notes, *left_out(question, groups), *_profiles(question))


def remarks_on(question: Question, of: Totals) -> list[str]:
    """What statistics say about how they are computed from their totals."""
    return [f"{name} {said}" for name, statistic in question.additive.items() for said in statistic.remarks(of)]


def _profiles(question: Question) -> list[str]:
    """Note which profiles tell bounds, keys or limits that are not declared."""
    used = {table.profile for table in private_tables(question.relation) if table.profile is not None}
    return [f"uses the profile of {profile.table}, which cost {profile.paid}" for profile in sorted(used, key=lambda one: one.table)]
