"""What can be told about a plan before anything is read or paid, as plain values; nothing here comes from data."""

from __future__ import annotations

import inspect
import math
import re
from fractions import Fraction
from typing import Any, assert_never

from attrs import evolve

from discreet.explain.forecast import TYPICAL_LIMITS, forecast
from discreet.loss.promise import GROUPS, group_price
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.partition_selection import PartitionSelection, WeightedGaussianSelection
from discreet.mechanisms.quantile import Quantile
from discreet.plan.bounding import Groups, Rows, Single, Votes
from discreet.plan.budget import totals as totals_of
from discreet.plan.discovery import Find, FindBound, FindKeys, FindLimit
from discreet.plan.resolve import bound, settle
from discreet.plan.steps import Choice, Found, Steps, Total
from discreet.plan.total import Stat
from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.write import write_expr
from discreet.run.execute import choice_statement, statements
from discreet.run.source import Source
from discreet.run.statement import Statement

GUESSED_BOUNDS = {"low": Fraction(0), "high": Fraction(100)}  # where SQL is shown before these are found
_BESIDE = Fraction(1, 10**6)  # the δ at which routes are compared too
_MANY = 12  # groups that are listed by name


def facts(plan: Steps) -> dict[str, Any]:
    """Everything, in the order in which a reader asks."""
    told: dict[str, Any] = {
        "protected": _protected(plan),
        "price": _price(plan),
        "bounding": _bounding(plan),
        "groups": _groups(plan),
        "finds": [_find(find) for find in plan.finds],
        "totals": _totals(plan),
        "together": {"epsilon": str(plan.budget.epsilon), "delta": str(plan.budget.delta)},
        "choices": _choices(plan),
        "theorems": theorems(plan),
        "loss": _loss(plan),
        "forecast": _forecast(plan),
        "notes": list(plan.notes),
        "unknown": _unknown(plan),
        "statements": _statements(plan),
    }
    return told | {work: sum(one[work] for one in told["statements"]) for work in ("scans", "shuffles")}


# ── who, how much, how bounded, which groups ─────────────────────────────────────────────────────────────────────────


def _protected(plan: Steps) -> dict[str, str]:
    change = {
        "add/remove": "tables that differ by all rows of one unit, there or not there",
        "replace-one": "tables that differ by all rows of one unit, exchanged for any others",
    }
    return {"unit": plan.protected, "adjacency": plan.adjacency, "neighbours": change[plan.adjacency]}


def _price(plan: Steps) -> dict[str, Any]:
    return {"epsilon": str(plan.epsilon), "delta": str(plan.delta), "odds": math.exp(float(plan.epsilon)) if plan.epsilon < 700 else None}


def _bounding(plan: Steps) -> dict[str, str]:
    open_limits = [find.what for find in plan.finds if isinstance(find, FindLimit)]
    if open_limits:
        return {"how": f"by {' and '.join(open_limits)}, found privately first", "why": _why_bounded(plan)}
    if _counts_people(plan):
        return {
            "how": "people are counted, not rows: each unit once in a group, or once for each of its values",
            "why": "the statistics ask for that",
        }
    keyed = bool(plan.question.keys)
    known = plan.bounding or bound(plan.question.relation.one_row, plan.contributions, Found(), plan.budget.noise, keyed)
    return {"how": str(known), "why": _why_bounded(plan)}


def _counts_people(plan: Steps) -> bool:
    return not plan.question.relation.one_row and all(m.function in ("count_units", "mode") for _, m in plan.question.measures)


def _why_bounded(plan: Steps) -> str:
    if plan.question.relation.one_row:
        return "the relation has at most one row for each unit"
    if plan.question.contributions:
        return "the question says so"
    return "the policy says so" if plan.contributions else "nothing was declared, so about the 95th percentile over units is used"


