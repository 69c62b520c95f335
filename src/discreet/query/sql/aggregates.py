"""Parse aggregate functions, before it is known whether they apply to all rows or within a unit.

`statistics/registry.py` lists the functions; this module handles the syntax beyond NAME(argument, …).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import evolve, frozen
from sqlglot import exp

from discreet.query.sql.literals import number
from discreet.query.sql.refuse import is_bounded, only, refused
from discreet.query.statistics.count import Count
from discreet.query.statistics.count_distinct import CountDistinct
from discreet.query.statistics.mode import Mode
from discreet.query.statistics.percentile import Percentile
from discreet.query.statistics.registry import Entry, by_spelling, places
from discreet.query.statistics.statistic import Argument


@final
@frozen
class Aggregate:
    """One aggregate: its statistic, its SQL name, its arguments, and its further clauses.

    `when` comes from FILTER.
    """

    node: exp.Expr
    entry: Entry
    spelling: str
    arguments: tuple[exp.Expr | Fraction, ...] = ()
    when: exp.Expr | None = None
    per_group: tuple[exp.Expr, exp.Expr] | None = None
    per_row: tuple[exp.Expr, exp.Expr] | None = None


def _named(node: exp.Expr) -> tuple[Entry, str] | None:
    """The statistic that a plain function call asks for, by any of the names that the parser's class stands for."""
    if isinstance(node, exp.Anonymous):
        names = [str(node.this).upper()]
    elif isinstance(node, exp.Func) and type(node) not in _SYNTAX:
        names = type(node).sql_names()
    else:
        return None
    return next(((entry, name) for name in names if (entry := by_spelling(name)) is not None), None)


def _plain(node: exp.Expr, entry: Entry, spelling: str) -> Aggregate:
    """NAME(argument, …) and nothing else."""
    inside = node.expressions if isinstance(node, exp.Anonymous) else _arguments(node)
    expected = places(entry, spelling)
    if not len(expected) - entry.optional <= len(inside) <= len(expected):
        what = ", ".join(argument.value for argument in expected) or "no argument"
        raise refused(node, "each argument of an aggregate is one plain expression", f"{spelling} takes {what}")
    read = [share(node, part) if place is Argument.SHARE else _argument(node, part) for part, place in zip(inside, expected, strict=False)]
    return Aggregate(node, entry, spelling, tuple(read))


def _arguments(node: exp.Expr) -> list[Any]:
    only(node, "this", "expression", "expressions", "quantile")
    found: list[Any] = []
    for name in node.arg_types:
        value = node.args.get(name)
        found += value if isinstance(value, list) else [] if value is None or value is False else [value]
    return found


def _argument(node: exp.Expr, argument: exp.Expr | None) -> exp.Expr:
    if isinstance(argument, exp.Distinct):
        raise refused(node, "only COUNT takes DISTINCT", "use COUNT(DISTINCT x), or aggregate within the unit first")
    if argument is None or isinstance(argument, exp.Star | exp.Order | exp.Limit | exp.HavingMax):
        raise refused(node, "an aggregate takes one plain expression", "write it like SUM(x)")
    return argument


def _count(node: exp.Count) -> Aggregate:
    only(node, "this", "big_int")
    inside = node.this
    if isinstance(inside, exp.Star):
        only(inside)
        return Aggregate(node, Count, "COUNT")
    if isinstance(inside, exp.Literal):
        return Aggregate(node, Count, "COUNT")
    if isinstance(inside, exp.Distinct):
        only(inside, "expressions")
        if len(inside.expressions) != 1 or isinstance(inside.expressions[0], exp.Star | exp.Tuple):
            raise refused(node, "COUNT(DISTINCT …) takes one expression", "write COUNT(DISTINCT x)")
        return Aggregate(node, CountDistinct, "APPROX_COUNT_DISTINCT", (_argument(node, inside.expressions[0]),))
    return Aggregate(node, Count, "COUNT", (_argument(node, inside),))


def share(node: exp.Expr, written: exp.Expr | None) -> Fraction:
    """The share of a quantile, which must be a literal."""
    if not isinstance(written, exp.Literal) or written.is_string:
        raise refused(node, "a quantile's share is a literal between 0 and 1", "write QUANTILE(x, 0.9)")
    found = Fraction(number(written))
    if not 0 < found < 1 or found.denominator > 10**6:
        raise refused(node, "a quantile's share lies between 0 and 1, with at most six decimals", "write QUANTILE(x, 0.9)")
    return found


