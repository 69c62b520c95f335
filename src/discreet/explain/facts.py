"""The facts of a plan before anything is read or paid, as plain values; nothing here comes from data."""

from __future__ import annotations

import inspect
import math
import re
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.engines.dialect import Dialect
from discreet.explain.forecast import TYPICAL_LIMITS, Forecast, forecast
from discreet.explain.sample import sample_facts
from discreet.explain.spell import number, spelled
from discreet.explain.tables import by_keys, table_facts
from discreet.explain.total_facts import total_facts
from discreet.loss.amplify import PoissonSubsampled, Subsampled
from discreet.loss.promise import GROUPS, group_price
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.partition_selection import PartitionSelection, WeightedGaussianSelection
from discreet.plan.bounding import Single, Votes
from discreet.plan.discover import counts_units_only
from discreet.plan.discovery import Discovered, Discovery, KeyDiscovery, LimitDiscovery
from discreet.plan.profiled_keys import keys_found
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import bound, hypothetical_discoveries, resolve
from discreet.plan.steps import Choice, Steps
from discreet.run.discovery import discovery_statement
from discreet.run.execute import choice_statement, total_statements
from discreet.tables.unit import EachRow

GUESSED_BOUNDS = {"low": Fraction(0), "high": Fraction(100)}  # shown in SQL whose bounds are still to be discovered
_BESIDE = Fraction(1, 10**6)  # a second δ at which routes are compared
_MANY = 12  # groups that are listed by name


def facts(plan: Steps, dialect: Dialect) -> dict[str, Any]:
    """Everything, in the order in which a reader asks."""
    told: dict[str, Any] = {
        "protected": _protected(plan),
        "price": _price(plan),
        "bounding": _bounding(plan),
        "groups": _groups(plan),
        "sample": sample_facts(plan),
        "discoveries": [_discovery(one) for one in plan.discoveries],
        "tables": table_facts(plan if plan.resolved else _resolved_for_display(plan)) if plan.question.sets else None,
        "statistics": {name: statistic.describe(spelled) for name, statistic in plan.question.statistics},
        "totals": total_facts(plan),
        "together": {"epsilon": str(plan.budget.epsilon), "delta": str(plan.budget.delta)},
        "choices": _choices(plan),
        "theorems": theorems(plan),
        "loss": _loss(plan),
        "forecast": _forecast(plan),
        "notes": list(plan.notes),
        "unknown": _unknown(plan),
        "statements": _statements(plan, dialect),
    }
    return told | {work: sum(one[work] for one in told["statements"]) for work in ("scans", "shuffles")}


# ── who, how much, how bounded, which groups ─────────────────────────────────────────────────────────────────────────


def _protected(plan: Steps) -> dict[str, str]:
    what = "one row" if plan.protected == str(EachRow()) else "all rows of one unit"
    change = {"add/remove": f"tables that differ by the presence of {what}", "replace-one": f"tables that differ by replacing {what}"}
    return {"unit": plan.protected, "adjacency": plan.adjacency, "neighbours": change[plan.adjacency]}


def _price(plan: Steps) -> dict[str, Any]:
    return {"epsilon": str(plan.epsilon), "delta": str(plan.delta), "odds": math.exp(float(plan.epsilon)) if plan.epsilon < 700 else None}


def _bounding(plan: Steps) -> dict[str, str]:
    open_limits = [one.what for one in plan.discoveries if isinstance(one, LimitDiscovery)]
    if open_limits:
        return {"how": f"by {' and '.join(open_limits)}, discovered privately first", "why": _why_bounded(plan)}
    if _counts_people(plan):
        return {
            "how": "units are counted, not rows: each once in a group, or once for each of its values",
            "why": "the statistics ask for that",
        }
    known = plan.bounding or bound(plan.question, plan.contributions, Discovered(), plan.budget.noise)
    return {"how": str(known), "why": _why_bounded(plan)}


def _counts_people(plan: Steps) -> bool:
    return not plan.question.relation.one_row and counts_units_only(plan.question)


def _why_bounded(plan: Steps) -> str:
    if plan.question.relation.one_row:
        return "the relation has at most one row for each unit"
    if plan.question.contributions:
        return "the question says so"
    return "the policy says so" if plan.contributions else "nothing was declared, so the limit is searched: the least that few units exceed"


