"""BigQuery's SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(…), and contribution bounds of aggregates."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen
from sqlglot import exp

from discreet import parameter
from discreet.errors import Invalid, Refused
from discreet.query.relation.expr import Column, Expr, Literal, call, field_of
from discreet.query.relation.node import Named, PerUnit, Relation, Within
from discreet.query.relation.origin import origin
from discreet.query.sql.literals import number
from discreet.query.sql.naming import unique
from discreet.query.sql.refuse import refused
from discreet.query.sql.scope import Body, Scope
from discreet.query.sql.units import names_unit
from discreet.query.statistics.statistic import Statistic
from discreet.tables.table import MOST_CONTRIBUTED, Contributions

_KNOWN = (
    "epsilon", "delta", "max_groups_contributed", "max_rows_contributed", "privacy_unit_column", "group_selection_strategy", "sample",
    "minimise",
)  # fmt: skip
Bounds = tuple[int | Fraction, int | Fraction]


@final
@frozen
class Options:
    """The values of a privacy clause."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    contributions: Contributions = Contributions()
    public_groups: bool = False  # whether the clause demands declared groups
    sample: Fraction | None = None
    minimise: str | None = None


def read_privacy_clause(written: dict[str, exp.Expr] | None, rows: Scope) -> Options:
    """Read a privacy clause; the unit it names must be the declared one."""
    if written is None:
        return Options()
    for name in written:
        if name not in _KNOWN:
            raise Refused(f"the privacy option {name[:40]} is not supported: use {', '.join(_KNOWN)}")
    if "privacy_unit_column" in written:
        _check_unit(written["privacy_unit_column"], rows)
    epsilon, delta = (_number(written, name) for name in ("epsilon", "delta"))
    if (epsilon is not None and epsilon <= 0) or (delta is not None and not 0 <= delta < 1):
        raise Refused("epsilon must be positive, and delta at least 0 and below 1: write OPTIONS(epsilon = 1, delta = 1e-6)")
    groups, in_all = (_whole(written, name) for name in ("max_groups_contributed", "max_rows_contributed"))
    if groups is not None and in_all is not None:
        raise Refused("max_groups_contributed and max_rows_contributed are mutually exclusive: keep one")
    public = _only_public(written.get("group_selection_strategy"))
    return Options(epsilon, delta, Contributions(rows=in_all, groups=groups), public, _sample(written), _word(written.get("minimise")))


def _sample(written: dict[str, exp.Expr]) -> Fraction | None:
    """The share of units to read, which is an option of ours."""
    share = _number(written, "sample")
    try:
        return None if share is None else parameter.sample_rate(share)
    except Invalid as error:
        raise Refused(str(error)) from None


def _word(node: exp.Expr | None) -> str | None:
    """What is minimised; weights are given in Python."""
    if node is None or isinstance(node, exp.Null):
        return None
    if not isinstance(node, exp.Column | exp.Literal) or node.name.lower() not in ("total", "worst"):
        raise refused(node, "the option minimise is 'total' or 'worst'", "write minimise = 'worst', or give weights in Python")
    return node.name.lower()


def _only_public(node: exp.Expr | None) -> bool:
    if node is None or isinstance(node, exp.Null):
        return False
    if not isinstance(node, exp.Column | exp.Literal) or node.name.upper() != "PUBLIC_GROUPS":
        raise refused(
            node,
            "only group_selection_strategy = PUBLIC_GROUPS is supported; groups that are not declared are discovered by optimal partition "
            "selection, which shows more of them than a Laplace threshold at the same epsilon and delta",
            "leave group_selection_strategy out",
        )
    return True


def check_public(asked: bool, relation: Relation, keys: Named) -> None:
    """Refuse undeclared groups where the question demands public ones."""
    for name, expr in keys if asked else ():
        if field_of(expr, relation.schema).public_keys is None and origin(relation, expr) is None:
            raise Refused(f'PUBLIC_GROUPS: the groups of {name} are not declared; declare them with keys={{"{name}": [...]}}')


