"""Forecast the error before paying: half-widths of every output for a group of a given size; no data is read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.explain.hypothetical import HypotheticalGroup
from discreet.explain.profile_floor import ProfileFloor, profile_floors
from discreet.mechanisms.sensitivity import interval
from discreet.plan.arrangement import question_of_set
from discreet.plan.discovery import LimitDiscovery
from discreet.plan.merge import places_of
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.removed import profiled_sizes
from discreet.plan.resolve import hypothetical_discoveries, resolve
from discreet.plan.steps import Steps
from discreet.query.post import evaluate, smooth
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.query.totals import Cells, Floats
from discreet.run.intervals import QUICK, SLOW, corrected_widths, half_widths
from discreet.run.sampling_error import sampling_error_through, with_sampling_error
from discreet.run.tables import noisy_totals_of, set_plans, totals_behind

TYPICAL = 0.5  # a mean is assumed to lie this share of the way from the middle of its bounds to an end
SPREAD = 1 / 3  # the mean square is assumed to be this share of the largest: values spread uniformly
SIZES = (100, 1_000, 10_000, 100_000)
# the mean and the variance, relative to half the bounds' width and its square
WORST_CASES = ((1.0, 0.01), (-1.0, 0.01), (0.0, SPREAD))
TYPICAL_LIMITS = {"rows": 10, "groups": 3, "per_group": 3}  # assumed for limits that are still to be discovered
HalfWidth: TypeAlias = "float | dict[int, float] | None"


@final
@frozen(eq=False, repr=False)
class Forecast(Mapping[str, HalfWidth]):
    """For each output: the half-width of its interval; a dict by group size where it depends on that; None where it is unknown.

    The forecast covers the noise and, where a sample of the units is read, the sampling error. It excludes the bias from clipping and
    contribution bounds, which is not known without spending. The error of a mean depends on its true value, which is assumed to be
    half-way between the middle of its bounds and an end, unless `at` gives it. `worst` has the half-widths for the worst of three
    assumptions: the mean at either end of the bounds with a small variance, and in their middle with a large one.
    """

    widths: dict[str, HalfWidth]
    confidence: float
    ranks: frozenset[str] = field(default=frozenset())  # columns whose error is a number of ranks, or of votes
    assumed: Mapping[str, int] = field(factory=dict)  # limits, and numbers of a key's values, that are assumed until they are discovered
    worst: dict[str, HalfWidth] = field(factory=dict)
    floors: Mapping[str, ProfileFloor] = field(factory=dict)  # what remains at any ε, because a profile is not exact
    sampled: bool = False  # whether the widths include the sampling error
    sets: Mapping[str, Forecast] = field(factory=dict)  # of each grouping set, by its keys; the widths here are then the largest of theirs

    def __getitem__(self, name: str) -> HalfWidth:
        return self.widths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.widths)

    def __len__(self) -> int:
        return len(self.widths)

    def __repr__(self) -> str:
        lines = [f"expected error, {self.confidence:.0%} intervals:", *self.all_lines()]
        lines += [f'  {line}, see assume={{"{what}": …}}' for what, line in self.assumptions.items()]
        return "\n".join(lines)

    @property
    def assumptions(self) -> dict[str, str]:
        """A line for each limit, or number of values, that is still to be discovered."""
        return {what: assumption(what, value) for what, value in self.assumed.items()}

    def all_lines(self) -> list[str]:
        """A line for each output, of each grouping set."""
        found = [] if self.sets else self.lines()
        for keys, one in self.sets.items():
            found += [f"  by {keys}:" if keys else "  in total:", *(f"  {line}" for line in one.lines())]
        return found

    def lines(self) -> list[str]:
        """A line for each output."""
        found = []
        for name, width in self.widths.items():
            rest = f"{_at_worst(width, self.worst.get(name))}{self.remark(name)}"
            found.append(f"  {name}: {_spelled(width, name in self.ranks)}{rest}")
        return found

    def remark(self, name: str) -> str:
        """The end of a line about an output whose error is mostly that of a profile."""
        width, floor = self.widths[name], self.floors.get(name)
        return floor.remark() if floor is not None and isinstance(width, float) and floor.dominates(width) else ""


def assumption(what: str, value: int) -> str:
    """What is assumed about a limit, or a key, that is still to be discovered.

    >>> assumption("rows", 10), assumption("region", 10)
    ('assuming a discovered limit of rows = 10; the error grows with it', 'assuming that 10 values of region are found')
    """
    if what in TYPICAL_LIMITS:
        return f"assuming a discovered limit of {what} = {value}; the error grows with it"
    return f"assuming that {value:,} values of {what} are found"


def _at_worst(width: HalfWidth, worst: HalfWidth) -> str:
    if isinstance(width, float) and isinstance(worst, float) and worst > 1.1 * width:
        return f", at worst ±{worst:,.4g}, depending on the true value"
    return ""


def _spelled(width: HalfWidth, ranks: bool) -> str:
    unit = " ranks or votes" if ranks else ""
    match width:
        case None:
            return "unknown until its bounds are discovered"
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
    """Half-widths of all outputs; `at` gives the true values of statistics to assume, `assume` the open bounds and limits."""
    level = float(confidence_of(confidence))
    sizes = _sizes(plan, size)
    ranges = {one.name for one in plan.discoveries if isinstance(one, RangeDiscovery)}
    said = _said(plan, "assume", assume, ranges | set(TYPICAL_LIMITS) | set(open_keys(plan)))
    places = _said(plan, "at", at, {name for name, _ in (*plan.question.statistics, *plan.question.outputs)} | _columns(plan))
    closed, still_open, guessed = _closed(plan, said)
    if closed.arrangement is None:
        return _of_plan(closed, still_open, level, sizes, places, guessed)
    parts = set_plans(closed, level, each_node=False)
    return _of_sets([_of_plan(one, still_open, level, sizes, places, guessed) for one in parts], parts)


def _of_sets(each: Sequence[Forecast], parts: Sequence[Steps]) -> Forecast:
    """The forecast of a question with grouping sets, from those of its sets."""
    found = {", ".join(name for name, _ in part.question.keys): one for part, one in zip(parts, each, strict=True)}
    first = next(iter(found.values()))
    widths, worst = (
        {name: _largest([getattr(one, what)[name] for one in found.values()]) for name in first} for what in ("widths", "worst")
    )
    return Forecast(widths, first.confidence, first.ranks, first.assumed, worst, sets=found)


def forecast_each(plan: Steps, questions: Sequence[Question], confidence: Number = 0.95, size: int | None = None) -> list[Forecast]:
    """Half-widths of the outputs of questions that are measured together, each in its own grouping sets."""
    level = float(confidence_of(confidence))
    closed, still_open, guessed = _closed(plan, {})
    parts, found = set_plans(closed, level, each_node=False), []
    for question, places in zip(questions, places_of(questions), strict=True):
        own = [evolve(parts[place], question=question_of_set(question, at)) for at, place in enumerate(places)]
        each = [_of_plan(one, still_open, level, _sizes(plan, size), {}, guessed) for one in own]
        found.append(_of_sets(each, own) if question.sets else each[0])
    return found


def _sizes(plan: Steps, size: int | None) -> tuple[int, ...]:
    return profiled_sizes(plan.question) or SIZES if size is None else (exact.whole(size, "size"),)


def _closed(plan: Steps, said: Mapping[str, Any]) -> tuple[Steps, set[Expr], dict[str, int]]:
    """The plan with assumptions in place of what is still to be discovered, the numbers whose range stays unknown, and limits assumed."""
    open_limits = [one.what for one in plan.discoveries if isinstance(one, LimitDiscovery)]
    typical = {what: TYPICAL_LIMITS[what] for what in open_limits} | open_keys(plan)
    guessed = {what: number for what, number in typical.items() if what not in said}
    closed, still_open = (plan, set[Expr]()) if plan.resolved else _assumed(plan, {**guessed, **said})
    return closed, still_open, guessed


def open_keys(plan: Steps) -> dict[str, int]:
    """The keys of grouping sets whose values are still to be found, each with the number that is assumed, below each group of a level."""
    if plan.open_keys is None or plan.resolved:
        return {}
    return {name: number for name, number in plan.open_keys.usual.items() if name not in TYPICAL_LIMITS}


def _largest(widths: Sequence[HalfWidth]) -> HalfWidth:
    """The largest of several half-widths, for each size of a group."""
    if any(width is None for width in widths):
        return None
    sizes = [size for width in widths if isinstance(width, dict) for size in width]
    if not sizes:
        return max(width for width in widths if isinstance(width, float))
    each = [width if isinstance(width, dict) else dict.fromkeys(sizes, width) for width in widths]
    return {size: max(float(width[size] or 0) for width in each) for size in dict.fromkeys(sizes)}


def _of_plan(
    plan: Steps, still_open: set[Expr], level: float, sizes: tuple[int, ...], places: Mapping[str, float], guessed: Mapping[str, int]
) -> Forecast:
    """The forecast of a resolved plan, or of one grouping set of it."""
    widths: dict[str, HalfWidth] = {}
    worst: dict[str, HalfWidth] = {}
    ranks, over_rows = set(), {name for name, _ in plan.question.windows}
    for name, expr in plan.question.outputs:
        used, followed = columns_of(expr), smooth(expr)
        statistics = [statistic for statistic_name, statistic in plan.question.statistics if statistic_name in used]
        if not statistics or used & over_rows:  # a window's error depends on all groups, which are not known yet
            continue
        if followed is None or any(still_open & set(statistic.numbers) for statistic in statistics):
            widths[name] = worst[name] = None
        elif not used & set(plan.question.selected):
            widths[name] = _by_size(_additive(plan, followed, sizes, places, level, TYPICAL, SPREAD), sizes)
            far = [_additive(plan, followed, sizes, places, level, *place) for place in WORST_CASES]
            worst[name] = _by_size([max(found) for found in zip(*far, strict=True)], sizes)
        elif isinstance(expr, Column):
            widths[name] = worst[name] = _choice(plan, expr.name, level)
            ranks.add(name)
        else:
            widths[name] = worst[name] = None
    floors = profile_floors(plan, _cells(plan, sizes, places, TYPICAL, SPREAD), level)
    return Forecast(widths, level, frozenset(ranks), guessed, worst, floors, plan.question.sample is not None)


def confidence_of(value: Number) -> Fraction:
    """Read a confidence that floats can compute with."""
    level = exact.confidence_level(value)
    if not Fraction(1, 10**6) <= level <= 1 - Fraction(1, 10**9):
        raise Invalid("confidence must lie between 0.000001 and 0.999999999")
    return level


def _by_size(found: list[float], sizes: tuple[int, ...]) -> HalfWidth:
    even = max(found) - min(found) <= 1e-6 * max(found)  # slopes are numerical
    return found[0] if even else dict(zip(sizes, found, strict=True))


def _said(plan: Steps, what: str, given: Any, known: set[str]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or set(given) - known:
        raise Invalid(f"{what} must be a dict with some of the names {', '.join(sorted(known))}")
    return dict(given)


def _columns(plan: Steps) -> set[str]:
    return {expr.name for _, statistic in plan.question.statistics for expr in statistic.exprs if isinstance(expr, Column)}


def _additive(
    plan: Steps, expr: Expr, sizes: tuple[int, ...], at: Mapping[str, float], level: float, place: float, spread: float
) -> list[float]:
    cells = _cells(plan, sizes, at, place, spread)
    statistics = {name: one for name, one in plan.question.additive.items() if name in columns_of(expr)}
    of = totals_behind(plan)

    def output(there: Cells) -> Floats:
        if isinstance(expr, Column):
            return statistics[expr.name].value(of, there, clipped=False)
        return computed({name: one.value(of, there, clipped=False) for name, one in statistics.items()})

    def computed(values: Mapping[str, Floats]) -> Floats:
        found = {name: value.tolist() for name, value in values.items()}
        keys = dict.fromkeys(columns_of(expr))
        rows = [{**keys, **dict(zip(found, row, strict=True))} for row in zip(*found.values(), strict=True)]
        outputs = [evaluate(expr, row) for row in rows]
        return np.array([value if isinstance(value, int | float) else np.nan for value in outputs], float)

    curved = any(one.curved for one in statistics.values())
    single = isinstance(expr, Column)
    found = half_widths(output, cells, noisy_totals_of(list(statistics.values()), plan), level, curved, QUICK if single else SLOW)
    if isinstance(expr, Column):
        found = with_sampling_error(plan, statistics[expr.name], of, cells, found, level)
    else:
        found = sampling_error_through(plan, statistics, of, cells, found, level, computed)
    if plan.removed is not None and isinstance(expr, Column):
        correction = statistics[expr.name].correction(of, cells, plan.removed)
        found = found if correction is None else corrected_widths(found, correction, level)
    low, high = statistics[expr.name].limits(of) if isinstance(expr, Column) else (-math.inf, math.inf)
    with np.errstate(all="ignore"):
        centres = np.clip(output(cells), low, high)
    # an answer is within its limits, as the truth is: it cannot be further off than the further limit
    return [
        0.0 if np.isnan(width) else min(float(width), _furthest(float(at), low, high)) for width, at in zip(found, centres, strict=True)
    ]


def _cells(plan: Steps, sizes: tuple[int, ...], at: Mapping[str, float], place: float, spread: float) -> Cells:
    """The totals of hypothetical groups of these sizes."""
    group = HypotheticalGroup.of(plan, at, place, spread)
    return {one.total: np.array([size * group.mean_of(one.total) for size in sizes]) for one in plan.totals}


def _furthest(centre: float, low: float, high: float) -> float:
    return high - low if math.isnan(centre) else max(centre - low, high - centre)


def _choice(plan: Steps, name: str, level: float) -> float:
    choice = next(choice for choice in plan.choices if choice.name == name)
    return choice.statistic.error(choice.mechanism, level, choice.candidates) / choice.bounding.one


def _assumed(plan: Steps, assume: Mapping[str, Any]) -> tuple[Steps, set[Expr]]:
    """The plan resolved with assumed discoveries, and the expressions whose bounds are still open; these get a placeholder."""
    ends = [one for one in plan.discoveries if isinstance(one, RangeDiscovery)]
    named: dict[str, list[Expr]] = {}
    for one in ends:
        named.setdefault(one.name, []).append(one.expr)
    open_limits = {one.what for one in plan.discoveries if isinstance(one, LimitDiscovery)}
    bounds: dict[tuple[Expr, str], Fraction] = {}
    limits: dict[str, int] = {}
    values: dict[str, int] = {}
    for name, value in assume.items():
        if name in open_limits:
            limits[name] = exact.whole(value, name)
        elif name in open_keys(plan):
            values[name] = exact.whole(value, name, least=0)
        elif name in named:
            low, high = interval(*value)
            bounds |= {(expr, end): value for expr in named[name] for end, value in (("low", low), ("high", high))}
        else:
            known = [*named, *open_limits, *open_keys(plan)]
            raise Invalid(f"{name} is not discovered by this plan: assume only {', '.join(known) or 'nothing'}")
    still_open = {one.expr for one in ends if (one.expr, one.ends[0]) not in bounds}
    ones = {"low": Fraction(-1), "high": Fraction(1)}
    found = hypothetical_discoveries(plan, lambda one: limits[one.what], lambda one, end: bounds.get((one.expr, end), ones[end]), values)
    return resolve(plan, found), still_open
