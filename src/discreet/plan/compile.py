"""From a question to a plan: what must be found, how the price is split, which noise; all before any data is read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve

from discreet.engines.dialect import Dialect
from discreet.errors import Invalid, Refused
from discreet.loss import calibrate, leaves
from discreet.loss.loss import NOTHING, Loss, compose
from discreet.loss.promise import Promised
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bounding import Single
from discreet.plan.budget import ADDITIVE, divided, split, totals
from discreet.plan.discovery import Find, FindBound, FindKeys, FindLimit, open_ends
from discreet.plan.resolve import bound, settle
from discreet.plan.steps import Budget, Found, Noise, Steps
from discreet.plan.total import Stat
from discreet.query.canonical import digest
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr, field_of
from discreet.query.relation.field import Interval
from discreet.query.relation.origin import origin, private_tables
from discreet.run.source import KeyValues
from discreet.tables.catalog import Catalog
from discreet.tables.column import MOST_KEYS
from discreet.tables.kind import Value
from discreet.tables.table import MOST_CONTRIBUTED, Contributions

Lookup = Callable[[str, str], tuple[Value, ...]]  # the values of a public table's column
_KEYS, _BOUND, _LIMIT = Fraction(1, 4), Fraction(1, 5), Fraction(1, 10)  # what finds take of ε, each
_MOST_FOR_FINDS = Fraction(1, 2)
_LEAST, _MOST_MEASURES = Fraction(1, 10**5), 100


def compile_plan(question: Question, catalog: Catalog, epsilon: Fraction, delta: Fraction, dialect: Dialect, lookup: Lookup) -> Steps:
    """Decide everything that can be decided without data; of the ways to add noise take the one that errs least."""
    if epsilon < _LEAST:
        raise Invalid(f"epsilon must be at least {_LEAST} for a question: less would drown any answer")
    if len(question.measures) > _MOST_MEASURES:
        raise Refused(f"at most {_MOST_MEASURES} statistics are answered at once: ask some of them in another question")
    contributions = _contributions(question)
    groups = public_groups(question, lookup)
    if groups is None and delta == 0:
        unknown = [name for name, expr in question.keys if _values(question, expr, lookup) is None]
        raise Refused(
            f"the groups of {', '.join(unknown)} are not declared, and finding them privately needs a delta above 0: declare them with "
            f'keys={{"{unknown[0]}": [...]}}, or give the budget a delta such as 1e-6'
        )
    finds = _finds(question, catalog.adjacency, contributions, groups, epsilon, delta)
    rest = epsilon - sum((find.epsilon for find in finds), Fraction(0))
    ways = [
        _budget(question, contributions, rest, noise_delta, noise, centred)
        for noise, noise_delta in _noises(question, finds, delta)
        for centred in _centrings(question)
    ]
    budget = min(ways, key=lambda way: way[1])[0]
    used_delta = sum((find.delta for find in finds if isinstance(find, FindKeys)), budget.delta)
    plan = Steps(
        question=question,
        epsilon=epsilon,
        delta=used_delta,
        adjacency=catalog.adjacency,
        policy=catalog.digest,
        version=catalog.version,
        protected=catalog.protected,
        dialect=dialect,
        contributions=contributions,
        budget=budget,
        finds=finds,
        public_groups=groups,
        loss=NOTHING,
        found=Found(),
        notes=(*question.notes, *_left_out(question, groups), *divided(question)),
    )
    # with finds, settle for the largest that may be found: what cannot be computed is refused now, not after paying
    settled = settle(plan, _largest(plan) if finds else Found())
    if not finds:
        plan = settled
    return evolve(plan, loss=price(plan))


def _largest(plan: Steps) -> Found:
    bounds = {
        (find.expr, find.end): Fraction(2**40 if find.end == "high" else -(2**40)) for find in plan.finds if isinstance(find, FindBound)
    }
    modes = {find.measure: (0, 1) for find in plan.finds if isinstance(find, FindKeys) and find.measure is not None}
    groups = plan.public_groups if plan.public_groups is not None else (tuple(None for _ in plan.question.keys),)
    limits = {find.what: MOST_CONTRIBUTED for find in plan.finds if isinstance(find, FindLimit)}
    return Found(limits, bounds, groups, modes)


def price(plan: Steps) -> Loss:
    """What the plan costs, whatever is found."""
    budget, parts = plan.budget, [find.loss for find in plan.finds]
    if _additive(plan.question):
        if budget.noise == "gaussian":
            # every total's (Δ/σ)² is at most its share of 1/σ₁², so together they are the one Gaussian that σ₁ was calibrated for
            sigma = calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1))
            parts.append(Promised(leaves.GaussianLoss(1 / sigma**2), budget.epsilon, budget.delta))
        elif plan.settled:
            parts += [total.mechanism.loss for total in plan.totals]
        else:
            parts.append(leaves.Pure(budget.epsilon))
    if plan.settled:
        parts += [choice.mechanism.loss for choice in plan.choices]
    else:
        measures = dict(plan.question.measures)
        parts += [leaves.BoundedRange(e) if measures[name].function == "quantile" else leaves.Pure(e) for name, e in budget.choices]
    return compose(parts)


def _additive(question: Question) -> bool:
    return any(measure.function in ADDITIVE for _, measure in question.measures)


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _values(question: Question, expr: Expr, lookup: Lookup) -> tuple[Value | None, ...] | None:
    declared = field_of(expr, question.relation.schema).public_keys
    if declared is not None:
        return declared
    found = origin(question.relation, expr)
    return None if found is None else lookup(*found)


def public_groups(question: Question, lookup: Lookup) -> KeyValues | None:
    """All groups, where every key's values are public: in their declared order, empty ones too."""
    values = [_values(question, expr, lookup) for _, expr in question.keys]
    if any(found is None for found in values):
        return None
    if math.prod(len(found or ()) for found in values) > MOST_KEYS:
        raise Refused(f"the keys make more than {MOST_KEYS:,} groups: group by fewer of them")
    return tuple(itertools.product(*(found or () for found in values)))