def _check_unit(node: exp.Expr, rows: Scope) -> None:
    if not isinstance(node, exp.Column) or not names_unit(rows.relation, rows.find(node)):
        own = [name for source in rows.sources for name, inner in source.columns if names_unit(rows.relation, inner)]
        hint = f"write privacy_unit_column = {own[0]}" if own else "leave privacy_unit_column out"
        raise refused(node, "this is not the column that was declared to name the protected unit", hint)


def _number(written: dict[str, exp.Expr], name: str) -> Fraction | None:
    node = written.get(name)
    if node is None or isinstance(node, exp.Null):
        return None
    if not isinstance(node, exp.Literal) or node.is_string:
        raise refused(node, f"the option {name} takes a literal number", f"write {name} = 1")
    return Fraction(number(node))


def _whole(written: dict[str, exp.Expr], name: str) -> int | None:
    value = _number(written, name)
    if value is not None and (value.denominator > 1 or not 1 <= value <= MOST_CONTRIBUTED):
        raise Refused(f"the option {name} takes a whole number from 1 to {MOST_CONTRIBUTED}: write {name} = 10")
    return None if value is None else int(value)


# ── bounds of aggregates ─────────────────────────────────────────────────────────────────────────────────────────────


def read_bounds_pair(pair: tuple[exp.Expr, exp.Expr] | None) -> Bounds | None:
    """Two literal numbers, the lower first."""
    if pair is None:
        return None
    low, high = (_bound(node) for node in pair)
    if not low <= high:
        raise refused(pair[0], "the lower bound lies above the upper", "swap them")
    return low, high


def _bound(node: exp.Expr) -> int | Fraction:
    sign = 1
    if isinstance(node, exp.Neg):
        sign, node = -1, node.this
    if not isinstance(node, exp.Literal) or node.is_string:
        raise refused(node, "bounds are literal numbers", "write them like (0, 10)")
    return sign * number(node)


@final
@frozen
class BoundedStatistic:
    """A statistic, and the bounds to which each unit's contribution to each group is clipped."""

    statistic: Statistic
    bounds: Bounds | None = None


def per_group(
    body: Body, keys: Named, asked: tuple[tuple[str, BoundedStatistic], ...]
) -> tuple[Body, Named, tuple[tuple[str, Statistic], ...]]:
    """Aggregate each unit's rows in each group, clip, and aggregate these: then a unit has one row in each of its groups."""
    if not body.relation.has_id:  # each row is a unit, and its own aggregate
        return body, keys, tuple((name, _of_row(bounded)) for name, bounded in asked)
    within: dict[Within, str] = {}
    statistics: list[tuple[str, Statistic]] = []
    taken = {name for name, _ in keys}
    for name, bounded in asked:
        own, again = bounded.statistic.own_aggregate, None
        if own is not None:
            if own not in within:
                within[own] = unique("share", taken)
            again = bounded.statistic.of_own_aggregates(_clipped(Column(within[own]), bounded.bounds))
        elif not bounded.statistic.exprs and bounded.statistic.counts_units(body.relation.schema):
            again = bounded.statistic  # units are the same before and after
        if again is None:
            raise Refused(
                "contribution_bounds_per_group can be combined with COUNT, SUM, AVG and COUNT(DISTINCT unit) only: ask for other "
                "statistics in a separate question"
            )
        statistics.append((name, again))
    node = PerUnit(body.relation, (), keys, tuple((name, own) for own, name in within.items()))
    return body.grown(node), tuple((name, Column(name)) for name, _ in keys), tuple(statistics)


def _of_row(bounded: BoundedStatistic) -> Statistic:
    """A row is its unit's own aggregate: numbers are clipped directly, and a row is one row."""
    own = bounded.statistic.own_aggregate
    if bounded.bounds is None or not bounded.statistic.numbers or own is None or own.expr is None:
        return bounded.statistic
    return bounded.statistic.of_own_aggregates(_clipped(own.expr, bounded.bounds)) or bounded.statistic


def _clipped(expr: Expr, bounds: Bounds | None) -> Expr:
    return expr if bounds is None else call("least", call("greatest", expr, Literal(bounds[0])), Literal(bounds[1]))
