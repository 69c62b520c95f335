"""What a plan with grouping sets measures, and what the same accuracy would cost if each set were asked by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet import exact
from discreet.algorithms.consistent.layout import Table
from discreet.algorithms.consistent.strategy import spread, total_variance
from discreet.loss import calibrate
from discreet.loss.leaves import GaussianLoss
from discreet.plan.arrangement import finest_cost, goal_of, is_linear, table_shares
from discreet.plan.budget import needed
from discreet.plan.found_keys import OpenKeys
from discreet.plan.steps import Steps
from discreet.run.tables import arrangement_of, totals_behind


def table_facts(plan: Steps) -> dict[str, Any]:
    """The tables that are measured with their shares, the statistics that do not add up, and the price of asking separately."""
    arrangement, question, gaussian = arrangement_of(plan), plan.question, plan.budget.noise == "gaussian"
    assert plan.bounding is not None
    shares = table_shares(arrangement, question, gaussian, plan.bounding)
    of = totals_behind(plan)
    apart = [name for name, one in question.additive.items() if not all(map(is_linear, one.needs(of)))] + list(question.selected)
    names = [name for name, _ in question.keys]
    return {
        "sets": [{"keys": [names[place] for place in places], "groups": len(arrangement.groups(places))} for places in question.sets],
        "minimised": _minimised(plan),
        "measured": [{"keys": keys_of(plan, table), "share": share} for table, share in shares.items()],
        "supposed": [] if plan.open_keys is None else [_supposed(plan.open_keys, search) for search in plan.open_keys.searches],
        "apart": apart,
        "together": float(plan.budget.epsilon),
        "separately": _separately(plan, gaussian) if any(map(is_linear, needed(question, of))) else None,
    }


def _minimised(plan: Steps) -> str:
    """What the shares are chosen for."""
    said, names = plan.question.minimise, [name for name, _ in plan.question.keys]
    if said is None:
        return "the total variance of all cells"
    if said.goal == "worst":
        return "the largest variance of any set's cells"
    named = [(by_keys([names[place] for place in places]), weight) for places, weight in zip(plan.question.sets, said.weights, strict=True)]
    weights = [f"{name} {float(weight):g}" for name, weight in named if weight != 1]
    return f"the total variance of all cells, with weights ({', '.join([*weights, *(['others 1'] if len(weights) < len(named) else [])])})"


def _supposed(keys: OpenKeys, search: tuple[int, ...]) -> dict[str, Any]:
    """How many values of a key are assumed to be found, within each group of the keys above it."""
    *above, last = (keys.names[place] for place in search)
    return {"key": last, "values": keys.usual[last], "within": above}


def by_keys(keys: Sequence[str]) -> str:
    """A table, named by its keys.

    >>> by_keys(["region", "sex"]), by_keys([])
    ('by region, sex', 'in total')
    """
    return f"by {', '.join(keys)}" if keys else "in total"


def keys_of(plan: Steps, table: Table) -> list[str]:
    """The names of a table's keys, in the order of the question."""
    arrangement = arrangement_of(plan)
    places = sorted([*arrangement.chain[: table.level], *(arrangement.flat[i] for i in table.flat)])
    return [plan.question.keys[place][0] for place in places]


def _separately(plan: Steps, gaussian: bool) -> float | None:
    """The ε at which separate questions, with the best split between them, have as little of what is minimised as these tables together.

    Asked separately, a set of n groups with the share s of the budget has the total variance n/s (n/s² with Laplace noise), which is least
    for s ∝ √n (∛n). With weights, n is multiplied by them; the largest variance is least where all shares are equal.
    """
    arrangement = arrangement_of(plan)
    assert plan.bounding is not None
    asked = [arrangement.table(places) for places in plan.question.sets]
    cost = finest_cost(gaussian, plan.bounding)
    shares = table_shares(arrangement, plan.question, gaussian, plan.bounding)
    goal, costs = goal_of(arrangement, plan.question), [cost if table == arrangement.layout.finest else 1.0 for table in asked]
    if len(goal.errors) > 1:
        found = spread(arrangement.layout, shares, asked, gaussian, cost)
        largest = max(float(one.max()) for one in found.values())
        apart = sum(costs) if gaussian else sum(each ** (1 / 2) for each in costs) ** 2
    else:
        weights = [goal.weight(at) for at in range(len(asked))]
        largest = total_variance(arrangement.layout, shares, asked, gaussian, cost, weights)
        sizes = [arrangement.layout.cells(table) * each * weight for table, each, weight in zip(asked, costs, weights, strict=True)]
        apart = sum(map(math.sqrt, sizes)) ** 2 if gaussian else sum(size ** (1 / 3) for size in sizes) ** 3
    ratio = apart / largest
    if not gaussian:
        return float(plan.budget.epsilon) * math.sqrt(ratio)
    sigma = calibrate.gaussian_scale(plan.budget.epsilon, plan.budget.delta, Fraction(1))
    price = float(GaussianLoss(exact.rational(round(ratio, 6)) / sigma**2).epsilon_at(plan.budget.delta))
    return price if math.isfinite(price) else None