def _groups(plan: Steps) -> dict[str, Any]:
    if not plan.question.keys:
        return {"kind": "none"}
    keys = [name for name, _ in plan.question.keys]
    if plan.public_groups is not None:
        listed = [[None if value is None else str(value) for value in group] for group in plan.public_groups[:_MANY]]
        return {"kind": "public", "keys": keys, "count": len(plan.public_groups), "first": listed, "other": plan.question.other}
    finder = plan.key_finder
    assert finder is not None
    half, most = (math.ceil(finder.mechanism.error(level)) for level in (0.5, 0.95))
    sizes = sorted({1, max(half // 2, 2), half, most, 2 * most})
    chances = [[size, plan.shown(size)] for size in sizes]
    assumed = "if each unit is in one group only" if finder.limit is None else f"each unit counts in at most {finder.limit} groups"
    return {"kind": "found", "keys": keys, "chances": chances, "half": half, "most": most, "assumed": assumed, "other": plan.question.other}


def _find(find: Find) -> dict[str, str]:
    told = {"what": str(find), "epsilon": str(find.epsilon), "mechanism": " or ".join(kind.__name__ for kind in _kinds(find))}
    return told | ({"delta": str(find.delta)} if isinstance(find, FindKeys) else {})


def _kinds(find: Find) -> tuple[type[Mechanism[Any]], ...]:
    """How it is found; which selection errs less is seen once the limit is known."""
    if isinstance(find, FindKeys) and find.limit is None:
        return PartitionSelection, WeightedGaussianSelection
    return (type(find.mechanism),)


# ── totals and choices ───────────────────────────────────────────────────────────────────────────────────────────────


def _totals(plan: Steps) -> list[dict[str, Any]]:
    if plan.settled:
        return [_total(total, plan) for total in plan.totals]
    weighted = not plan.question.relation.one_row
    stats = totals_of(plan.question, {}, plan.budget.centred, weighted)
    waits = "follows from what is found"
    return [{"adds": _adds(stat, plan, with_grid=False), "noise": plan.budget.noise, "why": waits} for stat in stats]


def _total(total: Total, plan: Steps) -> dict[str, Any]:
    own = float(total.scaled.l2 * total.unit if total.is_gaussian else total.scaled.l1 * total.unit)
    told = {
        "adds": _adds(total.stat, plan),
        "noise": "gaussian" if total.is_gaussian else "laplace",
        "mechanism": type(total.mechanism).__name__,
        "sensitivity": own,
        "why": _why_moved(total, plan),
        "scale": total.scale,
    }
    if total.is_gaussian:
        return told
    return told | {"epsilon": str(total.mechanism.loss.epsilon)}


def _adds(stat: Stat, plan: Steps, with_grid: bool = True) -> str:
    """What each row adds to a total, in words."""
    text = "" if stat.expr is None else spelled(stat.expr, plan)
    within = ""
    if stat.grid is not None and with_grid:
        low, high = stat.grid.mid - stat.grid.half, stat.grid.mid + stat.grid.half
        within = f", with {text} clamped to {number(low)} … {number(high)}"
    match stat.form:
        case "rows":
            return "1 for each row"
        case "present":
            return f"1 for each row in which {text} is there"
        case "units":
            return "1 for each unit"
        case "distinct":
            return f"1 for each different value of {text}"
        case "plain":
            return f"{text}{within}"
        case "total":
            return f"{text} − {number(stat.grid.mid)}{within}" if stat.grid and with_grid else f"{text}, from the middle of its bounds"
        case "squares":
            return f"({text} − {number(stat.grid.mid)})²{within}" if stat.grid and with_grid else f"the square of {text}, from the middle"
        case _:
            assert_never(stat.form)


def _why_moved(total: Total, plan: Steps) -> str:
    """Why a unit moves a total no further: the lemma of its bounding, times the most a row adds."""
    stat, norm = total.stat, "ℓ₂" if total.is_gaussian else "ℓ₁"
    each = "1" if stat.grid is None else number(stat.most * stat.step)
    match plan.bounding:
        case Single():
            said = "a unit has one row"
        case Rows(rows):
            said = f"a unit's weights add up to {rows} at most, however its rows are spread"
        case Groups(groups, per_group):
            root = f"√{groups}·{per_group}" if total.is_gaussian else f"{groups}·{per_group}"
            said = f"a unit's weights over all groups have {norm} at most {root}"
        case None:
            return ""
        case _:
            assert_never(plan.bounding)
    if stat.form == "units" and not isinstance(plan.bounding, Single):
        most = plan.bounding.groups if plan.question.keys else 1
        said = (
            f"a unit's weights over all groups have ℓ₂ at most √{most}"
            if total.is_gaussian
            else f"a unit counts as {most} at most in all groups"
        )
    moved = f"{said}, and a row adds {each} at most" if each != "1" else said
    twice = "; replaced by another unit, both move it" if plan.adjacency == "replace-one" else ""
    return moved + twice + ("; rounding the totals down adds 1 for each cell" if total.scaled.bits else "")


def _choices(plan: Steps) -> list[dict[str, Any]]:
    if plan.settled:
        return [_choice(choice, plan) for choice in plan.choices]
    measures, told = dict(plan.question.measures), []
    for name, epsilon in plan.budget.choices:
        expr = measures[name].expr
        assert expr is not None
        mode = measures[name].function == "mode"
        what = f"{'the most popular value' if mode else 'a quantile'} of {spelled(expr, plan)}"
        counted = "" if not mode or plan.question.relation.one_row else "; people are counted, not rows"
        told.append({"name": name, "epsilon": str(epsilon), "of": spelled(expr, plan), "what": what + counted})
    return told


def _choice(choice: Choice, plan: Steps) -> dict[str, Any]:
    mechanism, of = choice.mechanism, spelled(choice.expr, plan)
    told = {"name": choice.measure, "mechanism": type(mechanism).__name__, "epsilon": str(mechanism.epsilon), "of": of}
    if isinstance(mechanism, Quantile):
        grid = f"between {number(mechanism.grid.lower)} and {number(mechanism.grid.upper)} in steps of {number(mechanism.grid.step)}"
        return told | {"what": f"the {number(mechanism.q * 100)} % quantile of {of}, {grid}"}
    counted = f"; {choice.bounding}" if isinstance(choice.bounding, Votes) else ""
    return told | {"what": f"the most popular of {len(choice.candidates)} values of {of}{counted}"}


# ── theorems, losses, forecasts ──────────────────────────────────────────────────────────────────────────────────────


def theorems(plan: Steps) -> dict[str, str]:
    """Each mechanism's theorem, as its own docstring states it."""
    settled = plan if plan.settled else _imagined(plan)
    used: list[type] = [kind for find in plan.finds for kind in _kinds(find)]
    used += [type(total.mechanism) for total in settled.totals] + [type(choice.mechanism) for choice in settled.choices]
    used += [Votes for choice in settled.choices if isinstance(choice.bounding, Votes)]
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
    """What the answer costs k units together: by the best route, and never more than k·ε."""
    epsilon, delta = group_price(plan.loss, plan.epsilon, plan.delta, k)
    return {"units": k, "epsilon": None if math.isinf(epsilon) else epsilon, "delta": float(delta)}


def _forecast(plan: Steps) -> dict[str, Any]:
    found = forecast(plan)
    widths = {name: {str(n): w for n, w in of.items()} if isinstance(of, dict) else of for name, of in found.items()}
    return {"confidence": found.confidence, "half_widths": widths, "ranks": sorted(found.ranks), "assumed": dict(found.assumed)}


def _unknown(plan: Steps) -> list[str]:
    """What no forecast says, because it depends on the data."""
    lines = []
    if not isinstance(plan.bounding, Single) and (plan.question.keys or not _counts_people(plan)):
        lines.append("how much is missing where units have more rows or groups than the limits: counts and sums are then too low")
    if any(
        measure.expr is not None and measure.function not in ("count_of", "count_distinct", "mode") for _, measure in plan.question.measures
    ):
        lines.append("how many values lie outside their bounds: they count as the nearest bound")
    if plan.public_groups is not None and plan.question.keys and not plan.question.other:
        lines.append("how many rows belong to groups that are not listed: they are left out")
    if plan.key_finder is not None:
        lines.append("which small groups are not shown")
    return lines


# ── what will run ────────────────────────────────────────────────────────────────────────────────────────────────────


def _statements(plan: Steps) -> list[dict[str, Any]]:
    """Every statement in its order; what depends on a find is shown as if that had found something usual."""
    source = Source(plan.question.relation, plan.question.keys, None if plan.question.other else plan.public_groups, plan.dialect)
    told = [(str(find), _find_statement(find, plan, source)) for find in plan.finds]
    settled, after = (plan, "") if plan.settled else (_imagined(plan), _after(plan))
    told += [(f"totals{after}", statement) for _, statement in statements(settled)]
    told += [(f"{choice.measure}{after}", choice_statement(choice, settled)) for choice in settled.choices]
    return [{"for": what, "sql": one.text, "scans": one.scans, "shuffles": one.shuffles} for what, one in told]


def _find_statement(find: Find, plan: Steps, source: Source) -> Statement:
    if isinstance(find, FindKeys) and find.measure is not None:
        expr = dict(plan.question.measures)[find.measure].expr
        assert expr is not None
        source = Source(source.relation, ((find.measure, expr),), None, source.dialect)
    if isinstance(find, FindKeys) and find.limit is None:
        find = evolve(find, limit=TYPICAL_LIMITS["groups"])
    return find.write(source)


def _imagined(plan: Steps) -> Steps:
    limits = {find.what: TYPICAL_LIMITS[find.what] for find in plan.finds if isinstance(find, FindLimit)}
    bounds = {(find.expr, find.end): GUESSED_BOUNDS[find.end] for find in plan.finds if isinstance(find, FindBound)}
    modes = {find.measure: (0, 1) for find in plan.finds if isinstance(find, FindKeys) and find.measure is not None}
    groups = plan.public_groups if plan.public_groups is not None else (tuple(None for _ in plan.question.keys),)
    settled = settle(plan, Found(limits, bounds, groups, modes))
    return settled if plan.public_groups is not None else evolve(settled, groups=None)


def _after(plan: Steps) -> str:
    guessed = [f"{find.what} = {TYPICAL_LIMITS[find.what]}" for find in plan.finds if isinstance(find, FindLimit)]
    guessed += [f"{find.end} {find.name} = {number(GUESSED_BOUNDS[find.end])}" for find in plan.finds if isinstance(find, FindBound)]
    guessed += ["the groups" for find in plan.finds if isinstance(find, FindKeys)]
    return f", after {', '.join(guessed)} are found" if guessed else ""


# ── spelling ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def spelled(expr: Expr, plan: Steps) -> str:
    """An expression as people read it."""
    return expr.name if isinstance(expr, Column) else write_expr(expr, plan.question.relation.schema, plan.dialect)


def number(value: Fraction | int) -> str:
    """A number in few digits.

    >>> number(Fraction(500)), number(Fraction(1, 3)), number(1234567)
    ('500', '0.3333', '1,234,567')
    """
    return f"{int(value):,}" if value == int(value) else f"{float(value):,.4g}"
