"""Aggregate functions as they are written, before it is known whether they are asked of all or within a unit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import evolve, frozen
from sqlglot import exp

from discreet.query.sql.literals import number
from discreet.query.sql.refuse import is_bounded, only, refused


@final
@frozen
class Aggregate:
    """One aggregate: its function, of what, and what else was said.

    `function` is count, count_of, count_units, count_distinct, sum, mean, variance, stddev, quantile, mode, min or max.
    `when` comes from FILTER or COUNTIF.
    """

    node: exp.Expr
    function: str
    argument: exp.Expr | None = None
    q: Fraction | None = None
    population: bool = False
    when: exp.Expr | None = None
    per_group: tuple[exp.Expr, exp.Expr] | None = None
    per_row: tuple[exp.Expr, exp.Expr] | None = None


Parse: TypeAlias = Callable[[Any], Aggregate]


def _simple(function: str, population: bool = False) -> Parse:
    def parse(node: exp.Expr) -> Aggregate:
        only(node, "this")
        return Aggregate(node, function, _argument(node, node.this), population=population)

    return parse


def _argument(node: exp.Expr, argument: exp.Expr | None) -> exp.Expr:
    if isinstance(argument, exp.Distinct):
        raise refused(node, "only COUNT takes DISTINCT", "use COUNT(DISTINCT x), or aggregate within the unit first")
    if argument is None or isinstance(argument, exp.Star | exp.Order | exp.Limit | exp.HavingMax):
        raise refused(node, "one plain expression stands inside an aggregate", "write it like SUM(x)")
    return argument


def _count(node: exp.Count) -> Aggregate:
    only(node, "this", "big_int")
    inside = node.this
    if isinstance(inside, exp.Star):
        only(inside)
        return Aggregate(node, "count")
    if isinstance(inside, exp.Literal):
        return Aggregate(node, "count")
    if isinstance(inside, exp.Distinct):
        only(inside, "expressions")
        if len(inside.expressions) != 1 or isinstance(inside.expressions[0], exp.Star | exp.Tuple):
            raise refused(node, "COUNT(DISTINCT …) takes one expression", "write COUNT(DISTINCT x)")
        return Aggregate(node, "count_distinct", _argument(node, inside.expressions[0]))
    return Aggregate(node, "count_of", _argument(node, inside))


def _count_if(node: exp.CountIf) -> Aggregate:
    only(node, "this")
    return Aggregate(node, "count", when=_argument(node, node.this))


def share(node: exp.Expr, written: exp.Expr | None) -> Fraction:
    """The share of a quantile, which must be a literal."""
    if not isinstance(written, exp.Literal) or written.is_string:
        raise refused(node, "a quantile's share is a literal between 0 and 1", "write QUANTILE(x, 0.9)")
    found = Fraction(number(written))
    if not 0 < found < 1 or found.denominator > 10**6:
        raise refused(node, "a quantile's share lies between 0 and 1, with at most six decimals", "write QUANTILE(x, 0.9)")
    return found


def _quantile(second: str) -> Parse:
    def parse(node: exp.Expr) -> Aggregate:
        only(node, "this", second)
        return Aggregate(node, "quantile", _argument(node, node.this), q=share(node, node.args.get(second)))

    return parse


def _median(node: exp.Median) -> Aggregate:
    only(node, "this")
    return Aggregate(node, "quantile", _argument(node, node.this), q=Fraction(1, 2))


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
        return Aggregate(node, "mode", _argument(node, ordered.this))
    only(inner, "this")
    found = share(node, inner.this)
    return Aggregate(node, "quantile", _argument(node, ordered.this), q=1 - found if ordered.args.get("desc") else found)


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
            node, "the outermost quantiles are the least and largest value, which single people decide", "choose one between them"
        )
    return Aggregate(node, "quantile", _argument(node, inside.this), q=Fraction(at) / parts, **bounds)


_BOUNDS = {"contribution_bounds_per_group": "per_group", "contribution_bounds_per_row": "per_row"}
_OTHER_NAMES = {"VAR": ("variance", False), "VARP": ("variance", True), "STDEV": ("stddev", False), "STDEVP": ("stddev", True)}


def _by_name(node: exp.Anonymous) -> Aggregate | None:
    """Aggregates that the parser has no class for: ours, those of SQL Server, and those with contribution bounds (see tokens.py)."""
    name = str(node.this).upper()
    if name == "COUNT_UNITS":
        only(node, "this")
        return Aggregate(node, "count_units")
    if name in _OTHER_NAMES and len(node.expressions) == 1:
        only(node, "this", "expressions")
        function, population = _OTHER_NAMES[name]
        return Aggregate(node, function, _argument(node, node.expressions[0]), population=population)
    return _with_bounds(node) if is_bounded(node) else None


def _with_bounds(node: exp.Anonymous) -> Aggregate:
    """An aggregate with named bounds, which tokens.py puts beside it."""
    inner, bounds = _unbounded(node)
    found = parse(inner)
    if found is None:
        raise refused(node, "this has no bounds of its own", "write SUM(x, contribution_bounds_per_group => (0, 10))")
    return evolve(found, node=node, **bounds)


def _unbounded(node: exp.Anonymous) -> tuple[exp.Expr, dict[str, Any]]:
    """The aggregate alone, and its bounds."""
    only(node, "this", "expressions")
    inner, *named = node.expressions
    if len(named) != 1 or not isinstance(named[0], exp.Kwarg):
        raise refused(node, "an aggregate has one pair of bounds", "write SUM(x, contribution_bounds_per_group => (0, 10))")
    word, pair = named[0].this.name.lower(), named[0].expression
    if word not in _BOUNDS:
        raise refused(named[0], "there is no such argument", f"there are {' and '.join(_BOUNDS)}")
    if not isinstance(pair, exp.Tuple) or len(pair.expressions) != 2:
        raise refused(named[0], "bounds are a pair", "write contribution_bounds_per_group => (0, 10)")
    return inner, {_BOUNDS[word]: tuple(pair.expressions)}


_PARSES: dict[type[exp.Expr], Callable[[Any], Aggregate | None]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _simple("count_distinct"),
    exp.Sum: _simple("sum"),
    exp.Avg: _simple("mean"),
    exp.Variance: _simple("variance"),
    exp.VariancePop: _simple("variance", True),
    exp.Stddev: _simple("stddev"),
    exp.StddevSamp: _simple("stddev"),
    exp.StddevPop: _simple("stddev", True),
    exp.Median: _median,
    exp.Quantile: _quantile("quantile"),
    exp.ApproxQuantile: _quantile("quantile"),
    exp.PercentileCont: _quantile("expression"),
    exp.PercentileDisc: _quantile("expression"),
    exp.WithinGroup: _within_group,
    exp.Min: _simple("min"),
    exp.Max: _simple("max"),
    exp.Mode: _simple("mode"),
    exp.Filter: _filter,
    exp.Bracket: _approximate,
    exp.Anonymous: _by_name,
}
_CERTAIN = tuple(kind for kind in _PARSES if kind not in (exp.Bracket, exp.Anonymous))


def parse(node: exp.Expr) -> Aggregate | None:
    """The aggregate that a piece is, if it is one."""
    known = _PARSES.get(type(node))
    return None if known is None else known(node)


def _is_named(name: str) -> bool:
    return name == "COUNT_UNITS" or name in _OTHER_NAMES


def has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate anywhere in a piece; one under OVER is not, as windows are refused where they are met."""
    for part in node.walk():
        if isinstance(part, _CERTAIN) and not isinstance(part.parent, exp.Window):
            return True
        if is_bounded(part) or (isinstance(part, exp.Anonymous) and _is_named(str(part.this).upper())):
            return True
        if isinstance(part, exp.ApproxQuantiles):
            return True
    return False
