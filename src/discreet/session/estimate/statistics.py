"""Robust statistics of one value for each unit, by a mechanism whose noise follows the data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet import exact
from discreet.engines.dialect import Dialect
from discreet.engines.engine import Columns
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.mechanisms.mean import Mean
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.robust.bootstrap import BootstrapEstimate
from discreet.mechanisms.robust.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease, StableMode
from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.sensitivity import is_replacement
from discreet.mechanisms.value_grid import Places
from discreet.plan.bounding import Single
from discreet.query.canonical import plain
from discreet.query.fluent import QueryBuilder
from discreet.query.grid import Grid as StatGrid
from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.field import Field
from discreet.run.keys import received
from discreet.run.source import Source
from discreet.run.values import on_grid
from discreet.run.write import write_weights
from discreet.session.estimate.blocks import source_of, typed, write_rows
from discreet.session.estimate.plan import EstimatePlan
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind

Method: TypeAlias = Literal["inverse", "smooth", "test"]
NAMES = ("mean", "median", "quantile", "interquartile range", "trimmed mean", "mode")
_FURTHEST = 2**60
_HOW = {
    "inverse": "by inverse sensitivity: the fewer people must change to make a value the answer, the likelier it is",
    "smooth": "by smooth sensitivity: noise as wide as these data need",
    "test": "by propose–test–release: noise for the proposed bound, if the data are far from breaking it",
}


def statistic_plan(
    ask: QueryBuilder[Any],
    catalog: Catalog,
    dialect: Dialect,
    price: tuple[Fraction, Fraction],
    what: str,
    of: str | None,
    *,
    method: Method = "inverse",
    bounds: tuple[Number, Number] | None = None,
    step: Number | None = None,
    q: Number | None = None,
    trim: Number = Fraction(1, 10),
    bound: Number | None = None,
) -> EstimatePlan:
    """The mean, the median, a quantile, the interquartile range, the trimmed mean or the mode of an expression."""
    if what not in NAMES:
        raise Invalid(f"there is no statistic of that name; there are {', '.join(NAMES)}, or give a function")
    if not isinstance(of, str):
        raise Invalid(f"the expression is missing: write .estimate({what!r}, 'cost', …)")
    if (q is None) != (what != "quantile"):
        raise Invalid("q= is needed for 'quantile', as in q=0.9, and for no other statistic")
    if what in ("mean", "mode") and (method != "inverse" or any(said is not None for said in (bounds, step, bound))):
        raise Invalid(f"the {what} takes no method, bounds, step or bound: leave them out")
    if not ask.relation.one_row:
        raise Refused(
            "a robust statistic takes one value for each unit: aggregate first, as in .per_unit(total='SUM(cost)'), or declare "
            "one_row_per_unit=True"
        )
    name = _free(ask)
    computed = ask.with_columns(**{name: of})
    field, expr = computed.relation.schema[name], Column(name)
    source = Source(computed.relation, (), None, dialect)
    asked = {"is": "Estimate", "relation": plain(computed.relation), "statistic": what, "method": method}
    if what == "mean":
        return _mean_plan(catalog, dialect, price, source, name, field, of, asked)
    if what == "mode":
        return _mode_plan(ask, catalog, dialect, price, source, expr, field, of, asked)
    if field.kind is None or not field.kind.numeric:
        raise Refused(f"the {what} needs a number: give a numeric expression")
    statistic = _statistic(what, _bounds(field, bounds, of), step, q, trim, catalog)
    if field.kind is Kind.INTEGER and max(abs(statistic.grid.lower), abs(statistic.grid.upper)) > _FURTHEST:
        raise Invalid("the bounds exceed the integers that engines count exactly: give narrower bounds")
    mechanism, delta = _mechanism(method, statistic, price, bound)
    asked |= {"grid": [str(part) for part in (statistic.grid.lower, statistic.grid.upper, statistic.grid.step)]}
    asked |= {"q": None if q is None else str(exact.rational(q)), "trim": str(exact.rational(trim)), "bound": str(bound)}
    grid = StatGrid(statistic.grid.lower, statistic.grid.step, statistic.grid.points)
    statement = write_weights(source, expr, on_grid("__e0", grid, field.kind, dialect, nudge=""), Single())
    return EstimatePlan(
        f"{statistic.name} of {of}",
        _HOW[method],
        mechanism,
        statement,
        _places,
        price[0],
        delta,
        catalog,
        asked,
        ("units without a value are left out", f"values are clamped to {float(statistic.grid.lower):g} … {float(statistic.grid.upper):g}"),
    )


def _mean_plan(
    catalog: Catalog,
    dialect: Dialect,
    price: tuple[Fraction, Fraction],
    source: Source,
    name: str,
    field: Field,
    of: str,
    asked: dict[str, Any],
) -> EstimatePlan:
    if field.kind is None or not field.kind.numeric:
        raise Refused("the mean needs a number: give a numeric expression")
    if is_replacement(catalog.adjacency):
        raise Refused("this mean is not supported under replace-one adjacency: ask for AVG in SQL")
    statement = write_rows(source_of(source.relation, [name], dialect), catalog.digest)
    return EstimatePlan(
        f"mean of {of}",
        "of numbers whose range nobody declared: where they lie is found first, then they are clamped, added and divided",
        Mean(epsilon=price[0]).then(lambda found: BootstrapEstimate(found.value, found.standard_error)),
        statement,
        lambda found: _present(typed(found["k0"], field.kind)),
        price[0],
        Fraction(0),
        catalog,
        asked,
        ("units without a value are left out", "the standard error is that of the noise alone"),
    )


def _present(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return numbers[~np.isnan(numbers)]


def _mode_plan(
    ask: QueryBuilder[Any], catalog: Catalog, dialect: Dialect, price: tuple[Fraction, Fraction], source: Source, expr: Expr, field: Field,
    of: str, asked: dict[str, Any],
) -> EstimatePlan:  # fmt: skip
    if field.kind in (Kind.REAL, None) or field.unit:
        raise Refused("the mode needs values that repeat: text, whole numbers, dates or true/false")
    mechanism = StableMode(epsilon=price[0], delta=_some(price[1]), adjacency=catalog.adjacency)
    dated = field.kind in (Kind.DATE, Kind.TIMESTAMP)
    statement = write_weights(source, expr, dialect.shown("__e0") if dated else "__e0", Single())
    return EstimatePlan(
        f"mode of {of}",
        "by a stability test: told exactly, if no few people could change it",
        mechanism.then(lambda label: _kept(label, field.kind)),
        statement,
        lambda found: (found["v"].tolist(), found["w"].tolist()),
        *price,
        catalog,
        asked,
        ("units without a value are left out",),
    )


def _statistic(what: str, ends: tuple[Number, Number], step: Number | None, q: Number | None, trim: Number, catalog: Catalog) -> Robust:
    given: dict[str, Any] = {"lower": ends[0], "upper": ends[1], "step": step, "adjacency": catalog.adjacency}
    make: dict[str, Callable[[], Robust]] = {
        "median": lambda: Robust.median(**given),
        "quantile": lambda: Robust.quantile(q if q is not None else 0, **given),
        "interquartile range": lambda: Robust.interquartile_range(**given),
        "trimmed mean": lambda: Robust.trimmed_mean(trim, **given),
    }
    return make[what]()


def _mechanism(
    method: Method, statistic: Robust, price: tuple[Fraction, Fraction], bound: Number | None
) -> tuple[Mechanism[Any], Fraction]:
    """The mechanism and the δ that it needs: smooth sensitivity takes one where there is one, for lighter tails."""
    epsilon, delta = price
    if (bound is None) != (method != "test"):
        raise Invalid("bound= is the proposed sensitivity: method='test' needs it, and no other method takes it")
    match method:
        case "inverse":
            return InverseSensitivity(epsilon=epsilon, statistic=statistic), Fraction(0)
        case "smooth":
            return SmoothSensitivity(epsilon=epsilon, delta=delta, statistic=statistic), delta
        case "test":
            assert bound is not None
            return ProposeTestRelease(epsilon=epsilon, delta=_some(delta), bound=bound, statistic=statistic), delta
    raise Invalid("method must be inverse, smooth or test")


def _some(delta: Fraction) -> Fraction:
    if not delta:
        raise Refused("method='test' needs a delta above 0: connect with delta=1e-6, or pass delta=")
    return delta


def _bounds(field: Field, bounds: Any, of: str) -> tuple[Number, Number]:
    if bounds is not None:
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise Invalid("bounds must be a pair (lower, upper)")
        return bounds[0], bounds[1]
    if field.range is None or not field.range.known:
        raise Refused(f"the bounds of {of[:80]} are not known: give bounds=(lower, upper), or declare them")
    return field.range.low, field.range.high


def _free(ask: QueryBuilder[Any]) -> str:
    name = "estimated_value"
    while name in ask.relation.schema:
        name += "_x"
    return name


def _places(found: Columns) -> Places:
    return Places(found["v"].astype(np.int64), found["w"].astype(np.int64))


def _kept(label: Any, kind: Kind | None) -> Any:
    """A label as a plain value; dates as text."""
    told = received(label, kind)
    return told if told is None or isinstance(told, bool | int | str) else str(told)
