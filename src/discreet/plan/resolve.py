"""Close a plan: once bounds, limits and groups are known, declared or found, every mechanism follows from its share of the budget."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve

from discreet import exact
from discreet.errors import Refused
from discreet.loss import calibrate
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import is_replacement
from discreet.plan.bounding import Bounding, Groups, Rows, Single, Votes
from discreet.plan.budget import split, totals
from discreet.plan.discovery import settled
from discreet.plan.steps import Budget, Choice, Found, Steps, Total
from discreet.plan.total import Scaled, Stat
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.field import Interval
from discreet.run.source import Source
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions

POINTS = 16  # a quantile's grid has up to 2^POINTS points
ONE_FOR_CHOICES = 2**10  # coarser weights where they are counted per value, so that scores fit 64 bits


def settle(plan: Steps, found: Found) -> Steps:
    """The plan with all that was open filled in; its price stays what it was."""
    groups = plan.public_groups if plan.public_groups is not None else found.groups
    if groups is None:
        raise Refused("the groups are not known yet")
    bounding = bound(plan.question.relation.one_row, plan.contributions, found, plan.budget.noise, keyed=bool(plan.question.keys))
    ranges = ranges_of(plan, found)
    needed = totals(plan.question, ranges, plan.budget.centred, weighted=not isinstance(bounding, Single))
    made = (
        tuple(
            _total(stat, share, plan.budget, bounding, plan, len(groups) + plan.question.other)
            for stat, share in split(needed, 1 / 3 if plan.budget.noise == "laplace" else 1 / 2).items()
        )
        if needed
        else ()
    )
    closed = evolve(plan, found=found, bounding=bounding, groups=groups, totals=made)
    return evolve(closed, choices=tuple(_choice(name, epsilon, closed, ranges, bounding) for name, epsilon in plan.budget.choices))


def ranges_of(plan: Steps, found: Found) -> dict[Expr, Interval]:
    """The range of each number that is summed or ranked, as declared or found."""
    return {expr: settled(interval, _ends(found, expr)) for expr, interval in numeric_ranges(plan).items()}


def _ends(found: Found, expr: Expr) -> dict[str, Fraction]:
    return {end: value for (of, end), value in found.bounds.items() if of == expr}


def numeric_ranges(plan: Steps) -> dict[Expr, Interval]:
    """What is believed of each number that is summed or ranked."""
    ranges = {}
    for _, measure in plan.question.measures:
        if measure.expr is not None and measure.function in ("sum", "mean", "variance", "stddev", "quantile"):
            interval = field_of(measure.expr, plan.question.relation.schema).range
            assert interval is not None
            ranges[measure.expr] = interval
    return ranges


def bound(one_row: bool, limits: Contributions, found: Found, noise: str, keyed: bool) -> Bounding:
    """How a unit's rows are bounded, from what was declared and found."""
    if one_row:
        return Single()
    if limits.groups is None and limits.per_group is None and "groups" not in found.limits:
        return Rows(limits.rows or found.limits.get("rows", 1))  # not found: only units are counted
    groups = (limits.groups or found.limits["groups"]) if keyed else 1
    return Groups(groups, limits.per_group or found.limits.get("per_group", 1), euclidean=noise == "gaussian")


def _total(stat: Stat, share: Fraction, budget: Budget, bounding: Bounding, plan: Steps, cells: int) -> Total:
    used = bounding_for(stat, bounding, bool(plan.question.keys))
    scaled = Scaled.of(stat, used, plan.adjacency, cells)
    unit = stat.step * 2**scaled.bits / (1 if stat.form == "distinct" else used.one)
    if not Fraction(1, 10**250) < unit * scaled.l1 < 10**250:
        raise Refused("these numbers are too large or too small to be squared or summed: scale them first")
    if budget.noise == "laplace":
        return Total(stat, scaled, Laplace(epsilon=budget.epsilon * share, sensitivity=scaled.l1, whole=True), unit)
    sigma = calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1))
    scale = exact.rational_up(lambda: exact.ball(scaled.l2**2 * sigma**2 / share).sqrt())
    return Total(stat, scaled, Gaussian(scale=scale, sensitivity=scaled.l2, whole=True), unit)


def bounding_for(stat: Stat, bounding: Bounding, keyed: bool) -> Bounding:
    """Units are counted once in each group, so they are bounded by groups: at most as many as there may be rows."""
    if stat.form != "units" or isinstance(bounding, Single):
        return bounding
    if not keyed:
        return Groups(1, 1, one=1)  # each unit once in all
    return Groups(bounding.groups, 1, isinstance(bounding, Groups) and bounding.euclidean)


def votes(bounding: Bounding, source: Source) -> Single | Votes:
    """How units choose the most popular value: in as many groups as rows or groups of a unit count, and no more than there are."""
    if isinstance(bounding, Single):
        return bounding
    if not source.keys:
        return Votes(1, 1)
    most = source.most_groups
    return Votes(bounding.groups if most is None else min(bounding.groups, most), ONE_FOR_CHOICES)


def _choice(name: str, epsilon: Fraction, plan: Steps, ranges: dict[Expr, Interval], bounding: Bounding) -> Choice:
    measure = dict(plan.question.measures)[name]
    assert measure.expr is not None
    if measure.function == "mode":
        return _mode(name, measure.expr, epsilon, plan, votes(bounding, plan.source))
    used: Bounding = bounding if isinstance(bounding, Single) else evolve(bounding, one=ONE_FOR_CHOICES)
    if isinstance(used, Groups):
        used = evolve(used, euclidean=False)  # choices are pure, so what counts is ℓ₁
    assert measure.q is not None
    low, high, step = quantile_grid(ranges[measure.expr], field_of(measure.expr, plan.question.relation.schema).kind)
    # replacing a unit takes its weight away in some groups and adds weight in others: as far as that goes, twice its weight is added
    weight = used.reach.l1 * (2 if is_replacement(plan.adjacency) else 1)
    mechanism = Quantile(epsilon=epsilon, q=measure.q, lower=low, upper=high, step=step, weight=weight)
    return Choice(name, measure.expr, mechanism, used)


def _mode(name: str, expr: Expr, epsilon: Fraction, plan: Steps, how: Single | Votes) -> Choice:
    candidates = plan.found.candidates.get(name, field_of(expr, plan.question.relation.schema).public_keys)
    assert candidates is not None
    reach = 1 if isinstance(how, Single) else how.reach
    winner = NoisyMax(epsilon=epsilon, sensitivity=reach, monotone=not is_replacement(plan.adjacency))
    return Choice(name, expr, winner, how, tuple(value for value in candidates if value is not None))


def quantile_grid(interval: Interval, kind: Kind | None) -> tuple[Fraction, Fraction, Fraction]:
    """The ends and the step: 1 for whole numbers where that is not too many, else a power of two."""
    width = interval.high - interval.low
    if kind is Kind.INTEGER and width < 2**20:
        low = -(-interval.low.numerator // interval.low.denominator)
        return Fraction(low), max(interval.high, Fraction(low + 1)), Fraction(1)
    step = Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length() - POINTS + 1)
    return interval.low, interval.high, step