def _left_out(question: Question, groups: KeyValues | None) -> list[str]:
    """Say where rows without a key are left out."""
    missing = []
    for place, (name, expr) in enumerate(question.keys):
        if groups is not None and field_of(expr, question.relation.schema).nullable and all(group[place] is not None for group in groups):
            missing.append(f"rows without {name} (NULL) are left out: its public values do not include None")
    return missing


# ── what must be found ───────────────────────────────────────────────────────────────────────────────────────────────


def _contributions(question: Question) -> Contributions:
    """Limits said in the question come first, then those of the tables it reads."""
    if question.contributions:
        return question.contributions
    return next((table.contributions for table in private_tables(question.relation) if table.contributions), Contributions())


def _finds(
    question: Question, adjacency: Adjacency, limits: Contributions, groups: KeyValues | None, epsilon: Fraction, delta: Fraction
) -> tuple[Find, ...]:
    """The finds in their order: limits, groups, bounds; together they take half of ε at most."""
    finds: list[Find] = [FindLimit(what, epsilon * _LIMIT, adjacency) for what in _open_limits(question, limits)]
    hidden = _hidden(question, groups)
    if hidden and delta == 0:
        raise Refused("MODE over values that are not declared needs a delta above 0: declare the column's keys, or give the budget a delta")
    share = delta / 2 if _additive(question) else delta
    for name in hidden:
        limit = _limit_of_groups(question, limits) if name is None else _limit_of_values(question, limits)
        finds.append(FindKeys(epsilon * _KEYS, share / len(hidden), limit, digest(question), name, adjacency))
    for expr, (name, interval) in _numbers(question).items():
        if not interval.known:
            finds += open_ends(expr, name, interval, epsilon * _BOUND, adjacency)
    taken = sum((find.epsilon for find in finds), Fraction(0))
    factor = min(Fraction(1), _MOST_FOR_FINDS * epsilon / taken) if taken else Fraction(1)
    scaled = tuple(evolve(find, epsilon=find.epsilon * factor) for find in finds)
    for find in scaled:
        if isinstance(find, FindKeys):
            evolve(find, limit=find.limit or 1).mechanism.chance(1)  # an ε that is too small is said now, not after paying
    return scaled


def _open_limits(question: Question, limits: Contributions) -> list[str]:
    if question.relation.one_row or limits.rows is not None:
        return []
    if _counts_units_only(question):
        return ["groups"] if question.keys and limits.groups is None else []
    if limits.groups is None and limits.per_group is None:
        return ["rows"]
    return [what for what, known in (("groups", limits.groups or not question.keys), ("per_group", limits.per_group)) if not known]


def _counts_units_only(question: Question) -> bool:
    """Each unit counts once in a group, or votes once for each value, whatever its rows: only its groups need a limit.

    Where the candidates of a mode must be found, how many of them a unit may show needs one too, so then rows are limited.
    """
    schema = question.relation.schema
    return all(
        measure.function == "count_units"
        or (measure.function == "mode" and measure.expr is not None and field_of(measure.expr, schema).public_keys is not None)
        for _, measure in question.measures
    )


