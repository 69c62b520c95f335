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
from discreet.plan.budget import ADDITIVE, SPREAD, TYPICAL
from discreet.plan.discovery import FindBound, FindKeys, FindLimit
from discreet.plan.resolve import ranges_of, settle
from discreet.plan.steps import Found, Steps
from discreet.plan.total import Stat
from discreet.query.post import evaluate, smooth
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.run.intervals import Cells, Floats, half_widths, statistic

SIZES = (100, 1_000, 10_000, 100_000)
AWKWARD = ((1.0, 0.01), (-1.0, 0.01), (0.0, SPREAD))  # where the mean may lie, and the variance, of the bounds' half and its square
TYPICAL_LIMITS = {"rows": 10, "groups": 3, "per_group": 3}  # what a forecast takes limits to be that are still to be found
HalfWidth: TypeAlias = "float | dict[int, float] | None"


@final
@frozen(eq=False, repr=False)
class Forecast(Mapping[str, HalfWidth]):
    """For each output: the half-width of its interval; by group size where it depends on that; None where it cannot be known.

    What is forecast is the noise around the bounded question. How far bounding and clipping move the answer itself is not known without
    spending. The error of a mean depends on where it lies: half-way between the middle of its bounds and an end, unless `at` says where;
    `worst` has the half-widths for the most awkward place (for a standard deviation: values within a tenth of the bounds, at an end).
    """

    widths: dict[str, HalfWidth]
    confidence: float
    ranks: frozenset[str] = field(default=frozenset())  # columns whose error is a number of ranks, or of votes
    assumed: Mapping[str, int] = field(factory=dict)  # limits that are to be found, and were taken to be this
    worst: dict[str, HalfWidth] = field(factory=dict)

    def __getitem__(self, name: str) -> HalfWidth:
        return self.widths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.widths)

    def __len__(self) -> int:
        return len(self.widths)

    def __repr__(self) -> str:
        lines = [f"expected error, {self.confidence:.0%} of the time at most:"]
        for name, width in self.widths.items():
            lines.append(f"  {name}: {_spelled(width, name in self.ranks)}{_at_worst(width, self.worst.get(name))}")
        for what, limit in self.assumed.items():
            lines.append(f'  if the limit found is {what} = {limit}, for example; the error grows with it, see assume={{"{what}": …}}')
        return "\n".join(lines)


def _at_worst(width: HalfWidth, worst: HalfWidth) -> str:
    if isinstance(width, float) and isinstance(worst, float) and worst > 1.1 * width:
        return f", up to ±{worst:,.4g} by where it lies"
    return ""


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
    level = float(confidence_of(confidence))
    sizes = SIZES if size is None else (exact.whole(size, "size"),)
    said = _said(plan, "assume", assume, {find.name for find in plan.finds if isinstance(find, FindBound)} | set(TYPICAL_LIMITS))
    places = _said(plan, "at", at, {name for name, _ in (*plan.question.measures, *plan.question.outputs)} | _columns(plan))
    guessed = {find.what: TYPICAL_LIMITS[find.what] for find in plan.finds if isinstance(find, FindLimit) and find.what not in said}
    closed = plan if plan.settled else _assumed(plan, {**guessed, **said})
    widths: dict[str, HalfWidth] = {}
    worst: dict[str, HalfWidth] = {}
    ranks = set()
    for name, expr in plan.question.outputs:
        measures = {m: measure for m, measure in plan.question.measures if m in columns_of(expr)}
        followed = smooth(expr)
        if not measures:
            continue
        if closed is None or followed is None:
            widths[name] = worst[name] = None
        elif all(measure.function in ADDITIVE for measure in measures.values()):
            widths[name] = _by_size(_additive(closed, followed, sizes, places, level, TYPICAL, SPREAD), sizes)
            far = [_additive(closed, followed, sizes, places, level, *place) for place in AWKWARD]
            worst[name] = _by_size([max(found) for found in zip(*far, strict=True)], sizes)
        elif isinstance(expr, Column):
            widths[name] = worst[name] = _choice(closed, expr.name, level)
            ranks.add(name)
        else:
            widths[name] = worst[name] = None
    return Forecast(widths, level, frozenset(ranks), guessed, worst)


def confidence_of(value: Number) -> Fraction:
    """Read a confidence that floats can compute with."""
    level = exact.confidence_level(value)
    if not Fraction(1, 10**6) <= level <= 1 - Fraction(1, 10**9):
        raise Invalid("confidence must lie between 0.000001 and 0.999999999")
    return level


def _by_size(found: list[float], sizes: tuple[int, ...]) -> HalfWidth:
    even = max(found) - min(found) <= 1e-6 * max(found)  # slopes are taken numerically
    return found[0] if even else dict(zip(sizes, found, strict=True))


def _said(plan: Steps, what: str, given: Any, known: set[str]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or set(given) - known:
        raise Invalid(f"{what} must be a dict with some of the names {', '.join(sorted(known))}")
    return dict(given)


def _columns(plan: Steps) -> set[str]:
    return {measure.expr.name for _, measure in plan.question.measures if isinstance(measure.expr, Column)}


def _additive(
    plan: Steps, expr: Expr, sizes: tuple[int, ...], at: Mapping[str, float], level: float, place: float, spread: float
) -> list[float]:
    cells: Cells = {total.stat: np.array([_imagined(plan, total.stat, size, at, place, spread) for size in sizes]) for total in plan.totals}
    measures = {m: measure for m, measure in plan.question.measures if m in columns_of(expr)}

    def output(there: Cells) -> Floats:
        if isinstance(expr, Column):
            return statistic(measures[expr.name], there, clipped=False)
        found = {m: statistic(measure, there, clipped=False).tolist() for m, measure in measures.items()}
        keys = dict.fromkeys(name for name, _ in plan.question.keys)
        rows = [{**keys, **dict(zip(found, row, strict=True))} for row in zip(*found.values(), strict=True)]
        values = [evaluate(expr, row) for row in rows]
        return np.array([value if isinstance(value, int | float) else np.nan for value in values], float)

    with np.errstate(invalid="ignore"):
        return [0.0 if np.isnan(width) else float(width) for width in half_widths(output, cells, plan.totals, level)]


def _imagined(plan: Steps, stat: Stat, size: int, at: Mapping[str, float], place: float, spread: float) -> float:
    """What a total would be in a group of this size, with the mean at this place between the middle of the bounds and an end."""
    if stat.grid is None:
        return float(size)
    same = {name: measure for name, measure in plan.question.measures if measure.expr == stat.expr}
    names = {name: expr.name for name, expr in plan.question.outputs if isinstance(expr, Column) and expr.name in same}
    said = {same[names.get(name, name)].function: value for name, value in at.items() if names.get(name, name) in same}
    assert stat.expr is not None
    within = ranges_of(plan, plan.found)[stat.expr]
    half, centre = float(within.high - within.low) / 2, float(within.high + within.low) / 2
    if isinstance(stat.expr, Column) and stat.expr.name in at:
        said.setdefault("mean", at[stat.expr.name])
    mean = (said["mean"] if "mean" in said else centre + place * half) - float(stat.grid.mid)  # from where the total is taken
    if stat.form != "squares":
        return size * mean
    around = said["stddev"] ** 2 if "stddev" in said else said.get("variance", spread * half * half)
    return size * (mean**2 + around)


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
