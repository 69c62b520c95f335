"""What a plan with grouping sets measures, and what the same accuracy would cost if each set were asked by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet import exact
from discreet.algorithms.consistent.layout import Table
from discreet.algorithms.consistent.strategy import total_variance
from discreet.loss import calibrate
from discreet.loss.leaves import GaussianLoss
from discreet.plan.arrangement import finest_cost, is_linear, table_shares
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
        "measured": [{"keys": keys_of(plan, table), "share": share} for table, share in shares.items()],
        "supposed": [] if plan.open_keys is None else [_supposed(plan.open_keys, search) for search in plan.open_keys.searches],
        "apart": apart,
        "together": float(plan.budget.epsilon),
        "separately": _separately(plan, gaussian) if any(map(is_linear, needed(question, of))) else None,
    }


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
    """The ε at which separate questions, with the best split between them, have the same total variance as these tables together.

    Asked separately, a set of n groups with the share s of the budget has the total variance n/s (n/s² with Laplace noise), which is least
    for s ∝ √n (∛n).
    """
    arrangement = arrangement_of(plan)
    assert plan.bounding is not None
    asked = [arrangement.table(places) for places in plan.question.sets]
    cost = finest_cost(gaussian, plan.bounding)
    shares = table_shares(arrangement, plan.question, gaussian, plan.bounding)
    together = total_variance(arrangement.layout, shares, asked, gaussian, cost)
    sizes = [arrangement.layout.cells(table) * (cost if table == arrangement.layout.finest else 1.0) for table in asked]
    if not gaussian:
        return float(plan.budget.epsilon) * math.sqrt(sum(size ** (1 / 3) for size in sizes) ** 3 / together)
    ratio = sum(map(math.sqrt, sizes)) ** 2 / together
    sigma = calibrate.gaussian_scale(plan.budget.epsilon, plan.budget.delta, Fraction(1))
    found = float(GaussianLoss(exact.rational(round(ratio, 6)) / sigma**2).epsilon_at(plan.budget.delta))
    return found if math.isfinite(found) else None