def _limit_of_groups(question: Question, limits: Contributions) -> int | None:
    """In how many groups a unit may count, if that is known."""
    if question.relation.one_row:
        return 1
    return limits.rows if limits.groups is None and limits.per_group is None else limits.groups


def _limit_of_values(question: Question, limits: Contributions) -> int | None:
    """For how many values a unit may count where candidates are found, if that is known: as many as it may have rows in all."""
    if question.relation.one_row:
        return 1
    if limits.groups is None and limits.per_group is None:
        return limits.rows
    groups = limits.groups if question.keys else 1
    return None if groups is None or limits.per_group is None else min(groups * limits.per_group, MOST_CONTRIBUTED)


def _hidden(question: Question, groups: KeyValues | None) -> list[str | None]:
    """What must be discovered: the groups (None), and the candidates of each mode whose values are not public."""
    schema = question.relation.schema
    modes = [(name, measure.expr) for name, measure in question.measures if measure.function == "mode" and measure.expr is not None]
    hidden: list[str | None] = [] if groups is not None else [None]
    return hidden + [name for name, expr in modes if field_of(expr, schema).public_keys is None]


def _numbers(question: Question) -> dict[Expr, tuple[str, Interval]]:
    """Each number that is summed or ranked: what to call it, and what is believed of its range."""
    found: dict[Expr, tuple[str, Interval]] = {}
    for name, measure in question.measures:
        if measure.expr is not None and measure.function in ("sum", "mean", "variance", "stddev", "quantile"):
            interval = field_of(measure.expr, question.relation.schema).range
            assert interval is not None
            called = measure.expr.name if isinstance(measure.expr, Column) else f"what {name} is of"
            found.setdefault(measure.expr, (called, interval))
    return found


# ── noise ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _noises(question: Question, finds: tuple[Find, ...], delta: Fraction) -> list[tuple[Noise, Fraction]]:
    """Laplace always; Gaussian where there is a δ for it."""
    noises: list[tuple[Noise, Fraction]] = [("laplace", Fraction(0))]
    if delta > 0 and _additive(question):
        taken = sum((find.delta for find in finds if isinstance(find, FindKeys)), Fraction(0))
        noises.append(("gaussian", delta - taken))
    return noises


def _centrings(question: Question) -> list[bool]:
    """Whether sums are taken from the middle of their bounds, together with the count: where bounds are known both ways are tried."""
    sums = [
        interval
        for expr, (_, interval) in _numbers(question).items()
        if any(m.function == "sum" and m.expr == expr for _, m in question.measures)
    ]
    return [False, True] if sums and all(interval.known for interval in sums) else [False]


def _budget(
    question: Question, limits: Contributions, epsilon: Fraction, delta: Fraction, noise: Noise, centred: bool
) -> tuple[Budget, float]:
    """One way to split what is left, and its score: the sum of squared errors, each relative to what one unit can move."""
    usual = {"rows": 1, "groups": 3, "per_group": 1}
    guess = Found(limits={what: usual[what] for what in _open_limits(question, limits)})
    bounding = bound(question.relation.one_row, limits, guess, noise, bool(question.keys))
    needed = totals(question, {}, centred, weighted=not isinstance(bounding, Single))
    choices = [name for name, measure in question.measures if measure.function not in ADDITIVE]
    weights: dict[Stat | str, float] = {**dict.fromkeys(choices, 1.0), **dict(needed.items())}
    shares = split(weights, 1 / 3)
    for_totals = sum((shares[stat] for stat in needed), Fraction(0)) * epsilon
    budget = Budget(noise, for_totals, delta, tuple((name, shares[name] * epsilon) for name in choices), centred)
    if not needed:
        return budget, 0.0
    inside = split(needed, 1 / 3 if noise == "laplace" else 1 / 2)
    reach = bounding.reach
    if noise == "laplace":
        spread = 2 * (reach.l1 / bounding.one / float(for_totals)) ** 2
        return budget, sum(k * spread / float(inside[stat]) ** 2 for stat, k in needed.items())
    sigma = float(calibrate.gaussian_scale(for_totals, delta, Fraction(1)))
    return budget, sum(k * (float(reach.l2) / bounding.one * sigma) ** 2 / float(inside[stat]) for stat, k in needed.items())
