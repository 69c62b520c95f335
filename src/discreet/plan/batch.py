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
from discreet.plan.arrangement import goal_of, sets_needing
from discreet.plan.compile import LEAST, compile_plan
from discreet.plan.goal import Goal, MeanError, each_set
from discreet.plan.hierarchy import PublicValues
from discreet.plan.merge import merged_questions, places_of, why_alone
from discreet.plan.price import plan_loss
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import hypothetical_discoveries, resolve
from discreet.plan.steps import Steps
from discreet.query.question import Question
from discreet.query.totals import Total
from discreet.tables.catalog import Catalog


@final
@frozen
class Component:
    """Questions measured together, and their plan; several are merged into one question with all their grouping sets."""

    names: tuple[str, ...]
    steps: Steps
    alone: str = ""  # why a question is measured by itself, where there are others


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
    merged = merged_questions(questions, lookup)
    shares = _shares(merged, weights, LEAST / epsilon)
    parts = []
    for names, question in merged.items():
        share = shares[names]
        plan = compile_plan(question, catalog, epsilon * share, delta * share, lookup, confidence)
        if any(isinstance(one, RangeDiscovery) for one in plan.discoveries):
            raise Refused(f"{names[0]}: a batch does not discover bounds: declare them, or buy a profile with db.profile(epsilon=…)")
        plan = _with_goal(plan, {name: questions[name] for name in names}, weights)
        parts.append(Component(names, plan, "" if len(names) > 1 or len(merged) == 1 else why_alone(names[0], questions, lookup)))
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


def _with_goal(plan: Steps, questions: Mapping[str, Question], weights: Mapping[str, float] | None) -> Steps:
    """The plan of merged questions with its tables chosen so that the largest error of a question is least, relative to their targets.

    The error of a question with grouping sets is what it minimises by itself; where targets are given, each of its sets has to meet them.
    """
    if plan.arrangement is None or len(questions) == 1:  # a question by itself is measured as if asked alone
        return plan
    errors: list[MeanError] = []
    for (name, question), places in zip(questions.items(), places_of(list(questions.values())), strict=True):
        times = 1.0 if weights is None else weights[name]
        own = Goal.of(question).errors if question.sets else (MeanError({0: 1.0}),)
        if weights is not None:
            own = each_set(MeanError(dict.fromkeys(range(len(places)), 1.0)))
        errors += [MeanError({places[at]: weight for at, weight in one.weights.items()}, times * one.times) for one in own]
    plan = evolve(plan, arrangement=evolve(plan.arrangement, goal=Goal(tuple(errors))))
    return resolve(plan, plan.discovered) if plan.resolved else plan


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
    """The variance of every total: the largest of the errors for which its tables were chosen."""
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
        layout, sets = plan.arrangement.layout, sets_needing(plan.question, total, plan.available_totals)
        tables = {at: plan.arrangement.table(plan.question.sets[at]) for at in sets}
        asked, errors = goal_of(plan.arrangement, plan.question).rows(layout, tables)
        spread = variances(layout, {table: one for table, one in precision.items() if table is not None}, asked)
        each_table = [layout.cells(table) * float(spread[table].mean()) for table in asked]
        found.append(max(sum(weight * one for weight, one in zip(error, each_table, strict=True)) for error in errors))
    return found


def _loss_of_common_noise(parts: list[Component]) -> Loss:
    """What plans with common noise cost: their discoveries and choices, and one Gaussian for the noise of all."""
    budget = next(one.steps.budget for one in parts if one.steps.budget.noise == "gaussian")
    sigma = calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1))
    # every total's (Δ/σ)² is at most its share of 1/σ₁², and all shares of all plans add up to 1
    noise = Promised(GaussianLoss(1 / sigma**2), budget.epsilon, budget.delta)
    return compose([noise, *(plan_loss(evolve(one.steps, budget=evolve(one.steps.budget, epsilon=Fraction(0)))) for one in parts)])