def _within_group(node: exp.WithinGroup) -> Aggregate:
    only(node, "this", "expression")
    inner, order = node.this, node.expression
    if (
        not isinstance(order, exp.Order)
        or len(order.expressions) != 1
        or type(inner) not in (exp.PercentileCont, exp.PercentileDisc, exp.Mode)
    ):
        raise refused(
            node,
            "WITHIN GROUP follows PERCENTILE_CONT or MODE, with one expression",
            "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
        )
    only(order, "expressions")
    ordered = order.expressions[0]
    only(ordered, "this", "desc", "nulls_first")
    if isinstance(inner, exp.Mode):
        only(inner)
        return Aggregate(node, Mode, "MODE", (_argument(node, ordered.this),))
    only(inner, "this")
    found = share(node, inner.this)
    return _quantile(node, ordered.this, 1 - found if ordered.args.get("desc") else found)


def _quantile(node: exp.Expr, of: exp.Expr, q: Fraction) -> Aggregate:
    return Aggregate(node, Percentile, "QUANTILE", (_argument(node, of), q))


def _filter(node: exp.Filter) -> Aggregate:
    only(node, "this", "expression")
    inner, where = parse(node.this), node.expression
    if inner is None or inner.when is not None or not isinstance(where, exp.Where):
        raise refused(node, "FILTER (WHERE …) follows one aggregate", "write SUM(x) FILTER (WHERE y > 1)")
    only(where, "this")
    return evolve(inner, node=node, when=where.this)


def _approximate(node: exp.Bracket) -> Aggregate | None:
    """APPROX_QUANTILES(x, 100)[OFFSET(90)] is the quantile 0.9."""
    inside, bounds = _unbounded(node.this) if is_bounded(node.this) else (node.this, {})
    if not isinstance(inside, exp.ApproxQuantiles):
        return None
    only(node, "this", "expressions", "offset", "safe")
    only(inside, "this", "expression")
    numbers = [part for part in (inside.args.get("expression"), *node.expressions) if isinstance(part, exp.Literal) and not part.is_string]
    if len(numbers) != 2 or node.args.get("offset") != 0:
        raise refused(node, "one quantile is asked for at a time", "write APPROX_QUANTILES(x, 100)[OFFSET(90)] or QUANTILE(x, 0.9)")
    parts, at = number(numbers[0]), number(numbers[1])
    if not 0 < at < parts or Fraction(at / parts if isinstance(at, Fraction) else Fraction(at, 1) / parts).denominator > 10**6:
        raise refused(
            node,
            "the outermost quantiles are the least and largest value, which belong to single people",
            "choose an inner one, as in [OFFSET(90)]",
        )
    return evolve(_quantile(node, inside.this, Fraction(at) / parts), **bounds)


_BOUNDS = {"contribution_bounds_per_group": "per_group", "contribution_bounds_per_row": "per_row"}


def _with_bounds(node: exp.Anonymous) -> Aggregate:
    """An aggregate with named bounds, which tokens.py puts beside it."""
    inner, bounds = _unbounded(node)
    found = parse(inner)
    if found is None:
        raise refused(node, "only an aggregate takes bounds", "write SUM(x, contribution_bounds_per_group => (0, 10))")
    return evolve(found, node=node, **bounds)


def _unbounded(node: exp.Anonymous) -> tuple[exp.Expr, dict[str, Any]]:
    """The aggregate alone, and its bounds."""
    only(node, "this", "expressions")
    inner, *named = node.expressions
    if len(named) != 1 or not isinstance(named[0], exp.Kwarg):
        raise refused(node, "an aggregate has one pair of bounds", "write SUM(x, contribution_bounds_per_group => (0, 10))")
    word, pair = named[0].this.name.lower(), named[0].expression
    if word not in _BOUNDS:
        raise refused(named[0], "there is no such argument", f"use {' or '.join(_BOUNDS)}")
    if not isinstance(pair, exp.Tuple) or len(pair.expressions) != 2:
        raise refused(named[0], "bounds are a pair", "write contribution_bounds_per_group => (0, 10)")
    return inner, {_BOUNDS[word]: tuple(pair.expressions)}


Parse: TypeAlias = Callable[[Any], Aggregate | None]
_SYNTAX: dict[type[exp.Expr], Parse] = {
    exp.Count: _count,
    exp.WithinGroup: _within_group,
    exp.Filter: _filter,
    exp.Bracket: _approximate,
}


def parse(node: exp.Expr) -> Aggregate | None:
    """The aggregate that a node denotes, if it is one."""
    special = _SYNTAX.get(type(node))
    if special is not None:
        return special(node)
    if isinstance(node, exp.Anonymous) and is_bounded(node):
        return _with_bounds(node)
    found = _named(node)
    return None if found is None else _plain(node, *found)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether a node contains an aggregate; one under OVER does not count, as windows are refused separately."""
    for part in node.walk():
        if isinstance(part, exp.Count | exp.WithinGroup | exp.Filter | exp.ApproxQuantiles) or _named(part) is not None:
            if not isinstance(part.parent, exp.Window) or isinstance(part, exp.Anonymous):
                return True
        elif is_bounded(part):
            return True
    return False
