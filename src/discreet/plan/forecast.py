"""The error before paying: half-widths of every output for a group of a given size, without touching data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import interval
from discreet.plan.estimate import Cells, Floats, half_widths, statistic
from discreet.plan.find import FindBound, FindKeys, FindLimit
from discreet.plan.post import evaluate
from discreet.plan.settle import settle
from discreet.plan.share import ADDITIVE, SPREAD, TYPICAL
from discreet.plan.stat import Stat
from discreet.plan.steps import Found, Steps
from discreet.relation.expr import Column, Expr, columns_of

SIZES = (100, 1_000, 10_000, 100_000)
TYPICAL_LIMITS = {"rows": 10, "groups": 3, "per_group": 3}  # what a forecast takes limits to be that are still to be found
HalfWidth: TypeAlias = "float | dict[int, float] | None"


@final
@frozen(eq=False, repr=False)
class Forecast(Mapping[str, HalfWidth]):
    """For each output: the half-width of its interval; by group size where it depends on that; None where it cannot be known.

    What is forecast is the noise around the bounded question. How far bounding and clipping move the answer itself is not known without
    spending. A mean is taken to lie a third of the way from the middle of its bounds to an end: right within 5 % for any mean in their
    middle half.
    """

    widths: dict[str, HalfWidth]
    confidence: float
    ranks: frozenset[str] = field(default=frozenset())  # columns whose error is a number of ranks, or of votes
    assumed: Mapping[str, int] = field(factory=dict)  # limits that are to be found, and were taken to be this

    def __getitem__(self, name: str) -> HalfWidth:
        return self.widths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.widths)

    def __len__(self) -> int:
        return len(self.widths)

    def __repr__(self) -> str:
        lines = [f"expected error, {self.confidence:.0%} of the time at most:"]
        for name, width in self.widths.items():
            lines.append(f"  {name}: {_spelled(width, name in self.ranks)}")
        for what, limit in self.assumed.items():
            lines.append(f'  if the limit found is {what} = {limit}, for example; the error grows with it, see assume={{"{what}": …}}')
        return "\n".join(lines)


def _spelled(width: HalfWidth, ranks: bool) -> str:
    unit = " ranks" if ranks else ""
    match width:
        case None:
            return "not known before its bounds are found"
        case dict():
            return ", ".join(f"±{value:,.4g}{unit} in a group of {size:,}" for size, value in width.items())
    return f"±{width:,.4g}{unit}"


def forecast(
    plan: Steps,
    confidence: Number = 0.95,
    size: int | None = None,
    at: Mapping[str, float] | None = None,
    assume: Mapping[str, Any] | None = None,
) -> Forecast:
    """Half-widths of all outputs; `at` says where statistics lie, `assume` what open bounds and limits will be."""
    level = float(exact.confidence_level(confidence))
    sizes = SIZES if size is None else (exact.whole(size, "size"),)
    guessed = {
        find.what: TYPICAL_LIMITS[find.what] for find in plan.finds if isinstance(find, FindLimit) and find.what not in (assume or {})
    }
    closed = plan if plan.settled else _assumed(plan, {**guessed, **(assume or {})})
    widths: dict[str, HalfWidth] = {}
    ranks = set()
    for name, expr in plan.question.outputs:
        measures = {m: measure for m, measure in plan.question.measures if m in columns_of(expr)}
        if not measures:
            continue
        if closed is None:
            widths[name] = None
        elif all(measure.function in ADDITIVE for measure in measures.values()):
            found = _additive(closed, expr, sizes, at or {}, level)
            even = max(found) - min(found) <= 1e-6 * max(found)  # slopes are taken numerically
            widths[name] = found[0] if even else dict(zip(sizes, found, strict=True))
        elif isinstance(expr, Column):
            widths[name] = _choice(closed, expr.name, level)
            ranks.add(name)
        else:
            widths[name] = None
    return Forecast(widths, level, frozenset(ranks), guessed)


def _additive(plan: Steps, expr: Expr, sizes: tuple[int, ...], at: Mapping[str, float], level: float) -> list[float]:
    cells: Cells = {total.stat: np.array([_imagined(plan, total.stat, size, at) for size in sizes]) for total in plan.totals}
    measures = {m: measure for m, measure in plan.question.measures if m in columns_of(expr)}

    def output(there: Cells) -> Floats:
        if isinstance(expr, Column):
            return statistic(measures[expr.name], there, clipped=False)
        found = {m: statistic(measure, there, clipped=False).tolist() for m, measure in measures.items()}
        keys = dict.fromkeys(name for name, _ in plan.question.keys)
        rows = [{**keys, **dict(zip(found, row, strict=True))} for row in zip(*found.values(), strict=True)]
        values = [evaluate(expr, row) for row in rows]
        return np.array([value if isinstance(value, int | float) else np.nan for value in values], float)

    return [float(width) for width in half_widths(output, cells, plan.totals, level)]


def _imagined(plan: Steps, stat: Stat, size: int, at: Mapping[str, float]) -> float:
    """What a total would be in a group of this size."""
    if stat.grid is None:
        return float(size)
    said = {m.function: at[name] for name, m in plan.question.measures if m.expr == stat.expr and name in at}
    half, middle = float(stat.grid.half), float(stat.grid.mid)
    mean = said["mean"] - middle if "mean" in said else TYPICAL * half
    if stat.form != "squares":
        return size * mean
    spread = said["stddev"] ** 2 if "stddev" in said else said.get("variance", max(SPREAD - TYPICAL**2, 0) * half * half)
    return size * (mean**2 + spread)


def _choice(plan: Steps, measure: str, level: float) -> float:
    choice = next(choice for choice in plan.choices if choice.measure == measure)
    if isinstance(choice.mechanism, Quantile):
        return choice.mechanism.error(level) / choice.bounding.one
    return choice.mechanism.error(level, size=max(len(choice.candidates), 2)) / choice.bounding.one


def _assumed(plan: Steps, assume: Mapping[str, Any]) -> Steps | None:
    """The plan as if this had been found; None if something is still open."""
    ends = [find for find in plan.finds if isinstance(find, FindBound)]
    named = {find.name: find.expr for find in ends}
    open_limits = {find.what for find in plan.finds if isinstance(find, FindLimit)}
    bounds: dict[tuple[Expr, str], Fraction] = {}
    limits: dict[str, int] = {}
    for name, value in assume.items():
        if name in open_limits:
            limits[name] = exact.whole(value, name)
        elif name in named:
            low, high = interval(*value)
            bounds |= {(named[name], "low"): low, (named[name], "high"): high}
        else:
            raise Invalid(f"{name} is not open; open are {', '.join([*named, *open_limits]) or 'no bounds and no limits'}")
    if {(find.expr, find.end) for find in ends} - set(bounds) or open_limits - set(limits):
        return None
    groups = plan.public_groups if plan.public_groups is not None else (tuple(None for _ in plan.question.keys),)
    modes = {find.measure: (0, 1) for find in plan.finds if isinstance(find, FindKeys) and find.measure is not None}
    return settle(plan, Found(limits, bounds, groups, modes))