def _groups(plan: Steps) -> dict[str, Any]:
    if not plan.question.keys:
        return {"kind": "none"}
    keys = [name for name, _ in plan.question.keys]
    if plan.public_groups is not None:
        listed = [[None if value is None else str(value) for value in group] for group in plan.public_groups[:_MANY]]
        told = {"kind": "public", "keys": keys, "count": len(plan.public_groups), "first": listed, "other": plan.question.other}
        return told | {"profiled": list(keys_found(plan.question)), "sets": bool(plan.question.sets)}
    searches = [_searched(finder) for finder in plan.key_discoveries]
    if plan.open_keys is None:
        return {"kind": "discovered", "keys": keys, **searches[0], "other": plan.question.other}
    profiled = keys_found(plan.question)
    declared = [name for name in keys if name not in (*plan.open_keys.searched, *profiled)]
    return {"kind": "searched", "keys": keys, "declared": declared, "profiled": list(profiled), "searches": searches}


def _searched(finder: KeyDiscovery) -> dict[str, Any]:
    """How large a group must be to be found."""
    half, most = (math.ceil(finder.mechanism.error(level)) for level in (0.5, 0.95))
    sizes = sorted({1, max(half // 2, 2), half, most, 2 * most})
    chances = [[size, finder.mechanism.chance(size)] for size in sizes]
    assumed = (
        "assuming each unit is in one group only" if finder.limit is None else f"each unit contributes to at most {finder.limit} groups"
    )
    told = {"chances": chances, "half": half, "most": most, "assumed": assumed}
    return told | ({"of": list(finder.keys)} if finder.keys else {})


def _discovery(discovery: Discovery) -> dict[str, str]:
    kinds = " or ".join(kind.__name__ for kind in _kinds(discovery))
    told = {"what": str(discovery), "epsilon": str(discovery.epsilon), "mechanism": kinds}
    return told | ({"delta": str(discovery.delta)} if discovery.delta else {})


def _kinds(discovery: Discovery) -> tuple[type[Mechanism[Any]], ...]:
    """The mechanism, or both candidates where the choice between them depends on a limit still to be discovered."""
    if isinstance(discovery, KeyDiscovery) and discovery.limit is None:
        return PartitionSelection, WeightedGaussianSelection
    return (type(discovery.mechanism),)


# ── totals and choices ───────────────────────────────────────────────────────────────────────────────────────────────


def _choices(plan: Steps) -> list[dict[str, Any]]:
    if plan.resolved:
        return [_choice(choice, dict(plan.budget.choices)[choice.name]) for choice in plan.choices]
    told = []
    for name, epsilon in plan.budget.choices:
        statistic = plan.question.selected[name]
        voted = "; units are counted, not rows" if statistic.votes and not plan.question.relation.one_row else ""
        told.append({"name": name, "epsilon": str(epsilon), "of": spelled(statistic.expr), "what": statistic.describe(spelled) + voted})
    return told


def _choice(choice: Choice, epsilon: Fraction) -> dict[str, Any]:
    voted = f"; {choice.bounding}" if isinstance(choice.bounding, Votes) else ""
    what = choice.statistic.describe_choice(spelled, choice.mechanism, choice.candidates)
    told = {"name": choice.name, "mechanism": type(choice.mechanism).__name__, "epsilon": str(epsilon)}
    return told | {"of": spelled(choice.expr), "what": what + voted}


# ── theorems, losses, forecasts ──────────────────────────────────────────────────────────────────────────────────────


def theorems(plan: Steps) -> dict[str, str]:
    """Each mechanism's theorem, as its own docstring states it."""
    resolved = plan if plan.resolved else _resolved_for_display(plan)
    used: list[type] = [kind for one in plan.discoveries for kind in _kinds(one)]
    every = (resolved, *resolved.parts)
    used += [type(total.mechanism) for one in every for total in one.totals]
    used += [type(choice.mechanism) for one in every for choice in one.choices]
    used += [Votes for one in every for choice in one.choices if isinstance(choice.bounding, Votes)]
    if plan.question.sample is not None:
        used.append(PoissonSubsampled if plan.adjacency == "add/remove" else Subsampled)
    return {kind.__name__: theorem(kind) for kind in used}


def theorem(mechanism: type) -> str:
    """The block of a docstring that begins with "Theorem (", up to the next unindented line, in one paragraph."""
    text = inspect.cleandoc(mechanism.__doc__ or "")
    found = re.search(r"^Theorem \(.*?(?=^\S|\Z)", text, re.M | re.S)
    if found is None:
        return ""
    head, *rest = found.group().splitlines()
    return " ".join(line.strip() for line in (head, *rest) if line.strip())


def _loss(plan: Steps) -> dict[str, Any]:
    deltas = [plan.delta] if plan.delta >= _BESIDE else [plan.delta, _BESIDE]
    routes = [{"delta": str(delta), "epsilons": _finite(plan.loss.routes(delta))} for delta in deltas]
    return {"term": repr(plan.loss), "routes": routes, "people": [_of_group(plan, k) for k in GROUPS]}


def _finite(routes: dict[str, float]) -> dict[str, float | None]:
    return {name: None if math.isinf(epsilon) else epsilon for name, epsilon in routes.items()}


def _of_group(plan: Steps, k: int) -> dict[str, Any]:
    """The privacy loss of a group of k units: by the best route, and never more than k·ε."""
    epsilon, delta = group_price(plan.loss, plan.epsilon, plan.delta, k)
    return {"units": k, "epsilon": None if math.isinf(epsilon) else epsilon, "delta": float(delta)}


def _forecast(plan: Steps) -> dict[str, Any]:
    found = forecast(plan)
    widths = _widths(found)
    profiled = {name: said for name in widths if (said := found.remark(name))}
    told = {"confidence": found.confidence, "half_widths": widths, "ranks": sorted(found.ranks), "assumed": dict(found.assumed)}
    if found.sets:
        told["sets"] = {keys: _widths(one) for keys, one in found.sets.items()}
    corrected = plan.removed is not None and bool(plan.removed.clipped)  # then the widths include what clipping takes away
    return told | {"profiled": profiled, "corrected": corrected, "sampled": plan.question.sample is not None}


def _widths(found: Forecast) -> dict[str, Any]:
    return {name: {str(n): w for n, w in of.items()} if isinstance(of, dict) else of for name, of in found.items()}


def _unknown(plan: Steps) -> list[str]:
    """What no forecast covers, because it depends on the data."""
    lines = []
    if not isinstance(plan.bounding, Single) and (plan.question.keys or not _counts_people(plan)):
        lines.append("the bias from contribution bounds: counts and sums are too low where units have more rows or groups than the limits")
    if plan.question.numbers:
        lines.append("the bias from clipping: values outside their bounds are clipped to the nearest bound")
    if plan.public_groups is not None and plan.question.keys and not plan.question.other:
        lines.append("how many rows belong to groups that are not listed: these rows are left out")
    if plan.key_discoveries:
        lines.append(
            "which small groups are suppressed" if plan.open_keys is None else "which values are found, and how many rows are others"
        )
    return lines


# ── what will run ────────────────────────────────────────────────────────────────────────────────────────────────────


def _statements(plan: Steps, dialect: Dialect) -> list[dict[str, Any]]:
    """Every statement in its order; one that depends on a discovery is shown for a typical outcome."""
    usual = Discovered() if plan.resolved else _typical(plan, few=True)
    before = usual if plan.public_groups is not None else evolve(usual, groups=None)  # a search is shown below made-up groups
    told = [(str(one), discovery_statement(one, plan, before, dialect)) for one in plan.discoveries]
    resolved, after = (plan, "") if plan.resolved else (_resolved_for_display(plan, few=True), _after(plan))
    for one in (resolved, *resolved.parts):
        among = f" {by_keys([name for name, _ in one.question.keys])}" if resolved.parts and one is not resolved else ""
        told += [(f"totals{among}{after}", statement) for _, statement in total_statements(one, dialect)]
        told += [(f"{choice.name}{among}{after}", choice_statement(choice, one, dialect)) for choice in one.choices]
    return [{"for": what, "sql": one.text, "scans": one.scans, "shuffles": one.shuffles} for what, one in told]


def _usual_limit(discovery: LimitDiscovery) -> int:
    return TYPICAL_LIMITS[discovery.what]


def _usual_end(_: RangeDiscovery, end: str) -> Fraction:
    return GUESSED_BOUNDS[end]


def _typical(plan: Steps, few: bool) -> Discovered:
    """A typical outcome of the discoveries; with `few`, two values of each key, so that statements are short."""
    values = dict.fromkeys(plan.open_keys.usual, 2) if few and plan.open_keys is not None else None
    return hypothetical_discoveries(plan, _usual_limit, _usual_end, values)


def _resolved_for_display(plan: Steps, few: bool = False) -> Steps:
    resolved = resolve(plan, _typical(plan, few))
    return resolved if plan.public_groups is not None else evolve(resolved, groups=None)


def _after(plan: Steps) -> str:
    guessed = [f"{one.what} = {_usual_limit(one)}" for one in plan.discoveries if isinstance(one, LimitDiscovery)]
    ranges = [one for one in plan.discoveries if isinstance(one, RangeDiscovery)]
    guessed += [f"{end} {one.name} = {number(_usual_end(one, end))}" for one in ranges for end in one.ends]
    guessed += ["the groups"] if any(isinstance(one, KeyDiscovery) for one in plan.discoveries) else []
    return f", after {', '.join(guessed)} are discovered" if guessed else ""
