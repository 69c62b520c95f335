"""Plan several questions together: those over the same rows share what they measure, and all share one price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import final

from attrs import evolve, frozen

from discreet.algorithms.consistent.estimate import variances
from discreet.algorithms.consistent.layout import Table
from discreet.errors import Refused
from discreet.loss import calibrate
from discreet.loss.leaves import GaussianLoss
from discreet.loss.loss import Loss, compose
from discreet.loss.promise import Promised
from discreet.plan.arrangement import is_linear, sets_needing
from discreet.plan.bounding import Rows, Single
from discreet.plan.budget import needed, totals_of
from discreet.plan.compile import LEAST, compile_plan, public_groups, stated_contributions
from discreet.plan.hierarchy import PublicValues
from discreet.plan.key_values import Combinations
from discreet.plan.price import plan_loss
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import hypothetical_discoveries, resolve
from discreet.plan.steps import Steps
from discreet.query.question import MOST_SETS, Question
from discreet.query.relation.expr import Column, Expr
from discreet.query.totals import Total
from discreet.tables.catalog import Catalog

MOST_CELLS = 10**5  # of the finest table of questions that are answered together


@final
@frozen
class Component:
    """Questions measured together, and their plan; several are merged into one question with a grouping set for each."""

    names: tuple[str, ...]
    steps: Steps


@final
@frozen
class BatchSteps:
    """Several questions with all decisions; the price is for all of them together."""

    questions: Mapping[str, Question]
    components: tuple[Component, ...]
    epsilon: Fraction
    delta: Fraction
    loss: Loss

    def component(self, name: str) -> tuple[Component, int]:
        """The component that answers a question, and its place there."""
        return next((one, one.names.index(name)) for one in self.components if name in one.names)


def compile_batch(
    questions: Mapping[str, Question], catalog: Catalog, epsilon: Fraction, delta: Fraction, lookup: PublicValues, confidence: Fraction,
    weights: Mapping[str, float] | None = None, common: bool | None = None,
) -> BatchSteps:  # fmt: skip
    """Decide everything before anything is read. The price is split by `weights`, by default evenly between questions.

    Noise is Gaussian and calibrated once for all (`common`), or each question's own at its share of the price; by default the better one.

    Theorem (Dong, Roth & Su 2022, corollary 3.3: composition; the mechanisms' own).
        Gaussian noises of ratios μ₁, μ₂, … cost together what one of ratio √(μ₁² + μ₂² + …) does, which is calibrated to the price. So k
        questions together have √k times the noise of one at the price, where each at a k-th of the price has about k times.
    """
    merged = _merged(questions, lookup)
    shares = _shares(merged, weights, LEAST / epsilon)
    parts = []
    for names, question in merged.items():
        share = shares[names]
        plan = compile_plan(question, catalog, epsilon * share, delta * share, lookup, confidence)
        if any(isinstance(one, RangeDiscovery) for one in plan.discoveries):
            raise Refused(f"{names[0]}: a batch does not discover bounds: declare them, or buy a profile with db.profile(epsilon=…)")
        parts.append(Component(names, _weighted(plan, names, weights)))
    found = None if common is False else _with_common_noise(parts, shares, delta)
    if found is None or (common is None and _spread(found) >= _spread(parts)):
        used = sum((one.steps.delta for one in parts), Fraction(0))
        return BatchSteps(dict(questions), tuple(parts), epsilon, used, compose([plan_loss(one.steps) for one in parts]))
    return BatchSteps(dict(questions), tuple(found), epsilon, delta, _loss_of_common_noise(found))


def _shares(
    merged: Mapping[tuple[str, ...], Question], weights: Mapping[str, float] | None, least: Fraction
) -> dict[tuple[str, ...], Fraction]:
    """The share of each component: in proportion to its questions, or to the largest of their weights; the least, if all can have it."""
    sizes = {names: float(len(names)) if weights is None else max(weights[name] for name in names) for names in merged}
    total = sum(sizes.values())
    found = {names: max(Fraction(int(size / total * 10**6), 10**6), Fraction(1, 10**6)) for names, size in sizes.items()}
    whole = sum(found.values(), Fraction(0))
    found = {names: share / whole for names, share in found.items()}
    rest = 1 - least * len(found)
    if min(found.values()) >= least or rest < 0:
        return found
    return {names: least + rest * share for names, share in found.items()}


def _weighted(plan: Steps, names: tuple[str, ...], weights: Mapping[str, float] | None) -> Steps:
    """The plan with its tables chosen so that the largest error of its questions is least, relative to their targets."""
    if plan.arrangement is None or not plan.question.statistics_by_set:  # a question's own grouping sets are measured as if asked alone
        return plan
    known = evolve(plan.arrangement, weights=tuple(1.0 if weights is None else weights[name] for name in names))
    plan = evolve(plan, arrangement=known)
    return resolve(plan, plan.discovered) if plan.resolved else plan


# ── what is measured together ────────────────────────────────────────────────────────────────────────────────────────


def _merged(questions: Mapping[str, Question], lookup: PublicValues) -> dict[tuple[str, ...], Question]:
    """Questions whose counts and sums are over the same rows, as one with a grouping set for each; the others by themselves."""
    together: list[list[str]] = []
    for name, question in questions.items():
        for names in together:
            if _fits([questions[other] for other in names], question, lookup):
                names.append(name)
                break
        else:
            together.append([name])
    return {tuple(names): questions[names[0]] if len(names) == 1 else _union([questions[name] for name in names]) for names in together}


def _fits(others: list[Question], question: Question, lookup: PublicValues) -> bool:
    first = others[0]
    if (first.relation, first.contributions) != (question.relation, question.contributions) or len(others) >= MOST_SETS:
        return False
    if not all(_adds_up(one, lookup) for one in (first, question)):
        return False
    union = evolve(_union([*others, question]), sets=(), statistics_by_set=(), other=False)
    alone = [public_groups(evolve(union, keys=(pair,)), lookup) for pair in union.keys]
    return math.prod(len(groups or ()) + 1 for groups in alone) <= MOST_CELLS


def _adds_up(question: Question, lookup: PublicValues) -> bool:
    """Whether its statistics are computed from counts and sums that add up, within public groups and known bounds."""
    if question.selected or question.windows or question.other or question.sets:
        return False
    limits = stated_contributions(question)
    if not question.relation.one_row and (limits.groups or limits.per_group):  # they are about this question's own groups
        return False
    of = totals_of(question, {}, True, Single() if question.relation.one_row else Rows(1))
    known = all((interval := of.range(expr)) is not None and interval.known for expr in question.numbers)
    return known and all(map(is_linear, needed(question, of))) and isinstance(public_groups(question, lookup), Combinations)


def _union(questions: list[Question]) -> Question:
    keys: dict[Expr, str] = {}
    statistics: dict[object, str] = {}
    for question in questions:
        for _, expr in question.keys:
            keys.setdefault(expr, f"k{len(keys)}")
        for _, statistic in question.statistics:
            statistics.setdefault(statistic, f"s{len(statistics)}")
    places = {expr: place for place, expr in enumerate(keys)}
    return Question(
        questions[0].relation,
        tuple((name, expr) for expr, name in keys.items()),
        tuple((name, statistic) for statistic, name in statistics.items()),  # type: ignore[misc]
        tuple((name, Column(name)) for name in statistics.values()),
        contributions=questions[0].contributions,
        sets=tuple(tuple(sorted(places[expr] for _, expr in question.keys)) for question in questions),
        statistics_by_set=tuple(tuple(dict.fromkeys(statistics[one] for _, one in question.statistics)) for question in questions),
        other=True,  # rows that one question leaves out count in another
    )


# ── one price ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_common_noise(parts: list[Component], shares: Mapping[tuple[str, ...], Fraction], delta: Fraction) -> list[Component] | None:
    """The plans with Gaussian noise that is calibrated once for all of them; None where there is no δ for it."""
    noisy = [one for one in parts if one.steps.budget.epsilon]
    taken = sum((found.delta for one in parts for found in one.steps.discoveries), Fraction(0))
    if delta <= taken or not noisy:
        return None
    epsilon, whole = sum((one.steps.budget.epsilon for one in noisy), Fraction(0)), sum((shares[one.names] for one in noisy), Fraction(0))

    def common(one: Component) -> Component:
        share = shares[one.names] / whole
        plan = evolve(one.steps, budget=evolve(one.steps.budget, noise="gaussian", epsilon=epsilon, delta=delta - taken, share=share))
        return evolve(one, steps=resolve(evolve(plan, totals=(), parts=()), plan.discovered) if plan.resolved else plan)

    return [common(one) if one in noisy else one for one in parts]


def _spread(parts: list[Component]) -> float:
    """The mean logarithm of the variance of all totals, which compares plans that answer the same."""
    found = [math.log(variance) for one in parts for variance in _variances(one.steps)]
    return sum(found) / len(found) if found else math.inf


def _variances(plan: Steps) -> list[float]:
    """The variance of every total, as a mean over the cells that are asked for."""
    if not plan.resolved:
        plan = resolve(plan, hypothetical_discoveries(plan, lambda _: 1, lambda _, end: Fraction(end == "high")))
    each: dict[Total, dict[Table | None, float]] = {}
    for one in plan.totals:
        each.setdefault(one.total, {})[one.table] = 1 / one.variance
    found = []
    for total, precision in each.items():
        if plan.arrangement is None or plan.available_totals is None:
            found.append(1 / precision[None])
            continue
        asked = [plan.arrangement.table(plan.question.sets[at]) for at in sets_needing(plan.question, total, plan.available_totals)]
        spread = variances(plan.arrangement.layout, {table: one for table, one in precision.items() if table is not None}, asked)
        found.append(sum(float(one.mean()) for one in spread.values()) / len(asked))
    return found


def _loss_of_common_noise(parts: list[Component]) -> Loss:
    """What plans with common noise cost: their discoveries and choices, and one Gaussian for the noise of all."""
    budget = next(one.steps.budget for one in parts if one.steps.budget.noise == "gaussian")
    sigma = calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1))
    # every total's (Δ/σ)² is at most its share of 1/σ₁², and all shares of all plans add up to 1
    noise = Promised(GaussianLoss(1 / sigma**2), budget.epsilon, budget.delta)
    return compose([noise, *(plan_loss(evolve(one.steps, budget=evolve(one.steps.budget, epsilon=Fraction(0)))) for one in parts)])
