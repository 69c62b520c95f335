"""The facts of a plan's totals: what each row adds, the noise, and why the sensitivity is no larger."""

from __future__ import annotations

from typing import Any, assert_never

from discreet.explain.spell import number, spelled
from discreet.explain.tables import by_keys, keys_of
from discreet.plan.bounding import Groups, Rows, Single
from discreet.plan.budget import needed, totals_of
from discreet.plan.steps import NoisyTotal, Steps
from discreet.query.totals import Total


def total_facts(plan: Steps) -> list[dict[str, Any]]:
    """Every noisy total: what rows add to it, its noise, and why its sensitivity is no larger."""
    if plan.resolved:
        return [_total(noisy, one) for one in (plan, *plan.parts) for noisy in one.totals]
    of = totals_of(plan.question, {}, plan.budget.centred, Single() if plan.question.relation.one_row else Rows(1))
    waits = "depends on what is discovered"
    return [{"adds": _adds(one, with_grid=False), "noise": plan.budget.noise, "why": waits} for one in needed(plan.question, of)]


def _total(noisy: NoisyTotal, plan: Steps) -> dict[str, Any]:
    own = float(noisy.scaled.l2 * noisy.unit if noisy.is_gaussian else noisy.scaled.l1 * noisy.unit)
    within = "" if noisy.table is None else f", {by_keys(keys_of(plan, noisy.table))}"
    told = {
        "adds": _adds(noisy.total) + within,
        "noise": "gaussian" if noisy.is_gaussian else "laplace",
        "mechanism": type(noisy.mechanism).__name__,
        "sensitivity": own,
        "why": _why_bounded_by(noisy, plan),
        "scale": noisy.scale,
    }
    return told if noisy.is_gaussian else told | {"epsilon": str(noisy.mechanism.loss.epsilon)}


def _adds(total: Total, with_grid: bool = True) -> str:
    """What each row adds to a total, in words."""
    text = "" if total.expr is None else spelled(total.expr)
    match total.form:
        case "rows":
            return "1 for each row"
        case "present":
            return f"1 for each row in which {text} is not NULL"
        case "units":
            return "1 for each unit" if total.expr is None else f"1 for each unit with a row in which {text} is not NULL"
        case "distinct":
            return f"1 for each distinct value of {text}"
        case "product":
            return _product(total, with_grid)
        case _:
            assert_never(total.form)


def _product(total: Total, with_grid: bool) -> str:
    parts, clamps = [], []
    for factor in total.factors:
        text, grid = spelled(factor.expr), factor.grid
        power = {1: "", 2: "²", 3: "³", 4: "⁴"}.get(factor.power, f"^{factor.power}")
        parts.append(f"({text} − {number(grid.mid)}){power}" if with_grid and grid.mid else f"{text}{power}")
        clamps.append(f"{text} clamped to {number(grid.ends[0])} … {number(grid.ends[1])}")
    inside = parts[0] if len(parts) > 1 or total.factors[0].power > 1 else parts[0].removeprefix("(").removesuffix(")")
    product = " · ".join([inside, *parts[1:]])
    return f"{product}, with {' and '.join(clamps)}" if with_grid else f"{product}, from the middle of its bounds"


def _why_bounded_by(noisy: NoisyTotal, plan: Steps) -> str:
    """Why the sensitivity is no larger: the lemma of the bounding, times the most a row adds."""
    total, norm = noisy.total, "ℓ₂" if noisy.is_gaussian else "ℓ₁"
    each = number(total.most * total.step) if total.factors else "1"
    match plan.bounding:
        case Single():
            said = "a unit has one row"
        case Rows(rows):
            said = f"a unit's weights add up to at most {rows}, however its rows are spread over groups"
        case Groups(groups, per_group) if noisy.table is not None and plan.arrangement and noisy.table != plan.arrangement.layout.finest:
            said = f"a unit's weights add up to at most {groups}·{per_group}, and the cells of this table are sums of them"
        case Groups(groups, per_group):
            root = f"√{groups}·{per_group}" if noisy.is_gaussian else f"{groups}·{per_group}"
            said = f"a unit's weights over all groups have {norm} at most {root}"
        case None:
            return ""
        case _:
            assert_never(plan.bounding)
    if total.form == "units" and not isinstance(plan.bounding, Single):
        most = plan.bounding.groups if plan.question.keys else 1
        said = (
            f"a unit's weights over all groups have ℓ₂ at most √{most}"
            if noisy.is_gaussian
            else f"a unit's weights over all groups add up to at most {most}"
        )
    product = f"{said}, and a row adds at most {each}" if each != "1" else said
    twice = "; replacing a unit changes both contributions" if plan.adjacency == "replace-one" else ""
    return product + twice + ("; rounding the totals down adds 1 for each cell" if noisy.scaled.bits else "")
